import { ClientError, type ConcertoClient } from '@concerto/client';
import { type Session, type SessionList, SessionStatus } from '@concerto/protocol';
import { UsageError } from '../arguments.ts';
import { print, printJson } from '../terminal/print.ts';
import { idMeant } from './id-meant.ts';
import { sessionTable } from './show.ts';
import { defineVerb } from './verb.ts';

/** The newest, or those that are looked for. */
export const list = defineVerb({
  usage: '[--status STATUS] [--parent ID] [--tree] [--archived] [--search WORDS]',
  summary: 'list sessions, newest first',
  arguments: { min: 0, max: 0 },
  options: {
    status: { type: 'string', value: 'STATUS', help: 'only sessions with this status' },
    parent: { type: 'string', value: 'ID', help: 'those that it opened' },
    tree: { type: 'boolean', help: 'below each those that it opened' },
    archived: { type: 'boolean', help: 'those that were put away' },
    search: { type: 'string', value: 'WORDS', help: 'those in whose title or texts all of them are' },
  },
  run: async (client, _args, { json, status, parent, tree, archived, search }) => {
    const wanted = status === undefined ? undefined : SessionStatus.safeParse(status);
    if (wanted?.success === false) throw new UsageError(`--status is one of ${SessionStatus.options.join(', ')}`);
    const query = {
      archived,
      ...(wanted === undefined ? {} : { status: wanted.data }),
      ...(parent === undefined ? {} : { parent: await parentMeant(client, parent) }),
      ...(tree ? { tree } : {}),
    };
    const list = await (search === undefined ? client.list(query) : findSessions(client, { ...query, q: search }));
    if (json) printJson(list);
    else if (search !== undefined && list.sessions.length === 0) print('Nothing is found.');
    else print(sessionTable(list.sessions));
    if (!json && list.nextCursor !== undefined) print(`(the newest ${list.sessions.length}; there are older ones)`);
    return 0;
  },
});

/** One in full may be a child itself, which no list of roots shows. */
async function parentMeant(client: ConcertoClient, given: string): Promise<string> {
  try {
    return given === 'last' ? await idMeant(client, given) : (await client.get(given)).id;
  } catch (cause) {
    if (!(cause instanceof ClientError) || cause.code !== 'no_such_session') throw cause;
    return await idMeant(client, given);
  }
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
