import type { HeardEntry } from './read-journal-entry.ts';

/** Of the journal of an agent's session, on record with what is written next. */
export type KeptLine = { readonly data: string; readonly place: number };

/**
 * Something that an agent asks of the program which called it, where both have their owners in this process. Nothing that
 * the program does with it may be on record before it is.
 */
export type WordAhead = {
  readonly entry: HeardEntry;
  /** Where it will stand in the journal of the agent's session. */
  readonly place: number;
  /** Resolves when it is on record: with false when it never will be. */
  readonly secured: () => Promise<boolean>;
};

/** Whether whoever hears it takes it now; else it hears it when it is on record, like anybody. */
type Listener = (word: WordAhead) => boolean;

/**
 * A question that a handler answers at once needs no commit of its own: it goes with the answer. So the program hears it
 * before it is on record, where the store writes what both say in one commit.
 */
export class WordsAhead {
  readonly #joins: boolean;
  readonly #listeners = new Map<string, Listener>();

  constructor(joins: boolean) {
    this.#joins = joins;
  }

  /** Until the returned call. */
  listen(session: string, listener: Listener): () => void {
    if (this.#joins) this.#listeners.set(session, listener);
    return () => {
      if (this.#listeners.get(session) === listener) this.#listeners.delete(session);
    };
  }

  /** The word is made only where somebody listens. */
  say(session: string, word: () => WordAhead): boolean {
    const listener = this.#listeners.get(session);
    return listener?.(word()) === true;
  }
}
