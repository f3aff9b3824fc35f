import type { Socket } from 'node:net';
import { type Body, encodeFrame, FrameReader } from './frame-bytes.ts';
import type { Frame, FromKeeper, ToKeeper } from './frames.ts';

/** How long what nobody waits for may wait for company. */
const soonMs = 1;
/** Up to this, one piece that is copied together is cheaper than several. */
const joinedLengthMax = 64 * 1024;

export type FrameListener<Head> = {
  readonly frame: (frame: Frame<Head>) => void;
  /** Once; nothing comes after it. */
  readonly closed: () => void;
};

/** One end of a connection between a keeper and an owner. */
export class FrameSocket<Out extends ToKeeper | FromKeeper, In> {
  /** Whether the other side reads short heads. */
  short = false;
  readonly #socket: Socket;
  #isClosed = false;
  #gathered: Uint8Array[] = [];
  #gatheredLength = 0;
  #writesThisTick = false;
  /** What was gathered is not as old as the timer. */
  #isFresh = false;
  #timer: NodeJS.Timeout | undefined;

  constructor(socket: Socket, isIn: (head: unknown) => head is In, listener: FrameListener<In>) {
    this.#socket = socket;
    const reader = new FrameReader();
    socket.on('data', (chunk: Buffer) => {
      try {
        for (const { head, body } of reader.push(chunk)) {
          if (this.#isClosed) return;
          if (!isIn(head)) throw new Error('a frame that is not known');
          listener.frame({ head, body });
        }
      } catch {
        // Whoever says what cannot be read is not one of us; there is nothing to agree on.
        this.close();
      }
    });
    // A connection that breaks is one that closes.
    socket.on('error', () => {});
    socket.once('close', () => {
      clearTimeout(this.#timer);
      this.#isClosed = true;
      listener.closed();
    });
  }

  /** False when the other side should be given time to read; `drained` tells when it has. */
  send(head: Out, body?: Body): boolean {
    this.#add(head, body);
    if (!this.#writesThisTick) {
      // What is said at once goes in one piece: each of its own would wake the other side.
      this.#writesThisTick = true;
      process.nextTick(() => this.#write());
    }
    return this.#hasRoom;
  }

  /** At once: somebody waits for it. */
  sendNow(head: Out, body?: Body): boolean {
    this.#add(head, body);
    this.#write();
    return this.#hasRoom;
  }

  /** With whatever comes next, or a moment later: to wake the other side for it would hold up what it waits for. */
  sendSoon(head: Out): void {
    if (this.#gatheredLength === 0) this.#isFresh = true;
    this.#add(head);
    this.#timer ??= setTimeout(() => this.#late(), soonMs);
  }

  /** The timer runs on whatever was said meanwhile, since to put it off each time would cost more; so it may be early. */
  #late(): void {
    if (this.#gatheredLength > 0 && this.#isFresh) {
      this.#isFresh = false;
      this.#timer?.refresh();
      return;
    }
    this.#timer = undefined;
    this.#write();
  }

  get #hasRoom(): boolean {
    return this.#socket.writableLength + this.#gatheredLength < this.#socket.writableHighWaterMark;
  }

  #add(head: Out, body: Body = ''): void {
    for (const part of encodeFrame(head, body, this.short)) {
      this.#gathered.push(part);
      this.#gatheredLength += part.length;
    }
  }

  #write(): void {
    this.#writesThisTick = false;
    const parts = this.#gathered;
    const length = this.#gatheredLength;
    if (length === 0) return;
    this.#gathered = [];
    this.#gatheredLength = 0;
    if (this.#isClosed || this.#socket.destroyed) return;
    if (parts.length === 1 && parts[0] !== undefined) this.#socket.write(parts[0]);
    else if (length <= joinedLengthMax) this.#socket.write(Buffer.concat(parts, length));
    else {
      this.#socket.cork();
      for (const part of parts) this.#socket.write(part);
      this.#socket.uncork();
    }
  }

  /** Calls once when the other side has read what was sent, or is gone. */
  drained(call: () => void): void {
    this.#write();
    if (this.#isClosed || !this.#socket.writableNeedDrain) {
      setImmediate(call);
      return;
    }
    const settled = (): void => {
      this.#socket.off('drain', settled);
      this.#socket.off('close', settled);
      call();
    };
    this.#socket.on('drain', settled);
    this.#socket.on('close', settled);
  }

  pause(): void {
    this.#socket.pause();
  }

  resume(): void {
    this.#socket.resume();
  }

  /** Says what was sent, then ends. */
  close(): void {
    if (this.#isClosed) return;
    this.#write();
    this.#isClosed = true;
    this.#socket.destroySoon();
  }

  unref(): void {
    this.#socket.unref();
  }
}
