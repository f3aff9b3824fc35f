import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Database from 'libsql';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { type Append, LogError, type StreamName } from '../src/event-log.ts';
import { backupSqlite } from '../src/sqlite/backup-sqlite.ts';
import { sqliteEventLog } from '../src/sqlite/sqlite-event-log.ts';
import type { Store, StoreRecord } from '../src/store.ts';
import { killedCopy } from './killed-copy.ts';

let folder = '';
let path = '';
let time = 1_700_000_000_000;
let opened: Store[] = [];
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'concerto-recent-'));
  path = join(folder, 'store.db');
});
afterEach(async () => {
  for (const log of opened) await log.close();
  opened = [];
  rmSync(folder, { recursive: true, force: true });
});

function open(at = path, maxBytes?: number): Store {
  const log = sqliteEventLog(at, { now: () => time, ...(maxBytes !== undefined && { maxBytes }) });
  opened.push(log);
  return log;
}

const entry = (length = 10) => ({ type: 't', data: JSON.stringify({ text: 'x'.repeat(length) }) });
const append = (session: string, length?: number): Append => ({
  session,
  streams: [{ stream: 'events', entries: [entry(length)] }],
});

/** How many rows a table has, as another program sees it. */
function rows(table: string, at = path): number {
  const db = new Database(at);
  try {
    const found: unknown = db.prepare(`SELECT count(*) AS n FROM ${table}`).get();
    return Number(typeof found === 'object' && found !== null && 'n' in found ? found.n : Number.NaN);
  } finally {
    db.close();
  }
}

function change(statement: string, at = path): void {
  const db = new Database(at);
  db.exec(statement);
  db.close();
}

async function records(store: Store): Promise<StoreRecord[]> {
  const all: StoreRecord[] = [];
  for await (const batch of store.dump()) all.push(...batch);
  return all;
}

const until = async (holds: () => boolean): Promise<void> => {
  while (!holds()) await new Promise((resolve) => setTimeout(resolve, 10));
};

describe('what was written last to a SQLite store', () => {
  test('[L43] is one row for a small commit, whatever it holds, and is read from there', async () => {
    const log = open();
    const { streams } = append('s');
    await log.append({
      session: 's',
      streams: [...streams, { stream: 'domain', entries: [entry(), { ...entry(), aside: true }] }],
      documents: [{ collection: 'c', key: 'k', value: '{}' }],
      next: () => append('other'),
    });
    expect([rows('recent'), rows('streams'), rows('entries'), rows('documents')]).toEqual([1, 0, 0, 0]);
    expect(await log.head('other', 'events')).toBe(1);
    expect(await log.listSessions(undefined, 9)).toEqual(['other', 's']);
    await log.size();
    expect(['recent', 'streams', 'entries', 'asides', 'documents'].map((name) => rows(name))).toEqual([0, 3, 3, 1, 1]);
  });

  test('[L43] goes to its place when it is large, and takes with it what waits', async () => {
    const log = open();
    await log.append(append('small'));
    await log.append(append('large', 20_000));
    expect([rows('recent'), rows('entries')]).toEqual([0, 2]);
  });

  test('[L44] is put in its place in a quiet moment', async () => {
    const log = open();
    await log.append(append('s'));
    expect(rows('recent')).toBe(1);
    await until(() => rows('recent') === 0);
    expect(rows('entries')).toBe(1);
  });

  test.each<[string, number, (n: number) => Append]>([
    ['entries', 256, (n) => append(`s${n % 2}`)],
    ['sessions', 128, (n) => append(`s${n}`)],
    ['texts', 87, (n) => append(`s${n % 8}`, 3_000)],
    [
      'documents',
      128,
      (n) => ({ session: 's', streams: [], documents: [{ collection: 'c', key: String(n), value: '{}' }] }),
    ],
  ])('[L44] is never more than a little: %s', async (_, limit, nth) => {
    const log = open();
    let most = 0;
    for (let n = 0; n < 600; n++) {
      await log.append(nth(n));
      most = Math.max(most, rows('recent'));
    }
    // Less only where the machine was so slow that a moment was quiet.
    expect(most).toBeLessThanOrEqual(limit);
    expect(most).toBeGreaterThan(1);
  });

  test('[L44] is tried again when there was no room for it, or somebody held the file', async () => {
    const log = open();
    await log.append(append('s'));
    const other = new Database(path);
    other.exec('BEGIN IMMEDIATE');
    await new Promise((resolve) => setTimeout(resolve, 400));
    expect(rows('recent')).toBe(1);
    other.exec('ROLLBACK');
    other.close();
    await until(() => rows('recent') === 0);
    expect(await log.head('s', 'events')).toBe(1);
  });

  test('[L19] is in a dump, also what is written while that is made', async () => {
    const log = open();
    await log.putDocument({ collection: 'c', key: 'first', value: '{}' });
    expect(await records(log)).toHaveLength(1);
    const many = Array.from({ length: 600 }, () => entry());
    await log.append({ session: 's', streams: [{ stream: 'events', entries: many }] });
    const seen: StoreRecord[] = [];
    let batches = 0;
    for await (const batch of log.dump()) {
      seen.push(...batch);
      if (seen.length === 1) await log.append(append('s'));
      if (batch[0]?.kind !== 'document')
        await log.putDocument({ collection: 'c', key: String(++batches), value: '{}' });
    }
    expect(batches).toBe(3);
    expect(seen.filter(({ kind }) => kind === 'entry')).toHaveLength(601);
    expect(seen.filter(({ kind }) => kind === 'document')).toHaveLength(4);
  });

  test('[L19] what is loaded is known at once, also of a stream that was read', async () => {
    const log = open();
    const stream = { session: 's', stream: 'events' } as const;
    const load = (position: number): Promise<void> =>
      log.load([{ kind: 'entry', ...stream, position, aside: 0, type: 't', data: `{"seq":${position}}` }]);
    await log.load([{ kind: 'stream', ...stream, head: 2, oldest: 1 }]);
    for (const position of [1, 2]) {
      await load(position);
      expect(await log.head('s', 'events')).toBe(position);
    }
  });

  test('[L12] what is over is removed from the tables with it', async () => {
    const log = open();
    await log.putDocument({ collection: 'c', key: 'k', value: '{}', expiresAt: time + 10 });
    await log.size();
    time += 60_001;
    await log.append(append('s'));
    expect(rows('documents')).toBe(1);
    await log.size();
    expect(rows('documents')).toBe(0);
  });

  test('[L44] is in its place when the store is closed, dumped, trimmed or loaded', async () => {
    const log = open();
    await log.append(append('a'));
    for await (const batch of log.dump()) expect(batch.length).toBeGreaterThan(0);
    expect(rows('recent')).toBe(0);
    await log.append(append('a'));
    await log.trim('a', 'events', 1);
    expect(rows('recent')).toBe(0);
    await log.append(append('a'));
    await log.load([{ kind: 'document', collection: 'c', key: 'k', value: '{}', sort: 0 }]);
    expect(rows('recent')).toBe(0);
    await log.append(append('a'));
    await log.close();
    expect([rows('recent'), rows('entries')]).toEqual([0, 3]);
  });

  test('[L45] is put in its place when a store is opened whose process was killed', async () => {
    const log = open();
    await log.append(append('s'));
    await log.size();
    const aside = { ...entry(), aside: true } as const;
    await log.append({ session: 's', streams: [{ stream: 'events', entries: [aside, aside, entry(), aside] }] });
    await log.append({ session: 's', streams: [{ stream: 'events', entries: [aside] }] });
    await log.putDocument({ collection: 'c', key: 'k', value: '{}', sort: 2.5, tag: 't', expiresAt: time + 1_000 });
    const copy = killedCopy(path);
    expect(rows('recent', copy)).toBe(3);
    const there = open(copy);
    expect([rows('recent', copy), rows('entries', copy), rows('asides', copy)]).toEqual([0, 2, 4]);
    expect(await there.getDocument('c', 'k')).toEqual({ key: 'k', value: '{}', sort: 2.5, tag: 't' });
    expect(await records(there)).toEqual(await records(log));
  });

  test('[L45] is refused when it does not add up, and left as it is', async () => {
    const log = open();
    const aside = { type: 'ack', data: '{}', aside: true } as const;
    await log.append({ session: 's', streams: [{ stream: 'events', entries: [entry(), aside] }] });
    for (const damage of [
      'UPDATE recent SET body = substr(body, 1, length(body) - 1)',
      'UPDATE recent SET body = replace(body, \'"events",0\', \'"events",1\')',
      'INSERT INTO recent (body) SELECT body FROM recent',
      "UPDATE recent SET body = replace(body, '[1,1,3,2]', '[1,2,3,2]')",
      "UPDATE recent SET body = replace(body, '[1,1,3,2]', '[2,1,3,2]')",
      "UPDATE recent SET body = 'x'",
    ]) {
      const copy = killedCopy(path);
      change(damage, copy);
      expect(() => open(copy)).toThrow(LogError);
      expect(() => open(copy)).toThrow(/is damaged/);
      expect(rows('entries', copy)).toBe(0);
    }
  });

  test('[L28] a store of the version before it is taken over', async () => {
    const first = open();
    await first.append(append('s'));
    await first.close();
    change('DROP TABLE recent');
    change('DELETE FROM migrations WHERE version > 1');
    const log = open();
    await log.append(append('s'));
    expect(rows('recent')).toBe(1);
    expect(await log.head('s', 'events')).toBe(2);
  });

  test('[L46] what could not be stored is nowhere, and what waited is all there', async () => {
    const log = open(path, 200_000);
    const acknowledged = { s: 0, t: 0 };
    let failed = 0;
    for (let n = 0; n < 400; n++) {
      const session = n % 3 === 0 ? 't' : 's';
      const documents = [{ collection: 'c', key: session, value: JSON.stringify({ n: acknowledged[session] + 1 }) }];
      await log.append({ ...append(session, 900), documents }).then(
        () => acknowledged[session]++,
        (error: unknown) => {
          expect(error).toMatchObject({ code: 'full' });
          failed++;
        },
      );
      expect(await log.head(session, 'events')).toBe(acknowledged[session]);
    }
    expect(failed).toBeGreaterThan(0);
    for (const store of [log, open(killedCopy(path))]) {
      for (const session of ['s', 't'] as const) {
        const page = await store.read({ session, stream: 'events', after: 0, limit: 1_000 });
        expect(page.entries.map(({ position }) => position)).toEqual(
          Array.from({ length: acknowledged[session] }, (_, index) => index + 1),
        );
        expect((await store.getDocument('c', session))?.value).toBe(JSON.stringify({ n: acknowledged[session] }));
      }
    }
  });

  test('[L43] is what the tables make of it at once: half a character has no UTF-8', async () => {
    const log = open();
    const data = '{"half":"\ud83d"}';
    await log.append({ session: 's', streams: [{ stream: 'domain', entries: [{ type: 't', data }] }] });
    const first = await log.read({ session: 's', stream: 'domain', after: 0, limit: 1 });
    expect(rows('recent')).toBe(0);
    expect(first.entries[0]?.data).toBe('{"half":"\ufffd"}');
  });

  test('[L43] is known however many other streams are met', async () => {
    const log = open();
    const others = Array.from({ length: 20_000 }, (_, n) => `other${n}`);
    await log.load(
      others.map((session) => ({ kind: 'stream', session, stream: 'events', head: 0, oldest: 1 }) as const),
    );
    await log.append(append('s'));
    // Nothing but answers that are there already: no quiet moment comes in between.
    for (const session of others) await log.head(session, 'events');
    expect(rows('recent')).toBe(1);
    expect(await log.head('s', 'events')).toBe(1);
    await log.append(append('s'));
    expect(await log.head('s', 'events')).toBe(2);
  });

  test('[L18] its sessions and keys are in the order of the others, whatever their letters', async () => {
    const log = open();
    const names = ['\ue000', 'a', '😀', 'é'];
    const listed = async (): Promise<unknown> => {
      const sessions: string[] = [];
      for (;;) {
        const page = await log.listSessions(sessions.at(-1), 1);
        if (page.length === 0) break;
        sessions.push(...page);
      }
      const { documents, nextCursor = '' } = await log.listDocuments({ collection: 'c', limit: 2 });
      const rest = await log.listDocuments({ collection: 'c', limit: 9, cursor: nextCursor });
      return [sessions, [...documents, ...rest.documents].map(({ key }) => key)];
    };
    for (const [index, name] of names.entries()) {
      await log.append({ ...append(name), documents: [{ collection: 'c', key: name, value: '{}' }] });
      if (index === 1) await log.size();
    }
    expect(rows('recent')).toBe(2);
    const waiting = await listed();
    await log.size();
    expect(await listed()).toEqual(waiting);
    expect(waiting).toEqual([
      ['a', 'é', '\ue000', '😀'],
      ['😀', '\ue000', 'é', 'a'],
    ]);
  });

  test('[L12] an older version of a document does not come back when the newer one is over or removed', async () => {
    const log = open();
    const put = (value: string | undefined, expiresAt?: number): Promise<void> =>
      log.putDocument({ collection: 'c', key: 'k', value, ...(expiresAt !== undefined && { expiresAt }) });
    await put('{"v":1}');
    await log.size();
    await put('{"v":2}', time + 10);
    time += 11;
    expect(await log.getDocument('c', 'k')).toBeUndefined();
    expect((await log.listDocuments({ collection: 'c', limit: 9 })).documents).toEqual([]);
    await put('{"v":3}');
    await log.size();
    await put(undefined);
    expect(rows('documents')).toBe(1);
    expect((await log.listDocuments({ collection: 'c', limit: 9 })).documents).toEqual([]);
    await log.size();
    expect(rows('documents')).toBe(0);
  });

  test.each<StreamName>(['events', 'journal'])('[L8] is trimmed with the rest of its stream: %s', async (stream) => {
    const log = open();
    const aside = { ...entry(), aside: true } as const;
    const put = (...entries: Append['streams'][number]['entries'][number][]): Promise<unknown> =>
      log.append({ session: 's', streams: [{ stream, entries }] });
    await put(entry(), aside, entry());
    await log.size();
    await put(entry(), aside, entry(), aside);
    // In one group: what comes after the trim is written after it.
    await Promise.all([log.trim('s', stream, 4), put(aside, entry())]);
    expect(await records(log)).toMatchObject([
      { kind: 'stream', head: 5, oldest: 5 },
      { position: 4, aside: 1 },
      { position: 5, aside: 0 },
    ]);
  });

  test('[L46] a document that the tables refuse is refused at once, and the next one is not', async () => {
    const log = open();
    for (const wrong of [{ sort: Number.NaN }, { expiresAt: 1.5 }]) {
      await expect(log.putDocument({ collection: 'c', key: 'k', value: '{}', ...wrong })).rejects.toThrow(LogError);
    }
    await log.putDocument({ collection: 'c', key: 'k', value: '{}' });
    expect(rows('recent')).toBe(1);
    await log.size();
    expect(rows('documents')).toBe(1);
  });

  test('[L45] is in a backup, and in its place when that is opened', async () => {
    const log = open();
    await log.append(append('s'));
    expect(rows('recent')).toBe(1);
    backupSqlite(path, join(folder, 'backup.db'));
    const backup = open(join(folder, 'backup.db'));
    expect(await records(backup)).toEqual(await records(log));
    expect(rows('entries', join(folder, 'backup.db'))).toBe(1);
  });
});
