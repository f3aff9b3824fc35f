import type { LineId } from '@concerto/keeper';
import type { AgentError } from './agent-error.ts';
import { stdinTimeoutMs } from './process-words.ts';

type Untaken = { readonly id: LineId; readonly since: number };
type Waiting = { readonly upTo: LineId; readonly resolve: () => void; readonly reject: (failure: AgentError) => void };

/** Lines that a keeper was given for an agent and that the agent's pipe has not taken: it takes them in their order. */
export class UntakenLines {
  readonly #stalled: (why: string) => AgentError;
  #lines: Untaken[] = [];
  #waiting: Waiting[] = [];
  /** Of a line that nobody waited for. */
  #failure: AgentError | undefined;
  /** One for all of them: one for each would cost more than the line. */
  #timer: NodeJS.Timeout | undefined;

  constructor(stalled: (why: string) => AgentError) {
    this.#stalled = stalled;
  }

  add(id: LineId): void {
    this.#lines.push({ id, since: Date.now() });
    this.#timer ??= setInterval(() => this.#look(), stdinTimeoutMs).unref();
  }

  taken(id: LineId): void {
    while (this.#lines[0] !== undefined && !isAfter(this.#lines[0].id, id)) this.#lines.shift();
    this.#settle();
  }

  failed(id: LineId, failure: AgentError): void {
    const left = this.#lines.filter((line) => line.id.step !== id.step || line.id.index !== id.index);
    if (left.length === this.#lines.length) return;
    this.#lines = left;
    const waiters = this.#waiting.filter(({ upTo }) => !isAfter(id, upTo));
    if (waiters.length === 0) this.#failure ??= failure;
    this.#waiting = this.#waiting.filter((waiting) => !waiters.includes(waiting));
    for (const { reject } of waiters) reject(failure);
    this.#settle();
  }

  /** None of them will be taken any more. */
  end(failure: AgentError): void {
    const left = this.#lines;
    for (const { id } of left) this.failed(id, failure);
    this.stop();
  }

  stop(): void {
    clearInterval(this.#timer);
  }

  /** Resolves when all that there are now were taken. */
  flushed(): Promise<void> {
    const failure = this.#failure;
    this.#failure = undefined;
    if (failure !== undefined) return Promise.reject(failure);
    const upTo = this.#lines.at(-1)?.id;
    if (upTo === undefined) return Promise.resolve();
    return new Promise((resolve, reject) => this.#waiting.push({ upTo, resolve, reject }));
  }

  #settle(): void {
    const first = this.#lines[0]?.id;
    for (let next = this.#waiting[0]; next !== undefined; next = this.#waiting[0]) {
      if (first !== undefined && !isAfter(first, next.upTo)) return;
      this.#waiting.shift();
      next.resolve();
    }
  }

  #look(): void {
    const old = Date.now() - stdinTimeoutMs;
    const stale = this.#lines.filter(({ since }) => since <= old);
    for (const { id } of stale) this.failed(id, this.#stalled(`it took nothing for ${stdinTimeoutMs / 1000} s`));
  }
}

export function isAfter(a: LineId, b: LineId): boolean {
  return a.step > b.step || (a.step === b.step && a.index > b.index);
}
