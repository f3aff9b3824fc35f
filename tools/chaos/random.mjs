/** Numbers that come again with the same seed. */
export class Random {
  #state;

  constructor(seed) {
    this.#state = seed >>> 0;
  }

  /** 0 up to 1. */
  next() {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0;
    let t = this.#state;
    t = Math.imul(t ^ (t >>> 15), t | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) / 4_294_967_296;
  }

  chance(part) {
    return this.next() < part;
  }

  /** A whole number. */
  between(low, high) {
    return Math.floor(low + this.next() * (high - low));
  }

  of(list) {
    return list[Math.floor(this.next() * list.length)];
  }

  /** By weight. */
  drawn(weights) {
    const entries = Object.entries(weights);
    let at = this.next() * entries.reduce((sum, [, weight]) => sum + weight, 0);
    for (const [name, weight] of entries) {
      at -= weight;
      if (at < 0) return name;
    }
    return entries[0][0];
  }
}
