/** What was said and not yet read, in batches of what is there; one reader. */
export class MessageQueue<Item> implements AsyncIterable<readonly Item[]> {
  #items: Item[] = [];
  #ended = false;
  #wake: () => void = () => {};

  push(item: Item): void {
    this.#items.push(item);
    this.#wake();
  }

  end(): void {
    this.#ended = true;
    this.#wake();
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<readonly Item[], undefined> {
    for (;;) {
      if (this.#items.length > 0) yield this.#items.splice(0);
      else if (this.#ended) return;
      else {
        await new Promise<void>((resolve) => {
          this.#wake = resolve;
        });
      }
    }
  }
}
