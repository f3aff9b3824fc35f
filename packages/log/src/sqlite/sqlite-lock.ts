import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import Database from 'libsql';
import { LogError } from '../event-log.ts';
import { textAt } from './sqlite-row.ts';

/**
 * One process writes a store. Three proofs, each for where the one before it is blind: a lock that the kernel holds on
 * a file beside the store and drops when the process dies, however it dies; the name of the owner in the store itself,
 * which holds under every name that the file has and when the lock file was removed; and a fence in the store that
 * every write reads, so that of two owners only the last can write.
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
const OWNER_START = 'owner-start';
const FENCE = 'owner-fence';

export type Ownership = {
  /** The fact that is in the store while it is ours: what is written on condition of it is written by its owner. */
  readonly fence: { readonly name: string; readonly value: string };
  /** Throws when the store has another owner by now; within a transaction, until its end. */
  check(): void;
  /** Leaves no name behind, if it is still ours to remove. */
  resign(): void;
};

/** Throws when the process that is named as the owner is alive; else the store is ours from here on. */
export function takeOwnership(db: Database.Database, path: string): Ownership {
  const read = db.prepare('SELECT value FROM facts WHERE name = ?').raw();
  const write = db.prepare('INSERT OR REPLACE INTO facts (name, value) VALUES (?, ?)');
  const fact = (name: string): string | undefined => {
    const row = read.get(name);
    return row === undefined ? undefined : textAt(row, 0);
  };
  const mine = randomUUID();
  db.exec('BEGIN IMMEDIATE');
  try {
    const pid = Number(fact(OWNER));
    const start = fact(OWNER_START);
    // Our own pid is our own business: the lock refuses a second opening, and after a restart it may be anybody's.
    if (pid !== process.pid && start !== undefined && start === startOf(pid)) throw inUse(path, undefined);
    write.run(OWNER, String(process.pid));
    write.run(OWNER_START, startOf(process.pid) ?? 'unknown');
    write.run(FENCE, mine);
    db.exec('COMMIT');
    // Into the file itself: whoever comes by a hard link does not see the log of changes beside ours.
    db.prepare('PRAGMA wal_checkpoint(TRUNCATE)').raw().get();
  } catch (error) {
    if (db.inTransaction) db.exec('ROLLBACK');
    throw error;
  }
  return {
    fence: { name: FENCE, value: mine },
    check() {
      if (fact(FENCE) === mine) return;
      const who = whoIs(fact(OWNER));
      throw new LogError(
        'unavailable',
        `the store ${path} was taken over by ${who}; this process writes nothing more`,
        {
          heldBy: who,
        },
      );
    },
    resign() {
      if (fact(FENCE) === mine) forgetOwner(db);
    },
  };
}

export function forgetOwner(db: Database.Database): void {
  db.prepare('DELETE FROM facts WHERE name IN (?, ?)').run(OWNER, OWNER_START);
}

function inUse(path: string, cause: unknown): LogError {
  const who = whoIs(ownerOf(path));
  return new LogError('unavailable', `the store ${path} is in use by ${who}; stop it, or give this one another store`, {
    ...(cause === undefined ? {} : { cause }),
    heldBy: who,
  });
}

function whoIs(pid: string | undefined): string {
  return pid === undefined ? 'another process' : `the process ${pid}`;
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

/** When a living process began, by boot and tick; undefined when there is none, and where the system does not tell. */
function startOf(pid: number): string | undefined {
  try {
    const status = readFileSync(`/proc/${pid}/stat`, 'utf8');
    // The command's name stands in parentheses and may hold anything; what counts comes after it.
    const fields = status.slice(status.lastIndexOf(')') + 2).split(' ');
    if (fields[0] === 'Z' || fields[0] === 'X') return undefined;
    return `${readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim()}/${fields[19]}`;
  } catch {
    return undefined;
  }
}
