import type { DocumentWrite, Entry, StreamName } from '../event-log.ts';
import { streamNames } from '../event-log.ts';
import type { Aside } from './stream-states.ts';

/** What a group added to one stream. */
export type RecentStream = {
  readonly session: string;
  readonly stream: StreamName;
  /** Its head before. */
  readonly after: number;
  readonly entries: readonly Entry[];
  readonly asides: readonly Aside[];
};

/** All that a group wrote. */
export type Recent = { readonly streams: readonly RecentStream[]; readonly documents: readonly DocumentWrite[] };

/**
 * One text: a line of JSON that says what there is and how long each part of it is, then the parts, as they are. They
 * are JSON already, and to quote them once more would cost more than all the rest. Undefined when something of it would
 * not come back from the database as it is, or is refused by the tables: the driver ends a text at a NUL, half a
 * character has no UTF-8, and not every number is one for a column.
 */
export function encodeRecent({ streams, documents }: Recent): string | undefined {
  if (!documents.every(hasPlainNumbers)) return undefined;
  let parts = '';
  const length = (part: string): number => {
    parts += part;
    return part.length;
  };
  const head = {
    streams: streams.map(({ session, stream, after, entries, asides }) => [
      session,
      stream,
      after,
      entries.map(({ type, data }) => [length(type), length(data)]),
      asides.map(({ position, place, type, data }) => [position, place, length(type), length(data)]),
    ]),
    documents: documents.map(({ collection, key, value, sort, tag, expiresAt }) => [
      collection,
      key,
      value === undefined ? null : length(value),
      sort ?? 0,
      tag ?? null,
      expiresAt ?? null,
    ]),
  };
  const line = JSON.stringify(head);
  // What is escaped so in the line are control characters and halves, and a name with a NUL is as bad.
  if (line.includes('\\u') || parts.includes('\0') || !parts.isWellFormed()) return undefined;
  return `${line}\n${parts}`;
}

function hasPlainNumbers({ sort, expiresAt }: DocumentWrite): boolean {
  return Number.isFinite(sort ?? 0) && Number.isSafeInteger(expiresAt ?? 0) && (expiresAt ?? 0) >= 0;
}

/** Undefined when it does not add up. */
export function decodeRecent(text: string): Recent | undefined {
  const line = text.indexOf('\n');
  const head = line === -1 ? undefined : jsonOf(text.slice(0, line));
  if (!isObject(head) || !Array.isArray(head.streams) || !Array.isArray(head.documents)) return undefined;
  const parts = partsOf(text, line + 1);
  try {
    const streams = head.streams.map((stream) => decodeStream(stream, parts.next));
    const documents = head.documents.map((document) => decodeDocument(document, parts.next));
    return parts.areUsed() ? { streams, documents } : undefined;
  } catch (error) {
    if (error instanceof RangeError) return undefined;
    throw error;
  }
}

type NextPart = (length: unknown) => string;

function partsOf(text: string, start: number): { readonly next: NextPart; readonly areUsed: () => boolean } {
  let at = start;
  return {
    next(length) {
      const end = at + count(length);
      if (end > text.length) throw new RangeError('a part is missing');
      const part = text.slice(at, end);
      at = end;
      return part;
    },
    areUsed: () => at === text.length,
  };
}

function decodeStream(value: unknown, part: NextPart): RecentStream {
  const [session, name, head, entries, asides] = list(value, 5);
  const stream = streamNames.find((known) => known === name);
  if (stream === undefined) throw new RangeError('no stream has this name');
  const after = count(head);
  return {
    session: word(session),
    stream,
    after,
    entries: list(entries).map((entry, index) => {
      const [type, data] = list(entry, 2);
      return { position: after + index + 1, type: part(type), data: part(data) };
    }),
    asides: list(asides).map((aside) => {
      const [position, place, type, data] = list(aside, 4);
      return { position: count(position), place: count(place), type: part(type), data: part(data) };
    }),
  };
}

function decodeDocument(written: unknown, part: NextPart): DocumentWrite {
  const [collection, key, value, sort, tag, expiresAt] = list(written, 6);
  if (typeof sort !== 'number') throw new RangeError('a document has a place in its listing');
  return {
    collection: word(collection),
    key: word(key),
    value: value === null ? undefined : part(value),
    sort,
    ...(tag !== null && { tag: word(tag) }),
    ...(expiresAt !== null && { expiresAt: count(expiresAt) }),
  };
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function isObject(value: unknown): value is { readonly [name: string]: unknown } {
  return typeof value === 'object' && value !== null;
}

function list(value: unknown, length?: number): readonly unknown[] {
  if (!Array.isArray(value) || (length !== undefined && value.length !== length)) throw new RangeError('no such list');
  return value;
}

function word(value: unknown): string {
  if (typeof value !== 'string') throw new RangeError('no text');
  return value;
}

function count(value: unknown): number {
  if (typeof value !== 'number' || !Number.isSafeInteger(value) || value < 0) throw new RangeError('no count');
  return value;
}
