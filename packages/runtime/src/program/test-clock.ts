import { type Clock, systemClock } from '../ports.ts';

type Alarm = { readonly instant: number; readonly ring: () => void; takeBack: () => void };

/** The clock on the wall, but for what a test has slept: nobody waits for that. */
export class TestClock implements Clock {
  #skipped = 0;
  readonly #alarms = new Set<Alarm>();

  now(): number {
    return systemClock.now() + this.#skipped;
  }

  elapsed(): number {
    return systemClock.elapsed() + this.#skipped;
  }

  at(instant: number, call: () => void): () => void {
    const alarm: Alarm = {
      instant,
      ring: () => {
        this.#alarms.delete(alarm);
        call();
      },
      takeBack: () => {},
    };
    this.#alarms.add(alarm);
    this.#arm(alarm);
    return () => {
      this.#alarms.delete(alarm);
      alarm.takeBack();
    };
  }

  /** Whatever was to be at that instant, or before it, is now. */
  skipTo(instant: number): void {
    this.#skipped += Math.max(0, instant - this.now());
    for (const alarm of this.#alarms) this.#arm(alarm);
  }

  #arm(alarm: Alarm): void {
    alarm.takeBack();
    alarm.takeBack = systemClock.at(alarm.instant - this.#skipped, alarm.ring);
  }
}
