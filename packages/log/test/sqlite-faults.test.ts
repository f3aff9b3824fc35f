import { once } from 'node:events';
import {
  chmodSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Database from 'libsql';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { LogError } from '../src/event-log.ts';
import { backupSqlite } from '../src/sqlite/backup-sqlite.ts';
import { sqliteEventLog } from '../src/sqlite/sqlite-event-log.ts';
import type { Store } from '../src/store.ts';
import { startChild } from './child.ts';

let folder = '';
let path = '';
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'concerto-faults-'));
  path = join(folder, 'store.db');
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const open = (maxBytes?: number): Store =>
  sqliteEventLog(path, { now: Date.now, ...(maxBytes !== undefined && { maxBytes }) });

function put(log: Store, session: string, length = 10): Promise<unknown> {
  const data = JSON.stringify({ text: 'x'.repeat(length) });
  return log.append({ session, streams: [{ stream: 'events', entries: [{ type: 't', data }] }] });
}

function refusal(at: string): LogError {
  try {
    sqliteEventLog(at, { now: Date.now });
  } catch (error) {
    if (error instanceof LogError) return error;
    throw error;
  }
  throw new Error('it opened');
}

/** Its mode, its bytes, and what lies in its folder. */
function asItIs(file: string): unknown {
  return { mode: statSync(file).mode & 0o777, bytes: readFileSync(file), beside: readdirSync(folder) };
}

describe('a SQLite store', () => {
  test('[L23] is as it was after closing and opening', async () => {
    const first = open();
    await put(first, 's');
    await first.append({
      session: 's',
      streams: [{ stream: 'events', entries: [{ type: 'ack', data: '{}', aside: true }] }],
    });
    await first.acquireLease({ name: 'l', owner: 'a', ttlMs: 60_000 });
    await first.putDocument({ collection: 'c', key: 'k', value: '{"v":1}', sort: 4, tag: 't' });
    await first.close();
    const second = open();
    expect(await second.head('s', 'events')).toBe(1);
    expect(await second.getDocument('c', 'k')).toEqual({ key: 'k', value: '{"v":1}', sort: 4, tag: 't' });
    // The lock proves that the old holder is gone, so its lease is free; its epoch is not forgotten.
    const fence = { lease: 'l', epoch: 1 };
    expect(await second.append({ session: 's', fence, streams: [] })).toEqual({ kind: 'fenced', epoch: 1 });
    expect(await second.acquireLease({ name: 'l', owner: 'b', ttlMs: 1 })).toEqual({ kind: 'acquired', epoch: 2 });
    await second.close();
  });

  test('[L25] refuses a second process and names the first', async () => {
    const child = startChild('sqlite-writer.ts', path, '0');
    await child.lines.next();
    const error = refusal(path);
    expect(error.code).toBe('unavailable');
    expect(error.message).toContain(`in use by the process ${child.process.pid}`);
    child.process.kill('SIGKILL');
    await child.gone;
    await open().close();
  });

  test('[L25] whoever is refused does the owner no harm, also where that took the store over from one that was killed', async () => {
    const killed = startChild('sqlite-writer.ts', path, '0');
    await killed.lines.next();
    killed.process.kill('SIGKILL');
    await killed.gone;
    const owner = startChild('sqlite-writer.ts', path, '1');
    await owner.lines.next();
    const other = startChild('sqlite-refused.ts', path);
    expect((await other.lines.next()).value).toContain(`in use by the process ${owner.process.pid}`);
    await other.gone;
    for (let line = 0; line < 200; line++) expect((await owner.lines.next()).done).toBe(false);
    expect(owner.process.signalCode).toBe(null);
    owner.process.kill('SIGKILL');
    await owner.gone;
  });

  test('[L25] refuses to be opened twice by one process', async () => {
    const log = open();
    expect(refusal(path).message).toContain(`process ${process.pid}`);
    await put(log, 's');
    await log.close();
  });

  test('[L25] refuses it by every name that the file has', async () => {
    const log = open();
    await put(log, 's');
    symlinkSync(path, join(folder, 'by-symlink.db'));
    linkSync(path, join(folder, 'by-hard-link.db'));
    mkdirSync(join(folder, 'elsewhere'));
    symlinkSync(folder, join(folder, 'elsewhere', 'folder'));
    for (const name of ['by-symlink.db', 'elsewhere/folder/store.db']) {
      expect(refusal(join(folder, name)).message).toContain(`in use by the process ${process.pid}`);
    }
    await log.close();
  });

  test('[L25] refuses a second process that comes by a hard link, or when the lock file was removed', async () => {
    const child = startChild('sqlite-writer.ts', path, '0');
    await child.lines.next();
    linkSync(path, join(folder, 'by-hard-link.db'));
    expect(refusal(join(folder, 'by-hard-link.db')).message).toContain(`the process ${child.process.pid}`);
    rmSync(`${path}.lock`);
    expect(refusal(path).message).toContain(`the process ${child.process.pid}`);
    child.process.kill('SIGKILL');
    await child.gone;
    await open().close();
  });

  test('[L25] of two that came past the lock only the last one writes', async () => {
    const first = open();
    await put(first, 's');
    rmSync(`${path}.lock`);
    const second = open();
    const writes = [
      () => put(first, 's'),
      () => put(first, 's', 100_000),
      () => first.append({ session: 's', streams: [{ stream: 'events', expected: 1, entries: [] }] }),
      () => first.trim('s', 'events', 1),
      () => first.acquireLease({ name: 'l', owner: 'a', ttlMs: 1 }),
      () => first.ping(),
    ];
    for (const write of writes) {
      await expect(write()).rejects.toThrow(/was taken over by the process .*writes nothing more/);
    }
    await put(second, 's');
    expect(await second.head('s', 'events')).toBe(2);
    await first.close();
    await put(second, 's');
    await second.close();
  });

  test('[L26] its files are for its user alone, also those of a store made before that was so', async () => {
    path = join(folder, 'new', 'store.db');
    const umask = process.umask(0o000);
    try {
      const log = open();
      await put(log, 's');
      const modes = readdirSync(join(folder, 'new')).map((name) => statSync(join(folder, 'new', name)).mode & 0o777);
      expect(modes.length).toBeGreaterThanOrEqual(3);
      expect(new Set(modes)).toEqual(new Set([0o600]));
      expect(statSync(join(folder, 'new')).mode & 0o777).toBe(0o700);
      await log.close();
      chmodSync(path, 0o644);
      await open().close();
      expect(statSync(path).mode & 0o777).toBe(0o600);
    } finally {
      process.umask(umask);
    }
  });

  test('[L26] makes its folder', async () => {
    path = join(folder, 'a', 'b', 'store.db');
    const log = open();
    await expect(log.ping()).resolves.toBeUndefined();
    await log.close();
  });

  test('[L26] a folder that cannot be made is named', () => {
    writeFileSync(join(folder, 'file'), '');
    const error = refusal(join(folder, 'file', 'x', 'store.db'));
    expect(error.code).toBe('unavailable');
    expect(error.message).toMatch(/store\.db.*choose another path/);
  });

  test('[L26] a path that is a folder is named', () => {
    const error = refusal(folder);
    expect(error.code).toBe('bad-url');
    expect(error.message).toMatch(/is a folder; name a file/);
  });

  test('[L26] what is no file is named, and keeps its mode', async () => {
    const pipe = join(folder, 'socket');
    const server = createServer().listen(pipe);
    await once(server, 'listening');
    chmodSync(pipe, 0o666);
    try {
      expect(refusal(pipe).message).toMatch(/is no file; name a file/);
      expect(statSync(pipe).mode & 0o777).toBe(0o666);
      expect(readdirSync(folder)).toEqual(['socket']);
    } finally {
      server.close();
    }
  });

  test('[L26] a file that is not a database is left alone', () => {
    writeFileSync(path, 'this is no database. '.repeat(1_000));
    chmodSync(path, 0o664);
    const before = asItIs(path);
    const error = refusal(path);
    expect(error.code).toBe('corrupt');
    expect(error.message).toContain('move the file away');
    expect(asItIs(path)).toEqual(before);
  });

  test('[L26] a database of another program is left alone', () => {
    const other = new Database(path);
    other.exec('CREATE TABLE recipes (name TEXT)');
    other.close();
    chmodSync(path, 0o664);
    const before = asItIs(path);
    expect(refusal(path)).toMatchObject({ code: 'bad-url' });
    expect(() => backupSqlite(path, join(folder, 'backup.db'))).toThrow('a database of another program');
    expect(asItIs(path)).toEqual(before);
  });

  test('[L26] a damaged database is reported when it is met', async () => {
    const log = open();
    for (let n = 0; n < 50; n++) await put(log, `s${n}`, 4_000);
    await log.close();
    writeFileSync(path, Buffer.alloc(60_000, 7), { flag: 'r+' });
    expect(refusal(path)).toMatchObject({ code: 'corrupt' });
  });

  test('[L28] a store of a newer version is not touched', async () => {
    await open().close();
    const db = new Database(path);
    db.exec('INSERT INTO migrations (version, applied_at) VALUES (999, 0)');
    db.close();
    const error = refusal(path);
    expect(error.message).toMatch(/schema 999.*update Concerto/);
    expect(() => backupSqlite(path, join(folder, 'backup.db'))).toThrow(/store\.db.*schema 999.*update Concerto/);
  });

  test('[L26] a folder that may not be written is named', async () => {
    await open().close();
    chmodSync(folder, 0o555);
    chmodSync(path, 0o444);
    // Root may write anything; the rule is for everybody else.
    const root = process.geteuid?.() === 0;
    if (root) process.seteuid?.(65_534);
    try {
      expect(refusal(path).code).toBe('read-only');
      expect(refusal(join(folder, 'new', 'store.db')).code).toBe('read-only');
    } finally {
      if (root) process.seteuid?.(0);
      chmodSync(folder, 0o755);
    }
  });

  test('[L27] a full store fails what does not fit, keeps what it has, and takes more when there is room', async () => {
    const log = open(400_000);
    const acknowledged: number[] = [];
    const failed: number[] = [];
    for (let n = 0; n < 30; n++) {
      await put(log, 's', 20_000).then(
        () => acknowledged.push(n),
        (error: unknown) => {
          expect(error).toMatchObject({ code: 'full' });
          failed.push(n);
        },
      );
    }
    expect(failed.length).toBeGreaterThan(0);
    expect(await log.head('s', 'events')).toBe(acknowledged.length);
    const page = await log.read({ session: 's', stream: 'events', after: 0, limit: 100 });
    expect(page.entries).toHaveLength(acknowledged.length);
    await log.trim('s', 'events', 5);
    await put(log, 's', 20_000);
    expect(await log.head('s', 'events')).toBe(acknowledged.length + 1);
    await log.close();
  });

  test('[L27] a file that another program holds for a moment is waited for, and nobody else waits', async () => {
    const log = open();
    await put(log, 's');
    const other = new Database(path);
    other.exec('BEGIN IMMEDIATE');
    let settled = 0;
    const writes = Array.from({ length: 20 }, () => put(log, 's').then(() => settled++));
    const read = log.head('s', 'events');
    // Whoever has other work gets it done.
    for (let turn = 0; turn < 50; turn++) await new Promise((resolve) => setTimeout(resolve, 1));
    expect([settled, await read]).toEqual([0, 1]);
    other.exec('ROLLBACK');
    await Promise.all(writes);
    expect(await log.head('s', 'events')).toBe(21);
    other.close();
    await log.close();
  });

  test('[L27] one that is held for longer fails what is written, and takes more when it is let go', async () => {
    const log = open();
    const other = new Database(path);
    other.exec('BEGIN IMMEDIATE');
    const writes = await Promise.allSettled([...Array(5)].map(() => put(log, 's')));
    for (const write of writes) expect(write).toMatchObject({ status: 'rejected', reason: { code: 'unavailable' } });
    await expect(log.ping()).rejects.toThrow('is locked by another program');
    other.exec('ROLLBACK');
    await put(log, 's');
    expect(await log.head('s', 'events')).toBe(1);
    other.close();
    await log.close();
  });

  test('[L47] what a long reader made the log of changes grow to is given back', async () => {
    const log = open();
    await put(log, 's');
    await log.size();
    const reader = new Database(path);
    reader.exec('BEGIN');
    expect(reader.prepare('SELECT count(*) FROM entries').raw().get()).toEqual([1]);
    for (let n = 0; n < 30; n++) await put(log, 's', 1_000_000);
    const bytes = (): number => statSync(`${path}-wal`).size;
    expect(bytes()).toBeGreaterThan(30_000_000);
    reader.exec('COMMIT');
    reader.close();
    for (let n = 0; n < 3; n++) await put(log, 's', 1_000_000);
    expect(bytes()).toBeLessThan(20_000_000);
    await log.close();
  });

  test('[L24] an append that does not fit fails alone', async () => {
    const log = open(400_000);
    const results = await Promise.allSettled([
      put(log, 'small', 10),
      put(log, 'big', 900_000),
      log.append({ session: 'small', streams: [{ stream: 'events', expected: 99, entries: [] }] }),
      log.acquireLease({ name: 'l', owner: 'a', ttlMs: 1_000 }),
      put(log, 'small', 10),
    ]);
    expect(results.map(({ status }) => status)).toEqual([
      'fulfilled',
      'rejected',
      'fulfilled',
      'fulfilled',
      'fulfilled',
    ]);
    expect(results[2]).toMatchObject({ value: { kind: 'conflict', actual: 1 } });
    expect(results[3]).toMatchObject({ value: { kind: 'acquired', epoch: 1 } });
    expect(await log.head('small', 'events')).toBe(2);
    expect(await log.head('big', 'events')).toBe(0);
    await log.close();
  });
});
