import type { Clock } from '../ports.ts';

/**
 * The two limits of an agent: `timeout` for a turn, not counting the time in which a person is asked, and
 * `idle_timeout` for silence.
 */
export class TurnTimeouts {
  readonly #clock: Clock;
  readonly #limits: { readonly timeoutMs?: number; readonly idleTimeoutMs?: number };
  readonly #expired: (why: string) => void;
  #left: number | undefined;
  #since = 0;
  #asking = false;
  #active = false;
  #cancelTurn: () => void = () => {};
  #cancelIdle: () => void = () => {};

  constructor(
    clock: Clock,
    limits: { readonly timeoutMs?: number; readonly idleTimeoutMs?: number },
    expired: (why: string) => void,
  ) {
    this.#clock = clock;
    this.#limits = limits;
    this.#expired = expired;
  }

  turnStarted(): void {
    this.stop();
    this.#active = true;
    this.#asking = false;
    this.#left = this.#limits.timeoutMs;
    this.#run();
  }

  heard(): void {
    if (this.#active && !this.#asking) this.#armIdle();
  }

  asked(): void {
    if (!this.#active || this.#asking) return;
    this.#asking = true;
    if (this.#left !== undefined) this.#left -= this.#clock.now() - this.#since;
    this.#cancelTurn();
    this.#cancelIdle();
  }

  answered(stillOpen: number): void {
    if (!this.#active || !this.#asking || stillOpen > 0) return;
    this.#asking = false;
    this.#run();
  }

  turnEnded(): void {
    this.stop();
  }

  stop(): void {
    this.#active = false;
    this.#cancelTurn();
    this.#cancelIdle();
  }

  #run(): void {
    this.#since = this.#clock.now();
    this.#cancelTurn();
    if (this.#left !== undefined) {
      this.#cancelTurn = this.#clock.at(this.#since + this.#left, () =>
        this.#expire(`the agent did not finish within ${seconds(this.#limits.timeoutMs)}`),
      );
    }
    this.#armIdle();
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
