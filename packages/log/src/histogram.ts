/** Upper ends of the classes by which durations are counted, in seconds. */
const classes = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5] as const;

export type Durations = {
  /** How many took at most that many seconds. */
  readonly classes: readonly { readonly seconds: number; readonly count: number }[];
  readonly count: number;
  readonly seconds: number;
};

/** Counts how long something took, in as many classes as a graph needs. */
export class Histogram {
  readonly #counts = classes.map(() => 0);
  #count = 0;
  #seconds = 0;

  add(ms: number): void {
    const seconds = ms / 1000;
    this.#count += 1;
    this.#seconds += seconds;
    const index = classes.findIndex((end) => seconds <= end);
    if (index !== -1) this.#counts[index] = (this.#counts[index] ?? 0) + 1;
  }

  read(): Durations {
    let sum = 0;
    const upTo = classes.map((seconds, index) => {
      sum += this.#counts[index] ?? 0;
      return { seconds, count: sum };
    });
    return { classes: upTo, count: this.#count, seconds: this.#seconds };
  }
}
