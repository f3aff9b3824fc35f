import { existsSync, readFileSync, statSync } from 'node:fs';
import { dirname, isAbsolute, join, relative, resolve, sep } from 'node:path';
import {
  analyseProgram,
  type Diagnostic,
  loadProgram,
  MANIFEST_NAME,
  type Manifest,
  type ManifestResult,
  type McpAnswers,
  type Program,
  type ProgramAnalysis,
  parseSource,
  readManifest,
  type SourceFile,
} from '@concerto/language';
import { UsageError } from '../arguments.ts';

/** What a command works on: a file, and the manifest above it if there is one. */
export interface Target {
  /** As people see it: relative to the current directory when it is below it. */
  readonly entry: string;
  readonly manifest: LoadedManifest | undefined;
}

export interface LoadedManifest extends ManifestResult {
  /** Absolute directory of the manifest. */
  readonly directory: string;
}

/** A program that was read and checked; `diagnostics` has those of the manifest too, which come first. */
export interface CheckedProgram {
  readonly target: Target;
  readonly program: Program;
  readonly facts: ProgramAnalysis['facts'];
  readonly manifest: Manifest | undefined;
  readonly diagnostics: readonly Diagnostic[];
  readonly hasErrors: boolean;
  readonly findFile: (path: string) => SourceFile | undefined;
}

/** FILE is itself; DIR, or nothing for the current directory, is the `entry` of its manifest. */
export function resolveTarget(path: string | undefined): Target {
  const given = path ?? '.';
  const stat = statSync(given, { throwIfNoEntry: false });
  if (stat === undefined) throw new UsageError(`no such file or directory: ${given}`);
  if (!stat.isDirectory()) return { entry: shownPath(given), manifest: findManifest(dirname(resolve(given))) };
  const manifest = findManifest(resolve(given));
  if (manifest === undefined)
    throw new UsageError(`no ${MANIFEST_NAME} in ${given}: name a file, or create a project with \`concerto new\``);
  // A manifest that cannot be read has no entry, and its diagnostics say why; neither has one of a server only.
  const entry = manifest.manifest?.project?.entry ?? '';
  return { entry: entry === '' ? '' : shownPath(join(manifest.directory, entry)), manifest };
}

/** Looks in the directory and in those above it. */
export function findManifest(start: string): LoadedManifest | undefined {
  for (let directory = resolve(start); ; directory = dirname(directory)) {
    const path = join(directory, MANIFEST_NAME);
    const text = readTextFile(path);
    if (text !== undefined) return { ...readManifest(text, shownPath(path)), directory };
    if (dirname(directory) === directory) return undefined;
  }
}

/** The files of a program: the entry first, then its modules. */
export function filesOf(target: Target): Iterable<string> {
  return loadProgram({ entry: target.entry, readFile: readTextFile, parse: parseSource }).program.files.keys();
}

/** `mcpServers`: what servers have said about their tools, when they were asked. */
export function checkTarget(target: Target, mcpServers?: McpAnswers): CheckedProgram {
  const { manifest } = target;
  const analysis = analyseProgram({
    entry: target.entry,
    readFile: readTextFile,
    manifest: manifest?.manifest,
    mcpServers,
  });
  const { program, facts } = analysis;
  const diagnostics = [
    ...(manifest?.diagnostics ?? []),
    ...missingEntry(target),
    ...missingPrograms(target),
    ...programDiagnostics(target, analysis),
  ];
  const findFile = (path: string) => {
    if (path === manifest?.file.path) return manifest.file;
    return program.files.get(path)?.source;
  };
  const hasErrors = diagnostics.some((diagnostic) => diagnostic.severity === 'error');
  return { target, program, facts, manifest: manifest?.manifest, diagnostics, hasErrors, findFile };
}

/** A file that is something else is told so, and not what would be wrong with it if it were a program. */
function programDiagnostics({ entry }: Target, { program, diagnostics }: ProgramAnalysis): readonly Diagnostic[] {
  const text = program.files.get(entry)?.source.text ?? '';
  const isBinary = text.includes('\0');
  const isBroken = diagnostics.some(({ severity, file }) => severity === 'error' && file === entry);
  if (!isBinary && !(isBroken && !entry.endsWith('.conc'))) return diagnostics;
  const message = isBinary ? `\`${entry}\` is no program: it is not text` : `\`${entry}\` is no program`;
  const help = 'the name of a program ends in `.conc`, that of a compiled one in `.conc-ir`';
  return [{ code: 'C0505', severity: 'error', message, help, file: entry, span: { start: 0, end: 0 }, labels: [] }];
}

function missingEntry(target: Target): Diagnostic[] {
  if (target.entry === '' || statSync(target.entry, { throwIfNoEntry: false })?.isFile() === true) return [];
  const file = target.manifest?.file.path ?? target.entry;
  const message = `the program \`${target.entry}\` does not exist`;
  return [{ code: 'C0504', severity: 'error', message, file, span: entrySpan(target), labels: [] }];
}

function missingPrograms({ manifest }: Target): Diagnostic[] {
  return Object.entries(manifest?.manifest?.programs ?? {}).flatMap(([name, { entry }]): Diagnostic[] => {
    if (manifest === undefined || existsSync(join(manifest.directory, entry))) return [];
    const message = `the program \`${entry}\` of [programs.${name}] does not exist`;
    const start = Math.max(0, manifest.file.text.indexOf(`[programs.${name}]`));
    const span = { start: start + 1, end: start + `programs.${name}`.length + 1 };
    return [{ code: 'C0504', severity: 'warning', message, file: manifest.file.path, span, labels: [] }];
  });
}

function entrySpan(target: Target): { start: number; end: number } {
  const start = target.manifest?.file.text.search(/^\s*entry\s*=/m) ?? -1;
  return start === -1 ? { start: 0, end: 0 } : { start, end: start + 'entry'.length };
}

/** Undefined when there is no such file; a file that exists and cannot be read is a failure. */
export function readTextFile(path: string): string | undefined {
  try {
    return path === '' ? undefined : readFileSync(path, 'utf8');
  } catch (error) {
    if (isAbsent(error)) return undefined;
    throw error;
  }
}

function isAbsent(error: unknown): boolean {
  return (
    error instanceof Error &&
    'code' in error &&
    (error.code === 'ENOENT' || error.code === 'ENOTDIR' || error.code === 'EISDIR')
  );
}

/** With `/` on every system, because module paths and output are made from it. */
export function shownPath(path: string): string {
  const fromHere = relative(process.cwd(), resolve(path));
  const isBelow = fromHere !== '' && fromHere !== '..' && !fromHere.startsWith(`..${sep}`) && !isAbsolute(fromHere);
  const shown = isBelow ? fromHere : path;
  return sep === '/' ? shown : shown.replaceAll(sep, '/');
}
