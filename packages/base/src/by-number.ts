/**
 * Things by their number, for those that come and go all the time. A `Map` that is filled and emptied leaves its old tables
 * behind, each of which holds on to the next: once one of them is old, whatever ever stood in them lives until the whole heap
 * is swept.
 */
export class ByNumber<Thing> {
  /** Ascending; `#things` beside them. */
  readonly #numbers: number[] = [];
  readonly #things: Thing[] = [];

  get size(): number {
    return this.#numbers.length;
  }

  get(number: number): Thing | undefined {
    const index = this.#from(number);
    return this.#numbers[index] === number ? this.#things[index] : undefined;
  }

  set(number: number, thing: Thing): void {
    const index = this.#from(number);
    if (this.#numbers[index] === number) this.#things[index] = thing;
    else if (index === this.#numbers.length) {
      this.#numbers.push(number);
      this.#things.push(thing);
    } else {
      this.#numbers.splice(index, 0, number);
      this.#things.splice(index, 0, thing);
    }
  }

  /** Whether it was there. */
  delete(number: number): boolean {
    const index = this.#from(number);
    if (this.#numbers[index] !== number) return false;
    if (index === this.#numbers.length - 1) {
      this.#numbers.pop();
      this.#things.pop();
    } else {
      this.#numbers.splice(index, 1);
      this.#things.splice(index, 1);
    }
    return true;
  }

  clear(): void {
    this.#numbers.length = 0;
    this.#things.length = 0;
  }

  /** As they are now, ascending. */
  numbers(): readonly number[] {
    return [...this.#numbers];
  }

  /** As they are now, by ascending number. */
  things(): readonly Thing[] {
    return [...this.#things];
  }

  /** The first place that is not below the number: most often the last one, or behind it. */
  #from(number: number): number {
    const numbers = this.#numbers;
    let low = 0;
    let high = numbers.length;
    const last = numbers[high - 1];
    if (last === undefined || last < number) return high;
    if (last === number) return high - 1;
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((numbers[middle] ?? number) < number) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}
