import type { LlmContent } from '@concerto/protocol';
import { segment } from '../http-calls.ts';
import { AgentEventConsumer } from './agent-event-consumer.ts';
import { AgentRunError } from './agent-run-error.ts';
import { detached, type PostOptions, postJson } from './server-calls.ts';
import { type SourceOptions, SSEAgentEventSource } from './sse-agent-event-source.ts';

export type RemoteRun = SourceOptions & {
  readonly baseUrl: string;
  readonly fetch: typeof globalThis.fetch;
  readonly objective: LlmContent | string;
  /** Which agent, program or assistant of the server works on it; the server's own choice when none is named. */
  readonly target?: { readonly agent: string } | { readonly program: string } | { readonly assistant: string };
  readonly onSettled?: () => void;
};

/** A run whose loop is on a server: `connect` starts it there under this run's id, and follows it. */
export class SSEAgentRun {
  readonly runId: string;
  readonly kind: string;
  readonly events = new AgentEventConsumer();
  readonly #remote: RemoteRun;
  readonly #fetch: typeof globalThis.fetch;
  readonly #base: string;
  readonly #abort = new AbortController();
  readonly #source: SSEAgentEventSource;
  /** The server may have it. */
  #isAskedFor = false;
  #isStarted = false;
  #starting: Promise<void> | undefined;

  constructor(runId: string, kind: string, remote: RemoteRun) {
    this.runId = runId;
    this.kind = kind;
    this.#remote = remote;
    this.#fetch = detached(remote.fetch);
    this.#base = `${remote.baseUrl.replace(/\/$/, '')}/api/agent`;
    this.#source = new SSEAgentEventSource(remote.baseUrl, runId, this.events, this.#fetch, this.signal, remote);
  }

  get signal(): AbortSignal {
    return this.#abort.signal;
  }

  get aborted(): boolean {
    return this.#abort.signal.aborted;
  }

  /** As the source's, after the run has been started; a second call takes up where the first one failed. */
  async connect(): Promise<void> {
    await this.#start();
    await this.#source.connect();
    this.#remote.onSettled?.();
  }

  /** Ends the run here at once, and on the server as soon as it can be told. */
  abort(): void {
    if (this.aborted) return;
    this.#abort.abort();
    // Nobody waits for it: a server that cannot be reached now is not a reason to go on here.
    void this.#tellOfAbort().catch(() => undefined);
  }

  async #tellOfAbort(): Promise<void> {
    // A server that hears of the end before the beginning knows no such run, and begins it then.
    await this.#starting?.catch(() => undefined);
    if (this.#isAskedFor) await this.#post(`${segment(this.runId)}/abort`, {});
  }

  async #start(): Promise<void> {
    this.signal.throwIfAborted();
    if (this.#isStarted) return;
    this.#starting ??= this.#begin().finally(() => {
      this.#starting = undefined;
    });
    const over = new AbortController();
    const aborted = new Promise<never>((_, reject) => {
      this.signal.addEventListener('abort', () => reject(this.signal.reason), { signal: over.signal });
    });
    await Promise.race([this.#starting, aborted]).finally(() => over.abort());
  }

  async #begin(): Promise<void> {
    this.#isAskedFor = true;
    const { objective, target } = this.#remote;
    const options = { signal: this.signal, isHeardOut: true };
    const status = await this.#post('run', { runId: this.runId, objective, ...target }, options);
    this.#isStarted = status < 300;
    if (this.#isStarted) return;
    this.#isAskedFor = false;
    throw new AgentRunError('connection_failed', `the server refused to start the run: ${status}`);
  }

  async #post(path: string, body: object, options: Pick<PostOptions, 'signal' | 'isHeardOut'> = {}): Promise<number> {
    const key = `${path === 'run' ? 'start' : 'abort'}-${this.runId}`;
    return await postJson(`${this.#base}/${path}`, body, { fetch: this.#fetch, key, ...options });
  }
}
