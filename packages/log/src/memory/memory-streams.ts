import type { Entry, NewEntry, Page, StreamName } from '../event-log.ts';
import { LazyEntry } from '../lazy-entry.ts';
import { stampSeq } from '../stamp-seq.ts';

/** An entry between positions: the `index`-th after the entry at `position`. */
type Aside = { readonly position: number; readonly index: number; readonly type: string; readonly data: string };

export type MemoryStream = {
  head: number;
  oldest: number;
  /** From `oldest` to `head`, one after the other. What nobody has read yet is as it came: most of it is never read. */
  entries: (Entry | LazyEntry)[];
  asides: Aside[];
  /** Of what was appended since the last time that old entries were forgotten, and of what was left then. */
  chars: number;
};

type PageRequest = { readonly after: number; readonly limit: number };

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
  for (const entry of entries) {
    if (entry.aside) {
      const { type, data } = entry;
      const last = stream.asides.at(-1);
      const index = last?.position === stream.head ? last.index + 1 : 1;
      stream.asides.push({ position: stream.head, index, type, data });
      continue;
    }
    const position = ++stream.head;
    stream.entries.push(entry instanceof LazyEntry ? entry : held(entry, position, name));
    stream.chars += sizeOf(entry);
  }
}

function held({ type, data }: NewEntry, position: number, stream: StreamName): Entry {
  return { position, type, data: stream === 'events' ? stampSeq(data, position) : data };
}

/** One that is read, whose text is made when somebody looks at it. */
class UnmadeEntry implements Entry {
  readonly position: number;
  readonly #source: LazyEntry;
  readonly #stream: StreamName;

  constructor(source: LazyEntry, position: number, stream: StreamName) {
    this.position = position;
    this.#source = source;
    this.#stream = stream;
  }

  get type(): string {
    return this.#source.type;
  }

  get data(): string {
    const { data } = this.#source;
    return this.#stream === 'events' ? stampSeq(data, this.position) : data;
  }

  get value(): object {
    return this.#source.value;
  }

  toJSON(): Entry {
    return { position: this.position, type: this.type, data: this.data };
  }
}

/** In UTF-16 units, or about so. */
export function sizeOf(entry: NewEntry | Entry): number {
  return entry instanceof LazyEntry ? entry.size : entry.data.length;
}

export function readFrom(stream: MemoryStream, name: StreamName, { after, limit }: PageRequest): Page {
  const start = Math.max(0, after + 1 - stream.oldest);
  const end = Math.min(start + limit, stream.entries.length);
  const entries: Entry[] = [];
  for (let index = start; index < end; index++) {
    const entry = stream.entries[index];
    if (entry instanceof LazyEntry) entries.push(read(entry, stream.oldest + index, name));
    else if (entry !== undefined) entries.push(entry);
  }
  return { entries, head: stream.head, oldest: stream.oldest };
}

/** Of events it is the text that is read; of all else often only that it is there. */
function read(entry: LazyEntry, position: number, stream: StreamName): Entry {
  const unmade = new UnmadeEntry(entry, position, stream);
  return stream === 'events' ? unmade.toJSON() : unmade;
}

/** Forgets the oldest where it holds more than twice so much: what is left is at most so much, and at least one entry. */
export function keepRecent(stream: MemoryStream, chars: number): void {
  if (stream.chars <= 2 * chars) return;
  let kept = 0;
  let from = stream.entries.length - 1;
  for (; from > 0; from--) {
    kept += heldSize(stream.entries[from]);
    if (kept + heldSize(stream.entries[from - 1]) > chars) break;
  }
  stream.chars = kept;
  trimThrough(stream, stream.oldest + from - 1);
}

function heldSize(entry: Entry | LazyEntry | undefined): number {
  return entry === undefined ? 0 : sizeOf(entry);
}

export function trimThrough(stream: MemoryStream, position: number): void {
  const through = Math.min(position, stream.head);
  if (through < stream.oldest) return;
  stream.entries = stream.entries.slice(through + 1 - stream.oldest);
  stream.asides = stream.asides.filter((aside) => aside.position > through);
  stream.oldest = through + 1;
}
