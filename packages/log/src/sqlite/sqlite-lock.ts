import Database from 'libsql';
import { LogError } from '../event-log.ts';
import { textAt } from './sqlite-row.ts';

/**
 * One process writes a store. The proof is a lock that the kernel holds on a file beside the store and drops when the
 * process dies, however it dies; a lock file with a pid in it would outlive a kill.
 */
export function lockStore(path: string): { unlock(): void } {
  const lock = new Database(`${path}.lock`, { timeout: 0 });
  try {
    // In memory, or the lock would leave a second file behind after a kill.
    lock.exec('PRAGMA journal_mode = MEMORY');
    lock.exec('BEGIN EXCLUSIVE');
  } catch (error) {
    lock.close();
    if (error instanceof Database.SqliteError && error.code === 'SQLITE_BUSY') throw inUse(path, error);
    throw error;
  }
  return {
    unlock() {
      lock.exec('ROLLBACK');
      lock.close();
    },
  };
}

const OWNER = 'owner-pid';

/** Leaves a name for whoever finds the store locked. */
export function signOwner(db: Database.Database): void {
  db.prepare('INSERT OR REPLACE INTO facts (name, value) VALUES (?, ?)').run(OWNER, String(process.pid));
}

function inUse(path: string, cause: unknown): LogError {
  const pid = ownerOf(path);
  const who = pid === undefined ? 'another process' : `the process ${pid}`;
  return new LogError('unavailable', `the store ${path} is in use by ${who}; stop it, or give this one another store`, {
    cause,
    heldBy: who,
  });
}

function ownerOf(path: string): string | undefined {
  let db: Database.Database | undefined;
  try {
    db = new Database(path, { timeout: 1_000 });
    const row = db.prepare('SELECT value FROM facts WHERE name = ?').raw().get(OWNER);
    return row === undefined ? undefined : textAt(row, 0);
  } catch {
    // The name is a courtesy: without it the refusal still says what matters.
    return undefined;
  } finally {
    db?.close();
  }
}
