import { assert } from '@concerto/base';
import type { Entry, EventLog } from '@concerto/log';
import { type FoldedEvent, readStoredEvent } from '@concerto/protocol';
import { entriesThatFit, firstPageEntries, type Gap, gapOf } from './event-feed.ts';

/** Events that follow a position, read once for all who stand there, and parsed once for all who want that. */
export class Batch {
  readonly entries: readonly Entry[];
  /** What is missing before them. */
  readonly gap: Gap | undefined;
  readonly to: number;
  /** Of the session, when it was read. */
  readonly head: number;
  #events: readonly FoldedEvent[] | undefined;

  constructor(read: Pick<Batch, 'entries' | 'gap' | 'to' | 'head'>) {
    this.entries = read.entries;
    this.gap = read.gap;
    this.to = read.to;
    this.head = read.head;
  }

  get events(): readonly FoldedEvent[] {
    this.#events ??= this.#parsed();
    return this.#events;
  }

  /** As much of it as is not beyond the position. */
  until(position: number): Batch {
    if (position >= this.to) return this;
    const entries = this.entries.filter((entry) => entry.position <= position);
    return new Batch({ entries, gap: this.gap, to: position, head: this.head });
  }

  #parsed(): readonly FoldedEvent[] {
    const events = this.entries.map(({ data, position }) => readStoredEvent(data) ?? unreadable(position));
    if (this.gap === undefined) return events;
    return [{ type: 'gap', ...this.gap, at: events[0]?.at ?? '', seq: this.gap.to }, ...events];
  }
}

const batchesMax = 32;

/** One session's events, read once for every wire that folds them. A reader is a cursor; there is no queue. */
export class LogTail {
  readonly session: string;
  readonly #log: EventLog;
  readonly #batches = new Map<number, Batch>();
  /** Under way, since which growth. */
  readonly #reads = new Map<number, { readonly growths: number; readonly batch: Promise<Batch | undefined> }>();
  readonly #sleepers = new Map<AbortSignal, () => void>();
  /** Who is woken when it leaves; asked once, however often it sleeps. */
  readonly #leaving = new WeakSet<AbortSignal>();
  #pageEntries = firstPageEntries;
  #growths = 0;
  #rewinds = 0;

  constructor(log: EventLog, session: string) {
    this.#log = log;
    this.session = session;
  }

  /** Changes with every growth: looked at before reading, it tells afterwards whether to read again. */
  get growths(): number {
    return this.#growths;
  }

  /** Changes when the store has lost what was read: nothing that was made of it holds. */
  get rewinds(): number {
    return this.#rewinds;
  }

  async head(): Promise<number> {
    return await this.#log.head(this.session, 'events');
  }

  /** Undefined when nothing follows. */
  async read(after: number): Promise<Batch | undefined> {
    const kept = this.#batches.get(after);
    if (kept !== undefined) return kept;
    let read = this.#reads.get(after);
    // One that began before the session grew may find nothing.
    if (read?.growths !== this.#growths) {
      read = { growths: this.#growths, batch: this.#readPage(after) };
      this.#reads.set(after, read);
    }
    try {
      return await read.batch;
    } finally {
      if (this.#reads.get(after) === read) this.#reads.delete(after);
    }
  }

  /** Everything up to a position, one event after the other. */
  async replay(position: number, take: (event: FoldedEvent) => void): Promise<void> {
    for (let at = 0; at < position; ) {
      const batch = await this.read(at);
      if (batch === undefined) return;
      for (const event of batch.events) if (event.seq <= position) take(event);
      at = batch.to;
    }
  }

  /** Until the session grows beyond what was seen, or the reader leaves. */
  async grown(seen: number, left: AbortSignal): Promise<void> {
    if (this.#growths !== seen || left.aborted) return;
    assert(!this.#sleepers.has(left), 'a reader sleeps once at a time');
    if (!this.#leaving.has(left)) {
      this.#leaving.add(left);
      left.addEventListener('abort', () => this.#sleepers.get(left)?.(), { once: true });
    }
    await new Promise<void>((resolve) => this.#sleepers.set(left, resolve));
    this.#sleepers.delete(left);
  }

  notify(): void {
    this.#growths++;
    for (const wake of this.#sleepers.values()) wake();
  }

  forget(): void {
    this.#batches.clear();
    this.#rewinds++;
    this.notify();
  }

  async #readPage(after: number): Promise<Batch | undefined> {
    const request = { session: this.session, stream: 'events', after, limit: this.#pageEntries } as const;
    const page = await this.#log.read(request);
    const missing = gapOf(page, after);
    const last = page.entries.at(-1)?.position ?? missing?.to;
    if (last === undefined) return undefined;
    if (page.entries.length > 0) this.#pageEntries = entriesThatFit(page.entries);
    const batch = new Batch({ entries: page.entries, gap: missing, to: last, head: page.head });
    this.#keep(after, batch);
    return batch;
  }

  #keep(after: number, batch: Batch): void {
    this.#batches.set(after, batch);
    for (const oldest of this.#batches.keys()) {
      if (this.#batches.size <= batchesMax) return;
      this.#batches.delete(oldest);
    }
  }
}

/** A position that no reader may stop at. */
function unreadable(seq: number): FoldedEvent {
  return { type: 'unknown', raw: { type: 'unreadable' }, at: '', seq };
}

/** The tails of all sessions that a wire follows now; one signal from the log serves them all. */
export class LogTails {
  readonly #log: EventLog;
  readonly #tails = new Map<string, { readonly tail: LogTail; readers: number }>();
  readonly #stops: readonly (() => void)[];

  constructor(log: EventLog) {
    this.#log = log;
    this.#stops = [
      log.onGrowth((session) => this.#tails.get(session)?.tail.notify()),
      log.onRewind(() => {
        for (const { tail } of this.#tails.values()) tail.forget();
      }),
    ];
  }

  /** For as long as `use` takes. */
  async with<T>(session: string, use: (tail: LogTail) => Promise<T>): Promise<T> {
    const known = this.#tails.get(session) ?? { tail: new LogTail(this.#log, session), readers: 0 };
    this.#tails.set(session, known);
    known.readers++;
    try {
      return await use(known.tail);
    } finally {
      known.readers--;
      if (known.readers === 0) this.#tails.delete(session);
    }
  }

  close(): void {
    for (const stop of this.#stops) stop();
    for (const { tail } of this.#tails.values()) tail.forget();
  }
}
