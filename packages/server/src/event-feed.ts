import type { Entry, EventLog, Histogram, Page } from '@concerto/log';
import { type Shows, type Wire, type WireFold, wires } from './event-wires.ts';

/** Encoded frames that follow a position; shared by every connection that stands there. */
export type Frames = {
  readonly from: number;
  readonly to: number;
  readonly bytes: Buffer;
  /** The last event of the session is in here: nothing will ever follow. */
  readonly last: boolean;
};

const pageEntriesMax = 1_000;
/** Entries can be megabytes long: what one reader is written at a time, and what all share, is bounded in bytes too. */
const frameBytesMax = 1024 * 1024;
const tailBatchesMax = 64;
const tailBytesMax = 8 * frameBytesMax;
/** Before anything was read nobody knows how long entries are. */
export const firstPageEntries = 64;

/** Told, in the tick of the growth, that there may be more to take. */
export type Follower = {
  pump(): void;
  /** Has not taken what it was given last; asks for more by itself when it has. */
  readonly isStalled: boolean;
};

/**
 * One session's end of the log, read and encoded once for all who follow it. A reader that keeps up takes the shared
 * buffer; one that fell behind reads its own pages from the log, so nobody is queued for.
 */
export class EventFeed {
  readonly followers = new Set<Follower>();
  readonly #log: EventLog;
  readonly #session: string;
  readonly #fold: WireFold;
  readonly #fanOut: Histogram;
  #tail: Frames[] = [];
  #tailBytes = 0;
  #pageEntries = firstPageEntries;
  #grown = false;
  #reading = false;
  #grownAt = 0;
  #head: number | undefined;

  constructor(log: EventLog, { session, wire }: { readonly session: string; readonly wire: Wire }, fanOut: Histogram) {
    this.#log = log;
    this.#session = session;
    this.#fold = wires[wire](log, session);
    this.#fanOut = fanOut;
  }

  /** Where the shared tail ends; unknown until the first growth that we see. */
  get head(): number | undefined {
    return this.#head;
  }

  /** What follows the position, when that is still at hand. */
  shared(position: number): Frames | undefined {
    // Nearly everybody stands at the end, so the newest is looked at first.
    for (let index = this.#tail.length - 1; index >= 0; index--) {
      const frames = this.#tail[index];
      if (frames?.from === position) return frames;
    }
    return undefined;
  }

  /** What follows the position, from the log, as much as fits; undefined when nothing does. */
  async read(position: number): Promise<Frames | undefined> {
    const page = await this.#log.read({
      session: this.#session,
      stream: 'events',
      after: position,
      limit: this.#pageEntries,
    });
    if (page.entries.length > 0) this.#pageEntries = entriesThatFit(page.entries);
    const missing = gapOf(page, position);
    const gap = missing === undefined ? '' : `id: ${missing.to}\ndata: ${gapEvent(missing)}\n\n`;
    const { text, taken } = encodeFrames(page.entries, await this.#fold.shows(page));
    const last = page.entries[taken - 1];
    const to = last?.position ?? missing?.to;
    if (to === undefined) return undefined;
    return {
      from: position,
      to,
      bytes: Buffer.from(gap + text),
      last: last?.type === 'finish',
    };
  }

  /** Called on every growth of the session; reads what is new once, then tells everybody in the same tick. */
  notify(): void {
    if (!this.#grown) this.#grownAt = performance.now();
    this.#grown = true;
    if (this.#reading) return;
    this.#reading = true;
    void this.#advance().finally(() => {
      this.#reading = false;
    });
  }

  async #advance(): Promise<void> {
    while (this.#grown) {
      this.#grown = false;
      const grownAt = this.#grownAt;
      if (this.#allStalled()) return this.#forget();
      const before = this.#head;
      try {
        await this.#readTail();
      } catch {
        // The store is in trouble: every reader finds out by its own read, with its own error.
        this.#forget();
      }
      const told = this.#head;
      for (const follower of this.followers) follower.pump();
      if (told !== before) this.#fanOut.add(performance.now() - grownAt);
    }
  }

  #allStalled(): boolean {
    for (const follower of this.followers) if (!follower.isStalled) return false;
    return true;
  }

  /** Whoever asks next reads the log from where it stands. */
  #forget(): void {
    this.#tail = [];
    this.#tailBytes = 0;
    this.#head = undefined;
  }

  async #readTail(): Promise<void> {
    if (this.#head === undefined) {
      this.#head = await this.#log.head(this.#session, 'events');
      return;
    }
    const frames = await this.read(this.#head);
    if (frames === undefined) return;
    this.#head = frames.to;
    this.#keep(frames);
    this.#grown = true;
  }

  #keep(frames: Frames): void {
    this.#tail.push(frames);
    this.#tailBytes += frames.bytes.length;
    while (this.#tail.length > tailBatchesMax || this.#tailBytes > tailBytesMax) {
      this.#tailBytes -= this.#tail.shift()?.bytes.length ?? 0;
    }
  }
}

/** As many entries as fit, but at least one. */
function encodeFrames(
  entries: readonly Entry[],
  { isShown, before }: Shows,
): { readonly text: string; readonly taken: number } {
  let text = '';
  let taken = 0;
  for (const entry of entries) {
    if (taken > 0 && text.length + entry.data.length > frameBytesMax) break;
    taken++;
    if (!isShown(entry)) continue;
    const first = before?.(entry);
    if (first !== undefined) text += `data: ${first}\n\n`;
    text += `id: ${entry.position}\ndata: ${entry.data}\n\n`;
  }
  return { text, taken };
}

/** How many such entries are about as much as a reader is written at a time. */
export function entriesThatFit(entries: readonly Entry[]): number {
  const bytes = entries.reduce((sum, entry) => sum + entry.data.length, 0);
  const fitting = Math.floor((frameBytesMax * entries.length) / Math.max(bytes, 1));
  return Math.min(Math.max(fitting, 1), pageEntriesMax);
}

export type Gap = { readonly from: number; readonly to: number };

/** What is missing between a cursor and a page; seen by the positions, so whoever trimmed the stream. */
export function gapOf(page: Page, position: number): Gap | undefined {
  const kept = page.entries[0]?.position ?? Math.max(page.oldest, page.head + 1);
  return kept > position + 1 ? { from: position + 1, to: kept - 1 } : undefined;
}

/** What stands where trimmed events were, so that nobody takes what is left for everything. */
export function gapEvent({ from, to }: Gap): string {
  return JSON.stringify({ type: 'gap', from, to, seq: to, at: new Date().toISOString() });
}
