import { mkdirSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import Database from 'libsql';
import { sqliteFailure } from './sqlite-failure.ts';
import { lockStore, signOwner } from './sqlite-lock.ts';
import { integerAt } from './sqlite-row.ts';
import { migrate } from './sqlite-schema.ts';

export type SqliteDatabase = { readonly db: Database.Database; readonly path: string; close(): void };

export type SqliteOpening = {
  readonly now: () => number;
  /** Most bytes the file may take; more is `full`. The disk's own size when absent. */
  readonly maxBytes?: number;
};

/** How long a write waits for a foreign reader that holds the file, a backup tool for example. */
const BUSY_TIMEOUT_MS = 2_000;

export function openSqliteDatabase(givenPath: string, { now, maxBytes }: SqliteOpening): SqliteDatabase {
  const path = resolve(givenPath);
  let lock: { unlock(): void } | undefined;
  let db: Database.Database | undefined;
  try {
    mkdirSync(dirname(path), { recursive: true });
    lock = lockStore(path);
    db = new Database(path, { timeout: BUSY_TIMEOUT_MS });
    db.exec('PRAGMA journal_mode = WAL');
    // FULL: a commit is on the disk before it is acknowledged, also when the machine loses power.
    db.exec('PRAGMA synchronous = FULL');
    db.exec('PRAGMA cache_size = -16000');
    migrate(db, path, now());
    signOwner(db);
    if (maxBytes !== undefined) limitSize(db, maxBytes);
  } catch (error) {
    db?.close();
    lock?.unlock();
    throw sqliteFailure(error, path);
  }
  const opened = { db, lock };
  return {
    db,
    path,
    close() {
      try {
        // A closed store is one file, ready to be copied. The driver leaves the log of changes beside it.
        opened.db.prepare('PRAGMA wal_checkpoint(TRUNCATE)').raw().get();
      } catch {
        // On a full disk the changes stay in the file beside it: as durable, and read at the next opening.
      }
      opened.db.close();
      opened.lock.unlock();
    },
  };
}

function limitSize(db: Database.Database, maxBytes: number): void {
  const pageSize = integerAt(db.prepare('PRAGMA page_size').raw().get(), 0);
  db.prepare(`PRAGMA max_page_count = ${Math.max(1, Math.floor(maxBytes / pageSize))}`)
    .raw()
    .get();
}
