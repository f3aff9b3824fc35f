import type { EndOptions, InterruptOptions, ProcessIdentity } from '@concerto/keeper';
import type { Line } from '@concerto/protocol';
import type { AgentExit, AgentSpec, OutputPlace, StartOptions } from './agent-connection.ts';
import type { AgentError } from './agent-error.ts';
import { DirectProcess } from './direct-process.ts';

/** What hears an agent's stdout. */
export type LineReader = {
  readonly line: (line: Line) => void;
  /** All lines that are there were read. */
  readonly rest: () => void;
  /** Then nothing is read until somebody resumes it. */
  readonly isFull: () => boolean;
  /** The last call: the process has ended and every line it wrote has been read. */
  readonly end: (exit: AgentExit) => void;
};

/** A call for later that may be put off, as when something was heard. */
export type Alarm = { readonly refresh: () => void; readonly cancel: () => void };

/**
 * An agent's process as its driver sees it: our own child, or one that a keeper holds. The latter can be taken up by
 * another owner, whose driver goes once more through all that was said and done and must come out the same. So a driver
 * takes its ids and its alarms from here, and nothing that it says depends on anything else that happens only once.
 */
export type AgentProcess = {
  readonly identity: ProcessIdentity;
  readonly exited: Promise<AgentExit>;
  /** Resolves when the pipe has taken the line. */
  write(line: string): Promise<void>;
  /** Everything it writes on stdout, line by line, to its very end, which may come after the process has ended. Once. */
  readLines(reader: LineReader): void;
  /** The reader has room again. */
  resume(): void;
  /** Where what is said now stands among all that is said; undefined where nobody asks. */
  readonly place: (() => OutputPlace) | undefined;
  /** Unguessable; the same when the same is done again. */
  uuid(): string;
  /** Not before input that is there already. It does not keep our process alive. */
  later(ms: number, call: () => void): Alarm;
  end(options?: EndOptions): Promise<AgentExit>;
  interrupt(options?: InterruptOptions): Promise<AgentExit | undefined>;
  freeze(): void;
  thaw(): void;
  exitError(exit: AgentExit): AgentError;
  /** Words of the agent's own, with the secrets that it was given struck out. */
  conceal(text: string): string;
  /** What it has written on stderr up to now. */
  stderrText(): string;
};

export type ProcessOptions = Pick<StartOptions, 'endGraceMs' | 'onStderr' | 'onLeftovers' | 'kept'> & {
  /** Set as they are, beside the agent's own. */
  readonly variables?: Readonly<Record<string, string>>;
};

/** Starts a process for a driver, or gives it the one that is to be taken up. */
export async function startProcess(spec: AgentSpec, options: ProcessOptions): Promise<AgentProcess> {
  const { kept } = options;
  return kept === undefined ? await DirectProcess.start(spec, options) : await kept.process(spec, options);
}
