import {
  analyseProgram,
  type Diagnostic,
  MANIFEST_NAME,
  type ManifestResult,
  type Program,
  type ProgramAnalysis,
  readManifest,
  type SourceFile,
} from '@concerto/language';
import type { Files } from './files.ts';

/** A program that was read and checked as `concerto check` does it, and what it was made of. */
export interface Analysis {
  readonly entry: string;
  readonly program: Program;
  readonly checked: ProgramAnalysis;
  readonly manifest: ManifestResult | undefined;
  /** Those of the manifest come first. */
  readonly diagnostics: readonly Diagnostic[];
  /** Every file that was looked for, with its stamp at that time: it is out of date when one differs. */
  readonly stamps: ReadonlyMap<string, string>;
}

/** A text that stands in for that of one file. */
export interface Overlay {
  readonly path: string;
  readonly text: string;
}

export function analyse(files: Files, entry: string, overlays: readonly Overlay[] = []): Analysis {
  const stamps = new Map<string, string>();
  const readFile = (path: string): string | undefined => {
    stamps.set(path, files.stamp(path));
    return overlays.find((overlay) => overlay.path === path)?.text ?? files.read(path);
  };
  const manifest = findManifest(readFile, entry);
  const checked = analyseProgram({ entry, readFile, manifest: manifest?.manifest });
  const missing = readFile(entry) === undefined ? missingEntry(entry, manifest) : [];
  const diagnostics = [...(manifest?.diagnostics ?? []), ...missing, ...checked.diagnostics];
  return { entry, program: checked.program, checked, manifest, diagnostics, stamps };
}

export function isFresh(files: Files, analysis: Analysis): boolean {
  for (const [path, stamp] of analysis.stamps) if (files.stamp(path) !== stamp) return false;
  return true;
}

/** In the directory of the file, and in those above it. */
export function findManifest(
  readFile: (path: string) => string | undefined,
  start: string,
): ManifestResult | undefined {
  if (!start.includes('/')) return undefined;
  for (let folder = directoryOf(start); ; folder = directoryOf(folder)) {
    const path = `${folder}/${MANIFEST_NAME}`;
    const text = readFile(path);
    if (text !== undefined) return readManifest(text, path);
    if (folder === directoryOf(folder)) return undefined;
  }
}

/** Without the last part; the root is the empty text, so that `/name` can follow. */
export function directoryOf(path: string): string {
  return path.slice(0, Math.max(path.lastIndexOf('/'), 0));
}

/** The programs a manifest names, as paths. */
export function manifestEntries(manifest: ManifestResult): string[] {
  const { project, programs } = manifest.manifest ?? {};
  const entries = [project?.entry, ...Object.values(programs ?? {}).map((program) => program.entry)];
  const folder = directoryOf(manifest.file.path);
  return entries.flatMap((entry) => (entry === undefined || entry === '' ? [] : [inside(folder, entry)]));
}

function inside(folder: string, entry: string): string {
  const parts: string[] = entry.startsWith('/') ? [] : folder.split('/');
  for (const part of entry.split('/')) {
    if (part === '..') parts.pop();
    else if (part !== '.') parts.push(part);
  }
  return parts.join('/');
}

function missingEntry(entry: string, manifest: ManifestResult | undefined): Diagnostic[] {
  const start = manifest?.file.text.search(/^\s*entry\s*=/m) ?? -1;
  const span = start === -1 ? { start: 0, end: 0 } : { start, end: start + 'entry'.length };
  const message = `the program \`${entry}\` does not exist`;
  return [{ code: 'C0504', severity: 'error', message, file: manifest?.file.path ?? entry, span, labels: [] }];
}

export function sourceOf(analysis: Analysis, path: string): SourceFile | undefined {
  if (analysis.manifest?.file.path === path) return analysis.manifest.file;
  return analysis.program.files.get(path)?.source;
}
