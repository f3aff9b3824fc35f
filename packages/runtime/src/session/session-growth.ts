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
    // Of what this process decides the store knows a moment sooner; what is only said comes in masses, and is heard so.
    this.#stopWatching = store.onDecided(session, () => this.signal());
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
