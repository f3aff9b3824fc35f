import { createClient } from 'redis';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { EventLog } from '../src/event-log.ts';
import { follow } from '../src/follow.ts';
import { redisEventLog } from '../src/redis/redis-event-log.ts';
import type { Store } from '../src/store.ts';
import { type RedisServer, startRedisServer } from '../src/testing/redis-server.ts';
import { startChild } from './child.ts';
import { type Proxy, startProxy } from './proxy.ts';

const put = (log: EventLog, id: string, session = 's') =>
  log.append({ session, streams: [{ stream: 'events', entries: [{ type: 't', data: JSON.stringify({ id }) }] }] });

async function ids(log: EventLog, session = 's'): Promise<string[]> {
  const page = await log.read({ session, stream: 'events', after: 0, limit: 100_000 });
  expect(page.entries.map(({ position }) => position)).toEqual(page.entries.map((_, index) => index + 1));
  return page.entries.map(({ data }) => JSON.parse(data).id);
}

/** The next growth that is told. */
function growth(log: EventLog): Promise<void> {
  return new Promise((resolve) => {
    const stop = log.onGrowth(() => {
      stop();
      resolve();
    });
  });
}

describe('a Redis store', () => {
  const cleanUp: (() => unknown)[] = [];
  let server: RedisServer;
  beforeEach(async () => {
    server = await startRedisServer();
    cleanUp.push(() => server.dispose());
  });
  afterEach(async () => {
    for (const action of cleanUp.splice(0).reverse()) await action();
  });

  const open = async (url = server.url, patienceMs = 25_000): Promise<Store> => {
    const log = await redisEventLog(url, { patienceMs, outageAfterMs: patienceMs });
    cleanUp.push(() => log.close());
    return log;
  };
  const proxied = async (): Promise<{ proxy: Proxy; url: string }> => {
    const proxy = await startProxy(server.port);
    cleanUp.push(() => proxy.close());
    return { proxy, url: `redis://127.0.0.1:${proxy.port}` };
  };
  const command = async (...args: string[]): Promise<unknown> => {
    const client = createClient({ url: server.url, RESP: 2 });
    await client.connect();
    try {
      return await client.sendCommand(args);
    } finally {
      client.destroy();
    }
  };

  /** Appends without pause from several callers until told to stop; gives the ids that were acknowledged. */
  const writeUntil = (log: EventLog, stopped: () => boolean): Promise<string[]> => {
    const acknowledged: string[] = [];
    const write = async (caller: number): Promise<void> => {
      for (let n = 0; !stopped(); n++) {
        await put(log, `${caller}.${n}`);
        acknowledged.push(`${caller}.${n}`);
      }
    };
    return Promise.all(Array.from({ length: 8 }, (_, caller) => write(caller))).then(() => acknowledged);
  };

  test('[L30] streams are read with XRANGE: type and data, positions as ids, asides between them', async () => {
    const log = await open();
    const ack = { type: 'pause_ack', data: '{"requestId":"r","epoch":1}', aside: true } as const;
    await log.append({
      session: 'abc',
      streams: [
        { stream: 'events', entries: [{ type: 'start', data: '{"type":"start"}' }, ack, ack] },
        { stream: 'commands', entries: [{ type: 'prompt', data: '{"text":"hi"}' }] },
      ],
    });
    expect(await command('XRANGE', 'concerto:{abc}:events', '-', '+')).toEqual([
      ['1-0', ['type', 'start', 'data', '{"type":"start","seq":1}']],
      ['1-1', ['type', 'pause_ack', 'data', ack.data]],
      ['1-2', ['type', 'pause_ack', 'data', ack.data]],
    ]);
    expect(await command('XRANGE', 'concerto:{abc}:commands', '-', '+')).toEqual([
      ['1-0', ['type', 'prompt', 'data', '{"text":"hi"}']],
    ]);
  });

  test('[L32] a restart in the middle of writing loses nothing and doubles nothing', async () => {
    const log = await open();
    let stopped = false;
    const writing = writeUntil(log, () => stopped);
    for (let restart = 0; restart < 3; restart++) {
      await growth(log);
      await server.stop();
      await server.start();
    }
    await put(log, 'last');
    stopped = true;
    const acknowledged = await writing;
    const stored = await ids(log);
    expect(new Set(stored).size).toBe(stored.length);
    expect([...stored].sort()).toEqual([...acknowledged, 'last'].sort());
  });

  test('[L32] kill -9 of Redis loses nothing that was acknowledged', async () => {
    const log = await open();
    let stopped = false;
    const writing = writeUntil(log, () => stopped);
    for (let kill = 0; kill < 5; kill++) {
      await growth(log);
      await server.kill('SIGKILL');
      await server.start();
    }
    stopped = true;
    const acknowledged = await writing;
    const stored = await ids(log);
    expect(new Set(stored).size).toBe(stored.length);
    expect([...stored].sort()).toEqual([...acknowledged].sort());
  });

  test('[L31] what was written before its answer was lost is not written again', async () => {
    const { proxy, url } = await proxied();
    const log = await open(url);
    const direct = await open();
    for (let round = 0; round < 5; round++) {
      const heard = proxy.deafen();
      const calls = Promise.all([
        put(log, `${round}.a`),
        log.createDocument({ collection: 'c', key: `k${round}`, value: '{}' }),
        log.acquireLease({ name: `l${round}`, owner: 'a', ttlMs: 60_000 }),
        put(log, `${round}.b`),
      ]);
      await heard;
      // The store has it, the caller does not know: now the wire breaks.
      while ((await direct.head('s', 'events')) < 2 * round + 2) await direct.ping();
      proxy.cut();
      proxy.mend();
      const [first, created, lease, second] = await calls;
      expect(first).toEqual({ kind: 'appended', positions: { events: 2 * round + 1 } });
      expect(created).toBe(true);
      expect(lease).toEqual({ kind: 'acquired', epoch: 1 });
      expect(second).toEqual({ kind: 'appended', positions: { events: 2 * round + 2 } });
    }
    expect(await ids(direct)).toHaveLength(10);
  });

  test('[L31] a Redis that forgot the script is taught it again', async () => {
    const log = await open();
    await put(log, 'a');
    await command('SCRIPT', 'FLUSH');
    await put(log, 'b');
    expect(await ids(log)).toEqual(['a', 'b']);
  });

  test('[L31] a Redis that stays away is reported, and used again when it is back', async () => {
    const log = await open(server.url, 400);
    await put(log, 'a');
    await server.stop();
    await expect(put(log, 'b')).rejects.toMatchObject({ code: 'unavailable' });
    await expect(log.head('s', 'events')).rejects.toMatchObject({ code: 'unavailable' });
    await expect(log.ping()).rejects.toMatchObject({ code: 'unavailable' });
    await server.start();
    while ((await log.ping().catch(() => 'away')) === 'away');
    await put(log, 'c');
    expect(await ids(log)).toEqual(['a', 'c']);
  });

  test('[L31] once the connection is known to be gone, a call fails long before its patience ends', async () => {
    const log = await redisEventLog(server.url, { patienceMs: 60_000, outageAfterMs: 50 });
    await put(log, 'a');
    await server.stop();
    await expect(log.head('s', 'events')).rejects.toMatchObject({ code: 'unavailable' });
    await expect(put(log, 'b')).rejects.toMatchObject({ code: 'unavailable' });
    await server.start();
    while ((await log.ping().catch(() => 'away')) === 'away');
    await put(log, 'c');
    expect(await ids(log)).toEqual(['a', 'c']);
    await log.close();
  });

  test('[L31] a Redis that is silent is reported, and used again when it speaks', async () => {
    const log = await open(server.url, 400);
    await put(log, 'a');
    await server.kill('SIGSTOP');
    await expect(put(log, 'b')).rejects.toMatchObject({ code: 'unavailable' });
    await expect(log.head('s', 'events')).rejects.toMatchObject({ code: 'unavailable' });
    await server.kill('SIGCONT');
    while ((await log.ping().catch(() => 'away')) === 'away');
    await put(log, 'c');
    const stored = await ids(log);
    expect(new Set(stored).size).toBe(stored.length);
    expect(stored.at(-1)).toBe('c');
  });

  test('[L28] a store of a newer version is refused and left as it is; ours says which it is', async () => {
    await put(await open(), 'a');
    expect(await command('GET', 'concerto:format')).toBe('1');
    await command('SET', 'concerto:format', '2');
    await expect(redisEventLog(server.url)).rejects.toThrow(
      /written by a newer version \(format 2, this one knows 1\)/,
    );
    expect(await command('GET', 'concerto:format')).toBe('2');
  });

  test('[L34] a follower in one process is woken by an append in another', async () => {
    const here = await open();
    const there = await open();
    const pages = follow(here, { session: 's', stream: 'events', after: 0 })[Symbol.asyncIterator]();
    for (const id of ['a', 'b', 'c']) {
      const next = pages.next();
      await put(there, id);
      expect((await next).value).toMatchObject({ entries: [{ data: expect.stringContaining(id) }] });
    }
    await pages.return?.();
  });

  test('[L34] databases of one server are stores of their own', async () => {
    const first = await open(`${server.url}/1`);
    const second = await open(`${server.url}/2`);
    const heard: string[] = [];
    second.onGrowth((session) => heard.push(session));
    await put(first, 'a', 'mine');
    const grown = growth(second);
    await put(second, 'b', 'theirs');
    await grown;
    expect(heard).toEqual(['theirs']);
    expect(await first.listSessions(undefined, 9)).toEqual(['mine']);
  });

  test('[L34] what grew while the wire was cut is told when it is mended', async () => {
    const { proxy, url } = await proxied();
    const here = await open(url);
    const there = await open();
    await put(there, 'before');
    const pages = follow(here, { session: 's', stream: 'events', after: 0 })[Symbol.asyncIterator]();
    await pages.next();
    const next = pages.next();
    proxy.cut();
    await put(there, 'meanwhile');
    proxy.mend();
    expect((await next).value).toMatchObject({ entries: [{ position: 2 }] });
    await pages.return?.();
  });

  test('[L33] a runner that slept through its lease is fenced and writes nothing more', async () => {
    const log = await open();
    const child = startChild('redis-runner.ts', server.url, '300');
    expect((await child.lines.next()).value).toBe('acquired 1');
    expect((await child.lines.next()).value).toBe('appended');
    child.process.kill('SIGSTOP');
    let lease = await log.acquireLease({ name: 'session:s', owner: 'other', ttlMs: 60_000 });
    while (lease.kind === 'held') lease = await log.acquireLease({ name: 'session:s', owner: 'other', ttlMs: 60_000 });
    expect(lease.epoch).toBe(2);
    const head = await log.head('s', 'events');
    child.process.kill('SIGCONT');
    const rest: string[] = [];
    for await (const line of child.lines) rest.push(line);
    await child.gone;
    expect(rest.slice(-2)).toEqual(['fenced', 'renewed false']);
    expect(await log.head('s', 'events')).toBe(head);
  });

  test('[L35] a full, a read-only, a locked and a clustered Redis say what to do', async () => {
    const log = await open();
    await command('CONFIG', 'SET', 'maxmemory', '1');
    await expect(put(log, 'x')).rejects.toMatchObject({ code: 'full' });
    await command('CONFIG', 'SET', 'maxmemory', '0');
    await put(log, 'y');
    expect(await ids(log)).toEqual(['y']);

    await command('REPLICAOF', '127.0.0.1', '1');
    await expect(put(log, 'z')).rejects.toMatchObject({ code: 'read-only' });
    await command('REPLICAOF', 'NO', 'ONE');

    await command('CONFIG', 'SET', 'requirepass', 'secret');
    await expect(redisEventLog(server.url)).rejects.toThrow('wants a password');
    await expect(redisEventLog(server.url.replace('//', '//:wrong@'))).rejects.toThrow('refused the name or password');
    const cluster = await startRedisServer({ settings: ['--cluster-enabled', 'yes'] });
    cleanUp.push(() => cluster.dispose());
    await expect(redisEventLog(cluster.url)).rejects.toThrow('is a Redis Cluster');
  });

  test('[L35] a user that may not do all that is needed is told what to allow, and one with just that may', async () => {
    const rights = '+@read +@write +@pubsub +@scripting +@connection +info +time'.split(' ');
    const openAs = async (name: string, ...more: string[]): Promise<Store> => {
      await command('ACL', 'SETUSER', name, 'on', '>pw', '~concerto:*', '&concerto:*', ...rights, ...more);
      return await open(server.url.replace('//', `//${name}:pw@`));
    };
    const log = await openAs('enough');
    await Promise.all([log.ping(), put(log, 'x'), log.putDocument({ collection: 'c', key: 'k', value: '{}' })]);
    expect([await ids(log), await log.size()]).toEqual([['x'], expect.any(Number)]);
    expect(await log.acquireLease({ name: 'l', owner: 'o', ttlMs: 1_000 })).toEqual({ kind: 'acquired', epoch: 1 });
    const allow = `ACL SETUSER NAME ~concerto:* &concerto:* ${rights.join(' ')}`;
    const refused = { code: 'refused', message: expect.stringContaining(allow) };
    await expect(openAs('no-info', '-info')).rejects.toMatchObject(refused);
    await expect(openAs('no-channel', 'resetchannels')).rejects.toMatchObject(refused);
    // Within the script Redis says it in other words.
    for (const command of ['-xadd', '-publish']) {
      const limited = await openAs(`no${command}`, command);
      await expect(put(limited, 'y')).rejects.toMatchObject(refused);
    }
  });

  test('[L35] a database number that the server does not have is named at once', async () => {
    const refused = redisEventLog(`${server.url}/99`);
    await expect(refused).rejects.toMatchObject({ code: 'bad-url' });
    await expect(refused).rejects.toThrow('/99 has no database of this number');
  });

  test('[L35] a Redis that may forget is warned of, one that does not is not', async () => {
    const warnings: string[] = [];
    const onWarning = (message: string): void => void warnings.push(message);
    await (await redisEventLog(server.url, { onWarning })).close();
    expect(warnings).toEqual([]);
    await command('CONFIG', 'SET', 'appendfsync', 'everysec');
    await (await redisEventLog(server.url, { onWarning })).close();
    await command('CONFIG', 'SET', 'appendonly', 'no');
    await (await redisEventLog(server.url, { onWarning })).close();
    expect(warnings).toEqual([
      expect.stringContaining('appendfsync always'),
      expect.stringContaining('keeps nothing when it restarts'),
    ]);
  });

  test('[L35] a stream that others wrote to is reported, and other sessions go on', async () => {
    const log = await open();
    await command('XADD', 'concerto:{s}:events', '*', 'type', 'foreign', 'data', '{}');
    // Nor is it shown to anybody, whose cursor it would be.
    const shown = await log.read({ session: 's', stream: 'events', after: 0, limit: 10 });
    expect(shown.entries.filter(({ type }) => type === 'foreign')).toEqual([]);
    expect(shown.head).toBe(await log.head('s', 'events'));
    const [bad, good] = await Promise.allSettled([put(log, 'a'), put(log, 'b', 'other')]);
    expect(bad).toMatchObject({ status: 'rejected', reason: { code: 'corrupt' } });
    expect(good).toMatchObject({ status: 'fulfilled' });
  });
});
