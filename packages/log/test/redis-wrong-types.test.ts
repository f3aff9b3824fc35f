import { createClient } from 'redis';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import type { Appended, EventLog } from '../src/event-log.ts';
import { redisEventLog } from '../src/redis/redis-event-log.ts';
import { type RedisServer, startRedisServer } from '../src/testing/redis-server.ts';

let server: RedisServer;
let database = 0;
beforeAll(async () => {
  server = await startRedisServer({ settings: ['--databases', '100'] });
});
const cleanUp: (() => unknown)[] = [];
afterEach(async () => {
  for (const action of cleanUp.splice(0)) await action();
});
afterAll(() => server?.dispose());

const entries = [{ type: 't', data: '{"a":1}' }];
const documents = [{ collection: 'c', key: 'k', value: '{}', tag: 'red', expiresAt: Date.now() + 3_600_000 }];

/** Everything that an append can touch. */
function whole(log: EventLog, session: string, key = session): Promise<Appended> {
  const streams = (['domain', 'commands', 'journal', 'events'] as const).map((stream) => ({ stream, entries }));
  return log.append({ session, streams, documents: documents.map((document) => ({ ...document, key })) });
}

async function countsOf(log: EventLog, session: string): Promise<readonly number[]> {
  const pages = await Promise.all(
    (['domain', 'commands', 'journal', 'events'] as const).map((stream) =>
      log.read({ session, stream, after: 0, limit: 10 }).catch(() => ({ entries: [], head: 0 })),
    ),
  );
  return pages.flatMap((page) => [page.entries.length, page.head]);
}

const none = [0, 0, 0, 0, 0, 0, 0, 0];
const one = [1, 1, 1, 1, 1, 1, 1, 1];

/** A log in a database of its own; `spoil` puts something else where we have a key, and gives the way back. */
async function opened() {
  const url = `${server.url}/${database++}`;
  const log = await redisEventLog(url);
  const client = createClient({ url });
  await client.connect();
  cleanUp.push(
    () => client.destroy(),
    () => log.close(),
  );
  return {
    log,
    spoil: async (key: string): Promise<() => Promise<void>> => {
      const kept = (await client.exists(key)) > 0;
      if (kept) await client.rename(key, 'kept');
      if (key === 'concerto:growth') await client.hSet(key, 'a', 'b');
      else await client.set(key, 'not ours');
      return async () => {
        if (kept) await client.rename('kept', key);
        else await client.del(key);
      };
    },
  };
}

describe('a key of another type', () => {
  test.each(['{s}:domain', '{s}:commands', '{s}:journal', '{s}:events', '{s}:meta'])(
    '[L35] %s fails what needs it, whole, and nobody else',
    async (key) => {
      const { log, spoil } = await opened();
      const restore = await spoil(`concerto:${key}`);
      const [before, spoilt, after] = await Promise.allSettled([
        whole(log, 'before'),
        whole(log, 's'),
        whole(log, 'after'),
      ]);
      expect(spoilt).toMatchObject({ status: 'rejected', reason: { code: 'corrupt' } });
      for (const other of [before, after]) expect(other).toMatchObject({ value: { kind: 'appended' } });
      expect(await log.getDocument('c', 's')).toBeUndefined();
      await restore();
      expect(await countsOf(log, 's')).toEqual(none);
      for (const session of ['before', 'after', 's']) {
        if (session === 's') await whole(log, session);
        expect(await countsOf(log, session)).toEqual(one);
      }
    },
  );

  test.each([
    'documents:c',
    'documents:c:order',
    'documents:c:tag:red',
    'collections',
    'expiring',
    'sessions',
    'growth',
    'grown',
  ])('[L35] %s, which many need, leaves nothing half done', async (key) => {
    const { log, spoil } = await opened();
    await whole(log, 'known');
    const restore = await spoil(`concerto:${key}`);
    const tried = await Promise.allSettled(['known', 's', 't'].map((session) => whole(log, session, 'new')));
    for (const each of tried) expect(each).toMatchObject({ status: 'rejected', reason: { code: 'corrupt' } });
    await restore();
    expect(await log.getDocument('c', 'new')).toBeUndefined();
    expect(await countsOf(log, 'known')).toEqual(one);
    for (const session of ['s', 't']) {
      expect(await countsOf(log, session)).toEqual(none);
      await whole(log, session);
      expect(await countsOf(log, session)).toEqual(one);
    }
  });

  test.each(['lease:l', 'leases'])('[L35] %s fails the lease, and what came with it is written', async (key) => {
    const { log, spoil } = await opened();
    const restore = await spoil(`concerto:${key}`);
    const lease = { name: 'l', owner: 'a', ttlMs: 60_000 };
    const fenced = { session: 's', fence: { lease: 'l', epoch: 1 }, streams: [{ stream: 'events', entries }] } as const;
    const [before, acquired, after] = await Promise.allSettled([
      whole(log, 'before'),
      log.acquireLease(lease),
      whole(log, 'after'),
      log.append(fenced),
    ]);
    expect(acquired).toMatchObject({ status: 'rejected', reason: { code: 'corrupt' } });
    for (const other of [before, after]) expect(other).toMatchObject({ value: { kind: 'appended' } });
    await restore();
    for (const session of ['before', 'after']) expect(await countsOf(log, session)).toEqual(one);
    expect(await log.acquireLease(lease)).toEqual({ kind: 'acquired', epoch: 1 });
  });
});
