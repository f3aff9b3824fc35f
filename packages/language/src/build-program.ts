import type { IrModule } from '@concerto/ir';
import type { McpAnswers } from './check/check-mcp.ts';
import { type CheckResult, checkProgram } from './check/check-program.ts';
import { compileProgram } from './compile/compile-program.ts';
import type { Manifest } from './manifest/manifest.ts';
import { manifestNames } from './manifest/manifest-names.ts';
import { loadProgram, type ReadFile } from './modules/load-program.ts';
import type { Program } from './modules/program.ts';
import { parseSource } from './parser/parse-source.ts';
import { withoutConsequences } from './without-consequences.ts';

export interface AnalysisInput {
  /** Path of the entry file, as `readFile` takes it and diagnostics show it. */
  readonly entry: string;
  /** The text of a file, undefined when there is none. */
  readonly readFile: ReadFile;
  readonly manifest?: Manifest | undefined;
  /** What MCP servers have said about their tools, when they were asked. */
  readonly mcpServers?: McpAnswers | undefined;
}

export interface ProgramAnalysis extends CheckResult {
  readonly program: Program;
}

/** Reads a program with its modules and checks it. The only way from files to diagnostics. */
export function analyseProgram({ entry, readFile, manifest, mcpServers }: AnalysisInput): ProgramAnalysis {
  const { program, diagnostics: loading } = loadProgram({ entry, readFile, parse: parseSource });
  const names = manifestNames(manifest);
  const checked = checkProgram({
    program,
    ...(names === undefined ? {} : { manifest: names }),
    ...(mcpServers === undefined ? {} : { mcpServers }),
  });
  const diagnostics = withoutConsequences(program, loading, checked.diagnostics);
  return { ...checked, program, diagnostics };
}

export interface BuildResult extends ProgramAnalysis {
  /** Absent when there is an error. */
  readonly module: IrModule | undefined;
}

/** From source files to a module: analyses, and compiles when nothing is wrong. */
export function buildProgram(input: AnalysisInput): BuildResult {
  const analysis = analyseProgram(input);
  const isBroken = analysis.diagnostics.some((diagnostic) => diagnostic.severity === 'error');
  return { ...analysis, module: isBroken ? undefined : compileProgram({ ...analysis, manifest: input.manifest }) };
}
