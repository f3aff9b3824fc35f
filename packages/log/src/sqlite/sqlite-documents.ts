import type Database from 'libsql';
import { type DocumentPlace, decodeCursor, encodeCursor } from '../document-cursor.ts';
import type { DocumentPage, DocumentWrite, ListRequest, StoredDocument } from '../event-log.ts';
import { byCodePoint } from './code-point-order.ts';
import { type DocumentTable, documentTable, type KeptDocument } from './document-table.ts';
import { recentDocuments } from './recent-documents.ts';
import type { Unsettled } from './unsettled.ts';

export type SqliteDocuments = Unsettled<DocumentWrite> & {
  put(write: DocumentWrite): void;
  create(write: DocumentWrite): boolean;
  get(collection: string, key: string): StoredDocument | undefined;
  list(request: ListRequest): DocumentPage;
  /** Forget what was learned in a transaction that did not commit. */
  forget(): void;
  /** Those after a row, all collections, with what `load` needs. */
  after(id: number, limit: number): { readonly id: number; readonly document: KeptDocument }[];
};

const SWEEP_EVERY_MS = 60_000;

export function sqliteDocuments(db: Database.Database, now: () => number): SqliteDocuments {
  const table = documentTable(db);
  const recent = recentDocuments();
  let lastSweep = now();
  const get = (collection: string, key: string): StoredDocument | undefined => {
    const written = recent.find(collection, key);
    return written === undefined ? table.get(collection, key, now()) : storedOf(written, now());
  };
  /** Removes some of what has expired. */
  const sweep = (): void => {
    if (now() - lastSweep < SWEEP_EVERY_MS) return;
    lastSweep = now();
    table.removeExpired(now());
  };
  return {
    put: (write) => recent.put(write),
    get,
    create(write) {
      if (get(write.collection, write.key) !== undefined) return false;
      recent.put(write);
      return true;
    },
    list(request) {
      const documents = matching(request, table, { now: now(), written: recent.ofCollection(request.collection) });
      const shown = documents.slice(0, request.limit);
      const last = shown.at(-1);
      return documents.length > request.limit && last !== undefined
        ? { documents: shown, nextCursor: encodeCursor(last) }
        : { documents: shown };
    },
    forget: () => table.forget(),
    after: (id, limit) => table.after(id, now(), limit),
    added: () => recent.added(),
    waiting: () => recent.waiting(),
    recent: () => recent.touched(),
    keep: () => recent.keep(),
    undo: () => recent.undo(),
    place() {
      for (const write of recent.all()) table.put(write);
      sweep();
      return () => recent.settled();
    },
  };
}

type Written = { readonly now: number; readonly written: ReadonlyMap<string, DocumentWrite> };

/** The first in order, one more than the limit: those of the table that were not written since, and those that were. */
function matching(request: ListRequest, table: DocumentTable, { now, written }: Written): StoredDocument[] {
  const { tag, cursor, limit } = request;
  const from = cursor === undefined ? undefined : decodeCursor(cursor);
  const found = table.list(request, { now, from, limit: limit + 1, except: [...written.keys()] });
  if (written.size === 0) return found;
  for (const write of written.values()) {
    const document = storedOf(write, now);
    if (document === undefined || (tag !== undefined && document.tag !== tag)) continue;
    if (from === undefined || byPlaceInTable(from, document) < 0) found.push(document);
  }
  return found.sort(byPlaceInTable);
}

/** As `byPlace`, with keys in the order of the database. */
function byPlaceInTable(a: DocumentPlace, b: DocumentPlace): number {
  return a.sort === b.sort ? byCodePoint(b.key, a.key) : b.sort - a.sort;
}

function storedOf(write: DocumentWrite, now: number): StoredDocument | undefined {
  const { key, value, sort, tag, expiresAt } = write;
  if (value === undefined || (expiresAt !== undefined && expiresAt <= now)) return undefined;
  return { key, value, sort: sort ?? 0, ...(tag !== undefined && { tag }) };
}
