import type { Clock } from '../rate-limit.ts';

/** Time that passes when a test says so. */
export class TestClock implements Clock {
  #now = 0;
  #timers: { readonly at: number; readonly call: () => void }[] = [];

  now = (): number => this.#now;

  after = (ms: number, call: () => void): (() => void) => {
    const timer = { at: this.#now + ms, call };
    this.#timers.push(timer);
    return () => {
      this.#timers = this.#timers.filter((other) => other !== timer);
    };
  };

  /** When the next timer is due; undefined when none is set. */
  get next(): number | undefined {
    return this.#timers.length === 0 ? undefined : Math.min(...this.#timers.map(({ at }) => at));
  }

  async advance(ms: number): Promise<void> {
    const until = this.#now + ms;
    for (;;) {
      await new Promise(setImmediate);
      const due = this.#timers.filter(({ at }) => at <= until).sort((a, b) => a.at - b.at)[0];
      if (due === undefined) break;
      this.#now = due.at;
      this.#timers = this.#timers.filter((timer) => timer !== due);
      due.call();
    }
    this.#now = until;
    await new Promise(setImmediate);
  }
}
