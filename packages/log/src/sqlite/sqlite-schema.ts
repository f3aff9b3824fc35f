import type Database from 'libsql';
import { LogError } from '../event-log.ts';
import { integerAt } from './sqlite-row.ts';

/**
 * An entry's key is `stream * 2^28 + position`: one integer key instead of a pair needs no second index, keeps the
 * entries of a stream together, and stays exact in a JavaScript number for 33 million streams.
 */
export const POSITIONS_PER_STREAM = 2 ** 28;

/** Each is applied once, in order, in the transaction that records it. Never change one that was released: add another. */
const migrations: readonly string[] = [
  `
  CREATE TABLE streams (
    id INTEGER PRIMARY KEY,
    session TEXT NOT NULL,
    stream TEXT NOT NULL,
    trimmed INTEGER NOT NULL DEFAULT 0,
    UNIQUE (session, stream)
  ) STRICT;
  CREATE TABLE entries (id INTEGER PRIMARY KEY, type TEXT NOT NULL, data TEXT NOT NULL) STRICT;
  CREATE TABLE asides (
    id INTEGER NOT NULL,
    place INTEGER NOT NULL,
    type TEXT NOT NULL,
    data TEXT NOT NULL,
    PRIMARY KEY (id, place)
  ) STRICT, WITHOUT ROWID;
  CREATE TABLE documents (
    id INTEGER PRIMARY KEY,
    collection TEXT NOT NULL,
    key TEXT NOT NULL,
    value TEXT NOT NULL,
    sort REAL NOT NULL,
    tag TEXT,
    expires_at INTEGER,
    UNIQUE (collection, key)
  ) STRICT;
  CREATE INDEX documents_by_sort ON documents (collection, sort DESC, key DESC);
  CREATE INDEX documents_by_tag ON documents (collection, tag, sort DESC, key DESC) WHERE tag IS NOT NULL;
  CREATE INDEX documents_by_expiry ON documents (expires_at) WHERE expires_at IS NOT NULL;
  CREATE TABLE leases (name TEXT PRIMARY KEY, epoch INTEGER NOT NULL) STRICT, WITHOUT ROWID;
  CREATE TABLE facts (name TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT, WITHOUT ROWID;
  `,
  'CREATE TABLE recent (id INTEGER PRIMARY KEY, body TEXT NOT NULL) STRICT;',
];

/** 'conc': marks the file as ours, in the place where SQLite keeps such a mark. */
const APPLICATION_ID = 0x636f6e63;

const markOf = (db: Database.Database): number => integerAt(db.prepare('PRAGMA application_id').raw().get(), 0);

/** Only reads. */
export function refuseForeign(db: Database.Database, path: string): void {
  const tables = integerAt(db.prepare('SELECT count(*) FROM sqlite_master').raw().get(), 0);
  if (tables === 0 || markOf(db) === APPLICATION_ID) return;
  throw new LogError('bad-url', `${path} is a database of another program; choose another path for the store`);
}

/** Only reads. */
export function refuseNewer(db: Database.Database, path: string): void {
  const version = integerAt(db.prepare('SELECT coalesce(max(version), 0) FROM migrations').raw().get(), 0);
  if (version <= migrations.length) return;
  throw new LogError(
    'refused',
    `the store ${path} was written by a newer version (schema ${version}, this one knows ${migrations.length}); update Concerto`,
  );
}

/** Of a file that is new or ours (`refuseForeign`). */
export function migrate(db: Database.Database, path: string, now: number): void {
  db.exec('BEGIN IMMEDIATE');
  try {
    db.exec('CREATE TABLE IF NOT EXISTS migrations (version INTEGER PRIMARY KEY, applied_at INTEGER NOT NULL) STRICT');
    refuseNewer(db, path);
    const version = integerAt(db.prepare('SELECT coalesce(max(version), 0) FROM migrations').raw().get(), 0);
    for (const [index, migration] of migrations.entries()) {
      if (index < version) continue;
      db.exec(migration);
      db.prepare('INSERT INTO migrations (version, applied_at) VALUES (?, ?)').run(index + 1, now);
    }
    if (markOf(db) !== APPLICATION_ID) db.exec(`PRAGMA application_id = ${APPLICATION_ID}`);
    db.exec('COMMIT');
  } catch (error) {
    if (db.inTransaction) db.exec('ROLLBACK');
    throw error;
  }
}
