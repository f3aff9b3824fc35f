import type { ServerResponse } from 'node:http';
import type { EventFeed, Frames } from './event-feed.ts';
import type { EventFeeds } from './event-feeds.ts';
import type { Wire } from './event-wires.ts';
import type { KnownPerson } from './people/people.ts';

/** A reader that takes nothing for this long is cut off; it comes back with its cursor and loses nothing. */
const stalledAfterMs = 60_000;

export const streamHeaders = {
  'content-type': 'text/event-stream; charset=utf-8',
  'cache-control': 'no-store',
  'x-accel-buffering': 'no',
} as const;

const ping = Buffer.from(': ping\n\n');

export type Stream = {
  readonly session: string;
  readonly wire: Wire;
  readonly after: number;
  /** Who reads it, for as long as they may. */
  readonly reader: KnownPerson;
  /** Frames that come before all others. */
  readonly preface?: Buffer;
};

/**
 * Serves server-sent events on a Node response; resolves after the session's last event, or when the reader has left.
 */
export async function streamEvents(feeds: EventFeeds, stream: Stream, response: ServerResponse): Promise<void> {
  response.writeHead(200, streamHeaders);
  const feed = feeds.open(stream.session, stream.wire);
  const connection = new EventConnection(feed, stream, response);
  feeds.connections.add(connection);
  try {
    connection.ping();
    if (stream.preface !== undefined) response.write(stream.preface);
    connection.pump();
    await connection.ended;
  } finally {
    feeds.connections.delete(connection);
    feeds.release(stream.session, stream.wire);
  }
}

/** For a reader that has seen the last event: nothing will follow, so there is nothing to wait for. */
export function endedStream(): Response {
  return new Response(new Uint8Array(ping), { headers: streamHeaders });
}

/**
 * One reader: a cursor into the log that moves only when the socket has taken what was written. There is no queue; a
 * stalled reader costs a cursor and a buffer that others share.
 */
class EventConnection {
  readonly ended: Promise<void>;
  readonly reader: KnownPerson;
  readonly #feed: EventFeed;
  readonly #response: ServerResponse;
  #cursor: number;
  #state: 'ready' | 'busy' | 'closed' = 'ready';
  #stalled: NodeJS.Timeout | undefined;
  #resolveEnded: () => void = () => {};

  constructor(feed: EventFeed, { after, reader }: Stream, response: ServerResponse) {
    this.#feed = feed;
    this.reader = reader;
    this.#cursor = after;
    this.#response = response;
    this.ended = new Promise((resolve) => {
      this.#resolveEnded = resolve;
    });
    response.on('close', () => this.#close());
    response.on('error', () => this.#close());
    response.on('drain', () => this.#drained());
    feed.followers.add(this);
  }

  get isStalled(): boolean {
    return this.#stalled !== undefined;
  }

  ping(): void {
    if (this.#state !== 'closed' && !this.#response.writableNeedDrain) this.#response.write(ping);
  }

  /** Ends the connection; the reader comes back with its cursor. */
  cut(): void {
    this.#response.destroy();
  }

  /** Sends what there is. Called in the tick of a growth, so that all followers share one encoded buffer. */
  pump(): void {
    while (this.#state === 'ready') {
      const frames = this.#feed.shared(this.#cursor);
      if (frames !== undefined) {
        this.#send(frames);
        continue;
      }
      const { head } = this.#feed;
      if (head === undefined || this.#cursor < head) void this.#catchUp();
      return;
    }
  }

  async #catchUp(): Promise<void> {
    this.#state = 'busy';
    let frames: Frames | undefined;
    try {
      frames = await this.#feed.read(this.#cursor);
    } catch {
      // The store failed under a stream whose status is long sent: the reader comes back and is told then.
      this.#response.destroy();
      return;
    }
    if (!this.#isBusy()) return;
    this.#state = 'ready';
    if (frames !== undefined) {
      this.#send(frames);
      this.pump();
    } else if ((this.#feed.head ?? 0) > this.#cursor) {
      this.pump();
    }
  }

  #send(frames: Frames): void {
    this.#cursor = frames.to;
    const taken = frames.bytes.length === 0 || this.#response.write(frames.bytes);
    if (frames.last) {
      this.#response.end();
      this.#close();
    } else if (!taken) {
      this.#state = 'busy';
      this.#stalled = setTimeout(() => this.#response.destroy(), stalledAfterMs);
    }
  }

  #drained(): void {
    if (this.#stalled === undefined) return;
    clearTimeout(this.#stalled);
    this.#stalled = undefined;
    if (!this.#isBusy()) return;
    this.#state = 'ready';
    this.pump();
  }

  #isBusy(): boolean {
    return this.#state === 'busy';
  }

  #close(): void {
    if (this.#state === 'closed') return;
    this.#state = 'closed';
    clearTimeout(this.#stalled);
    this.#feed.followers.delete(this);
    this.#resolveEnded();
  }
}
