const burst = 100;
const perSecond = 2;

/** How often somebody may guess: a right token is never slowed down, a wrong one is after a while not even looked at. */
export class WrongTokens {
  readonly #now: () => number;
  #left = burst;
  #at: number;

  constructor(now: () => number = Date.now) {
    this.#now = now;
    this.#at = now();
  }

  /** Counts one; false when there were too many lately. */
  count(): boolean {
    const now = this.#now();
    this.#left = Math.min(burst, this.#left + (Math.max(0, now - this.#at) / 1000) * perSecond);
    this.#at = now;
    if (this.#left < 1) return false;
    this.#left -= 1;
    return true;
  }
}
