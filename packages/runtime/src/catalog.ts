import type { AgentSpec } from '@concerto/agents';
import type { Result } from '@concerto/base';
import type { IrModule } from '@concerto/ir';
import type { Prices } from '@concerto/models';
import type { Budget, OnTimeout, Rule, SessionKind } from '@concerto/protocol';
import type { AssistantSpec } from './assistant/assistant-spec.ts';
import type { ProgramTerminal } from './conducting/program-terminal.ts';
import type { ProgramLimits } from './program/program-limits.ts';

/** A program that is ready to run, as the manifest names it. */
export type LoadedProgram = {
  readonly module: IrModule;
  readonly projectDirectory: string;
  /** Where its relative paths start; in the project unless given. */
  readonly directory?: string;
  /** Every model answers with the offline mock. */
  readonly mockModels?: boolean;
  /** Where the manifest says other than what is usual. */
  readonly limits?: Partial<ProgramLimits>;
};

/** Something a session can be started with, as the manifest (or the demo) declares it. */
export type CatalogEntry = {
  readonly name: string;
  readonly kind: SessionKind;
  readonly description?: string;
  /** What is answered without a person; the first that matches decides. */
  readonly rules?: readonly Rule[];
  /** How long a person may take to answer, and what happens then; for ever unless given. */
  readonly answerWithinMs?: number;
  readonly onTimeout?: OnTimeout;
  /** The program that answers for its sessions. */
  readonly supervisor?: string;
  /** How long a model or a supervisor may take before the next is asked. */
  readonly askWithinMs?: number;
  /** How often models may be asked for one session. */
  readonly modelAsksMax?: number;
  /** What each session of it may use. */
  readonly budget?: Budget;
  /** What tokens cost, over the list prices. */
  readonly prices?: Prices;
  /** What a session may set for itself, by name; nothing unless given. */
  readonly perSession?: readonly string[];
} & (
  | {
      readonly kind: 'agent';
      readonly spec: AgentSpec;
      /** Of a program: the agent of the manifest that it is, whose rules count. */
      readonly connector?: string;
      /** Why it cannot be started, where that is known. */
      readonly fault?: string;
      /** Of a turn, or of the whole of a `once` session; undefined means none. */
      readonly timeoutMs?: number;
      readonly idleTimeoutMs?: number;
      readonly initTimeoutMs?: number;
      /** Each session of it works in a checkout of its own, unless it says otherwise. */
      readonly worktree?: boolean;
    }
  /** Compiled anew for each session; a refusal says why it cannot run. */
  | {
      readonly kind: 'program';
      readonly load: () => Result<LoadedProgram, string> | Promise<Result<LoadedProgram, string>>;
      /** Where somebody stands beside its session. */
      readonly terminal?: ProgramTerminal;
    }
  | {
      readonly kind: 'assistant';
      readonly spec: AssistantSpec;
      /** Of a turn, or of the whole of a `once` session; undefined means none. */
      readonly timeoutMs?: number;
      /** Why none can be started as things are, asked before anything begins; absent where others run the sessions. */
      readonly fault?: () => string | undefined;
    }
);

export type Catalog = {
  find(kind: SessionKind, name: string): CatalogEntry | undefined;
  list(): readonly CatalogEntry[];
  /** Rules for all of them, after their own. */
  readonly rules?: readonly Rule[];
};

export function catalogOf(entries: readonly CatalogEntry[], rules: readonly Rule[] = []): Catalog {
  return {
    rules,
    find: (kind, name) => entries.find((entry) => entry.kind === kind && entry.name === name),
    list: () => entries,
  };
}
