import type { EventLog } from '@concerto/log';
import type { SessionStore } from './session-store.ts';

/** Waits for a session to grow; what comes between looking at it and waiting is not missed. */
export class SessionGrowth {
  readonly #stopListening: () => void;
  readonly #stopWatching: () => void;
  #count = 0;
  #waiting: (() => void)[] = [];

  constructor({ log, store }: { readonly log: EventLog; readonly store: SessionStore }, session: string) {
    this.#stopListening = log.onGrowth(() => this.signal(), session);
    // A log that joins is this process's own, and tells in the next turn of the loop what grew; another tells by way of its
    // server, and of what this process decides the store knows sooner.
    this.#stopWatching = log.joins ? () => {} : store.onDecided(session, () => this.signal());
  }

  /** How often it has grown, taken before one looks. */
  get seen(): number {
    return this.#count;
  }

  /** Wakes whoever waits, as a growth does. */
  signal(): void {
    this.#count++;
    for (const resolve of this.#waiting.splice(0)) resolve();
  }

  /** Resolves when there is more than was seen. */
  async since(seen: number): Promise<void> {
    if (this.#count !== seen) return;
    await new Promise<void>((resolve) => this.#waiting.push(resolve));
  }

  /** Hears nothing more; whoever waits looks once more. */
  close(): void {
    this.#stopListening();
    this.#stopWatching();
    this.signal();
  }
}
