import { Dice } from './mutate.ts';
import { type Subject, type SubjectName, subjects } from './subjects.ts';

/** Everything that a case needs to be run again. */
export type Finding = { readonly seed: number; readonly input: string; readonly error: string };

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
    try {
      await this.#subject.check(input);
      return undefined;
    } catch (cause) {
      return { seed, input, error: cause instanceof Error ? (cause.stack ?? cause.message) : String(cause) };
    }
  }
}
