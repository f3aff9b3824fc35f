import { ModelFailure } from './model-failure.ts';

export type RateLimits = {
  readonly requests_per_minute?: number | undefined;
  readonly tokens_per_minute?: number | undefined;
  readonly concurrent_requests?: number | undefined;
};

/** Time, for tests that must not wait. */
export type Clock = {
  /** Milliseconds; only differences count. */
  readonly now: () => number;
  /** Calls back after that time; the result takes it back. */
  readonly after: (ms: number, call: () => void) => () => void;
};

export const realClock: Clock = {
  now: () => performance.now(),
  after: (ms, call) => {
    const timer = setTimeout(call, ms);
    return () => clearTimeout(timer);
  },
};

const WINDOW_MS = 60_000;
/** Above this somebody asks in a loop. */
const MOST_WAITING = 10_000;

type Waiting = { readonly go: () => void };
type Spent = { readonly at: number; readonly tokens: number };

/** Lets requests of one connection go in the order they came, as many as its limits allow. */
export class RateLimit {
  readonly #limits: RateLimits;
  readonly #clock: Clock;
  readonly #waiting: Waiting[] = [];
  #running = 0;
  #started: number[] = [];
  #spent: Spent[] = [];
  #stopTimer: (() => void) | undefined;

  constructor(limits: RateLimits, clock: Clock = realClock) {
    this.#limits = limits;
    this.#clock = clock;
  }

  /** Resolves when the request may go. Call the result once with the tokens it took. */
  async enter(signal: AbortSignal): Promise<(tokens: number) => void> {
    signal.throwIfAborted();
    if (this.#waiting.length >= MOST_WAITING) {
      throw new ModelFailure('rate_limited', `more than ${MOST_WAITING} requests wait for the connection`);
    }
    await new Promise<void>((resolve, reject) => {
      const onAbort = (): void => {
        const at = this.#waiting.indexOf(entry);
        if (at >= 0) this.#waiting.splice(at, 1);
        this.#next();
        reject(signal.reason instanceof Error ? signal.reason : new Error('aborted'));
      };
      const entry: Waiting = {
        go: () => {
          signal.removeEventListener('abort', onAbort);
          resolve();
        },
      };
      signal.addEventListener('abort', onAbort, { once: true });
      this.#waiting.push(entry);
      this.#next();
    });
    return (tokens) => {
      this.#running--;
      if (tokens > 0) this.#spent.push({ at: this.#clock.now(), tokens });
      this.#next();
    };
  }

  #next(): void {
    this.#stopTimer?.();
    this.#stopTimer = undefined;
    while (this.#waiting.length > 0) {
      const { concurrent_requests: most } = this.#limits;
      // Whoever leaves calls again.
      if (most !== undefined && this.#running >= most) return;
      const wait = this.#waitMs();
      if (wait > 0) {
        this.#stopTimer = this.#clock.after(wait, () => this.#next());
        return;
      }
      this.#running++;
      if (this.#limits.requests_per_minute !== undefined) this.#started.push(this.#clock.now());
      this.#waiting.shift()?.go();
    }
  }

  /** How long until the last minute has room for one more. */
  #waitMs(): number {
    const now = this.#clock.now();
    const since = now - WINDOW_MS;
    this.#started = this.#started.filter((at) => at > since);
    this.#spent = this.#spent.filter(({ at }) => at > since);
    const { requests_per_minute: requests, tokens_per_minute: tokens } = this.#limits;
    let until = now;
    if (requests !== undefined && this.#started.length >= requests) {
      until = Math.max(until, (this.#started.at(-requests) ?? now) + WINDOW_MS);
    }
    if (tokens !== undefined) {
      let left = this.#spent.reduce((sum, spent) => sum + spent.tokens, 0);
      for (const spent of this.#spent) {
        if (left < tokens) break;
        left -= spent.tokens;
        until = Math.max(until, spent.at + WINDOW_MS);
      }
    }
    return until - now;
  }
}
