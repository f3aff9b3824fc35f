import { useMemo, useState } from 'react';
import { client } from '../client.ts';
import { useFetched } from '../fetching/use-fetched.ts';
import { newerOf } from '../live/session-rows.ts';
import { useRow } from '../live/use-overview.ts';
import { useQueue } from '../queue/use-queue.ts';
import { isFailed, TimelineItems } from '../timeline/timeline-items.ts';
import type { FeedConnection } from './session-feed.ts';
import { useSessionFeed } from './use-session-feed.ts';

/** All that the page knows of a session: its events as they come, and beside them what only the server can say. */
export function useSession(id: string) {
  const { feed, retry, hold, readEarlier } = useSessionFeed(id);
  const { view, queueRevision, sessionRevision, connection, connections, earlier, before, unshownTo, isBusy } = feed;
  const { turns } = view;
  // oxlint-disable-next-line react/exhaustive-deps -- another session has items of its own
  const timelineItems = useMemo(() => new TimelineItems(), [id]);
  const items = useMemo(() => timelineItems.of([...before, ...turns]), [timelineItems, before, turns]);
  const [head, setHead] = useState<number>();
  const behind = Math.max(0, (head ?? Number.POSITIVE_INFINITY) - view.position);
  const isReplaying = behind > 0;
  // Nothing that is replayed changes what the server says now.
  const revision = (changes: number): string => `${isReplaying ? 'replay' : changes} ${connections}`;
  const {
    value: fetched,
    error,
    reload,
  } = useFetched(
    async (signal) => {
      const loaded = await client.get(id, { signal });
      setHead((before) => before ?? loaded.position);
      return loaded;
    },
    { key: id, revision: revision(sessionRevision) },
  );
  // Some of it changes without an event: what the agent announces, why it waits.
  const row = useRow(id);
  const session = fetched === undefined || row === undefined ? (fetched ?? row) : newerOf(fetched, row);
  const queue = useQueue(id, revision(queueRevision));
  const turn = turns.at(-1);
  return {
    view,
    items,
    session,
    queue,
    connection,
    retry,
    /** What it is as a whole has changed without an event. */
    reload,
    refusal: refusalOf(connection, fetched === undefined ? error : undefined),
    behind: Number.isFinite(behind) ? behind : 0,
    isReplaying,
    earlier,
    unshownTo,
    isBusy,
    hold,
    readEarlier,
    status: (isReplaying ? session?.status : view.status) ?? session?.status ?? 'queued',
    statusSince: isReplaying ? undefined : view.statusSince,
    hasFailed: turn !== undefined && isFailed(turn),
    // Without a connection nothing is known but what was: the page must not look as if it were so now.
    isStale: connection.kind === 'waiting',
  } as const;
}

/** Why there is nothing to show. */
function refusalOf(connection: FeedConnection, error: unknown): unknown {
  return connection.kind === 'refused' ? connection.error : error;
}
