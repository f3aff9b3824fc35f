import { type StreamName, streamNames } from '../event-log.ts';
import { DUMP_BATCH, type StoreRecord } from '../store.ts';
import type { RedisClient } from './redis-connection.ts';
import { documentsKey, fetchMembers } from './redis-documents.ts';
import { listReply, numberReply, streamEntry, textReply, timeReply } from './redis-reply.ts';
import { metaKey, readSessions, streamKey } from './redis-streams.ts';

type Query = <T>(run: (client: RedisClient) => Promise<T>) => Promise<T>;
type Records = AsyncGenerator<readonly StoreRecord[]>;

export async function* dumpRedis(query: Query, aheadMs: () => number): Records {
  const now = timeReply(await query((client) => client.sendCommand(['TIME']))) + aheadMs();
  let after: string | undefined;
  for (;;) {
    const sessions = await query((client) => readSessions(client, after, DUMP_BATCH));
    if (sessions.length === 0) break;
    for (const session of sessions) for (const stream of streamNames) yield* dumpStream(query, session, stream);
    after = sessions.at(-1);
  }
  const collections = listReply(await query((client) => client.sendCommand(['SMEMBERS', 'concerto:collections'])));
  for (const collection of collections) yield* dumpCollection(query, decodeURIComponent(textReply(collection)), now);
  yield* dumpLeases(query, now);
}

async function* dumpStream(query: Query, session: string, stream: StreamName): Records {
  const meta = await query((client) => client.sendCommand(['HMGET', metaKey(session), stream, `${stream}:trimmed`]));
  const [head, trimmed] = listReply(meta);
  if (head === null) return;
  yield [{ kind: 'stream', session, stream, head: numberReply(head), oldest: numberReply(trimmed) + 1 }];
  let from = '-';
  for (;;) {
    const command = ['XRANGE', streamKey(session, stream), from, '+', 'COUNT', String(DUMP_BATCH)];
    const items = listReply(await query((client) => client.sendCommand(command)));
    if (items.length === 0) return;
    from = `(${textReply(listReply(items.at(-1))[0])}`;
    yield items.map((item) => ({ kind: 'entry', session, stream, ...streamEntry(item) }));
  }
}

async function* dumpCollection(query: Query, collection: string, now: number): Records {
  const key = documentsKey(collection);
  for await (const members of inOrder(query, `${key}:order`)) {
    const documents = await query((client) => fetchMembers(client, key, members));
    const live = documents.filter(({ expiresAt }) => expiresAt === undefined || expiresAt > now);
    yield live.map((document) => ({ kind: 'document', collection, ...document }));
  }
}

async function* dumpLeases(query: Query, now: number): Records {
  for await (const leases of inOrder(query, 'concerto:leases')) {
    const fields = (name: string): string[] => ['HMGET', `concerto:lease:${name}`, 'epoch', 'owner', 'expires'];
    const replies = await query((client) => Promise.all(leases.map((name) => client.sendCommand(fields(name)))));
    yield leases.map((name, index): StoreRecord => {
      const [epoch, owner, expires] = listReply(replies[index]);
      const held = typeof owner === 'string' && owner !== '' && numberReply(expires) > now;
      return { kind: 'lease', name, epoch: numberReply(epoch), ...(held && { heldBy: owner }) };
    });
  }
}

async function* inOrder(query: Query, key: string): AsyncGenerator<readonly string[]> {
  let from = '-';
  for (;;) {
    const command = ['ZRANGEBYLEX', key, from, '+', 'LIMIT', '0', String(DUMP_BATCH)];
    const members = listReply(await query((client) => client.sendCommand(command))).map(textReply);
    if (members.length === 0) return;
    yield members;
    from = `(${members.at(-1)}`;
  }
}
