import type { Alarm } from './agent-process.ts';
import { alarm } from './alarm.ts';

type Pending = { readonly ms: number; readonly call: () => void; timer: Alarm | undefined };

/**
 * Alarms of a driver that may have to go through everything again: that one rang is noted, and then it rings in its
 * place and not by the clock.
 */
export class KeptAlarms {
  readonly #pending = new Map<number, Pending>();
  readonly #rang: (number: number) => void;
  #last = 0;
  #isArmed = false;

  constructor(rang: (number: number) => void) {
    this.#rang = rang;
  }

  add(ms: number, call: () => void): Alarm {
    const number = ++this.#last;
    const pending: Pending = { ms, call, timer: undefined };
    this.#pending.set(number, pending);
    if (this.#isArmed) this.#start(number, pending);
    return {
      refresh: () => pending.timer?.refresh(),
      cancel: () => {
        pending.timer?.cancel();
        this.#pending.delete(number);
      },
    };
  }

  /** It rang before. */
  ring(number: number): void {
    const pending = this.#pending.get(number);
    if (pending === undefined) return;
    pending.timer?.cancel();
    this.#pending.delete(number);
    pending.call();
  }

  /** All that rang before has rung again: from now on by the clock. */
  arm(): void {
    this.#isArmed = true;
    for (const [number, pending] of this.#pending) this.#start(number, pending);
  }

  stop(): void {
    this.#isArmed = false;
    for (const { timer } of this.#pending.values()) timer?.cancel();
    this.#pending.clear();
  }

  #start(number: number, pending: Pending): void {
    pending.timer = alarm(pending.ms, () => {
      this.#rang(number);
      this.ring(number);
    });
  }
}
