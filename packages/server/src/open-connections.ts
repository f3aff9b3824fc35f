import type { Socket } from 'node:net';

/** More than any honest burst; each costs a descriptor, and without descriptors no agent can start. */
const strangersMax = 1_024;
/** A connection that has not shown a token by then is asked to come back. */
const strangerMs = 30_000;
const lookEveryMs = 5_000;

/**
 * Connections that have shown no token yet. There are only so many of them, and each only for a while: whoever holds
 * the port open without one must not use up what everybody else needs.
 */
export class OpenConnections {
  readonly #strangers = new Map<Socket, number>();
  #timer: NodeJS.Timeout | undefined;

  watch(server: { on(event: 'connection', listener: (socket: Socket) => void): unknown }): void {
    server.on('connection', (socket: Socket) => this.#arrived(socket));
    this.#timer = setInterval(() => this.#closeLate(Date.now()), lookEveryMs).unref();
  }

  /** It has shown the token; from now on it may stay. */
  known(socket: Socket | undefined): void {
    if (socket !== undefined) this.#strangers.delete(socket);
  }

  close(): void {
    clearInterval(this.#timer);
  }

  #arrived(socket: Socket): void {
    this.#strangers.set(socket, Date.now());
    socket.once('close', () => this.#strangers.delete(socket));
    if (this.#strangers.size <= strangersMax) return;
    const [oldest] = this.#strangers.keys();
    oldest?.destroy();
  }

  #closeLate(now: number): void {
    for (const [socket, since] of this.#strangers) {
      // In the order in which they came: those that follow are younger.
      if (now - since < strangerMs) return;
      socket.destroy();
    }
  }
}
