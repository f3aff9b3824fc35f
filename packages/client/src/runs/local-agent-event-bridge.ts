import type { AgentEvent, SuspendEvent } from '@concerto/protocol';
import type { AgentEventConsumer } from './agent-event-consumer.ts';
import type { AgentEventSink } from './agent-event-sink.ts';
import { AgentRunError } from './agent-run-error.ts';
import { OrderedHandling } from './ordered-handling.ts';

export type BridgeOptions = {
  /** When it aborts, open suspends reject with its reason, and new ones at once. */
  readonly signal?: AbortSignal;
  /** Takes the failures of handlers that return promises; without it the producer hears of them at its next call. */
  readonly onError?: (error: unknown) => void;
};

/** A sink whose reader is in the same process. */
export class LocalAgentEventBridge implements AgentEventSink {
  readonly #consumer: AgentEventConsumer;
  readonly #options: BridgeOptions;
  readonly #handling: OrderedHandling;
  #failure: { readonly error: unknown } | undefined;

  constructor(consumer: AgentEventConsumer, options: BridgeOptions = {}) {
    this.#consumer = consumer;
    this.#options = options;
    this.#handling = new OrderedHandling(consumer, options.signal);
  }

  emit(event: AgentEvent): void {
    this.#throwFailure();
    void this.#handling.tell(event)?.catch((error: unknown) => this.#failed(error));
  }

  async suspend<T>(event: SuspendEvent): Promise<T> {
    this.#throwFailure();
    this.#options.signal?.throwIfAborted();
    if (!this.#consumer.handles(event.type)) {
      throw new AgentRunError('no_handler', `nobody answers \`${event.type}\`: register a handler with on()`);
    }
    const answer = await this.#handling.ask(event);
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the seed's signature: whoever asks names the type of what its own handler gives
    return answer as T;
  }

  /** Resolves when every handler is done with what was emitted; rejects with a failure that nobody has taken. */
  async drained(): Promise<void> {
    await this.#handling.drained();
    this.#throwFailure();
  }

  #failed(error: unknown): void {
    if (this.#options.onError === undefined) this.#failure ??= { error };
    else this.#options.onError(error);
  }

  #throwFailure(): void {
    const failure = this.#failure;
    this.#failure = undefined;
    if (failure !== undefined) throw failure.error;
  }
}
