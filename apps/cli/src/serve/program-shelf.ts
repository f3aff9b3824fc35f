import { createHash } from 'node:crypto';
import { readFileSync, renameSync, writeFileSync } from 'node:fs';
import { relative, resolve, sep } from 'node:path';
import { err, ok } from '@concerto/base';
import { loadProgram, parseSource } from '@concerto/language';
import type { ProgramFile } from '@concerto/protocol';
import type { ProgramShelf } from '@concerto/server';

export type NamedPrograms = {
  /** The manifest's folder; sources are named from there. */
  readonly folder: string;
  readonly manifest: string;
  readonly entries: Readonly<Record<string, { readonly entry: string; readonly description?: string | undefined }>>;
};

/** The sources of the manifest's programs, read each time they are asked for. */
export function programShelf(named: NamedPrograms | undefined, mayWrite: boolean): ProgramShelf {
  if (named === undefined) return { list: () => [], source: () => undefined };
  const { folder, entries } = named;
  const read = (path: string): string | undefined => readInside(folder, path);
  const source: ProgramShelf['source'] = (name) => {
    const program = entries[name];
    if (program === undefined) return undefined;
    const entry = relative(folder, resolve(folder, program.entry)).replaceAll(sep, '/');
    const files = sourcesOf(entry, read);
    const manifest = read(named.manifest);
    return {
      name,
      entry,
      files,
      mayWrite,
      ...(manifest === undefined ? {} : { manifest: fileOf(named.manifest, manifest) }),
    };
  };
  return {
    list: () =>
      Object.entries(entries).map(([name, { entry, description }]) => ({
        name,
        entry,
        ...(description === undefined ? {} : { description }),
      })),
    source,
    ...(mayWrite
      ? {
          write: (name, { path, text, version }) => {
            // Only what the program is made of: nothing else in the folder can be written from here.
            const known = source(name)?.files.find((file) => file.path === path);
            if (known === undefined) return err('no_such_file');
            if (known.version !== version) return err('stale_file');
            const target = resolve(folder, path);
            writeFileSync(`${target}.new`, text);
            renameSync(`${target}.new`, target);
            return ok(fileOf(path, text));
          },
        }
      : {}),
  };
}

/** The entry first, then its modules, as far as they are in the folder. */
function sourcesOf(entry: string, readFile: (path: string) => string | undefined): ProgramFile[] {
  const { program } = loadProgram({ entry, readFile, parse: parseSource });
  return [...program.files.values()].map(({ source: { path, text } }) => fileOf(path, text));
}

function fileOf(path: string, text: string): ProgramFile {
  return { path, text, version: createHash('sha256').update(text).digest('hex').slice(0, 16) };
}

function readInside(folder: string, path: string): string | undefined {
  const file = resolve(folder, path);
  if (!file.startsWith(folder + sep)) return undefined;
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return undefined; // Absent or unreadable: the checker says so.
  }
}
