/** What was said and not yet read, in batches of what is there; one reader. */
export class MessageQueue<Item> implements AsyncIterable<readonly Item[]> {
  #items: Item[] = [];
  #ended = false;
  #wake: (() => void) | undefined;
  #isWaitedFor = false;
  #isLeft = false;
  #waiting: (() => void)[] = [];

  push(item: Item): void {
    if (this.#isLeft) return;
    this.#items.push(item);
    this.#wakeOnce();
  }

  end(): void {
    this.#ended = true;
    this.#wakeOnce();
  }

  /** How much nobody has taken yet. */
  get size(): number {
    return this.#items.length;
  }

  /** Resolves when the reader has done with everything that was pushed, or will read no more. */
  async read(): Promise<void> {
    if (this.#isLeft || (this.#items.length === 0 && this.#isWaitedFor)) return;
    await new Promise<void>((resolve) => this.#waiting.push(resolve));
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<readonly Item[], undefined> {
    try {
      for (;;) {
        if (this.#items.length > 0) yield this.#items.splice(0);
        else if (this.#ended) return;
        else await this.#more();
      }
    } finally {
      this.#isLeft = true;
      this.#items = [];
      this.#allRead();
    }
  }

  async #more(): Promise<void> {
    const pushed = new Promise<void>((resolve) => {
      this.#wake = resolve;
    });
    this.#isWaitedFor = true;
    this.#allRead();
    await pushed;
    this.#isWaitedFor = false;
  }

  /** Words come in masses, and the reader is woken by the first. */
  #wakeOnce(): void {
    this.#wake?.();
    this.#wake = undefined;
  }

  #allRead(): void {
    for (const resolve of this.#waiting.splice(0)) resolve();
  }
}
