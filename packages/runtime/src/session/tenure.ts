import type { Clock, Report } from '../ports.ts';
import type { Fence } from './session-append.ts';
import { type Patience, withPatience } from './store-patience.ts';

/** Why it ended: the session needs no owner now, it was taken from us or could not be kept, or the runner is stopping. */
export type TenureEnd = 'done' | 'lost' | 'released';

export type TenureOf = {
  readonly session: string;
  readonly runner: string;
  readonly fence: Fence;
  readonly clock: Clock;
  readonly report: Report;
};

/** That one session is ours, from its claim to its end. Whoever finds out that it is over ends it here, once. */
export class Tenure {
  readonly session: string;
  readonly runner: string;
  readonly fence: Fence;
  readonly #patience: Patience;
  readonly #report: Report;
  readonly #over = new AbortController();
  #end: TenureEnd = 'done';

  constructor({ session, runner, fence, clock, report }: TenureOf) {
    this.session = session;
    this.runner = runner;
    this.fence = fence;
    this.#patience = { clock, givenUp: () => this.isOver };
    this.#report = report;
  }

  get epoch(): number {
    return this.fence.epoch;
  }

  /** Nothing is written or obeyed from then on. */
  get over(): AbortSignal {
    return this.#over.signal;
  }

  get isOver(): boolean {
    return this.#over.signal.aborted;
  }

  get how(): TenureEnd {
    return this.#end;
  }

  /** In the moment in which somebody else has it: whoever still works for it stops, without asking a store that may be away. */
  onLost(call: () => void): void {
    const ended = (): void => {
      if (this.#end === 'lost') call();
    };
    this.over.addEventListener('abort', ended, { once: true });
  }

  end(how: TenureEnd): void {
    if (this.isOver) return;
    this.#end = how;
    this.#over.abort();
  }

  /** Work beside the command loop: a failure ends this session's tenure, never the process. Never rejects. */
  async guard(work: Promise<unknown>): Promise<void> {
    await work.catch((cause: unknown) => this.fail(cause));
  }

  fail(cause: unknown): void {
    if (!this.isOver) this.#report(`session ${this.session}: its owner failed`, cause);
    this.end('lost');
  }

  /** Tries again while the store is away, as long as the session is ours. */
  patiently<T>(work: (again: boolean) => Promise<T>): Promise<T> {
    return withPatience(work, this.#patience);
  }
}
