import type { AgentEvent } from '@concerto/protocol';

type EventOf<T extends AgentEvent['type']> = Extract<AgentEvent, { type: T }>;

export type HandlingOptions = {
  /** Aborts when the run is over or given up: a dialog that is still open has nobody left to answer. */
  readonly signal?: AbortSignal;
};

/** For a suspend, what it returns or resolves to is the answer. */
export type AgentEventHandler<T extends AgentEvent['type']> = (event: EventOf<T>, options: HandlingOptions) => unknown;

/** The reader's side of a run: one handler a type, a later one in place of an earlier. */
export class AgentEventConsumer {
  readonly #handlers = new Map<string, (event: AgentEvent, options: HandlingOptions) => unknown>();

  on<T extends AgentEvent['type']>(type: T, handler: AgentEventHandler<T>): this {
    this.#handlers.set(type, (event, options) => {
      if (isOfType(event, type)) return handler(event, options);
      return undefined;
    });
    return this;
  }

  handles(type: string): boolean {
    return this.#handlers.has(type);
  }

  /** Calls the handler at once and gives back what it returns; nothing happens without one. */
  handle(event: AgentEvent, options: HandlingOptions = {}): unknown {
    return this.#handlers.get(event.type)?.(event, options);
  }
}

function isOfType<T extends AgentEvent['type']>(event: AgentEvent, type: T): event is EventOf<T> {
  return event.type === type;
}
