import { renameSync, writeFileSync } from 'node:fs';
import { relative, resolve, sep } from 'node:path';
import { err, ok } from '@concerto/base';
import type { ProgramShelf } from '@concerto/server';
import type { ProgramCompiler } from './program-compiler.ts';
import { fileOf, readInside } from './program-files.ts';

export type NamedPrograms = {
  /** The manifest's folder; sources are named from there. */
  readonly folder: string;
  readonly manifest: string;
  readonly compiler: ProgramCompiler;
  readonly entries: Readonly<Record<string, { readonly entry: string; readonly description?: string | undefined }>>;
};

/** The sources of the manifest's programs, read each time they are asked for. */
export function programShelf(named: NamedPrograms | undefined, mayWrite: boolean): ProgramShelf {
  if (named === undefined) return { list: () => [], source: async () => undefined };
  const { folder, entries } = named;
  const source: ProgramShelf['source'] = async (name) => {
    const program = Object.hasOwn(entries, name) ? entries[name] : undefined;
    if (program === undefined) return undefined;
    const entry = relative(folder, resolve(folder, program.entry)).replaceAll(sep, '/');
    const files = await named.compiler.sources(folder, entry);
    if (!files.ok) throw new Error(files.error);
    const manifest = readInside(folder, named.manifest);
    return {
      name,
      entry,
      files: [...files.value],
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
          write: async (name, { path, text, version }) => {
            // Only what the program is made of: nothing else in the folder can be written from here.
            const known = (await source(name))?.files.find((file) => file.path === path);
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
