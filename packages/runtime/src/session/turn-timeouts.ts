import type { SessionStatus } from '@concerto/protocol';
import type { Clock } from '../ports.ts';

/** While a person is asked, or has it paused, the agent's time stands still. */
const personsTurn: ReadonlySet<SessionStatus> = new Set(['waitingForInput', 'waitingForApproval', 'paused']);

export type TurnLimits = {
  readonly timeoutMs?: number;
  readonly idleTimeoutMs?: number;
  /** `timeout` is for everything from the first prompt on, time with a person included: a `once` session. */
  readonly wholeRun: boolean;
};

/**
 * The two limits of an agent: `timeout` for a turn, not counting the time in which a person is asked or has it
 * paused, and `idle_timeout` for silence.
 */
export class TurnTimeouts {
  readonly #clock: Clock;
  readonly #limits: TurnLimits;
  readonly #expired: (why: string) => void;
  #left: number | undefined;
  #since = 0;
  #waiting = false;
  #active = false;
  #runStarted = false;
  #cancelTurn: () => void = () => {};
  #cancelIdle: () => void = () => {};

  constructor(clock: Clock, limits: TurnLimits, expired: (why: string) => void) {
    this.#clock = clock;
    this.#limits = limits;
    this.#expired = expired;
  }

  turnStarted(): void {
    this.#active = true;
    this.#waiting = false;
    if (this.#limits.wholeRun) this.#startRun();
    else {
      this.#left = this.#limits.timeoutMs;
      this.#goOn();
    }
    this.#armIdle();
  }

  heard(): void {
    if (this.#active && !this.#waiting) this.#armIdle();
  }

  /** How the session stands; may be told again and again. */
  stands(status: SessionStatus): void {
    this.waitsForPerson(personsTurn.has(status));
  }

  /** Whether it is a person's turn to do something. */
  waitsForPerson(waiting: boolean): void {
    if (!this.#active || this.#waiting === waiting) return;
    this.#waiting = waiting;
    if (waiting) {
      this.#cancelIdle();
      this.#hold();
    } else {
      this.#goOn();
      this.#armIdle();
    }
  }

  turnEnded(): void {
    this.#active = false;
    this.#cancelIdle();
    if (!this.#limits.wholeRun) this.#cancelTurn();
  }

  stop(): void {
    this.#active = false;
    this.#cancelTurn();
    this.#cancelIdle();
  }

  /** Once: a second process for the same prompt gets what is left. */
  #startRun(): void {
    if (this.#runStarted) return;
    this.#runStarted = true;
    this.#left = this.#limits.timeoutMs;
    this.#arm();
  }

  #hold(): void {
    if (this.#limits.wholeRun) return;
    if (this.#left !== undefined) this.#left -= this.#clock.elapsed() - this.#since;
    this.#cancelTurn();
  }

  #goOn(): void {
    if (!this.#limits.wholeRun) this.#arm();
  }

  #arm(): void {
    this.#cancelTurn();
    this.#since = this.#clock.elapsed();
    if (this.#left === undefined) return;
    this.#cancelTurn = this.#clock.at(this.#clock.now() + this.#left, () =>
      this.#expire(`the agent did not finish within ${seconds(this.#limits.timeoutMs)}`),
    );
  }

  #armIdle(): void {
    this.#cancelIdle();
    if (this.#limits.idleTimeoutMs === undefined) return;
    this.#cancelIdle = this.#clock.at(this.#clock.now() + this.#limits.idleTimeoutMs, () =>
      this.#expire(`the agent said nothing for ${seconds(this.#limits.idleTimeoutMs)}`),
    );
  }

  #expire(why: string): void {
    if (!this.#active) return;
    this.stop();
    this.#expired(why);
  }
}

function seconds(ms: number | undefined): string {
  return `${(ms ?? 0) / 1000} s`;
}
