import type { Session } from '@concerto/protocol';
import { type ReactNode, type Ref, useEffect, useRef, useState } from 'react';
import { client } from '../client.ts';
import { failureOf } from '../fetching/failure.ts';
import { type Fetched, useFetched } from '../fetching/use-fetched.ts';
import { overview, useOverview } from '../live/use-overview.ts';
import { useMay } from '../people/may.ts';
import { keepListAddress } from '../routing/list-address.ts';
import { replaceAddress, useLocation } from '../routing/use-location.ts';
import { Loading } from '../shell/loading.tsx';
import { usePageTitle } from '../shell/use-page-title.ts';
import { useShortcuts } from '../shell/use-shortcuts.ts';
import { StartForm } from '../start/start-form.tsx';
import { listTargets, type Target } from '../start/targets.ts';
import { BulkBar } from './bulk-bar.tsx';
import { EmptyList } from './empty-list.tsx';
import { countsOf, filterNames, type Group, groupSessions, groups, type Wish, withHits } from './overview.ts';
import { OverviewTools } from './overview-tools.tsx';
import { PoolMeter } from './pool-meter.tsx';
import { SessionRow } from './session-row.tsx';
import { useListed } from './use-listed.ts';
import { type Selection, useSelection } from './use-selection.ts';
import { type Sought, useSought } from './use-sought.ts';

/** How many rows are laid out at first, and how many more each time. */
const shownItems = 50;

/** All sessions, by what they need from a person, and the way to a new one. */
export function SessionListPage(): ReactNode {
  const [wish, setWish] = useWish();
  const [shown, setShown] = useState(shownItems);
  const prompt = useRef<HTMLTextAreaElement>(null);
  const search = useRef<HTMLInputElement>(null);
  const list = useRef<HTMLDivElement>(null);
  const selection = useSelection();
  const { waiting } = useOverview();
  const { sessions: atHand, hasMore, mayMoreWait, error } = useListed(wish.isArchive);
  const { hits, isLooking } = useSought(wish);
  const sessions = withHits(atHand, hits);
  useEffect(() => overview.want(shown), [shown]);
  const targets = useFetched((signal) => listTargets(client, signal), {
    key: 'targets',
    // Asked again only once the server is back: what it offers does not change while it runs.
    revision: error === undefined ? 1 : 0,
  });
  usePageTitle('Sessions', waiting.length > 0);
  useShortcuts({
    n: () => prompt.current?.focus(),
    '/': () => search.current?.focus(),
    j: () => moveFocus(list.current, 1),
    k: () => moveFocus(list.current, -1),
    x: () => selectFocused(selection),
    Escape: selection.ids === undefined ? undefined : selection.end,
  });
  return (
    <main className="list-page" tabIndex={-1}>
      <StartSide targets={targets} promptRef={prompt} />
      <section className="list-main" aria-labelledby="list-title">
        <ListHead onNew={() => prompt.current?.focus()} />
        <OverviewTools
          wish={wish}
          counts={sessions === undefined ? undefined : countsOf(sessions, wish.sought, hits)}
          hasMore={hasMore}
          mayMoreWait={mayMoreWait}
          searchRef={search}
          onWish={(next) => {
            setShown(shownItems);
            setWish(next);
          }}
          onSelect={selection.ids === undefined ? selection.start : selection.end}
        />
        {error !== undefined && (
          <p className="inline-problem" role="alert">
            {failureOf(error).text}
          </p>
        )}
        <Found
          sessions={sessions}
          hasFailed={error !== undefined}
          sought={{ hits, isLooking }}
          wish={wish}
          shown={shown}
          listRef={list}
          selection={selection}
          targets={targets.value ?? []}
          hasMore={hasMore}
          onMore={() => setShown(shown + shownItems)}
        />
      </section>
    </main>
  );
}

type FoundProps = {
  readonly sessions: readonly Session[] | undefined;
  /** Why there are none is told above. */
  readonly hasFailed: boolean;
  readonly sought: Sought;
  readonly wish: Wish;
  readonly shown: number;
  readonly listRef: Ref<HTMLDivElement>;
  readonly selection: Selection;
  readonly targets: readonly Target[];
  readonly hasMore: boolean;
  readonly onMore: () => void;
};

function Found(props: FoundProps): ReactNode {
  const { sessions, hasFailed, sought, wish, shown, listRef, selection, targets, hasMore, onMore } = props;
  const found = groupSessions(sessions ?? [], wish, sought.hits);
  const rows = found.flatMap((group) => group.rows.map(({ session }) => session));
  const own = rows.filter(({ parent }) => parent === undefined);
  return (
    <>
      {selection.ids !== undefined && (
        <BulkBar
          selected={selection.of(own)}
          listed={own}
          isArchive={wish.isArchive}
          onAll={selection.all}
          onEnd={selection.end}
        />
      )}
      {sessions !== undefined && rows.length === 0 && !sought.isLooking && (
        <EmptyList wish={wish} isNew={sessions.length === 0} targets={targets} />
      )}
      {(sessions === undefined || sought.isLooking) && rows.length === 0 && !hasFailed && <Loading />}
      <div className="session-groups" ref={listRef} aria-busy={sessions === undefined || sought.isLooking}>
        {limited(found, shown).map((group) => (
          <SessionGroup key={group.name} group={group} count={countOf(found, group)} selection={selection} />
        ))}
      </div>
      {(hasMore || rows.length > shown) && (
        <button type="button" className="button more" onClick={onMore}>
          Load more
        </button>
      )}
    </>
  );
}

function ListHead({ onNew }: { readonly onNew: () => void }): ReactNode {
  const { statuses } = useOverview();
  const pool = useFetched((signal) => client.pool({ signal }), { key: 'pool', revision: statuses });
  return (
    <header className="list-head">
      <h1 id="list-title">Sessions</h1>
      {pool.value !== undefined && <PoolMeter pool={pool.value} />}
      <button type="button" className="button primary to-form" onClick={onNew}>
        New session
      </button>
    </header>
  );
}

type StartProps = { readonly targets: Fetched<readonly Target[]>; readonly promptRef: Ref<HTMLTextAreaElement> };

function StartSide({ targets: { value, error }, promptRef }: StartProps): ReactNode {
  const mayStart = useMay('agent');
  return (
    <aside className="list-side" aria-label="New session">
      <h2>New session</h2>
      {!mayStart && <p className="muted">You may look at sessions, and start none.</p>}
      {mayStart && value !== undefined && <StartForm targets={value} promptRef={promptRef} />}
      {value === undefined &&
        (error === undefined ? <Loading /> : <p className="inline-problem">{failureOf(error).text}</p>)}
    </aside>
  );
}

type GroupProps = { readonly group: Group; readonly count: number; readonly selection: Selection };

function SessionGroup({ group, count, selection: { ids, toggle } }: GroupProps): ReactNode {
  const id = `group-${group.name}`;
  return (
    <section className="session-group" data-group={group.name}>
      <h2 id={id}>
        {groups[group.name].label} <span className="count">{count}</span>
      </h2>
      <ul className="session-list" aria-labelledby={id}>
        {group.rows.map(({ session, depth }) => (
          <SessionRow
            key={session.id}
            session={session}
            depth={depth}
            isSelected={ids?.has(session.id)}
            onSelect={toggle}
          />
        ))}
      </ul>
    </section>
  );
}

/** What is shown is in the address, so that a reload and a bookmark show it again. */
function useWish(): readonly [Wish, (wish: Wish) => void] {
  const { query } = useLocation();
  const wish: Wish = {
    filter: filterNames.find((name) => name === query.get('show')) ?? 'all',
    sought: query.get('q') ?? '',
    sort: query.get('sort') === 'created' ? 'created' : 'activity',
    isArchive: query.get('archive') === 'true',
  };
  const address = addressOf(wish);
  useEffect(() => keepListAddress(address), [address]);
  return [wish, (next) => replaceAddress(addressOf(next))];
}

function addressOf({ filter, sought, sort, isArchive }: Wish): string {
  const params = new URLSearchParams();
  if (filter !== 'all') params.set('show', filter);
  if (sought !== '') params.set('q', sought);
  if (sort !== 'activity') params.set('sort', sort);
  if (isArchive) params.set('archive', 'true');
  return params.size === 0 ? '/' : `/?${params}`;
}

function limited(found: readonly Group[], max: number): readonly Group[] {
  let left = max;
  return found.flatMap((group) => {
    const rows = group.rows.slice(0, Math.max(0, left));
    left -= rows.length;
    return rows.length === 0 ? [] : [{ ...group, rows }];
  });
}

function countOf(found: readonly Group[], { name }: Group): number {
  return found.find((group) => group.name === name)?.rows.length ?? 0;
}

function moveFocus(list: HTMLElement | null, by: number): void {
  const links = [...(list?.querySelectorAll<HTMLAnchorElement>('.session-link') ?? [])];
  const at = links.findIndex((link) => link === document.activeElement);
  const next = at === -1 ? 0 : Math.min(links.length - 1, Math.max(0, at + by));
  links[next]?.focus();
}

function selectFocused({ toggle, start }: Selection): void {
  const row = document.activeElement?.closest<HTMLElement>('.session-row');
  if (row?.dataset.id === undefined) start();
  else toggle(row.dataset.id);
}
