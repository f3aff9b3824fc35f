import { mkdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** How a keeper is found: in `keeper.json` of its folder, which only its user can read. */
export type KeeperNote = {
  readonly pid: number;
  readonly startTime: string;
  readonly version: number;
  readonly socket: string;
  readonly secret: string;
};

/** A socket's address has little room: 104 bytes on some systems. */
export const socketPathMax = 100;

function noteFile(folder: string): string {
  return join(folder, 'keeper.json');
}

/** Undefined when there is none, or none that can be read. */
export function readNote(folder: string): KeeperNote | undefined {
  try {
    if (!isPrivate(noteFile(folder))) return undefined;
    const read: unknown = JSON.parse(readFileSync(noteFile(folder), 'utf8'));
    return isNote(read) ? read : undefined;
  } catch {
    return undefined;
  }
}

/** In one piece: whoever reads it finds the old one or the new one. */
export function writeNote(folder: string, note: KeeperNote): void {
  const draft = join(folder, `keeper.json.${note.pid}`);
  writeFileSync(draft, JSON.stringify(note), { mode: 0o600 });
  renameSync(draft, noteFile(folder));
}

export function removeNote(folder: string, pid: number): void {
  if (readNote(folder)?.pid === pid) rmSync(noteFile(folder), { force: true });
}

export function makeFolder(folder: string): void {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
}

/** A clone or another user may have put one there: what others can read or write is not ours. */
function isPrivate(file: string): boolean {
  const { uid, mode } = statSync(file);
  return (mode & 0o077) === 0 && (process.getuid === undefined || uid === process.getuid());
}

function isNote(value: unknown): value is KeeperNote {
  if (typeof value !== 'object' || value === null) return false;
  const fields = { pid: 'number', startTime: 'string', version: 'number', socket: 'string', secret: 'string' };
  return Object.entries(fields).every(([name, type]) => typeof Reflect.get(value, name) === type);
}
