import type { AgentEvent, SuspendEvent } from '@concerto/protocol';

/** The producer's side of a run: what an agent's loop writes to, wherever its reader is. */
export type AgentEventSink = {
  /** Tells; nobody answers. */
  emit(event: AgentEvent): void;
  /** Tells and waits for the answer. Rejects when the run is aborted, when the handler fails, and when nobody listens. */
  suspend<T>(event: SuspendEvent): Promise<T>;
};
