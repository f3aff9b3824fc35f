import type { Socket } from 'node:net';
import { encodeFrame, type Frame, FrameReader, type FromKeeper, type ToKeeper } from './frames.ts';

export type FrameListener<Head> = {
  readonly frame: (frame: Frame<Head>) => void;
  /** Once; nothing comes after it. */
  readonly closed: () => void;
};

/** One end of a connection between a keeper and an owner. */
export class FrameSocket<Out extends ToKeeper | FromKeeper, In> {
  readonly #socket: Socket;
  #isClosed = false;
  #isGathering = false;

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
      this.#isClosed = true;
      listener.closed();
    });
  }

  /** False when the other side should be given time to read; `drained` tells when it has. */
  send(head: Out, body?: Uint8Array): boolean {
    if (this.#isClosed || this.#socket.destroyed) return true;
    this.#gather();
    let hasRoom = true;
    for (const part of encodeFrame(head, body)) hasRoom = this.#socket.write(part);
    return hasRoom;
  }

  /** What is said at once goes in one piece: each of its own would wake the other side. */
  #gather(): void {
    if (this.#isGathering) return;
    this.#isGathering = true;
    this.#socket.cork();
    process.nextTick(() => {
      this.#isGathering = false;
      this.#socket.uncork();
    });
  }

  /** Calls once when the other side has read what was sent, or is gone. */
  drained(call: () => void): void {
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
    this.#isClosed = true;
    this.#socket.destroySoon();
  }

  unref(): void {
    this.#socket.unref();
  }
}
