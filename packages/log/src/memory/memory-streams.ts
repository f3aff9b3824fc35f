import type { Entry, NewEntry, Page, StreamName } from '../event-log.ts';
import { stampSeq } from '../stamp.ts';

/** An entry between positions: the `index`-th after the entry at `position`. */
export type Aside = { readonly position: number; readonly index: number; readonly type: string; readonly data: string };

export type MemoryStream = {
  head: number;
  oldest: number;
  /** Entries from `oldest` to `head`. */
  entries: Entry[];
  asides: Aside[];
};

export function emptyStream(): MemoryStream {
  return { head: 0, oldest: 1, entries: [], asides: [] };
}

export function appendTo(stream: MemoryStream, name: StreamName, entries: readonly NewEntry[]): void {
  for (const { type, data, aside } of entries) {
    if (aside) {
      const last = stream.asides.at(-1);
      const index = last?.position === stream.head ? last.index + 1 : 1;
      stream.asides.push({ position: stream.head, index, type, data });
      continue;
    }
    stream.head++;
    const text = name === 'events' ? stampSeq(data, stream.head) : data;
    stream.entries.push({ position: stream.head, type, data: text });
  }
}

export function readFrom(stream: MemoryStream, after: number, limit: number): Page {
  const start = Math.max(0, after + 1 - stream.oldest);
  return { entries: stream.entries.slice(start, start + limit), head: stream.head, oldest: stream.oldest };
}

export function trimThrough(stream: MemoryStream, position: number): void {
  const through = Math.min(position, stream.head);
  if (through < stream.oldest) return;
  stream.entries = stream.entries.slice(through + 1 - stream.oldest);
  stream.asides = stream.asides.filter((aside) => aside.position > through);
  stream.oldest = through + 1;
}
