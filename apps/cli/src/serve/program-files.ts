import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { resolve, sep } from 'node:path';
import { loadProgram, parseSource } from '@concerto/language';
import type { ProgramFile } from '@concerto/protocol';

/** The entry first, then its modules, as far as they are in the folder. */
export function sourcesIn(folder: string, entry: string): ProgramFile[] {
  const { program } = loadProgram({ entry, readFile: (path) => readInside(folder, path), parse: parseSource });
  return [...program.files.values()].map(({ source: { path, text } }) => fileOf(path, text));
}

export function fileOf(path: string, text: string): ProgramFile {
  return { path, text, version: createHash('sha256').update(text).digest('hex').slice(0, 16) };
}

export function readInside(folder: string, path: string): string | undefined {
  const file = resolve(folder, path);
  if (!file.startsWith(folder + sep)) return undefined;
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return undefined; // Absent or unreadable: the checker says so.
  }
}
