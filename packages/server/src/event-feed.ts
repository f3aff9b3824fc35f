import type { Entry, EventLog } from '@concerto/log';
import { isAgentEventType } from '@concerto/protocol';

/** `session` shows everything, `run` only the 21 agent events. */
export type Wire = 'session' | 'run';

/** Encoded frames that follow a position; shared by every connection that stands there. */
export type Frames = {
  readonly from: number;
  readonly to: number;
  readonly bytes: Buffer;
  /** The last event of the session is in here: nothing will ever follow. */
  readonly last: boolean;
};

export const pageEntries = 1_000;
const tailBatches = 64;

/** Told, in the tick of the growth, that there may be more to take. */
export type Follower = { pump(): void };

/**
 * One session's end of the log, read and encoded once for all who follow it. A reader that keeps up takes the shared
 * buffer; one that fell behind reads its own pages from the log, so nobody is queued for.
 */
export class EventFeed {
  readonly followers = new Set<Follower>();
  readonly #log: EventLog;
  readonly #session: string;
  readonly #wire: Wire;
  #tail: Frames[] = [];
  #grown = false;
  #reading = false;
  #head: number | undefined;

  constructor(log: EventLog, session: string, wire: Wire) {
    this.#log = log;
    this.#session = session;
    this.#wire = wire;
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

  /** What follows the position, from the log; undefined when nothing does. */
  async read(position: number): Promise<Frames | undefined> {
    const page = await this.#log.read({
      session: this.#session,
      stream: 'events',
      after: position,
      limit: pageEntries,
    });
    const gap = page.oldest > position + 1 ? gapFrame(position + 1, page.oldest - 1) : '';
    const last = page.entries.at(-1);
    if (last === undefined && gap === '') return undefined;
    return {
      from: position,
      to: last?.position ?? page.oldest - 1,
      bytes: Buffer.from(gap + encodeFrames(page.entries, this.#wire)),
      last: page.entries.some((entry) => entry.type === 'finish'),
    };
  }

  /** Called on every growth of the session; reads what is new once, then tells everybody in the same tick. */
  notify(): void {
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
      try {
        await this.#readTail();
      } catch {
        // The store is in trouble: every reader finds out by its own read, with its own error.
        this.#tail = [];
        this.#head = undefined;
      }
      for (const follower of this.followers) follower.pump();
    }
  }

  async #readTail(): Promise<void> {
    if (this.#head === undefined) {
      this.#head = await this.#log.head(this.#session, 'events');
      return;
    }
    const frames = await this.read(this.#head);
    if (frames === undefined) return;
    this.#head = frames.to;
    this.#tail.push(frames);
    if (this.#tail.length > tailBatches) this.#tail.shift();
    this.#grown = true;
  }
}

export function encodeFrames(entries: readonly Entry[], wire: Wire): string {
  let text = '';
  for (const entry of entries) {
    if (wire === 'run' && !isAgentEventType(entry.type)) continue;
    text += `id: ${entry.position}\ndata: ${entry.data}\n\n`;
  }
  return text;
}

function gapFrame(from: number, to: number): string {
  return `id: ${to}\ndata: ${JSON.stringify({ type: 'gap', from, to, seq: to, at: new Date().toISOString() })}\n\n`;
}
