import type { ConcertoClient } from '@concerto/client';
import type { Session, SessionStatus } from '@concerto/protocol';
import { needsYou } from '../status/status-words.ts';

const pageMax = 200;
/**
 * A program works on while an agent that it called waits, and a session whose budget is used up is paused while it asks:
 * all of those are looked through, however old they are.
 */
const soughtOut: readonly SessionStatus[] = [...needsYou, 'paused', 'running'];

type Listed = { readonly sessions: readonly Session[]; readonly hasMore: boolean };
/** `mayMoreWait`: of those that are looked through for who waits, some were not read. */
type AllListed = Listed & { readonly mayMoreWait: boolean };

/** The newest sessions, and all that wait for a person, however old they are. */
export async function listSessions(client: ConcertoClient, wanted: number): Promise<AllListed> {
  const [all, ...sought] = await Promise.all([
    newest(client, undefined, wanted),
    ...soughtOut.map((status) => newest(client, status, wanted)),
  ]);
  const lists = [all, ...sought];
  const byId = new Map(lists.flatMap((list) => list.sessions).map((session) => [session.id, session]));
  return {
    sessions: [...byId.values()],
    hasMore: lists.some((list) => list.hasMore),
    mayMoreWait: sought.some((list) => list.hasMore),
  };
}

async function newest(client: ConcertoClient, status: SessionStatus | undefined, wanted: number): Promise<Listed> {
  const sessions: Session[] = [];
  let cursor: string | undefined;
  do {
    const limit = Math.min(pageMax, Math.max(1, wanted - sessions.length));
    const query = { limit, tree: true, ...(status === undefined ? {} : { status }) };
    const page = await client.list(cursor === undefined ? query : { ...query, cursor });
    sessions.push(...page.sessions);
    cursor = page.nextCursor;
  } while (cursor !== undefined && sessions.length < wanted);
  return { sessions, hasMore: cursor !== undefined };
}
