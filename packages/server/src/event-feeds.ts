import { type EventLog, Histogram } from '@concerto/log';
import { EventFeed } from './event-feed.ts';
import type { Wire } from './event-wires.ts';
import type { KnownPerson } from './people/people.ts';

const pingEveryMs = 15_000;

/** A response that stays open. */
export type OpenStream = {
  readonly reader: KnownPerson;
  ping(): void;
  /** Ends it; its reader comes back. */
  cut(): void;
};

/** The feeds of all sessions that somebody follows now; one signal from the log serves them all. */
export class EventFeeds {
  readonly connections = new Set<OpenStream>();
  /** From the growth of a session until everybody who follows it was written to. */
  readonly fanOut = new Histogram();
  readonly #log: EventLog;
  readonly #feeds = new Map<string, { readonly feed: EventFeed; readers: number }>();
  readonly #bySession = new Map<string, Set<EventFeed>>();
  readonly #stops: readonly (() => void)[];
  /** One timer for all: proxies and readers must hear something, however quiet the session. */
  readonly #pings: NodeJS.Timeout;

  constructor(log: EventLog) {
    this.#log = log;
    this.#stops = [
      log.onGrowth((session) => {
        for (const feed of this.#bySession.get(session) ?? []) feed.notify();
      }),
      // Their cursors may lie ahead of what the store has now: they come back and are told.
      log.onRewind(() => {
        for (const connection of this.connections) connection.cut();
      }),
    ];
    this.#pings = setInterval(() => {
      for (const connection of this.connections) connection.ping();
    }, pingEveryMs).unref();
  }

  open(session: string, wire: Wire): EventFeed {
    const key = `${wire}:${session}`;
    const known = this.#feeds.get(key);
    if (known !== undefined) {
      known.readers++;
      return known.feed;
    }
    const feed = new EventFeed(this.#log, { session, wire }, this.fanOut);
    this.#feeds.set(key, { feed, readers: 1 });
    const siblings = this.#bySession.get(session) ?? new Set();
    siblings.add(feed);
    this.#bySession.set(session, siblings);
    return feed;
  }

  release(session: string, wire: Wire): void {
    const key = `${wire}:${session}`;
    const known = this.#feeds.get(key);
    if (known === undefined) return;
    known.readers--;
    if (known.readers > 0) return;
    this.#feeds.delete(key);
    const siblings = this.#bySession.get(session);
    siblings?.delete(known.feed);
    if (siblings?.size === 0) this.#bySession.delete(session);
  }

  /** Whoever may read comes back with its cursor; whoever may not is told so. */
  cutWhere(isOver: (connection: OpenStream) => boolean): void {
    for (const connection of this.connections) if (isOver(connection)) connection.cut();
  }

  close(): void {
    for (const stop of this.#stops) stop();
    clearInterval(this.#pings);
  }
}
