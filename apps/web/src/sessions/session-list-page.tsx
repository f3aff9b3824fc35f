import { type ReactNode, useRef, useState } from 'react';
import { client } from '../client.ts';
import { failureOf } from '../fetching/failure.ts';
import { useFetched } from '../fetching/use-fetched.ts';
import { replaceAddress, useLocation } from '../routing/use-location.ts';
import { usePageTitle } from '../shell/use-page-title.ts';
import { useShortcuts } from '../shell/use-shortcuts.ts';
import { needsYou } from '../status/status-words.ts';
import { type FilterName, filterNames, filters, listSessions } from './list-sessions.ts';
import { NewSessionForm } from './new-session-form.tsx';
import { PoolMeter } from './pool-meter.tsx';
import { SessionRow } from './session-row.tsx';
import { StatusFilter } from './status-filter.tsx';
import { listTargets } from './targets.ts';

const pollMs = 2000;
const pageItems = 50;

/** All sessions, and the way to a new one. */
export function SessionListPage(): ReactNode {
  const { query } = useLocation();
  const filter = filterNames.find((name) => name === query.get('show')) ?? 'all';
  const [wanted, setWanted] = useState(pageItems);
  const prompt = useRef<HTMLTextAreaElement>(null);
  const list = useRef<HTMLUListElement>(null);
  const listed = useFetched((signal) => listSessions(client, filter, wanted, signal), {
    key: filter,
    revision: wanted,
    everyMs: pollMs,
  });
  const pool = useFetched((signal) => client.pool({ signal }), { key: 'pool', everyMs: pollMs });
  const targets = useFetched((signal) => listTargets(client, signal), {
    key: 'targets',
    // Asked again only once the server is back: what it offers does not change while it runs.
    revision: listed.error === undefined ? 1 : 0,
  });
  const sessions = listed.value?.sessions ?? [];
  const waiting = sessions.filter((session) => needsYou.includes(session.status)).length;
  usePageTitle(waiting === 0 ? 'Sessions' : `${waiting} waiting for you`, waiting > 0);
  useShortcuts({
    n: () => prompt.current?.focus(),
    j: () => moveFocus(list.current, 1),
    k: () => moveFocus(list.current, -1),
  });
  const show = (name: FilterName): void => {
    setWanted(pageItems);
    replaceAddress(name === 'all' ? '/' : `/?show=${name}`);
  };
  return (
    <main className="list-page" tabIndex={-1}>
      <aside className="list-side" aria-label="New session">
        <h2>New session</h2>
        {targets.value !== undefined && <NewSessionForm targets={targets.value} promptRef={prompt} />}
        {targets.value === undefined && targets.error !== undefined && (
          <p className="inline-problem">{failureOf(targets.error).text}</p>
        )}
      </aside>
      <section className="list-main" aria-labelledby="list-title">
        <header className="list-head">
          <h1 id="list-title">Sessions</h1>
          {pool.value !== undefined && <PoolMeter pool={pool.value} />}
          <button type="button" className="button primary to-form" onClick={() => prompt.current?.focus()}>
            New session
          </button>
        </header>
        <StatusFilter value={filter} onChange={show} />
        {listed.error !== undefined && (
          <p className="inline-problem" role="alert">
            {failureOf(listed.error).text}
          </p>
        )}
        {listed.value !== undefined && sessions.length === 0 && <Empty filter={filter} />}
        <ul className="session-list" ref={list} aria-label="Sessions" aria-busy={listed.value === undefined}>
          {sessions.map((session) => (
            <SessionRow key={session.id} session={session} />
          ))}
        </ul>
        {listed.value?.hasMore === true && (
          <button type="button" className="button more" onClick={() => setWanted(wanted + pageItems)}>
            Load more
          </button>
        )}
      </section>
    </main>
  );
}

function Empty({ filter }: { readonly filter: FilterName }): ReactNode {
  if (filter !== 'all') {
    return <p className="empty">No session is in “{filters[filter].label}” now.</p>;
  }
  return (
    <div className="empty">
      <h2>No sessions yet</h2>
      <p>
        A session is an agent at work, with everything that it and you say. Choose an agent, write what it should do,
        and press <kbd>Enter</kbd>. The <strong>demo</strong> agent asks a question and wants an approval; it needs no
        key.
      </p>
      <p className="muted">
        From a terminal: <code>concerto sessions start demo "Move the login to key pairs"</code>
      </p>
    </div>
  );
}

function moveFocus(list: HTMLUListElement | null, by: number): void {
  const links = [...(list?.querySelectorAll<HTMLAnchorElement>('.session-link') ?? [])];
  const at = links.findIndex((link) => link === document.activeElement);
  const next = at === -1 ? 0 : Math.min(links.length - 1, Math.max(0, at + by));
  links[next]?.focus();
}
