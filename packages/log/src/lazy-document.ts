import type { DocumentWrite } from './event-log.ts';

type Place = Required<Pick<DocumentWrite, 'collection' | 'key' | 'sort' | 'tag'>>;

/**
 * A document whose text is made when somebody reads it: a row that each change writes anew is read by nobody most of the
 * time, where the store is in memory. It is known to be far below the limit, and what it is made of is not changed any more.
 */
export class LazyDocument implements DocumentWrite {
  readonly collection: string;
  readonly key: string;
  readonly sort: number;
  readonly tag: string;
  readonly #make: () => string;
  #value: string | undefined;

  constructor({ collection, key, sort, tag }: Place, make: () => string) {
    this.collection = collection;
    this.key = key;
    this.sort = sort;
    this.tag = tag;
    this.#make = make;
  }

  get value(): string {
    this.#value ??= this.#make();
    return this.#value;
  }
}
