import type { HeardEntry } from './read-journal-entry.ts';

/** Of the journal of an agent's session, on record with what is written next. */
export type KeptLine = { readonly value: object; readonly place: number };

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

/** Whoever reads, in this process, the journal of an agent's session. */
type Reader = {
  /** Whether it takes the word now; else it hears it when it is on record, like anybody. */
  readonly hear: (word: WordAhead) => boolean;
  /** Undefined unless it is far behind the head; else resolves when it is less so. */
  readonly room: (head: number) => Promise<void> | undefined;
};

/**
 * A question that a handler answers at once needs no commit of its own: it goes with the answer. So the program hears it
 * before it is on record, where the store writes what both say in one commit. And an agent that says more than its program
 * takes is waited with, instead of a log that grows.
 */
export class WordsAhead {
  readonly #joins: boolean;
  readonly #readers = new Map<string, Reader>();

  constructor(joins: boolean) {
    this.#joins = joins;
  }

  /** Until the returned call. */
  listen(session: string, reader: Reader): () => void {
    this.#readers.set(session, reader);
    return () => {
      if (this.#readers.get(session) === reader) this.#readers.delete(session);
    };
  }

  room(session: string, head: number): Promise<void> | undefined {
    return this.#readers.get(session)?.room(head);
  }

  /** The word is made only where somebody listens and the store joins. */
  say(session: string, word: () => WordAhead): boolean {
    const reader = this.#joins ? this.#readers.get(session) : undefined;
    return reader?.hear(word()) === true;
  }
}
