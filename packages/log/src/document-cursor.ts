import { LogError } from './event-log.ts';

/** Where a listing stopped: the last document shown, so that what is inserted meanwhile moves nothing. */
export type DocumentPlace = { readonly sort: number; readonly key: string };

export function encodeCursor(place: DocumentPlace): string {
  return Buffer.from(JSON.stringify([place.sort, place.key])).toString('base64url');
}

export function decodeCursor(cursor: string): DocumentPlace {
  let parsed: unknown;
  try {
    parsed = JSON.parse(Buffer.from(cursor, 'base64url').toString());
  } catch {
    parsed = undefined;
  }
  if (Array.isArray(parsed) && parsed.length === 2) {
    const [sort, key]: unknown[] = parsed;
    if (typeof sort === 'number' && typeof key === 'string') return { sort, key };
  }
  throw new LogError('bad-cursor', 'this cursor was not given by a listing of this store; list again from the start');
}

/** Listing order: sort descending, then key descending. */
export function byPlace(a: DocumentPlace, b: DocumentPlace): number {
  if (a.sort !== b.sort) return b.sort - a.sort;
  if (a.key === b.key) return 0;
  return a.key < b.key ? 1 : -1;
}
