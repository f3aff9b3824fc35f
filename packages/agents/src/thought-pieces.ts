/** A thought is told a line at a time, or in pieces of this length: each piece is an entry of a session's log. */
const pieceCharactersMax = 1_000;
/** So much of nothing is kept for what follows it. */
const blankCharactersMax = 10_000;

/** Gathers the words of a thought, which come one by one. */
export class ThoughtPieces {
  #pending = '';

  /** What is to be told now, if anything. */
  push(words: string): string | undefined {
    this.#pending += words;
    const isEnough = words.includes('\n') || this.#pending.length >= pieceCharactersMax;
    // An empty line waits for what follows it: it is worth no entry of its own.
    return isEnough && (this.#pending.length >= blankCharactersMax || this.#pending.trim() !== '')
      ? this.take()
      : undefined;
  }

  /** The rest, when something else comes. */
  take(): string | undefined {
    const text = this.#pending;
    this.#pending = '';
    return text.trim() === '' ? undefined : text;
  }
}
