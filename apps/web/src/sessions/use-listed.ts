import type { Session } from '@concerto/protocol';
import { useMemo } from 'react';
import { client } from '../client.ts';
import { useFetched } from '../fetching/use-fetched.ts';
import { useOverview } from '../live/use-overview.ts';

const pageMax = 200;
/** So many of those that were put away are looked through. */
const archivedMax = 1000;

export type Listed = {
  /** Undefined until they were read once. */
  readonly sessions: readonly Session[] | undefined;
  readonly hasMore: boolean;
  readonly mayMoreWait: boolean;
  readonly error: unknown;
};

/** The sessions of the list: those at hand as they change, or those that were put away. */
export function useListed(isArchive: boolean): Listed {
  const { rows, hasMore, mayMoreWait, error } = useOverview();
  const away = useFetched((signal) => (isArchive ? listArchived(signal) : Promise.resolve(undefined)), {
    key: isArchive ? 'archive' : 'hand',
    // What is taken out of the archive comes among the others, and the other way round.
    revision: rows?.size ?? 0,
  });
  const atHand = useMemo(() => (rows === undefined ? undefined : [...rows.values()]), [rows]);
  if (!isArchive) return { sessions: atHand, hasMore, mayMoreWait, error };
  const { sessions, hasMore: hasMoreAway = false } = away.value ?? {};
  return { sessions, hasMore: hasMoreAway, mayMoreWait: false, error: away.error };
}

async function listArchived(signal: AbortSignal) {
  const sessions: Session[] = [];
  let cursor: string | undefined;
  do {
    const query = { archived: true, limit: pageMax, ...(cursor === undefined ? {} : { cursor }) };
    const page = await client.list(query, { signal });
    sessions.push(...page.sessions);
    cursor = page.nextCursor;
  } while (cursor !== undefined && sessions.length < archivedMax);
  return { sessions, hasMore: cursor !== undefined };
}
