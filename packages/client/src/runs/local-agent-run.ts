import { AgentEventConsumer } from './agent-event-consumer.ts';
import type { AgentEventSink } from './agent-event-sink.ts';
import { LocalAgentEventBridge } from './local-agent-event-bridge.ts';

/** A run whose loop is in this process: it writes to `sink`, `events` hears it. */
export class LocalAgentRun {
  readonly runId: string;
  readonly kind: string;
  readonly events = new AgentEventConsumer();
  readonly sink: AgentEventSink & { drained(): Promise<void> };
  readonly #abort = new AbortController();

  constructor(runId: string, kind: string) {
    this.runId = runId;
    this.kind = kind;
    this.sink = new LocalAgentEventBridge(this.events, { signal: this.#abort.signal });
  }

  get signal(): AbortSignal {
    return this.#abort.signal;
  }

  get aborted(): boolean {
    return this.#abort.signal.aborted;
  }

  /** Open suspends reject with an `AbortError`; the loop watches `signal`. */
  abort(): void {
    this.#abort.abort();
  }
}
