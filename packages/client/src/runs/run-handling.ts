import type { AgentEvent, SuspendEvent } from '@concerto/protocol';
import type { AgentEventConsumer } from './agent-event-consumer.ts';
import { AgentRunError } from './agent-run-error.ts';
import { OrderedHandling } from './ordered-handling.ts';

/** What the handlers of a run on a server are busy with, over all its connections. */
export class RunHandling {
  /** Rejects with the first failure of a suspend, and when the run is aborted; never resolves. */
  readonly failed: Promise<never>;
  readonly failedSuspends: SuspendEvent[] = [];
  readonly #over = new AbortController();
  readonly #consumer: AgentEventConsumer;
  readonly #outer: AbortSignal | undefined;
  readonly #post: (event: SuspendEvent, answer: unknown) => Promise<void>;
  readonly #handling: OrderedHandling;
  readonly #sending = new Set<Promise<void>>();
  #fail: (error: unknown) => void = () => {};

  constructor(
    consumer: AgentEventConsumer,
    outer: AbortSignal | undefined,
    post: (event: SuspendEvent, answer: unknown) => Promise<void>,
  ) {
    this.#consumer = consumer;
    this.#outer = outer;
    this.#post = post;
    this.#handling = new OrderedHandling(consumer, this.#over.signal);
    this.failed = new Promise<never>((_, reject) => {
      this.#fail = reject;
    });
    this.failed.catch(() => undefined);
    outer?.addEventListener('abort', this.#aborted);
  }

  async tell(event: AgentEvent): Promise<void> {
    try {
      await this.#handling.tell(event);
    } catch (cause) {
      if (cause instanceof AgentRunError) throw cause;
      const why = cause instanceof Error ? cause.message : String(cause);
      throw new AgentRunError('handler_failed', `the handler of \`${event.type}\` failed: ${why}`, cause);
    }
  }

  /** Does not wait: other events come while a person thinks. Without a handler it stays open for another reader. */
  ask(event: SuspendEvent): void {
    if (this.#consumer.handles(event.type)) void this.#answer(event);
  }

  /** What is answered already reaches the server before the end is told; a question nobody has answered is over with the run. */
  async answersSent(): Promise<void> {
    await new Promise((resolve) => setTimeout(resolve, 0));
    await Promise.race([Promise.all(this.#sending), this.failed]);
  }

  over(): void {
    this.#outer?.removeEventListener('abort', this.#aborted);
    this.#over.abort(new DOMException('the run is over', 'AbortError'));
  }

  async #answer(event: SuspendEvent): Promise<void> {
    try {
      const answer = await this.#handling.ask(event);
      const sent = this.#post(event, answer);
      this.#sending.add(sent);
      await sent.finally(() => this.#sending.delete(sent));
    } catch (error) {
      if (this.#over.signal.aborted) return;
      this.failedSuspends.push(event);
      this.#fail(error);
    }
  }

  readonly #aborted = (): void => {
    this.#over.abort(this.#outer?.reason);
    this.#fail(this.#outer?.reason);
  };
}
