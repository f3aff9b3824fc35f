/**
 * Things by id in the order in which they came. Every older version stays as it was, and one more costs the same however
 * many there are: a map that is copied each time would take quadratic time to load a session with thousands of them.
 */
export class GrownMap<V> {
  readonly size: number;
  /** Shared by all that have grown from one another: each knows as many of them as it has. */
  readonly #values: V[];
  readonly #places: Map<string, number>;

  private constructor(values: V[], places: Map<string, number>, size: number) {
    this.#values = values;
    this.#places = places;
    this.size = size;
  }

  static empty<V>(): GrownMap<V> {
    return new GrownMap<V>([], new Map(), 0);
  }

  get(id: string): V | undefined {
    const place = this.#places.get(id) ?? this.size;
    return place < this.size ? this.#values[place] : undefined;
  }

  with(id: string, value: V): GrownMap<V> {
    const known = this.#places.get(id);
    // Somebody has gone on from here before, whose things are none of ours; or it has another value from now on.
    if (known !== undefined || this.#values.length > this.size) return this.#copy().#set(id, value);
    return this.#set(id, value);
  }

  ids(): readonly string[] {
    return [...this.#places.keys()].slice(0, this.size);
  }

  /** The oldest first. */
  values(): readonly V[] {
    return this.#values.slice(0, this.size);
  }

  #set(id: string, value: V): GrownMap<V> {
    const place = this.#places.get(id) ?? this.#values.length;
    this.#values[place] = value;
    this.#places.set(id, place);
    return new GrownMap(this.#values, this.#places, this.#values.length);
  }

  #copy(): GrownMap<V> {
    const places = new Map<string, number>();
    for (const [id, place] of this.#places) if (place < this.size) places.set(id, place);
    return new GrownMap(this.#values.slice(0, this.size), places, this.size);
  }
}
