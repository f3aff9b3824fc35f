import type { Diagnostic as LspDiagnostic } from 'vscode-languageserver/node';
import { toLspDiagnostic } from './features/diagnostics.ts';
import { sourceOf } from './workspace/analysis.ts';
import { uriOf } from './workspace/file-path.ts';
import type { Files } from './workspace/files.ts';
import { findingsByFile, type Workspace } from './workspace/workspace.ts';

/** Typing goes on within this time; only the last state of the text is checked. */
const QUIET_MS = 120;

export interface Publication {
  readonly uri: string;
  readonly diagnostics: LspDiagnostic[];
  /** Of the open document they are about. */
  readonly version?: number;
}

export interface FeedOptions {
  readonly files: Files;
  readonly workspace: Workspace;
  readonly publish: (publication: Publication) => void;
  readonly failed: (error: unknown) => void;
}

/** Checks the programs of the open files when the text has come to rest, and publishes what changed for each file. */
export class DiagnosticsFeed {
  readonly #options: FeedOptions;
  /** What was last published about a path. */
  readonly #published = new Map<string, Publication>();
  #timer: NodeJS.Timeout | undefined;
  #round = 0;
  /** A check at once is waiting for its turn. */
  #soon = false;

  constructor(options: FeedOptions) {
    this.#options = options;
  }

  /** Something changed. `at once`: a file was opened, saved or closed, so nobody is typing. */
  request(when: 'when quiet' | 'at once'): void {
    // Opening a file is also told as a change of it, which must not delay the first check.
    if (this.#soon && when === 'when quiet') return;
    clearTimeout(this.#timer);
    const round = ++this.#round;
    this.#soon = when === 'at once';
    this.#timer = setTimeout(() => void this.#run(round), this.#soon ? 0 : QUIET_MS);
  }

  stop(): void {
    clearTimeout(this.#timer);
    this.#round++;
  }

  async #run(round: number): Promise<void> {
    const { files, workspace, failed } = this.#options;
    this.#soon = false;
    try {
      const entries = new Set<string>();
      for (const path of files.openPaths) {
        for (const entry of workspace.programsFor(path)) entries.add(entry);
        // Between programs, what the editor has sent meanwhile is read: a newer text ends this round.
        await new Promise(setImmediate);
        if (round !== this.#round) return;
      }
      const analyses = [];
      for (const entry of entries) {
        analyses.push(workspace.analysis(entry));
        await new Promise(setImmediate);
        if (round !== this.#round) return;
      }
      this.#publish(analyses);
    } catch (error) {
      failed(error);
    }
  }

  #publish(analyses: Parameters<typeof findingsByFile>[0]): void {
    const { files, publish } = this.#options;
    const findSource = (path: string) => {
      for (const analysis of analyses) {
        const source = sourceOf(analysis, path);
        if (source !== undefined) return source;
      }
      return undefined;
    };
    const findings = findingsByFile(analyses);
    for (const path of new Set([...this.#published.keys(), ...files.openPaths, ...findings.keys()])) {
      const { source, diagnostics } = findings.get(path) ?? { source: undefined, diagnostics: [] };
      const converted =
        source === undefined ? [] : diagnostics.map((diagnostic) => toLspDiagnostic(diagnostic, source, findSource));
      const before = this.#published.get(path);
      const document = files.document(path);
      const uri = document?.uri ?? before?.uri ?? uriOf(path);
      if (uri === undefined) continue;
      const version = document?.version;
      const now = { uri, diagnostics: converted, ...(version === undefined ? {} : { version }) };
      if (document === undefined && converted.length === 0) this.#published.delete(path);
      else this.#published.set(path, now);
      if (JSON.stringify(before) !== JSON.stringify(now)) publish(now);
    }
  }
}
