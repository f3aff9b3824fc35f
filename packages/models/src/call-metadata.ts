/** More calls than one conversation has; the oldest are forgotten. */
const MOST_CALLS = 2000;

/**
 * What a provider wants back with its own tool calls (Gemini signs them and refuses a conversation without the
 * signature). It is no business of whoever runs the tools, so it waits here for the next turn.
 */
export class CallMetadata<T> {
  readonly #known = new Map<string, T>();

  keep(id: string, metadata: T | undefined): void {
    if (metadata === undefined) return;
    this.#known.set(id, metadata);
    if (this.#known.size <= MOST_CALLS) return;
    const [oldest] = this.#known.keys();
    if (oldest !== undefined) this.#known.delete(oldest);
  }

  of(id: string): T | undefined {
    return this.#known.get(id);
  }
}
