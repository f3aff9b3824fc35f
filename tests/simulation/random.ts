/** The one source of chance: the same seed, the same run. */
export class Random {
  #state: number;

  constructor(seed: number) {
    this.#state = seed >>> 0;
  }

  /** At least 0 and less than 1. */
  next(): number {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(this.#state ^ (this.#state >>> 15), 1 | this.#state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  }

  chance(probability: number): boolean {
    return this.next() < probability;
  }

  below(limit: number): number {
    return Math.floor(this.next() * limit);
  }

  between(low: number, high: number): number {
    return low + this.below(high - low + 1);
  }

  pick<T>(from: readonly T[]): T | undefined {
    return from[this.below(from.length)];
  }

  /** One of the names, as often as its weight says. */
  weighted<Name extends string>(weights: Readonly<Record<Name, number>>): Name | undefined {
    const names = Object.keys(weights) as Name[];
    let left = this.next() * names.reduce((sum, name) => sum + weights[name], 0);
    return names.find((name) => {
      left -= weights[name];
      return left < 0;
    });
  }

  /** Another source, so that what one part draws does not shift what another does. */
  fork(): Random {
    return new Random(this.below(2 ** 32));
  }
}
