import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'vitest';
import { sqliteEventLog } from '../src/sqlite/sqlite-event-log.ts';
import type { Store } from '../src/store.ts';
import { eventLogContract } from '../src/testing/event-log-contract.ts';
import { killedCopy } from './killed-copy.ts';

type Opened = { readonly log: Store; readonly path: string; readonly now: () => number };

/** The contract, with the store as it is seen through `seen`. */
function contractOf(name: string, seen: (opened: Opened) => Store): void {
  eventLogContract(name, async () => {
    const folder = mkdtempSync(join(tmpdir(), 'concerto-log-'));
    const path = join(folder, 'store.db');
    let time = 1_700_000_000_000;
    const now = (): number => time;
    const log = sqliteEventLog(path, { now });
    return {
      log: seen({ log, path, now }),
      now,
      advance: (ms) => {
        time += ms;
      },
      dispose: async () => {
        await log.close();
        rmSync(folder, { recursive: true, force: true });
      },
    };
  });
}

/** What is small waits in memory and in `recent`. */
contractOf('sqlite', ({ log }) => log);

/** Everything is in its place before the next call: `size` looks at the tables. */
contractOf('sqlite, settled', ({ log }) => {
  const settled = async <T>(written: Promise<T>): Promise<T> => {
    const result = await written;
    // It may have been closed meanwhile, and is settled then.
    await log.size().catch(() => undefined);
    return result;
  };
  return {
    ...log,
    append: (request) => settled(log.append(request)),
    trim: (session, stream, through) => settled(log.trim(session, stream, through)),
    putDocument: (write) => settled(log.putDocument(write)),
    createDocument: (write) => settled(log.createDocument(write)),
    load: (records) => settled(log.load(records)),
  };
});

/** A test that asks thousands of times looks at as many copies as this. */
const COPIES_MAX = 40;

/** Every answer is that of a process which finds the store after this one was killed; and it is the same. */
contractOf('sqlite, killed', ({ log, path, now }) => {
  let copies = 0;
  const both = async <T>(ask: (store: Store) => Promise<T>): Promise<T> => {
    const here = ask(log);
    if (++copies > COPIES_MAX) return here;
    const copied = killedCopy(path);
    const answer = await here;
    const there = sqliteEventLog(copied, { now });
    try {
      expect(await ask(there)).toEqual(answer);
    } finally {
      await there.close();
    }
    return answer;
  };
  return {
    ...log,
    read: (request) => both((store) => store.read(request)),
    head: (session, stream) => both((store) => store.head(session, stream)),
    getDocument: (collection, key) => both((store) => store.getDocument(collection, key)),
    listDocuments: (request) => both((store) => store.listDocuments(request)),
    listSessions: (after, limit) => both((store) => store.listSessions(after, limit)),
  };
});
