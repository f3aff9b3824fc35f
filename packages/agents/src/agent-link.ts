import type { EndOptions, InterruptOptions } from '@concerto/keeper';
import { type Line, LineError } from '@concerto/protocol';
import type { AgentExit, AgentOutput, AgentSpec } from './agent-connection.ts';
import { AgentError, type AgentErrorCode } from './agent-error.ts';
import type { AgentProcess, Alarm } from './agent-process.ts';
import { log } from './driver-output.ts';
import { OutputBuffer } from './output-buffer.ts';
import { stderrExcerpt } from './stderr-tail.ts';

export type LinkReader = {
  readonly line: (line: string) => void;
  /** The process has ended, and every line has been read. */
  readonly end: (error: AgentError) => void;
};

/** What all drivers share: the agent's process, its lines, what is said of them, and its end. */
export class AgentLink {
  readonly spec: AgentSpec;
  readonly output: OutputBuffer<AgentOutput>;
  /** Called with every line. */
  onHeard: (() => void) | undefined;
  readonly #process: AgentProcess;
  readonly #onLine: ((line: Line) => void) | undefined;
  /** Of the line that is being read: what is said of it is about as long. */
  #lineLength = 0;
  #isOver = false;

  constructor(spec: AgentSpec, agentProcess: AgentProcess, onLine: ((line: Line) => void) | undefined) {
    this.spec = spec;
    this.#process = agentProcess;
    this.#onLine = onLine;
    this.output = new OutputBuffer(agentProcess);
  }

  /** Once: its lines are read from here on. */
  read(reader: LinkReader): void {
    this.#process.readLines({
      line: (line) => {
        this.output.gather();
        this.onHeard?.();
        this.#onLine?.(line);
        this.#take(line, reader);
      },
      rest: () => this.output.wake(),
      isFull: () => this.output.isFull,
      end: (exit) => {
        const error = this.#process.exitError(exit);
        reader.end(error);
        this.say({ kind: 'exit', exit, error });
        this.#isOver = true;
        this.output.end();
      },
    });
  }

  say(...outputs: readonly AgentOutput[]): void {
    if (this.#isOver) return;
    for (const output of outputs) this.output.push(output, this.#lineLength);
  }

  /** A word of ours about the agent; it may repeat what it was given. */
  warn(message: string): void {
    this.say(log('warn', this.#process.conceal(message)));
  }

  write(line: string): Promise<void> {
    return this.#process.write(line);
  }

  /** Without the secrets that the agent was given. */
  conceal(text: string): string {
    return this.#process.conceal(text);
  }

  /** A failure of the agent's, with the end of what it wrote on stderr. */
  failure(code: AgentErrorCode, why: string, cause?: unknown): AgentError {
    const stderr = this.#process.stderrText();
    const message = `agent "${this.spec.name}" ${this.#process.conceal(why)}; ${stderrExcerpt(stderr)}`;
    return new AgentError(code, message, { stderr, ...(cause === undefined ? {} : { cause }) });
  }

  /** Unguessable; the same when the same is done again. */
  uuid(): string {
    return this.#process.uuid();
  }

  /** Not before input that is there already. */
  later(ms: number, call: () => void): Alarm {
    return this.#process.later(ms, call);
  }

  get identity() {
    return this.#process.identity;
  }

  get exited(): Promise<AgentExit> {
    return this.#process.exited;
  }

  interrupt(options?: InterruptOptions): Promise<AgentExit | undefined> {
    return this.#process.interrupt(options);
  }

  freeze(): void {
    this.#process.freeze();
  }

  thaw(): void {
    this.#process.thaw();
  }

  end(options?: EndOptions): Promise<AgentExit> {
    return this.#process.end(options);
  }

  #take(line: Line, reader: LinkReader): void {
    if (line instanceof LineError) {
      const error = new AgentError(line.code, `agent "${this.spec.name}": ${line.message}`, { cause: line });
      // A line that was only repaired follows; one that was skipped may have been the end of the turn.
      this.say({ kind: 'violation', error, fatal: line.code === 'line-too-long' });
      if (line.text !== undefined) this.#take(line.text, reader);
      return;
    }
    this.#lineLength = line.length;
    reader.line(line);
    this.#lineLength = 0;
  }
}
