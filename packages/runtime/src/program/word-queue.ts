/** So much that was taken is cut off at once: to take the first of a long list by itself moves all the others. */
const CUT = 1_024;

/** First in, first out, however many there are. */
export class WordQueue<Word> {
  #words: Word[] = [];
  #next = 0;

  get length(): number {
    return this.#words.length - this.#next;
  }

  push(word: Word): void {
    this.#words.push(word);
  }

  take(): Word | undefined {
    const word = this.#words[this.#next];
    if (word === undefined) return undefined;
    this.#next++;
    if (this.#next === this.#words.length || (this.#next >= CUT && this.#next * 2 >= this.#words.length)) {
      this.#words = this.#words.slice(this.#next);
      this.#next = 0;
    }
    return word;
  }

  /** Those that are taken next. */
  first(most: number): readonly Word[] {
    return this.#words.slice(this.#next, this.#next + most);
  }

  /** Leaves out the first of which it is true; false where there is none. */
  drop(isIt: (word: Word) => boolean): boolean {
    const index = this.#words.findIndex((word, at) => at >= this.#next && isIt(word));
    if (index >= 0) this.#words.splice(index, 1);
    return index >= 0;
  }
}
