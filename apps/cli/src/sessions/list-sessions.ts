import type { ConcertoClient } from '@concerto/client';
import { type Session, type SessionList, SessionStatus } from '@concerto/protocol';
import { UsageError } from '../arguments.ts';
import { print, printJson } from '../terminal/print.ts';
import { sessionTable } from './show.ts';

type Listing = {
  readonly json: boolean;
  readonly status: string | undefined;
  readonly archived: boolean;
  readonly search: string | undefined;
};

/** The newest, or those that are looked for. */
export async function listSessions(client: ConcertoClient, options: Listing): Promise<number> {
  const { json, status, archived, search } = options;
  const wanted = status === undefined ? undefined : SessionStatus.safeParse(status);
  if (wanted?.success === false) throw new UsageError(`--status is one of ${SessionStatus.options.join(', ')}`);
  const query = { archived, ...(wanted === undefined ? {} : { status: wanted.data }) };
  const list = await (search === undefined ? client.list(query) : findSessions(client, { ...query, q: search }));
  if (json) printJson(list);
  else if (search !== undefined && list.sessions.length === 0) print('Nothing is found.');
  else print(sessionTable(list.sessions));
  if (!json && list.nextCursor !== undefined) print(`(the newest ${list.sessions.length}; there are older ones)`);
  return 0;
}

const foundMax = 50;

/** One call looks through a part: until there are enough, or no more. */
async function findSessions(
  client: ConcertoClient,
  query: Parameters<ConcertoClient['list']>[0],
): Promise<SessionList> {
  const sessions: Session[] = [];
  for (let cursor: string | undefined; ; ) {
    const page = await client.list({ ...query, ...(cursor === undefined ? {} : { cursor }) });
    sessions.push(...page.sessions);
    cursor = page.nextCursor;
    if (cursor === undefined) return { sessions };
    if (sessions.length >= foundMax) return { sessions, nextCursor: cursor };
  }
}
