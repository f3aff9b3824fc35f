import type { Clock } from '../src/ports.ts';

type Alarm = { readonly instant: number; readonly order: number; readonly call: () => void };

/** Time that passes only when told to; alarms go off in their order. */
export class VirtualClock implements Clock {
  #now: number;
  #set = 0;
  readonly #alarms = new Set<Alarm>();

  constructor(now = 1_800_000_000_000) {
    this.#now = now;
  }

  now(): number {
    return this.#now;
  }

  elapsed(): number {
    return this.#now;
  }

  at(instant: number, call: () => void): () => void {
    this.#set += 1;
    const alarm = { instant, order: this.#set, call };
    this.#alarms.add(alarm);
    return () => this.#alarms.delete(alarm);
  }

  /** When the next alarm goes off; undefined when none is set. */
  get next(): number | undefined {
    return this.#first()?.instant;
  }

  /** Moves to the instant and sets off whatever is due, one after the other. */
  pass(ms: number): void {
    const until = this.#now + ms;
    for (let due = this.#first(); due !== undefined && due.instant <= until; due = this.#first()) {
      this.#now = Math.max(this.#now, due.instant);
      this.#alarms.delete(due);
      due.call();
    }
    this.#now = until;
  }

  /** Moves to the next alarm, at most so far, and sets off that one alone. */
  step(maxMs: number): void {
    const due = this.#first();
    if (due === undefined || due.instant > this.#now + maxMs) {
      this.#now += maxMs;
      return;
    }
    this.#now = Math.max(this.#now, due.instant);
    this.#alarms.delete(due);
    due.call();
  }

  #first(): Alarm | undefined {
    let first: Alarm | undefined;
    for (const alarm of this.#alarms) {
      const sooner = first === undefined || alarm.instant - first.instant || alarm.order - first.order;
      if (sooner === true || sooner < 0) first = alarm;
    }
    return first;
  }
}

/** Until nothing is left that only waits for a promise. */
export async function settle(rounds = 20): Promise<void> {
  for (let round = 0; round < rounds; round++) {
    await new Promise<void>((resolve) => {
      setImmediate(resolve);
    });
  }
}
