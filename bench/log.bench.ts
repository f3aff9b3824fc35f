import { createHash } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Append, type EventLog, openEventLog } from '@concerto/log';
import { hasRedisServer, startRedisServer } from '@concerto/log/testing';
import Database from 'libsql';
import { createClient } from 'redis';
import { compare, median, type Row } from './row.ts';

export const name = 'log: durable appends and paged replay, events of 300 bytes, against the same store used directly';

const data = JSON.stringify({ type: 'content', text: 'x'.repeat(270) });
const WRITERS = 64;
const PAGE = 512;
const REPLAYED = 100_000;

export async function run(): Promise<readonly Row[]> {
  const folder = mkdtempSync(join(tmpdir(), 'concerto-bench-'));
  try {
    const rows = [...(await sqliteRows(folder))];
    if (hasRedisServer()) rows.push(...(await redisRows()));
    return rows;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

async function perSecond(count: number, work: () => Promise<unknown> | void): Promise<number> {
  const start = process.hrtime.bigint();
  await work();
  return (count * 1e9) / Number(process.hrtime.bigint() - start);
}

/** Each writer waits for its append before the next, as 64 sessions at work would. */
function appendFrom(log: EventLog, writers: number, each: number): Promise<unknown> {
  const write = async (writer: number): Promise<void> => {
    const entries = [{ type: 'content', data }];
    for (let n = 0; n < each; n++)
      await log.append({ session: `w${writer}`, streams: [{ stream: 'events', entries }] });
  };
  return Promise.all(Array.from({ length: writers }, (_, writer) => write(writer)));
}

/** What one message of a user writes, in one of a few sessions. */
let messages = 0;
function message(): Append {
  const session = `m${messages++ % 20}`;
  const entry = { type: 'content', data };
  return {
    session,
    streams: [
      { stream: 'domain', entries: [entry, entry] },
      { stream: 'commands', entries: [entry] },
      { stream: 'events', entries: [entry, entry, entry] },
    ],
    documents: [{ collection: 'sessions', key: session, value: data, sort: messages }],
  };
}

/** One after the other, each waited for. */
async function medianMicros(work: () => unknown): Promise<number> {
  const times: number[] = [];
  for (let n = 0; n < 500; n++) {
    const start = process.hrtime.bigint();
    await work();
    times.push(Number(process.hrtime.bigint() - start) / 1_000);
  }
  return median(times);
}

async function replay(log: EventLog): Promise<void> {
  let after = 0;
  for (;;) {
    const { entries } = await log.read({ session: 'long', stream: 'events', after, limit: PAGE });
    const last = entries.at(-1);
    if (last === undefined) break;
    after = last.position;
  }
  if (after !== REPLAYED) throw new Error(`replayed ${after} of ${REPLAYED}`);
}

async function fill(log: EventLog): Promise<void> {
  const entries = Array.from({ length: 1_000 }, () => ({ type: 'content', data }));
  for (let n = 0; n < REPLAYED; n += entries.length) {
    await log.append({ session: 'long', streams: [{ stream: 'events', entries }] });
  }
}

async function sqliteRows(folder: string): Promise<Row[]> {
  const each = 300;
  const log = await openEventLog(`sqlite:${join(folder, 'ours.db')}`, { now: Date.now });
  const raw = rawSqlite(join(folder, 'raw.db'));
  const row = { name: 'SQLite: durable append, 64 writers', unit: 'events/s', target: '>= 0.70' };
  const append = await compare(row, {
    ours: () => perSecond(WRITERS * each, () => appendFrom(log, WRITERS, each)),
    reference: () => perSecond(WRITERS * each, () => raw.append(each)),
  });
  const small = await compare(
    { name: "SQLite: durable append of a message's 6 entries and a document, p50", unit: 'µs', target: '<= 1.5' },
    { ours: () => medianMicros(() => log.append(message())), reference: () => medianMicros(() => raw.row()) },
  );
  await fill(log);
  raw.fill();
  const replayed = await compare(
    { name: 'SQLite: paged replay of 100k', unit: 'events/s', target: '>= 0.70' },
    {
      ours: () => perSecond(REPLAYED, () => replay(log)),
      reference: () => perSecond(REPLAYED, () => raw.replay()),
    },
  );
  await log.close();
  raw.close();
  return [append, small, replayed];
}

/** The bare driver: one table, one key, group commit of 64. */
function rawSqlite(path: string) {
  const db = new Database(path);
  db.exec('PRAGMA journal_mode = WAL');
  db.exec('PRAGMA synchronous = FULL');
  db.exec('CREATE TABLE entries (id INTEGER PRIMARY KEY, type TEXT NOT NULL, data TEXT NOT NULL)');
  db.exec('CREATE TABLE rows (id INTEGER PRIMARY KEY, data TEXT NOT NULL)');
  const begin = db.prepare('BEGIN IMMEDIATE');
  const commit = db.prepare('COMMIT');
  const insert = db.prepare('INSERT INTO entries (id, type, data) VALUES (?, ?, ?)');
  const insertRow = db.prepare('INSERT INTO rows (data) VALUES (?)');
  const page = db.prepare('SELECT id, type, data FROM entries WHERE id > ? ORDER BY id LIMIT ?').raw();
  const stride = 2 ** 28;
  let written = 0;
  return {
    append(commits: number): void {
      for (let n = 0; n < commits; n++) {
        written++;
        begin.run();
        for (let writer = 0; writer < WRITERS; writer++) insert.run(writer * stride + written, 'content', data);
        commit.run();
      }
    },
    /** As much text in one row, a commit of its own. */
    row: () => insertRow.run(data.repeat(7)),
    fill(): void {
      begin.run();
      for (let n = 1; n <= REPLAYED; n++) insert.run(1_000 * stride + n, 'content', data);
      commit.run();
    },
    replay(): void {
      let after = 1_000 * stride;
      for (;;) {
        const rows: unknown[] = page.all(after, PAGE);
        const last = rows.at(-1);
        if (!Array.isArray(last)) break;
        after = Number(last[0]);
      }
    },
    close: () => db.close(),
  };
}

async function redisRows(): Promise<Row[]> {
  const server = await startRedisServer();
  const log = await openEventLog(server.url, { now: Date.now });
  const raw = await rawRedis(server.url);
  const each = 100;
  const total = WRITERS * each;
  try {
    const ours = (): Promise<number> => perSecond(total, () => appendFrom(log, WRITERS, each));
    const unit = 'events/s';
    const rows = [
      await compare(
        { name: 'Redis: durable append, 64 writers, vs script of 32, 2 under way', unit, target: '>= 0.70' },
        { ours, reference: () => perSecond(total, () => raw.scripted(2, total)) },
      ),
      await compare(
        { name: 'Redis: durable append, 64 writers, vs pipelined XADD', unit, target: '>= 0.70' },
        { ours, reference: () => perSecond(total, () => raw.pipelined(each)) },
      ),
      await compare(
        { name: 'Redis: durable append, 256 writers, vs script of 32, 8 under way', unit, target: '>= 0.70' },
        {
          ours: () => perSecond(256 * each, () => appendFrom(log, 256, each)),
          reference: () => perSecond(256 * each, () => raw.scripted(8, 256 * each)),
        },
      ),
    ];
    await fill(log);
    const key = 'concerto:{long}:events';
    rows.push(
      await compare(
        { name: 'Redis: paged replay of 100k', unit, target: '>= 0.70' },
        {
          ours: () => perSecond(REPLAYED, () => replay(log)),
          reference: () => perSecond(REPLAYED, () => raw.replay(key)),
        },
      ),
    );
    return rows;
  } finally {
    raw.close();
    await log.close();
    await server.dispose();
  }
}

/** Appends to each of 32 streams if it holds what is expected: what any conditional append has to do at least. */
const conditional = `
for i = 1, #KEYS do
  local head = redis.call('HGET', KEYS[i] .. ':head', 'n') or '0'
  if head ~= ARGV[i * 2 - 1] then return redis.error_reply('conflict') end
end
for i = 1, #KEYS do
  local position = tonumber(ARGV[i * 2 - 1]) + 1
  redis.call('XADD', KEYS[i], position .. '-0', 'type', 'content', 'data', ARGV[i * 2])
  redis.call('HSET', KEYS[i] .. ':head', 'n', position)
end
return 1`;

async function rawRedis(url: string) {
  const client = createClient({ url });
  await client.connect();
  await client.sendCommand(['SCRIPT', 'LOAD', conditional]);
  const sha = createHash('sha1').update(conditional).digest('hex');
  const heads = new Map<string, number>();
  const batch = async (lane: number): Promise<void> => {
    const keys = Array.from({ length: 32 }, (_, index) => `raw:${lane}:${index}`);
    const args = keys.flatMap((key) => [String(heads.get(key) ?? 0), data]);
    for (const key of keys) heads.set(key, (heads.get(key) ?? 0) + 1);
    await client.sendCommand(['EVALSHA', sha, '32', ...keys, ...args]);
  };
  return {
    async scripted(lanes: number, events: number): Promise<void> {
      const rounds = events / 32 / lanes;
      const run = async (lane: number): Promise<void> => {
        for (let n = 0; n < rounds; n++) await batch(lane);
      };
      await Promise.all(Array.from({ length: lanes }, (_, lane) => run(lane)));
    },
    async pipelined(each: number): Promise<void> {
      const run = async (writer: number): Promise<void> => {
        for (let n = 0; n < each; n++) {
          await client.sendCommand(['XADD', `plain:${writer}`, '*', 'type', 'content', 'data', data]);
        }
      };
      await Promise.all(Array.from({ length: WRITERS }, (_, writer) => run(writer)));
    },
    async replay(key: string): Promise<void> {
      let from = '-';
      for (;;) {
        const items: unknown = await client.sendCommand(['XRANGE', key, from, '+', 'COUNT', String(PAGE)]);
        const last: unknown = Array.isArray(items) ? items.at(-1) : undefined;
        if (!Array.isArray(last)) break;
        from = `(${last[0]}`;
      }
    },
    close: () => client.destroy(),
  };
}
