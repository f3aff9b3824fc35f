import type { LlmContent } from '@concerto/protocol';
import { randomId } from '../random-id.ts';
import type { AgentEventConsumer } from './agent-event-consumer.ts';
import { LocalAgentRun } from './local-agent-run.ts';
import { type RemoteRun, SSEAgentRun } from './sse-agent-run.ts';

export type AgentRunConfig = {
  /** What kind of work it is, for whoever shows it. */
  readonly kind: string;
  readonly objective: LlmContent | string;
  /** For runs on a server; see `RemoteRun`. */
  readonly target?: RemoteRun['target'];
};

/** A run, wherever its loop is. A local one has a `sink` beside these, a remote one `connect()`. */
export type AgentRunHandle = {
  readonly runId: string;
  readonly kind: string;
  readonly events: AgentEventConsumer;
  readonly signal: AbortSignal;
  readonly aborted: boolean;
  abort(): void;
};

/** Keeps the runs of a page or a process, each with handlers and an abort of its own. */
export class AgentService {
  readonly #runs = new Map<string, LocalAgentRun | SSEAgentRun>();
  #remote: Pick<RemoteRun, 'baseUrl' | 'fetch'> | undefined;

  /** Runs started from now on are on that server; with `null`, in this process. `fetch` brings the credentials along. */
  configureRemote(baseUrl: string | null, fetchFn: typeof globalThis.fetch = globalThis.fetch): void {
    this.#remote = baseUrl === null ? undefined : { baseUrl, fetch: fetchFn };
  }

  get isRemote(): boolean {
    return this.#remote !== undefined;
  }

  startRun(config: AgentRunConfig): LocalAgentRun | SSEAgentRun {
    const runId = `run_${randomId(16)}`;
    const run =
      this.#remote === undefined
        ? new LocalAgentRun(runId, config.kind)
        : new SSEAgentRun(runId, config.kind, {
            ...this.#remote,
            objective: config.objective,
            ...(config.target === undefined ? {} : { target: config.target }),
            onSettled: () => this.endRun(runId),
          });
    this.#runs.set(runId, run);
    run.signal.addEventListener('abort', () => this.endRun(runId), { once: true });
    return run;
  }

  getRun(runId: string): LocalAgentRun | SSEAgentRun | undefined {
    return this.#runs.get(runId);
  }

  /** Forgets the run; one that is aborted, or followed to its end, is forgotten by itself. */
  endRun(runId: string): void {
    this.#runs.delete(runId);
  }

  get activeRunIds(): string[] {
    return [...this.#runs.keys()];
  }
}
