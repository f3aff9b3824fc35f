/** Calls that wait for a session. Where the server stops they are answered with what there is, and not left unanswered. */
export class Waits {
  readonly #ending = new AbortController();
  readonly #open = new Set<Promise<unknown>>();

  /** Aborts when nothing is waited for any more. */
  get signal(): AbortSignal {
    return this.#ending.signal;
  }

  async hold<Answer>(answer: Promise<Answer>): Promise<Answer> {
    this.#open.add(answer);
    try {
      return await answer;
    } finally {
      this.#open.delete(answer);
    }
  }

  /** Resolves when all of them are answered. */
  async end(): Promise<void> {
    this.#ending.abort();
    await Promise.allSettled(this.#open);
    // What has been answered is still to be handed to its connection.
    await new Promise((resolve) => setImmediate(resolve));
  }
}
