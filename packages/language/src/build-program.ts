import type { IrModule } from '@concerto/ir';
import { checkProgram } from './check/check-program.ts';
import { compileProgram } from './compile/compile-program.ts';
import type { Diagnostic } from './diagnostics/diagnostic.ts';
import type { Manifest } from './manifest/manifest.ts';
import { loadProgram, type ReadFile } from './modules/load-program.ts';
import type { Program } from './modules/program.ts';
import { parseSource } from './parser/parse-source.ts';

export interface BuildInput {
  /** Path of the entry file, as `readFile` takes it and diagnostics show it. */
  readonly entry: string;
  /** The text of a file, undefined when there is none. */
  readonly readFile: ReadFile;
  readonly manifest?: Manifest | undefined;
}

export interface BuildResult {
  /** Absent when there is an error. */
  readonly module: IrModule | undefined;
  readonly diagnostics: readonly Diagnostic[];
  readonly program: Program;
}

/** From source files to a module: reads, checks, and compiles when nothing is wrong. */
export function buildProgram({ entry, readFile, manifest }: BuildInput): BuildResult {
  const loaded = loadProgram({ entry, readFile, parse: parseSource });
  const { program } = loaded;
  const checked = checkProgram({ program, ...(manifest === undefined ? {} : { manifest: manifestNames(manifest) }) });
  const diagnostics = [...loaded.diagnostics, ...checked.diagnostics];
  if (diagnostics.some((diagnostic) => diagnostic.severity === 'error')) {
    return { module: undefined, diagnostics, program };
  }
  return { module: compileProgram({ program, facts: checked.facts, manifest }), diagnostics, program };
}

function manifestNames(manifest: Manifest) {
  return {
    connections: new Set(Object.keys(manifest.connections)),
    agents: new Set(Object.keys(manifest.agents)),
    mcp: new Set(Object.keys(manifest.mcp)),
  };
}
