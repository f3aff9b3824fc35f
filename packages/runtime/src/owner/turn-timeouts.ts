import type { SessionStatus } from '@concerto/protocol';
import type { Clock } from '../ports.ts';

/** While a person is asked, or has it paused, the agent's time stands still. */
const personsTurn: ReadonlySet<SessionStatus> = new Set(['waitingForInput', 'waitingForApproval', 'paused']);

/** A turn of which nothing was heard for so long is told to be silent; then each time it has been so for twice as long. */
const silenceMs = 30_000;

export type TurnLimits = {
  readonly timeoutMs?: number;
  readonly idleTimeoutMs?: number;
  /** `timeout` is for everything from the first prompt on, time with a person included: a `once` session. */
  readonly wholeRun: boolean;
};

/**
 * The two limits of an agent: `timeout` for a turn, not counting the time in which a person is asked or has it
 * paused, and `idle_timeout` for silence, which is told long before: many agents say nothing while they ask a model
 * again and again.
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
  #cancelSilence: () => void = () => {};
  #silentMs = 0;
  #nextSilenceMs = silenceMs;
  #hasSpoken = false;
  #tellSilence: ((ms: number) => void) | undefined;

  constructor(clock: Clock, limits: TurnLimits, expired: (why: string) => void) {
    this.#clock = clock;
    this.#limits = limits;
    this.#expired = expired;
  }

  /** `tell` gets how long nothing was heard, and 0 when something is again. */
  listenForSilence(tell: (ms: number) => void): void {
    this.#tellSilence = tell;
    if (this.#active) this.#armSilence();
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
    this.#armSilence();
  }

  heard(): void {
    this.#hasSpoken = true;
    if (this.#silentMs > 0) this.#spokeAgain();
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
    this.#cancelSilence();
    if (!this.#limits.wholeRun) this.#cancelTurn();
  }

  stop(): void {
    this.#active = false;
    this.#cancelTurn();
    this.#cancelIdle();
    this.#cancelSilence();
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

  /** Not put off with every word, of which there are thousands: it looks whether there was one. */
  #armSilence(): void {
    this.#cancelSilence();
    if (this.#tellSilence === undefined) return;
    this.#hasSpoken = false;
    this.#silentMs = 0;
    this.#nextSilenceMs = silenceMs;
    this.#lookAgain();
  }

  #lookAgain(): void {
    this.#cancelSilence = this.#clock.at(this.#clock.now() + silenceMs, () => {
      if (this.#hasSpoken || this.#waiting) return this.#armSilence();
      this.#silentMs += silenceMs;
      if (this.#silentMs >= this.#nextSilenceMs) {
        this.#nextSilenceMs *= 2;
        this.#tellSilence?.(this.#silentMs);
      }
      this.#lookAgain();
    });
  }

  #spokeAgain(): void {
    this.#silentMs = 0;
    this.#nextSilenceMs = silenceMs;
    this.#tellSilence?.(0);
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
