import type { JsonObject } from '@concerto/base';
import type { SuspendEvent } from '@concerto/protocol';

/** What the agent waits for, and under which name it wants to be answered. */
export type OpenQuestion = {
  readonly event: SuspendEvent;
  readonly type: string;
  readonly id: string | number | undefined;
};

/** The link between our request ids and the agent's own; lives as long as the process that asked. */
export class OpenQuestions {
  readonly #open = new Map<string, OpenQuestion>();

  get size(): number {
    return this.#open.size;
  }

  add(event: SuspendEvent, raw: JsonObject & { readonly type: string }): void {
    const id = typeof raw.id === 'string' || typeof raw.id === 'number' ? raw.id : undefined;
    this.#open.set(event.requestId, { event, type: raw.type, id });
  }

  take(requestId: string): OpenQuestion | undefined {
    const question = this.#open.get(requestId);
    this.#open.delete(requestId);
    return question;
  }

  /** By the agent's own id; gives ours. */
  withdraw(id: string | number): string | undefined {
    for (const [requestId, question] of this.#open) {
      if (question.id !== id) continue;
      this.#open.delete(requestId);
      return requestId;
    }
    return undefined;
  }

  clear(): void {
    this.#open.clear();
  }
}
