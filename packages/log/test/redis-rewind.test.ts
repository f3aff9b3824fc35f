import { createClient } from 'redis';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { EventLog } from '../src/event-log.ts';
import { redisEventLog } from '../src/redis/redis-event-log.ts';
import { type RedisServer, startRedisServer } from '../src/testing/redis-server.ts';
import { startProxy } from './proxy.ts';

const cleanUp: (() => unknown)[] = [];
let server: RedisServer;
beforeEach(async () => {
  server = await startRedisServer();
  cleanUp.push(() => server.dispose());
});
afterEach(async () => {
  for (const action of cleanUp.splice(0).reverse()) await action();
});

const put = (log: EventLog, id: string) =>
  log.append({ session: 's', streams: [{ stream: 'events', entries: [{ type: 't', data: JSON.stringify({ id }) }] }] });

async function ids(log: EventLog): Promise<string[]> {
  const { entries } = await log.read({ session: 's', stream: 'events', after: 0, limit: 1_000 });
  return entries.map(({ data }) => JSON.parse(data).id);
}

async function command(...args: string[]): Promise<unknown> {
  const client = createClient({ url: server.url });
  await client.connect();
  try {
    return await client.sendCommand(args);
  } finally {
    client.destroy();
  }
}

/** A log behind a wire that can be cut, and what it was told. */
async function opened() {
  const proxy = await startProxy(server.port);
  cleanUp.push(() => proxy.close());
  const told = { rewinds: 0, warnings: [] as string[] };
  const log = await redisEventLog(`redis://127.0.0.1:${proxy.port}`, {
    // On a machine under load what others do meanwhile takes longer than anybody would wait.
    patienceMs: 40_000,
    outageAfterMs: 30_000,
    onWarning: (message) => told.warnings.push(message),
  });
  cleanUp.push(() => log.close());
  log.onRewind(() => told.rewinds++);
  return { log, proxy, told };
}

/** Somebody else who writes while we are away. */
async function others(count: number): Promise<void> {
  const log = await redisEventLog(server.url);
  for (let n = 0; n < count; n++) await put(log, `other ${n}`);
  await log.close();
}

describe('a store that has less than it acknowledged', () => {
  test('[L36] is noticed with the next change, and said once', async () => {
    const { log, told } = await opened();
    for (const id of ['a', 'b', 'c']) await put(log, id);
    await command('FLUSHALL');
    await put(log, 'd');
    await expect.poll(() => told.rewinds, { timeout: 10_000 }).toBe(1);
    expect(await ids(log)).toEqual(['d']);
    for (const id of ['e', 'f']) await put(log, id);
    await log.ping();
    expect(told).toEqual({
      rewinds: 1,
      warnings: [expect.stringContaining('changes where it had acknowledged 3')],
    });
  });

  test('[L36] is noticed though nobody changes anything, and its format is marked anew', async () => {
    const { log, proxy, told } = await opened();
    for (const id of ['a', 'b']) await put(log, id);
    await command('FLUSHALL');
    await expect.poll(() => told.rewinds, { timeout: 10_000 }).toBe(1);
    expect(told.warnings).toEqual([expect.stringContaining('it counts 0 changes where it had acknowledged 2')]);
    proxy.cut();
    proxy.mend();
    await expect.poll(() => command('GET', 'concerto:format'), { timeout: 10_000 }).toBe('1');
    await log.ping();
    expect(told.rewinds).toBe(1);
  });

  test('[L36] is noticed by whoever asks whether it is ready', async () => {
    const { log, told } = await opened();
    await put(log, 'a');
    await log.ping();
    await command('FLUSHALL');
    await log.ping();
    expect(told.rewinds).toBe(1);
  });

  test.each([
    { while: 'counts less', changes: 1 },
    { while: 'counts as many', changes: 3 },
    { while: 'counts more', changes: 7 },
  ])('[L36] is noticed when the connection comes back and it $while by the work of others', async ({ changes }) => {
    const { log, proxy, told } = await opened();
    for (const id of ['a', 'b', 'c']) await put(log, id);
    await log.ping();
    proxy.cut();
    await command('FLUSHALL');
    await others(changes);
    proxy.mend();
    await expect.poll(() => told.rewinds, { timeout: 10_000 }).toBe(1);
    await log.ping();
    expect(told.warnings).toHaveLength(1);
  });

  test('[L36] is noticed before anything that waits is written to it', async () => {
    const { log, proxy, told } = await opened();
    for (const id of ['a', 'b', 'c']) await put(log, id);
    await log.ping();
    for (let round = 1; round <= 5; round++) {
      proxy.cut();
      await command('FLUSHALL');
      await others(3);
      const waits = put(log, 'meant for what was there').then(
        () => 'written',
        (cause: unknown) => cause,
      );
      proxy.mend();
      expect(await waits).toMatchObject({ code: 'unavailable' });
      expect(told.rewinds).toBe(round);
      expect(await ids(log)).toEqual(['other 0', 'other 1', 'other 2']);
    }
    await put(log, 'd');
    expect(await ids(log)).toHaveLength(4);
  });

  test('[L36] one that only was away has not', async () => {
    const { log, proxy, told } = await opened();
    for (const id of ['a', 'b', 'c']) await put(log, id);
    for (let round = 0; round < 3; round++) {
      proxy.cut();
      await others(5);
      proxy.mend();
      await put(log, `back ${round}`);
      await log.ping();
    }
    expect(told).toEqual({ rewinds: 0, warnings: [] });
  });
});
