import {
  accessSync,
  chmodSync,
  closeSync,
  constants,
  existsSync,
  mkdirSync,
  openSync,
  realpathSync,
  statSync,
} from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import Database from 'libsql';
import { LogError } from '../event-log.ts';
import { isNotOurs, sqliteFailure } from './sqlite-failure.ts';
import { lockStore, type Ownership, takeOwnership } from './sqlite-lock.ts';
import { integerAt } from './sqlite-row.ts';
import { migrate, refuseForeign } from './sqlite-schema.ts';

export type SqliteDatabase = {
  readonly db: Database.Database;
  readonly path: string;
  readonly ownership: Pick<Ownership, 'check' | 'fence'>;
  /** From here on whoever is kept waiting comes again (`groupCommit`): to wait here would hold up the process. */
  stopWaiting(): void;
  close(): void;
};

export type SqliteOpening = {
  readonly now: () => number;
  /** Most bytes the file may take; more is `full`. The disk's own size when absent. */
  readonly maxBytes?: number;
};

/** How long the opening waits for another program that holds the file; it holds up our own process. */
const BUSY_TIMEOUT_MS = 2_000;
/** What the log of changes keeps of its size once nobody needs what is in it. */
const CHANGES_BYTES_MAX = 16 * 1024 * 1024;

export function openSqliteDatabase(givenPath: string, { now, maxBytes }: SqliteOpening): SqliteDatabase {
  let path = resolve(givenPath);
  let lock: { unlock(): void } | undefined;
  let db: Database.Database | undefined;
  try {
    // A folder that we make is for this user alone; one that is there is as its owner wants it.
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
    path = trueNameOf(path);
    if (existsSync(path)) refuseOthers(path);
    for (const end of ['', '.lock']) keepPrivate(`${path}${end}`);
    for (const end of ['-wal', '-shm']) if (existsSync(`${path}${end}`)) keepPrivate(`${path}${end}`);
    lock = lockStore(path);
    db = new Database(path, { timeout: BUSY_TIMEOUT_MS });
    db.exec('PRAGMA journal_mode = WAL');
    // FULL: a commit is on the disk before it is acknowledged, also when the machine loses power.
    db.exec('PRAGMA synchronous = FULL');
    db.exec('PRAGMA cache_size = -16000');
    // A long reader, a backup for example, makes the log of changes grow; without it that would stay as large.
    db.prepare(`PRAGMA journal_size_limit = ${CHANGES_BYTES_MAX}`).raw().get();
    migrate(db, path, now());
    const ownership = takeOwnership(db, path);
    if (maxBytes !== undefined) limitSize(db, maxBytes);
    return opened(path, { db, lock, ownership });
  } catch (error) {
    db?.close();
    lock?.unlock();
    throw sqliteFailure(error, path);
  }
}

type Opened = {
  readonly db: Database.Database;
  readonly lock: { unlock(): void };
  readonly ownership: Ownership;
};

function opened(path: string, { db, lock, ownership }: Opened): SqliteDatabase {
  return {
    db,
    path,
    ownership,
    stopWaiting: () => void db.prepare('PRAGMA busy_timeout = 0').raw().get(),
    close() {
      try {
        ownership.resign();
        // A closed store is one file, ready to be copied. The driver leaves the log of changes beside it.
        db.prepare('PRAGMA wal_checkpoint(TRUNCATE)').raw().get();
      } catch {
        // On a full disk the changes stay in the file beside it: as durable, and read at the next opening.
      }
      db.close();
      lock.unlock();
    },
  };
}

/** One store has one lock, by whatever link it is reached. */
function trueNameOf(path: string): string {
  return existsSync(path) ? realpathSync(path) : join(realpathSync(dirname(path)), basename(path));
}

/** What is no store of ours is left as it is: its mode, how it keeps its changes, and what lies beside it. */
function refuseOthers(path: string): void {
  const found = statSync(path);
  if (!found.isFile()) {
    const what = found.isDirectory() ? 'a folder' : 'no file';
    throw new LogError('bad-url', `${path} is ${what}; name a file for the store, which may be a new one`);
  }
  accessSync(path, constants.R_OK | constants.W_OK);
  if (found.size === 0) return;
  let db: Database.Database | undefined;
  try {
    db = new Database(path, { timeout: BUSY_TIMEOUT_MS });
    refuseForeign(db, path);
  } catch (cause) {
    if (!isNotOurs(cause)) throw cause;
    const advice = 'cannot be written; make the file and its folder writable for this user';
    throw new LogError('read-only', `the store ${path} ${advice}`, { cause });
  } finally {
    db?.close();
  }
}

/**
 * What people said to agents is for this user alone. SQLite gives its other files the permissions of this one. One that is
 * there is not opened: at the first close of a file the kernel drops all locks that this process has on it, SQLite's too.
 */
function keepPrivate(path: string): void {
  if (existsSync(path)) accessSync(path, constants.R_OK | constants.W_OK);
  else closeSync(openSync(path, 'a', 0o600));
  if ((statSync(path).mode & 0o077) !== 0) chmodSync(path, 0o600);
}

function limitSize(db: Database.Database, maxBytes: number): void {
  const pageSize = integerAt(db.prepare('PRAGMA page_size').raw().get(), 0);
  db.prepare(`PRAGMA max_page_count = ${Math.max(1, Math.floor(maxBytes / pageSize))}`)
    .raw()
    .get();
}
