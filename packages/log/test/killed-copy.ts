import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';

/**
 * The files of a store as they are at this moment: what is there after `kill -9`. Another process copies them, because
 * one that closes a file loses the locks that it holds on it.
 */
export function killedCopy(path: string): string {
  const folder = mkdtempSync(join(dirname(path), 'killed-'));
  const files = [path, `${path}-wal`].filter((file) => existsSync(file));
  execFileSync('cp', [...files, folder]);
  return join(folder, basename(path));
}
