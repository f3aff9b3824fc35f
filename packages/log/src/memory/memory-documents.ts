import { byPlace, decodeCursor, encodeCursor } from '../document-cursor.ts';
import { type DocumentPage, type DocumentWrite, type ListRequest, type StoredDocument } from '../event-log.ts';
import { LazyDocument } from '../lazy-document.ts';

export type KeptDocument = StoredDocument & Pick<DocumentWrite, 'expiresAt'>;

export type MemoryDocuments = {
  put(write: DocumentWrite): void;
  get(collection: string, key: string): KeptDocument | undefined;
  list(request: ListRequest): DocumentPage;
  all(): Iterable<{ readonly collection: string; readonly document: KeptDocument }>;
};

/** Expired documents are invisible at once and dropped at the next write this much later. */
const SWEEP_EVERY_MS = 60_000;

export function memoryDocuments(now: () => number): MemoryDocuments {
  const collections = new Map<string, Map<string, KeptDocument>>();
  let lastSweep = now();

  const isLive = (document: KeptDocument): boolean => document.expiresAt === undefined || document.expiresAt > now();

  const sweep = (): void => {
    if (now() - lastSweep < SWEEP_EVERY_MS) return;
    lastSweep = now();
    for (const documents of collections.values()) {
      for (const [key, document] of documents) if (!isLive(document)) documents.delete(key);
    }
  };

  return {
    put(write) {
      sweep();
      let documents = collections.get(write.collection);
      if (documents === undefined) collections.set(write.collection, (documents = new Map()));
      if (write instanceof LazyDocument) documents.set(write.key, write);
      else if (write.value === undefined) documents.delete(write.key);
      else documents.set(write.key, toKept(write, write.value));
    },
    get(collection, key) {
      const found = collections.get(collection)?.get(key);
      return found !== undefined && isLive(found) ? found : undefined;
    },
    list(request) {
      const from = request.cursor === undefined ? undefined : decodeCursor(request.cursor);
      const found = [...(collections.get(request.collection)?.values() ?? [])]
        .filter(isLive)
        .filter((document) => request.tag === undefined || document.tag === request.tag)
        .filter((document) => from === undefined || byPlace(from, document) < 0)
        .sort(byPlace);
      return pageOf(found.slice(0, request.limit).map(toStored), found.length > request.limit);
    },
    *all() {
      for (const [collection, documents] of collections) {
        for (const document of documents.values()) if (isLive(document)) yield { collection, document };
      }
    },
  };
}

function pageOf(documents: readonly StoredDocument[], more: boolean): DocumentPage {
  const last = documents.at(-1);
  return more && last !== undefined ? { documents, nextCursor: encodeCursor(last) } : { documents };
}

function toKept(write: DocumentWrite, value: string): KeptDocument {
  return {
    key: write.key,
    value,
    sort: write.sort ?? 0,
    ...(write.tag !== undefined && { tag: write.tag }),
    ...(write.expiresAt !== undefined && { expiresAt: write.expiresAt }),
  };
}

export function toStored({ key, value, sort, tag }: KeptDocument): StoredDocument {
  return { key, value, sort, ...(tag !== undefined && { tag }) };
}
