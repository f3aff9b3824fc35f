import type { NodeId } from '../syntax/node.ts';

/** A map by node id. Ids are small and dense, so a plain array is several times as fast as a Map. */
export class NodeTable<T> {
  readonly #values: (T | undefined)[];

  /** `size` is one more than the highest id. */
  constructor(size = 0) {
    // oxlint-disable-next-line unicorn/no-new-array -- Array.from is ten times as slow for large tables
    this.#values = new Array<T | undefined>(size).fill(undefined);
  }

  get(id: NodeId): T | undefined {
    return this.#values[id];
  }

  has(id: NodeId): boolean {
    return this.#values[id] !== undefined;
  }

  set(id: NodeId, value: T): void {
    this.#values[id] = value;
  }
}
