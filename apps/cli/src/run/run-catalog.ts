import { basename, extname, resolve } from 'node:path';
import { ok } from '@concerto/base';
import { Rule } from '@concerto/protocol';
import {
  type Catalog,
  type CatalogEntry,
  catalogOf,
  type LoadedProgram,
  type ProgramTerminal,
} from '@concerto/runtime';
import type { CompiledTarget } from '../language/compile-target.ts';
import { findManifest, type LoadedManifest } from '../language/project.ts';
import { entriesOf, limitsOf } from '../serve/load-catalog.ts';

/** What a server gives to each of many programs is less. */
const runLimits = { steps: 5_000_000_000, memory: 1024 ** 3, children: 100_000 };
const poolMaxDefault = 20;
const nameMax = 100;

export type NamedProgram = { readonly name: string; readonly program: LoadedProgram };

/** The program under the name that the manifest has for it, or that of its file. */
export function programOf(target: CompiledTarget, mockModels: boolean): NamedProgram {
  const { module, projectDirectory } = target;
  const found = findManifest(projectDirectory);
  const programs = found?.manifest?.programs ?? {};
  const isIt = (entry: string): boolean => resolve(found?.directory ?? '', entry) === resolve(target.entry);
  const declared = Object.entries(programs).find(([, { entry }]) => isIt(entry));
  const limits = declared === undefined ? undefined : limitsOf(declared[1]);
  const program = {
    module,
    projectDirectory,
    directory: process.cwd(),
    mockModels,
    limits: { ...runLimits, ...limits },
  };
  return { name: declared?.[0] ?? nameOf(target.entry, Object.keys(programs)), program };
}

/** Another one of that name is not this one. */
function nameOf(entry: string, taken: readonly string[]): string {
  const name = basename(entry, extname(entry)).slice(0, nameMax);
  return taken.includes(name) ? entry.slice(-nameMax) : name;
}

export type RunCatalog = { readonly catalog: Catalog; readonly poolMax: number };

/** What the project's manifest has, for who answers and supervises; and the program of this run, in front of its terminal. */
export function runCatalog({ name, program }: NamedProgram, terminal: ProgramTerminal, mock: boolean): RunCatalog {
  const found = findManifest(program.projectDirectory);
  const others = found === undefined ? [] : declaredIn(found, mock);
  const declared = others.find(
    (entry): entry is Extract<CatalogEntry, { kind: 'program' }> => entry.kind === 'program' && entry.name === name,
  );
  const own: CatalogEntry = { ...declared, kind: 'program', name, load: () => ok(program), terminal };
  const rules = found?.manifest?.rules.map((rule) => Rule.parse(rule)) ?? [];
  return {
    catalog: catalogOf([own, ...others.filter((entry) => entry !== declared)], rules),
    poolMax: found?.manifest?.pool.max_sessions ?? poolMaxDefault,
  };
}

function declaredIn({ manifest, directory }: LoadedManifest, mock: boolean): readonly CatalogEntry[] {
  return manifest === undefined ? [] : entriesOf(manifest, directory, { config: undefined, mock, runs: true });
}
