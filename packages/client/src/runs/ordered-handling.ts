import type { AgentEvent } from '@concerto/protocol';
import type { AgentEventConsumer } from './agent-event-consumer.ts';
import { AgentRunError } from './agent-run-error.ts';

/**
 * Hands events to a consumer one after the other: a handler that returns a promise is waited for before the next event
 * is handled. While none is pending an event is handled at once, in the caller's own turn.
 */
export class OrderedHandling {
  readonly #consumer: AgentEventConsumer;
  readonly #signal: AbortSignal | undefined;
  #tail: Promise<void> | undefined;

  constructor(consumer: AgentEventConsumer, signal: AbortSignal | undefined) {
    this.#consumer = consumer;
    this.#signal = signal;
  }

  /** Undefined when it is handled already. */
  tell(event: AgentEvent): Promise<void> | undefined {
    return this.#next(() => {
      const handled = this.#call(event);
      return handled instanceof Promise ? handled.then(() => undefined, failed(event)) : undefined;
    });
  }

  /** The handler begins in its place; what comes after it does not wait for the answer. */
  async ask(event: AgentEvent): Promise<unknown> {
    let answer: Promise<unknown> = Promise.resolve();
    await this.#next(() => {
      // A handler that throws at once has failed as one that rejects later.
      answer = new Promise((resolve) => resolve(this.#call(event))).catch(failed(event));
      return undefined;
    });
    return await this.#orAborted(answer);
  }

  /** Everything told so far is handled. */
  async drained(): Promise<void> {
    await this.#tail;
  }

  #next(begin: () => Promise<void> | undefined): Promise<void> | undefined {
    if (this.#tail === undefined) return this.#hold(begin());
    return this.#hold(this.#tail.then(begin));
  }

  #hold(work: Promise<void> | undefined): Promise<void> | undefined {
    if (work === undefined) return undefined;
    // The failure is the caller's to hear, by the promise it gets; what comes next is handled all the same.
    const tail = work
      .catch(() => undefined)
      .then(() => {
        if (this.#tail === tail) this.#tail = undefined;
      });
    this.#tail = tail;
    return work;
  }

  #call(event: AgentEvent): unknown {
    const options = this.#signal === undefined ? {} : { signal: this.#signal };
    const handled = this.#consumer.handle(event, options);
    // Whatever can be waited for is, also from another realm.
    return isThenable(handled) && !(handled instanceof Promise) ? Promise.resolve(handled) : handled;
  }

  async #orAborted(answer: Promise<unknown>): Promise<unknown> {
    const signal = this.#signal;
    if (signal === undefined) return await answer;
    signal.throwIfAborted();
    const over = new AbortController();
    const aborted = new Promise<never>((_, reject) => {
      signal.addEventListener('abort', () => reject(signal.reason), { signal: over.signal });
    });
    try {
      return await Promise.race([answer, aborted]);
    } finally {
      over.abort();
    }
  }
}

function failed(event: AgentEvent): (cause: unknown) => never {
  return (cause) => {
    const why = cause instanceof Error ? cause.message : String(cause);
    throw new AgentRunError('handler_failed', `the handler of \`${event.type}\` failed: ${why}`, cause);
  };
}

function isThenable(value: unknown): value is PromiseLike<unknown> {
  return typeof value === 'object' && value !== null && 'then' in value && typeof value.then === 'function';
}
