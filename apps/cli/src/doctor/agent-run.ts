import { type AgentConnection, type AgentExit, type AgentOutput, type AgentSpec, startAgent } from '@concerto/agents';
import type { WorkEvent } from '@concerto/protocol';
import { before } from './deadline.ts';
import type { WireCheck } from './wire-check.ts';

/** For each step of ending it: the end of stdin, SIGTERM, SIGKILL. */
const stepMs = 3_000;

export type AgentEnd = {
  readonly exit: AgentExit;
  /** What made it go. */
  readonly by: 'itself' | 'stdin' | 'signal';
  /** Processes it had started and left running. */
  readonly leftovers: readonly number[];
};

type AgentInfo = Extract<WorkEvent, { type: 'agentInfo' }>;

export type Introduction = { readonly info: AgentInfo | undefined; readonly warnings: readonly string[] };

function isInfo(event: WorkEvent): event is AgentInfo {
  return event.type === 'agentInfo';
}

/** One process of an agent from its start to its end, with everything it says read once and in order. */
export class AgentRun {
  readonly connection: AgentConnection;
  readonly wire: WireCheck;
  readonly startedInMs: number;
  readonly #batches: AsyncIterator<readonly AgentOutput[]>;
  readonly #ending: { goneAt: number | undefined; leftovers: readonly number[] };
  readonly #ready: AgentOutput[] = [];
  #pending: Promise<IteratorResult<readonly AgentOutput[]>> | undefined;

  private constructor(parts: {
    connection: AgentConnection;
    wire: WireCheck;
    startedInMs: number;
    ending: { goneAt: number | undefined; leftovers: readonly number[] };
  }) {
    this.connection = parts.connection;
    this.wire = parts.wire;
    this.startedInMs = parts.startedInMs;
    this.#ending = parts.ending;
    this.#batches = parts.connection.output[Symbol.asyncIterator]();
  }

  /** Throws `AgentError`; then no process is left. */
  static async start(
    spec: AgentSpec,
    wire: WireCheck,
    options: { readonly initTimeoutMs?: number; readonly signal: AbortSignal },
  ): Promise<AgentRun> {
    const started = Date.now();
    const ending: { goneAt: number | undefined; leftovers: readonly number[] } = { goneAt: undefined, leftovers: [] };
    const connection = await startAgent(spec, {
      ...options,
      endGraceMs: stepMs,
      onLine: (line) => wire.line(line),
      onLeftovers: (pids) => {
        ending.goneAt = Date.now();
        ending.leftovers = pids;
      },
    });
    return new AgentRun({ connection, wire, startedInMs: Date.now() - started, ending });
  }

  /** The next thing it says; undefined when the deadline comes first. After an `exit` there is nothing more to ask for. */
  async next(deadline: AbortSignal): Promise<AgentOutput | undefined> {
    while (this.#ready.length === 0) {
      this.#pending ??= this.#batches.next();
      const batch = await before(deadline, this.#pending);
      if (batch === undefined) return undefined;
      this.#pending = undefined;
      if (batch.done === true) return undefined;
      this.#ready.push(...batch.value);
    }
    return this.#ready.shift();
  }

  /** What it, or its driver, has said before anything is asked of it. */
  async introduced(deadline: AbortSignal): Promise<Introduction> {
    this.#pending ??= this.#batches.next();
    const batch = await before(deadline, this.#pending);
    if (batch === undefined || batch.done === true) return { info: undefined, warnings: [] };
    this.#pending = undefined;
    this.#ready.push(...batch.value);
    const warnings = this.#ready.flatMap((said) =>
      said.kind === 'message' && said.message.type === 'log' && said.message.level === 'warn'
        ? [said.message.message]
        : [],
    );
    const infos = this.#ready.flatMap((said) => (said.kind === 'events' ? said.events.filter(isInfo) : []));
    const info = infos.reduce<AgentInfo | undefined>((known, next) => ({ ...known, ...next }), undefined);
    return { info, warnings };
  }

  async prompt(text: string, id: string): Promise<void> {
    this.wire.prompted();
    await this.connection.prompt({ text, id, session: 'doctor' });
  }

  /** Ends stdin and sees whether that is enough. `atWork`: it is in the middle of a turn and cannot be expected to look. */
  async end(atWork = false): Promise<AgentEnd> {
    const wasGone = this.#ending.goneAt !== undefined;
    const asked = Date.now();
    // Whoever still writes must not block on a full pipe while it is being ended.
    const drained = this.#drain();
    const exit = await this.connection.end({ stepMs, atWork });
    await drained;
    const tookMs = (this.#ending.goneAt ?? Date.now()) - asked;
    const afterAsking = !atWork && tookMs < stepMs ? 'stdin' : 'signal';
    return { exit, by: wasGone ? 'itself' : afterAsking, leftovers: this.#ending.leftovers };
  }

  async #drain(): Promise<void> {
    await this.#pending;
    for (;;) {
      const batch = await this.#batches.next();
      if (batch.done === true) return;
    }
  }
}
