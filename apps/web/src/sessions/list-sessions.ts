import type { ConcertoClient } from '@concerto/client';
import { finalStatuses, type Session, type SessionStatus } from '@concerto/protocol';
import { needsYou } from '../status/status-words.ts';

const pageMax = 200;

/** What one looks for, in the words of the page. */
export const filters = {
  all: { label: 'All', statuses: undefined },
  you: { label: 'Needs you', statuses: needsYou },
  working: {
    label: 'Working',
    statuses: ['queued', 'starting', 'running', 'interrupting', 'pausing', 'resuming', 'cancelling'],
  },
  held: { label: 'On hold', statuses: ['paused', 'interrupted'] },
  idle: { label: 'Idle', statuses: ['idle'] },
  over: { label: 'Over', statuses: finalStatuses },
} as const satisfies Record<string, { label: string; statuses: readonly SessionStatus[] | undefined }>;

export type FilterName = keyof typeof filters;

export const filterNames: readonly FilterName[] = ['all', 'you', 'working', 'held', 'idle', 'over'];

export type Listed = { readonly sessions: readonly Session[]; readonly hasMore: boolean };

/** The newest sessions of a filter; those that wait for a person come first, wherever they stand. */
export async function listSessions(
  client: ConcertoClient,
  filter: FilterName,
  wanted: number,
  signal: AbortSignal,
): Promise<Listed> {
  const { statuses } = filters[filter];
  const asked: readonly (SessionStatus | undefined)[] = statuses ?? [undefined, ...needsYou];
  const lists = await Promise.all(asked.map((status) => newest(client, status, wanted, signal)));
  const byId = new Map(lists.flatMap((list) => list.sessions).map((session) => [session.id, session]));
  const sorted = [...byId.values()].sort(waitingFirst);
  return {
    sessions: sorted.slice(0, wanted),
    hasMore: sorted.length > wanted || lists.some((list) => list.hasMore),
  };
}

async function newest(
  client: ConcertoClient,
  status: SessionStatus | undefined,
  wanted: number,
  signal: AbortSignal,
): Promise<Listed> {
  const sessions: Session[] = [];
  let cursor: string | undefined;
  do {
    const query = { limit: Math.min(pageMax, wanted - sessions.length), ...(status === undefined ? {} : { status }) };
    const page = await client.list(cursor === undefined ? query : { ...query, cursor }, { signal });
    sessions.push(...page.sessions);
    cursor = page.nextCursor;
  } while (cursor !== undefined && sessions.length < wanted);
  return { sessions, hasMore: cursor !== undefined };
}

/** Who has waited longest for a person comes first; the others by age, the newest first. */
export function waitingFirst(a: Session, b: Session): number {
  const aWaits = needsYou.includes(a.status);
  if (aWaits !== needsYou.includes(b.status)) return aWaits ? -1 : 1;
  if (aWaits) return (a.waiting?.since ?? a.updatedAt) < (b.waiting?.since ?? b.updatedAt) ? -1 : 1;
  if (a.createdAt === b.createdAt) return a.id < b.id ? -1 : 1;
  return a.createdAt > b.createdAt ? -1 : 1;
}
