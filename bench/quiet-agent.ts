import { type AgentConnection, AgentError, type AgentExit, type AgentOutput, type AgentSpec } from '@concerto/agents';
import type { JsonObject } from '@concerto/base';
import type { AgentCapability } from '@concerto/protocol';

/** An agent without a process: a thousand real ones would measure Node's start, not ours. */
export class QuietAgent implements AgentConnection {
  readonly spec: AgentSpec;
  readonly identity = { pid: 0, startTime: 'in-memory', marker: '' };
  readonly capabilities: ReadonlySet<AgentCapability> = new Set();
  readonly version = undefined;
  readonly output: AsyncIterable<readonly AgentOutput[]>;
  readonly exited: Promise<AgentExit>;
  #said: AgentOutput[] = [];
  #wake: () => void = () => {};
  #exit: (exit: AgentExit) => void = () => {};

  constructor(spec: AgentSpec) {
    this.spec = spec;
    this.output = this.#batches();
    this.exited = new Promise((resolve) => {
      this.#exit = resolve;
    });
  }

  /** Its prompt is never done: it only says what it is told to. */
  async prompt(): Promise<void> {}
  async reply(): Promise<void> {}
  async steer(): Promise<void> {}
  async request(): Promise<void> {}
  freeze(): void {}
  thaw(): void {}

  say(text: string): void {
    this.says({ type: 'partial', text });
  }

  says(message: Extract<AgentOutput, { kind: 'message' }>['message'] & JsonObject): void {
    this.#push({ kind: 'message', message, raw: message });
  }

  async interruptProcess(): Promise<AgentExit> {
    return await this.end();
  }

  async end(): Promise<AgentExit> {
    const exit = { code: 0, signal: null, stderr: '' };
    this.#push({ kind: 'exit', exit, error: new AgentError('exited', 'ended') });
    this.#exit(exit);
    return await this.exited;
  }

  #push(output: AgentOutput): void {
    this.#said.push(output);
    this.#wake();
  }

  async *#batches(): AsyncGenerator<readonly AgentOutput[]> {
    for (;;) {
      if (this.#said.length === 0) {
        await new Promise<void>((resolve) => {
          this.#wake = resolve;
        });
      }
      const batch = this.#said;
      this.#said = [];
      yield batch;
      if (batch.at(-1)?.kind === 'exit') return;
    }
  }
}
