import { type ReactNode, useMemo, useRef, useState } from 'react';
import { client } from '../client.ts';
import { failureOf } from '../fetching/failure.ts';
import { useFetched } from '../fetching/use-fetched.ts';
import { PlanPanel } from '../plan/plan-panel.tsx';
import { QueuePanel } from '../queue/queue-panel.tsx';
import { useQueue } from '../queue/use-queue.ts';
import { Link } from '../routing/link.tsx';
import { usePageTitle } from '../shell/use-page-title.ts';
import { useShortcuts } from '../shell/use-shortcuts.ts';
import { needsYou } from '../status/status-words.ts';
import { Timeline } from '../timeline/timeline.tsx';
import { isFailed, TimelineItems } from '../timeline/timeline-items.ts';
import { useFollowing } from '../timeline/use-following.ts';
import { Announcer } from './announcer.tsx';
import { Composer } from './composer.tsx';
import { ConnectionBadge } from './connection-badge.tsx';
import { focusRequest } from './focus-request.ts';
import { SessionFacts } from './session-facts.tsx';
import { SessionHeader, WaitingLine } from './session-header.tsx';
import { useSessionFeed } from './use-session-feed.ts';

const sessionPollMs = 5000;

/** One session: what happened and happens, what waits, and everything one can say to it. */
export function SessionPage({ id }: { readonly id: string }): ReactNode {
  const { feed, retry } = useSessionFeed(id);
  const { view, queueRevision, sessionRevision, connection, connections } = feed;
  const { position, turns, requests } = view;
  // oxlint-disable-next-line react/exhaustive-deps -- another session has items of its own
  const timelineItems = useMemo(() => new TimelineItems(), [id]);
  const items = useMemo(() => timelineItems.of(turns), [timelineItems, turns]);
  const turn = turns.at(-1);
  const [head, setHead] = useState<number>();
  const behind = Math.max(0, (head ?? Number.POSITIVE_INFINITY) - position);
  const isReplaying = behind > 0;
  // Nothing that is replayed changes what the server says now.
  const revision = (changes: number): string => `${isReplaying ? 'replay' : changes} ${connections}`;
  const { value: session, error } = useFetched(
    async (signal) => {
      const loaded = await client.get(id, { signal });
      setHead((before) => before ?? loaded.position);
      return loaded;
    },
    // Some of it changes without an event: what the agent announces, why it waits.
    { key: id, revision: revision(sessionRevision), everyMs: sessionPollMs },
  );
  const queue = useQueue(id, revision(queueRevision));
  const following = useFollowing(items.length);
  const field = useRef<HTMLTextAreaElement>(null);
  const status = (isReplaying ? session?.status : view.status) ?? session?.status ?? 'queued';
  // Without a connection nothing is known but what was: the page must not look as if it were so now.
  const isStale = connection.kind === 'waiting';
  usePageTitle(session?.title ?? 'Session', needsYou.includes(status));
  useShortcuts({
    a: () => focusRequest(requests[0]?.requestId, following.follow),
    b: following.follow,
    c: () => field.current?.focus(),
  });
  if (connection.kind === 'refused') return <Refused error={connection.error} onRetry={retry} />;
  if (session === undefined && error !== undefined) return <Refused error={error} onRetry={retry} />;
  return (
    <main className="session-page" tabIndex={-1} data-stale={isStale}>
      <SessionHeader
        id={id}
        session={session}
        status={status}
        isStale={isStale}
        hasFailed={turn !== undefined && isFailed(turn)}
        statusSince={isReplaying ? undefined : view.statusSince}
        connection={
          <ConnectionBadge connection={connection} behind={Number.isFinite(behind) ? behind : 0} onRetry={retry} />
        }
      />
      <div className="session-columns">
        <div className="session-main">
          <Timeline sessionId={id} view={view} items={items} following={following} />
          <WaitingLine session={session} />
          <Composer
            key={id}
            id={id}
            status={status}
            open={requests[0]?.event}
            canSteer={session?.capabilities === undefined || session.capabilities.includes('steer')}
            fieldRef={field}
            onSent={following.follow}
          />
        </div>
        <aside className="session-side" aria-label="Queue and facts">
          <PlanPanel plan={view.plan} />
          <QueuePanel {...queue} />
          {session !== undefined && <SessionFacts session={session} view={view} />}
        </aside>
      </div>
      <Announcer view={view} isReplaying={isReplaying} />
    </main>
  );
}

function Refused({ error, onRetry }: { readonly error: unknown; readonly onRetry: () => void }): ReactNode {
  const { code, text } = failureOf(error);
  const isGone = code === 'no_such_session' || code === 'cursor_ahead';
  return (
    <main className="stop-page">
      <h1>{isGone ? 'This session does not exist' : 'The session cannot be shown'}</h1>
      <p role="alert">{text}</p>
      {isGone && <p className="muted">A server that keeps its sessions in memory forgets them when it ends.</p>}
      <p className="stop-actions">
        <Link href="/" className="button primary">
          All sessions
        </Link>
        <button type="button" className="button" onClick={onRetry}>
          Try again
        </button>
      </p>
    </main>
  );
}
