/**
 * Ids in the order in which they came. Every older version stays as it was, and one more costs the same however many there
 * are: a set that is copied each time would take quadratic time to load a session that has opened thousands.
 */
export class GrownSet {
  readonly size: number;
  /** With the place of each; shared by all that have grown from one another. */
  readonly #places: Map<string, number>;

  private constructor(places: Map<string, number>, size: number) {
    this.#places = places;
    this.size = size;
  }

  static of(ids: Iterable<string>): GrownSet {
    const places = new Map([...new Set(ids)].map((id, place) => [id, place]));
    return new GrownSet(places, places.size);
  }

  has(id: string): boolean {
    return (this.#places.get(id) ?? this.size) < this.size;
  }

  with(id: string): GrownSet {
    if (this.has(id)) return this;
    // Somebody has gone on from here before: what they added is none of ours.
    if (this.#places.size > this.size) return GrownSet.of(this).with(id);
    this.#places.set(id, this.size);
    return new GrownSet(this.#places, this.size + 1);
  }

  *[Symbol.iterator](): Generator<string> {
    let left = this.size;
    for (const id of this.#places.keys()) {
      if (left === 0) return;
      left -= 1;
      yield id;
    }
  }
}
