import { existsSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { resolve } from 'node:path';
import Database from 'libsql';
import { LogError } from '../event-log.ts';
import { isOfSource, sqliteFailure } from './sqlite-failure.ts';
import { forgetOwner } from './sqlite-lock.ts';
import { textAt } from './sqlite-row.ts';
import { refuseForeign, refuseNewer } from './sqlite-schema.ts';

/**
 * Writes the store as it is at one moment into another file, which its owner does not notice: a reader of SQLite's log
 * of changes sees the last commit. Nothing is at `target` until all of it is there and was checked.
 */
export function backupSqlite(path: string, target: string): void {
  const to = resolve(target);
  if (existsSync(to)) throw new LogError('bad-url', `${to} exists; give the backup a name of its own`);
  const unfinished = `${to}.unfinished`;
  const db = openForReading(path);
  try {
    // Here rather than by SQLite, which would say of the store that it cannot be opened.
    writeFileSync(unfinished, '', { mode: 0o600 });
    db.prepare('VACUUM INTO ?').run(unfinished);
    finish(unfinished);
    renameSync(unfinished, to);
  } catch (error) {
    rmSync(unfinished, { force: true });
    throw isOfSource(error) ? sqliteFailure(error, path) : sqliteFailure(error, to, 'the copy');
  } finally {
    db.close();
  }
}

function openForReading(path: string): Database.Database {
  let db: Database.Database | undefined;
  try {
    db = new Database(resolve(path), { readonly: true, fileMustExist: true });
    refuseForeign(db, path);
    refuseNewer(db, path);
    return db;
  } catch (error) {
    db?.close();
    throw sqliteFailure(error, path);
  }
}

function finish(path: string): void {
  const copy = new Database(path);
  try {
    const found = textAt(copy.prepare('PRAGMA integrity_check').raw().get(), 0);
    if (found !== 'ok') throw new LogError('corrupt', `the store is damaged, and so would be its backup: ${found}`);
    forgetOwner(copy);
  } finally {
    copy.close();
  }
}
