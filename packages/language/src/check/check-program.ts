import type { Diagnostic } from '../diagnostics/diagnostic.ts';
import type { Program } from '../modules/program.ts';
import { createFacts, type Facts } from './facts.ts';

/** What the checker has to know of `Concerto.toml`; without it, names of connections and connectors are not checked. */
export interface ManifestNames {
  readonly connections: ReadonlySet<string>;
  readonly agents: ReadonlySet<string>;
  readonly mcp: ReadonlySet<string>;
}

export interface CheckInput {
  readonly program: Program;
  readonly manifest?: ManifestNames;
}

export interface CheckResult {
  readonly facts: Facts;
  /** Ordered by file and position. */
  readonly diagnostics: readonly Diagnostic[];
}

export function checkProgram(_input: CheckInput): CheckResult {
  return { facts: createFacts(), diagnostics: [] };
}
