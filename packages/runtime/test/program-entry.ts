import { ok } from '@concerto/base';
import { buildProgram, type readManifest } from '@concerto/language';
import type { CatalogEntry, LoadedProgram } from '../src/index.ts';

type Declared = {
  readonly manifest?: ReturnType<typeof readManifest>['manifest'];
  readonly limits?: LoadedProgram['limits'];
  readonly directory?: string;
};

/** A program of this source, as a manifest would offer it. */
export function programEntry(name: string, source: string, declared: Declared = {}): CatalogEntry {
  const { manifest, limits = {}, directory = process.cwd() } = declared;
  const { module, diagnostics } = buildProgram({ entry: 'main.conc', readFile: () => source, manifest });
  if (module === undefined) throw new Error(diagnostics.map(({ message }) => message).join('\n'));
  return { kind: 'program', name, load: () => ok({ module, projectDirectory: directory, limits }) };
}
