import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { UsageError } from '../arguments.ts';
import { shownPath } from './project.ts';

const SKIPPED_DIRECTORIES = new Set(['node_modules', 'dist', 'target']);

/** Files as they are given, and all `.conc` files below directories, in a stable order. */
export function findSources(paths: readonly string[]): string[] {
  const found = new Set<string>();
  for (const path of paths.length === 0 ? ['.'] : paths) {
    const stat = statSync(path, { throwIfNoEntry: false });
    if (stat === undefined) throw new UsageError(`no such file or directory: ${path}`);
    if (stat.isDirectory()) addDirectory(path, found);
    else found.add(shownPath(path));
  }
  return [...found];
}

function addDirectory(directory: string, found: Set<string>): void {
  const entries = readdirSync(directory, { withFileTypes: true }).sort((a, b) => (a.name < b.name ? -1 : 1));
  for (const entry of entries) {
    const path = join(directory, entry.name);
    if (entry.isDirectory()) {
      if (!entry.name.startsWith('.') && !SKIPPED_DIRECTORIES.has(entry.name)) addDirectory(path, found);
    } else if (entry.name.endsWith('.conc')) found.add(shownPath(path));
  }
}
