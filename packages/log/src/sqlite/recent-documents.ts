import type { DocumentWrite } from '../event-log.ts';
import { type Amount, tally, withPlaces } from './unsettled.ts';

/** The last write of each document that is not in its place. */
export type RecentDocuments = {
  find(collection: string, key: string): DocumentWrite | undefined;
  ofCollection(collection: string): ReadonlyMap<string, DocumentWrite>;
  all(): Iterable<DocumentWrite>;
  put(write: DocumentWrite): void;
  /** What was put since the last `keep`. */
  added(): Amount;
  /** All, with those. */
  waiting(): Amount;
  touched(): DocumentWrite[];
  keep(): void;
  undo(): void;
  settled(): void;
};

type Writes<T> = Map<string, Map<string, T>>;

export function recentDocuments(): RecentDocuments {
  const writes: Writes<DocumentWrite> = new Map();
  /** How each was that was put since the last `keep`. */
  const befores: Writes<DocumentWrite | undefined> = new Map();
  const amounts = tally();
  const find = (collection: string, key: string): DocumentWrite | undefined => writes.get(collection)?.get(key);
  return {
    find,
    ofCollection: (collection) => writes.get(collection) ?? new Map<string, DocumentWrite>(),
    *all() {
      for (const documents of writes.values()) yield* documents.values();
    },
    put(write) {
      const { collection, key, value } = write;
      const before = find(collection, key);
      if (!befores.get(collection)?.has(key)) set(befores, collection, key, before);
      set(writes, collection, key, write);
      amounts.count(1, value?.length ?? 0);
    },
    added: () => withPlaces(amounts.added(), sizeOf(befores)),
    waiting: () => withPlaces(amounts.waiting(), sizeOf(writes)),
    touched() {
      const touched: DocumentWrite[] = [];
      for (const [collection, keys] of befores) {
        for (const key of keys.keys()) {
          const write = find(collection, key);
          if (write !== undefined) touched.push(write);
        }
      }
      return touched;
    },
    keep() {
      befores.clear();
      amounts.keep();
    },
    undo() {
      for (const [collection, keys] of befores) {
        for (const [key, before] of keys) {
          if (before !== undefined) set(writes, collection, key, before);
          else remove(writes, collection, key);
        }
      }
      befores.clear();
      amounts.undo();
    },
    settled() {
      writes.clear();
      befores.clear();
      amounts.settled();
    },
  };
}

function set<T>(map: Writes<T>, collection: string, key: string, value: T): void {
  const found = map.get(collection);
  if (found === undefined) map.set(collection, new Map([[key, value]]));
  else found.set(key, value);
}

function remove<T>(map: Writes<T>, collection: string, key: string): void {
  const found = map.get(collection);
  found?.delete(key);
  if (found?.size === 0) map.delete(collection);
}

function sizeOf<T>(map: Writes<T>): number {
  let size = 0;
  for (const documents of map.values()) size += documents.size;
  return size;
}
