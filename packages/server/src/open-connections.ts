import { readFileSync } from 'node:fs';
import type { Socket } from 'node:net';

/** More than any honest burst; each costs a descriptor, and without descriptors no agent can start. */
const strangersMax = 1_024;
/** A connection that has not shown a token by then is asked to come back. */
const strangerMs = 30_000;
const lookEveryMs = 5_000;
/** Descriptors that connections never take: for the store, for agents and for stopping in good order. */
const reserveMax = 512;

export type ConnectionLimits = { readonly strangers: number; readonly all: number };

/**
 * Connections that have shown no token yet. There are only so many of them, and each only for a while: whoever holds
 * the port open without one must not use up what everybody else needs. Nor do those that have: beyond what the system
 * gives us, less a reserve, nobody is let in.
 */
export class OpenConnections {
  readonly #limits: ConnectionLimits;
  readonly #strangers = new Map<Socket, number>();
  #all = 0;
  #timer: NodeJS.Timeout | undefined;

  constructor(limits: ConnectionLimits = limitsOf(descriptors())) {
    this.#limits = limits;
  }

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
    this.#all++;
    this.#strangers.set(socket, Date.now());
    socket.once('close', () => {
      this.#all--;
      this.#strangers.delete(socket);
    });
    if (this.#strangers.size <= this.#limits.strangers && this.#all <= this.#limits.all) return;
    // The newcomer itself, where all others are known.
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

export function limitsOf(descriptorsMax: number): ConnectionLimits {
  const all = descriptorsMax - Math.min(reserveMax, Math.floor(descriptorsMax / 2));
  return { strangers: Math.min(strangersMax, Math.floor(all / 2)), all };
}

/** How many this process may have; as good as endless where the system does not tell. */
function descriptors(): number {
  try {
    const soft = /^Max open files\s+(\d+)/m.exec(readFileSync('/proc/self/limits', 'utf8'))?.[1];
    return soft === undefined ? Number.MAX_SAFE_INTEGER : Number(soft);
  } catch {
    return Number.MAX_SAFE_INTEGER;
  }
}
