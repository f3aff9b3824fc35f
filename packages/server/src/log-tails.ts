import type { EventLog } from '@concerto/log';
import { type FoldedEvent, readStoredEvent } from '@concerto/protocol';
import { entriesThatFit, firstPageEntries, gapOf } from './event-feed.ts';

/** Events that follow a position, read once for all who stand there. */
export type Batch = { readonly events: readonly FoldedEvent[]; readonly to: number };

const batchesMax = 32;

/** One session's events, parsed once for every wire that folds them. A reader is a cursor; there is no queue. */
export class LogTail {
  readonly #log: EventLog;
  readonly #session: string;
  readonly #batches = new Map<number, Batch>();
  readonly #reads = new Map<number, Promise<Batch | undefined>>();
  readonly #sleepers = new Set<() => void>();
  #pageEntries = firstPageEntries;
  #growths = 0;

  constructor(log: EventLog, session: string) {
    this.#log = log;
    this.#session = session;
  }

  /** Changes with every growth: looked at before reading, it tells afterwards whether to read again. */
  get growths(): number {
    return this.#growths;
  }

  /** Undefined when nothing follows. */
  async read(after: number): Promise<Batch | undefined> {
    const kept = this.#batches.get(after);
    if (kept !== undefined) return kept;
    let read = this.#reads.get(after);
    if (read === undefined) {
      read = this.#readPage(after).finally(() => this.#reads.delete(after));
      this.#reads.set(after, read);
    }
    return await read;
  }

  /** Until the session grows beyond what was seen, or the reader leaves. */
  async grown(seen: number, left: AbortSignal): Promise<void> {
    if (this.#growths !== seen || left.aborted) return;
    await new Promise<void>((resolve) => {
      const wake = (): void => {
        this.#sleepers.delete(wake);
        left.removeEventListener('abort', wake);
        resolve();
      };
      this.#sleepers.add(wake);
      left.addEventListener('abort', wake);
    });
  }

  notify(): void {
    this.#growths++;
    for (const wake of this.#sleepers) wake();
  }

  forget(): void {
    this.#batches.clear();
    this.notify();
  }

  async #readPage(after: number): Promise<Batch | undefined> {
    const request = { session: this.#session, stream: 'events', after, limit: this.#pageEntries } as const;
    const page = await this.#log.read(request);
    const missing = gapOf(page, after);
    const last = page.entries.at(-1)?.position ?? missing?.to;
    if (last === undefined) return undefined;
    if (page.entries.length > 0) this.#pageEntries = entriesThatFit(page.entries);
    const events = page.entries.map(({ data, position }) => readStoredEvent(data) ?? unreadable(position));
    const at = events[0]?.at ?? '';
    const gap: FoldedEvent[] = missing === undefined ? [] : [{ type: 'gap', ...missing, at, seq: missing.to }];
    const batch = { events: [...gap, ...events], to: last };
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
