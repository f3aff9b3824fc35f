import { LogError, type LogErrorCode } from '../event-log.ts';

/** What the database said of a file, as what its operator can do about it. `what` is what the file is to them. */
export function sqliteFailure(error: unknown, path: string, what = 'the store'): LogError {
  if (error instanceof LogError) return error;
  const reason = error instanceof Error ? error.message : String(error);
  const code = codeOf(error);
  const known = failures.find(([prefix]) => code.startsWith(prefix));
  if (known === undefined) return new LogError('unavailable', `${what} ${path} failed: ${reason}`, { cause: error });
  const [, kind, advice] = known;
  return new LogError(kind, `${what} ${path} ${advice} (${reason})`, { cause: error });
}

const failures: readonly (readonly [string, LogErrorCode, string])[] = [
  ['SQLITE_FULL', 'full', 'has no room left; free space on its disk and try again, nothing stored before is lost'],
  ['SQLITE_READONLY', 'read-only', 'cannot be written; make the file and its folder writable for this user'],
  ['EROFS', 'read-only', 'is on a disk mounted read-only; choose another path or remount the disk'],
  ['SQLITE_PERM', 'read-only', 'cannot be opened by this user; change its owner or its permissions'],
  ['EACCES', 'read-only', 'is in a folder that this user may not write; change its permissions or choose another path'],
  ['EPERM', 'read-only', 'is in a folder that this user may not write; change its permissions or choose another path'],
  ['SQLITE_CORRUPT', 'corrupt', 'is damaged; move the file away and restore a backup, or start with a new one'],
  ['SQLITE_NOTADB', 'corrupt', 'is not a database; choose another path, or move the file away'],
  ['SQLITE_IOERR', 'unavailable', 'met a disk error; check the disk'],
  ['SQLITE_BUSY', 'unavailable', 'is locked by another program; close that program and try again'],
  ['SQLITE_LOCKED', 'unavailable', 'is locked by another program; close that program and try again'],
  ['SQLITE_TOOBIG', 'too-large', 'cannot hold an entry of this size'],
  ['SQLITE_CANTOPEN', 'unavailable', 'cannot be opened; check that it is a file and that its folder can be written'],
  ['ENOTDIR', 'unavailable', 'cannot be created: a part of its path is a file; choose another path'],
  ['EEXIST', 'unavailable', 'cannot be created: a part of its path is a file; choose another path'],
  ['ENOENT', 'unavailable', 'cannot be created there; choose another path'],
  ['ENOSPC', 'full', 'has no room left; free space on its disk and try again'],
];

/** Of a file that is there: this user may not. */
export function isNotOurs(error: unknown): boolean {
  return codeOf(error).startsWith('SQLITE_CANTOPEN');
}

/** By another program, which may let it go at any moment. */
export function isHeld(error: unknown): boolean {
  return /^SQLITE_(BUSY|LOCKED)/.test(codeOf(error));
}

/** Of what is read, where one file is written from another: that there is no room, or no leave, is of the other. */
export function isOfSource(error: unknown): boolean {
  return isHeld(error) || /^SQLITE_(CORRUPT|NOTADB)/.test(codeOf(error));
}

function codeOf(error: unknown): string {
  if (!(error instanceof Error)) return '';
  // The driver gives a refused open no code, only SQLite's number 14 at the end of its message.
  if (error.message.startsWith('ConnectionFailed')) return 'SQLITE_CANTOPEN';
  return 'code' in error && typeof error.code === 'string' ? error.code : '';
}
