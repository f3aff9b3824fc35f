import { Dice } from './mutate.ts';
import { type Subject, type SubjectName, subjects } from './subjects.ts';

/** Everything that a case needs to be run again. */
export type Finding = { readonly seed: number; readonly input: string; readonly error: string };

/** Longer than any input may take: a hang is found by the one who waits, and named by its seed. */
const slowMs = 5_000;

export class Campaign {
  readonly #subject: Subject;

  constructor(name: SubjectName) {
    this.#subject = subjects[name]();
  }

  make(seed: number): string {
    return this.#subject.make(new Dice(seed), seed);
  }

  /** Undefined when all is well. */
  async finding(seed: number, input = this.make(seed)): Promise<Finding | undefined> {
    const began = performance.now();
    try {
      await this.#subject.check(input);
    } catch (cause) {
      return { seed, input, error: cause instanceof Error ? (cause.stack ?? cause.message) : String(cause) };
    }
    const took = performance.now() - began;
    return took > slowMs ? { seed, input, error: `took ${Math.round(took)} ms` } : undefined;
  }
}
