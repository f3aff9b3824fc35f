import { GrownMap } from './grown-map.ts';

/** Ids in the order in which they came; like a `GrownMap`, every older version stays as it was. */
export class GrownSet {
  readonly #ids: GrownMap<true>;

  private constructor(ids: GrownMap<true>) {
    this.#ids = ids;
  }

  static empty(): GrownSet {
    return new GrownSet(GrownMap.empty());
  }

  get size(): number {
    return this.#ids.size;
  }

  has(id: string): boolean {
    return this.#ids.get(id) === true;
  }

  with(id: string): GrownSet {
    return this.has(id) ? this : new GrownSet(this.#ids.with(id, true));
  }

  [Symbol.iterator](): Iterator<string> {
    return this.#ids.ids()[Symbol.iterator]();
  }
}
