import { basename } from 'node:path';
import { type Diagnostic, indexProgram, MANIFEST_NAME, type ProgramIndex, type SourceFile } from '@concerto/language';
import {
  type Analysis,
  analyse,
  directoryOf,
  findManifest,
  isFresh,
  manifestEntries,
  type Overlay,
  sourceOf,
} from './analysis.ts';
import type { Files } from './files.ts';

/** How many directories above a file are searched for a program that it may be a module of. */
const MOST_LEVELS = 4;
/** How many files are looked into for a `mod` that names it. */
const MOST_CANDIDATES = 200;
/** Programs that are kept; the one that was not asked about for the longest time goes. */
const MOST_ANALYSES = 32;

interface Supposed {
  readonly analysis: Analysis;
  readonly index: ProgramIndex;
}

/** What is known of the programs around the open files; each is checked again only when one of its files differs. */
export class Workspace {
  readonly #files: Files;
  readonly #analyses = new Map<string, Analysis>();
  readonly #indexes = new WeakMap<Analysis, ProgramIndex>();
  readonly #roots = new Map<string, readonly string[]>();
  #latest: Analysis | undefined;
  #supposed: (Supposed & { readonly key: string }) | undefined;

  constructor(files: Files) {
    this.#files = files;
  }

  /** Files came or went: a file may belong to another program now. */
  forgetRoots(): void {
    this.#roots.clear();
  }

  /** The programs a file is part of, by their entry files: itself when no other has it as a module. */
  rootsOf(path: string): readonly string[] {
    const known = this.#roots.get(path);
    if (known?.every((root) => this.analysis(root).program.files.has(path)) === true) return known;
    const found = this.#findRoots(path, new Set());
    const roots = found.length === 0 ? [path] : found;
    this.#roots.set(path, roots);
    return roots;
  }

  /** The programs that an open file is checked with; of a manifest, those that it names. */
  programsFor(path: string): readonly string[] {
    if (basename(path) !== MANIFEST_NAME) return this.rootsOf(path);
    const manifest = findManifest((each) => this.#files.read(each), path);
    return manifest === undefined ? [] : manifestEntries(manifest);
  }

  analysis(entry: string): Analysis {
    const known = this.#analyses.get(entry);
    this.#analyses.delete(entry);
    const fresh = known !== undefined && isFresh(this.#files, known) ? known : this.#analyse(entry, []);
    this.#analyses.set(entry, fresh);
    for (const oldest of this.#analyses.keys()) {
      if (this.#analyses.size <= MOST_ANALYSES) break;
      this.#analyses.delete(oldest);
    }
    return fresh;
  }

  /** The first program of a file, with what its names mean, and its manifest. */
  programOf(path: string): { readonly index: ProgramIndex; readonly manifest: SourceFile | undefined } {
    const entry = this.rootsOf(path)[0] ?? path;
    const index = this.index(entry);
    return { index, manifest: this.analysis(entry).manifest?.file };
  }

  index(entry: string): ProgramIndex {
    let analysis = this.analysis(entry);
    const known = this.#indexes.get(analysis);
    if (known !== undefined) return known;
    // The checker shares the types that are built in: what a program adds to them is there until the next one is checked.
    if (this.#latest !== analysis) {
      analysis = this.#analyse(entry, []);
      this.#analyses.set(entry, analysis);
    }
    const index = indexProgram(analysis.program, analysis.checked);
    this.#indexes.set(analysis, index);
    return index;
  }

  /** The program as it would be with other texts. Only the last is kept: editors ask twice about the same keystroke. */
  suppose(entry: string, overlays: readonly Overlay[]): Supposed {
    const key = JSON.stringify([entry, overlays]);
    const last = this.#supposed;
    const isSame = last?.key === key && last.analysis === this.#latest && isFresh(this.#files, last.analysis);
    if (last !== undefined && isSame) return last;
    const analysis = this.#analyse(entry, overlays);
    this.#supposed = { key, analysis, index: indexProgram(analysis.program, analysis.checked) };
    return this.#supposed;
  }

  #analyse(entry: string, overlays: readonly Overlay[]): Analysis {
    const analysis = analyse(this.#files, entry, overlays);
    this.#latest = analysis;
    return analysis;
  }

  #findRoots(path: string, visited: Set<string>): string[] {
    visited.add(path);
    const manifest = findManifest((each) => this.#files.read(each), path);
    const entries = manifest === undefined ? [] : manifestEntries(manifest);
    if (entries.includes(path)) return [path];
    const containing = entries.filter((entry) => this.analysis(entry).program.files.has(path));
    if (containing.length > 0) return [...new Set(containing)];
    const found = new Set<string>();
    for (const parent of this.#possibleParents(path)) {
      if (visited.has(parent) || !this.analysis(parent).program.files.has(path)) continue;
      const roots = this.#findRoots(parent, visited);
      for (const root of roots.length === 0 ? [parent] : roots) found.add(root);
    }
    return [...found];
  }

  /** Files nearby that have a `mod` of this name. */
  #possibleParents(path: string): string[] {
    const stem = basename(path, '.conc');
    const name = stem === 'mod' ? basename(directoryOf(path)) : stem;
    if (!/^[A-Za-z_][A-Za-z0-9_]*$/.test(name)) return [];
    const mention = new RegExp(`\\bmod\\s+${name}\\s*;`);
    const candidates: string[] = [];
    let folder = directoryOf(path);
    for (let level = 0; level < MOST_LEVELS && folder !== ''; level++, folder = directoryOf(folder)) {
      candidates.push(...this.#files.programsIn(folder));
    }
    return candidates
      .filter((candidate) => candidate !== path)
      .slice(0, MOST_CANDIDATES)
      .filter((candidate) => mention.test(this.#files.read(candidate) ?? ''));
  }
}

export interface FileFindings {
  readonly source: SourceFile | undefined;
  readonly diagnostics: readonly Diagnostic[];
}

/** What there is to say about each file of some programs; what several say of a shared file is told once. */
export function findingsByFile(analyses: readonly Analysis[]): ReadonlyMap<string, FileFindings> {
  const seen = new Set<string>();
  const findings = new Map<string, { source: SourceFile | undefined; diagnostics: Diagnostic[] }>();
  for (const analysis of analyses) {
    for (const diagnostic of analysis.diagnostics) {
      const key = JSON.stringify([diagnostic.code, diagnostic.file, diagnostic.span, diagnostic.message]);
      if (seen.has(key)) continue;
      seen.add(key);
      const { file } = diagnostic;
      const own = findings.get(file) ?? { source: sourceOf(analysis, file), diagnostics: [] };
      own.diagnostics.push(diagnostic);
      findings.set(file, own);
    }
  }
  return findings;
}
