import type { Entry, NewEntry, Page, StreamName } from '../event-log.ts';
import { stampSeq } from '../stamp-seq.ts';

/** An entry between positions: the `index`-th after the entry at `position`. */
type Aside = { readonly position: number; readonly index: number; readonly type: string; readonly data: string };

export type MemoryStream = {
  head: number;
  oldest: number;
  /** Entries from `oldest` to `head`. */
  entries: Entry[];
  asides: Aside[];
  /** Of what was appended since the last time that old entries were forgotten, and of what was left then. */
  chars: number;
};

export type MemoryStreams = {
  /** An empty stream, not kept, when there is none. */
  find(session: string, stream: StreamName): MemoryStream;
  obtain(session: string, stream: StreamName): MemoryStream;
  /** Ascending. */
  names(): string[];
  all(): Iterable<{ readonly session: string; readonly stream: StreamName; readonly content: MemoryStream }>;
};

export function memoryStreams(): MemoryStreams {
  const sessions = new Map<string, Map<StreamName, MemoryStream>>();
  const names = (): string[] => [...sessions.keys()].sort();
  return {
    find: (session, stream) => sessions.get(session)?.get(stream) ?? emptyStream(),
    obtain(session, stream) {
      const streams = sessions.get(session) ?? new Map<StreamName, MemoryStream>();
      sessions.set(session, streams);
      const found = streams.get(stream) ?? emptyStream();
      streams.set(stream, found);
      return found;
    },
    names,
    *all() {
      for (const session of names()) {
        for (const [stream, content] of sessions.get(session) ?? []) yield { session, stream, content };
      }
    },
  };
}

function emptyStream(): MemoryStream {
  return { head: 0, oldest: 1, entries: [], asides: [], chars: 0 };
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
    stream.chars += data.length;
    const text = name === 'events' ? stampSeq(data, stream.head) : data;
    stream.entries.push({ position: stream.head, type, data: text });
  }
}

export function readFrom(stream: MemoryStream, after: number, limit: number): Page {
  const start = Math.max(0, after + 1 - stream.oldest);
  return { entries: stream.entries.slice(start, start + limit), head: stream.head, oldest: stream.oldest };
}

/** Forgets the oldest where it holds more than twice so much: what is left is at most so much, and at least one entry. */
export function keepRecent(stream: MemoryStream, chars: number): void {
  if (stream.chars <= 2 * chars) return;
  let kept = 0;
  let from = stream.entries.length - 1;
  for (; from > 0; from--) {
    kept += stream.entries[from]?.data.length ?? 0;
    if (kept + (stream.entries[from - 1]?.data.length ?? 0) > chars) break;
  }
  stream.chars = kept;
  trimThrough(stream, stream.oldest + from - 1);
}

export function trimThrough(stream: MemoryStream, position: number): void {
  const through = Math.min(position, stream.head);
  if (through < stream.oldest) return;
  stream.entries = stream.entries.slice(through + 1 - stream.oldest);
  stream.asides = stream.asides.filter((aside) => aside.position > through);
  stream.oldest = through + 1;
}
