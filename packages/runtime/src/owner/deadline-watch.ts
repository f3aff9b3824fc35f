import { nextDeadline, type SessionState } from '@concerto/session';
import type { Clock } from '../ports.ts';

export type DeadlineWatchOptions = {
  readonly clock: Clock;
  /** One that has nothing to do for long is let go of. */
  readonly parks: boolean;
  readonly passed: (deadline: number) => void;
};

/**
 * Calls when the next deadline of a session has been waited for, as it stood last. An alarm that would ring too early is
 * left as it is and set again when it rings: deadlines come and go with every decision.
 */
export class DeadlineWatch {
  readonly #options: DeadlineWatchOptions;
  #deadline: number | undefined;
  /** When it has been waited for; as the alarm, by a clock that nobody sets. */
  #due = 0;
  #alarm: { readonly at: number; readonly takeBack: () => void } | undefined;

  constructor(options: DeadlineWatchOptions) {
    this.#options = options;
  }

  stands(state: SessionState): void {
    const { clock, parks } = this.#options;
    this.#deadline = nextDeadline(state, { parks });
    if (this.#deadline === undefined) return;
    const now = clock.now();
    // A clock that was set back stands still at the last record, and the wait is for what is left from there.
    this.#due = clock.elapsed() + Math.max(0, this.#deadline - Math.max(now, state.updatedAt));
    this.#arm();
  }

  stop(): void {
    this.#deadline = undefined;
    this.#alarm?.takeBack();
    this.#alarm = undefined;
  }

  #arm(): void {
    if (this.#alarm !== undefined && this.#alarm.at <= this.#due) return;
    const { clock } = this.#options;
    this.#alarm?.takeBack();
    const left = Math.max(0, this.#due - clock.elapsed());
    this.#alarm = { at: this.#due, takeBack: clock.at(clock.now() + left, () => this.#rang()) };
  }

  #rang(): void {
    const { clock, passed } = this.#options;
    const deadline = this.#deadline;
    this.#alarm = undefined;
    if (deadline === undefined) return;
    if (this.#due - clock.elapsed() >= 1) return this.#arm();
    this.#deadline = undefined;
    passed(deadline);
  }
}

/** Beside the time in which the agent must introduce itself: to be spawned, and to be given up in good order. */
const startMarginMs = 5_000;

export function startWithin(initTimeoutMs: number | undefined): { readonly startWithinMs?: number } {
  return initTimeoutMs === undefined ? {} : { startWithinMs: initTimeoutMs + startMarginMs };
}
