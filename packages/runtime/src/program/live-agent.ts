import type { AgentExit } from '@concerto/agents';
import type { Clock } from '../ports.ts';
import { pause } from '../session/store-patience.ts';
import type { Message, ProgramAgent, ProgramAgentOutput, SettledMessage } from './program-agent.ts';
import { WorldFailure } from './program-world.ts';

/** Lines on stderr that are kept until there is a session to see them. */
export const EARLY_STDERR_LIMIT = 1_000;

/** Messages outside of a session that are told between two prompts; an agent may talk on and on. */
const STALE_LIMIT = 100;

/** After its result an agent may still say something; this long it is taken to belong to what has ended. */
const AFTERWARDS_MS = 30;

/** How long an agent that was told to cancel may take to end itself. */
const CANCEL_MS = 2_000;
/** From SIGTERM to SIGKILL. */
const TERMINATE_MS = 5_000;

/** Whom the process works for at the moment. */
type Served = {
  /** False when it is over: the message is none of its. */
  receive(said: { readonly raw: Message; readonly place?: number }): boolean;
  observe(line: string): void;
  overtaken(message: SettledMessage): void;
  fail(failure: WorldFailure): void;
  hasRoom(): Promise<void>;
};

type LiveAgentOptions = {
  readonly clock: Clock;
  readonly earlyStderr: string[];
  readonly onStale: (message: Message) => void;
};

/** A process that serves one session after another. What it says outside of a session is nobody's: it is told and dropped. */
export class LiveAgent {
  readonly connection: ProgramAgent;
  readonly clock: Clock;
  #session: Served | undefined;
  #claimed = true;
  #gone: WorldFailure | undefined;
  #endedAt = Number.NEGATIVE_INFINITY;
  #sessions = 0;
  #earlyStderr: string[];
  #stale = 0;
  #late: Message[] = [];
  readonly #onStale: (message: Message) => void;

  constructor(connection: ProgramAgent, { clock, earlyStderr, onStale }: LiveAgentOptions) {
    this.connection = connection;
    this.clock = clock;
    this.#earlyStderr = earlyStderr;
    this.#onStale = onStale;
    void this.#pump();
  }

  get isFree(): boolean {
    return !this.#claimed;
  }

  get isGone(): boolean {
    return this.#gone !== undefined;
  }

  claim(): this {
    this.#claimed = true;
    return this;
  }

  /** Resolves when what still comes from the last session has come. */
  async settled(): Promise<void> {
    const left = this.#endedAt + AFTERWARDS_MS - this.clock.elapsed();
    if (left > 0) await pause(this.clock, left);
  }

  /** It has served a session before. */
  get isUsed(): boolean {
    return this.#sessions > 1;
  }

  attach(session: Served): void {
    this.#session = session;
    this.#sessions++;
    this.#stale = 0;
    for (const line of this.#earlyStderr) session.observe(line);
    this.#earlyStderr = [];
    if (this.#gone !== undefined) session.fail(this.#gone);
  }

  /** A line on stderr. What comes while the process starts belongs to its first session. */
  stderr(line: string): void {
    if (this.#session !== undefined) this.#session.observe(line);
    else if (this.#sessions === 0 && this.#earlyStderr.length < EARLY_STDERR_LIMIT) this.#earlyStderr.push(line);
  }

  release(): void {
    this.#session = undefined;
    this.#endedAt = this.clock.elapsed();
    this.#claimed = false;
    for (const message of this.#late.splice(0)) this.#onStale(message);
  }

  async end(): Promise<AgentExit> {
    this.#gone ??= new WorldFailure('cancelled', 'the agent was ended');
    return this.connection.end();
  }

  /** Ends an agent that is at work. One that can cancel is told so, and has a moment to do it. */
  async stop(): Promise<AgentExit> {
    this.#gone ??= new WorldFailure('cancelled', 'the agent was ended');
    const { connection } = this;
    if (connection.capabilities.has('cancel')) {
      const told = (connection.request?.('cancel', 'session-ended') ?? Promise.resolve()).catch(() => undefined);
      await this.#within(
        CANCEL_MS,
        told.then(() => connection.exited),
      );
    }
    return connection.end({ atWork: true, stepMs: TERMINATE_MS });
  }

  /** Resolves with the work, at the latest after so long; no alarm is left that would keep our process. */
  async #within(ms: number, work: Promise<unknown>): Promise<void> {
    let takeBack = (): void => {};
    const late = new Promise<void>((resolve) => {
      takeBack = this.clock.at(this.clock.now() + ms, resolve);
    });
    await Promise.race([work, late]).finally(takeBack);
  }

  async #pump(): Promise<void> {
    for await (const batch of this.connection.output) {
      for (const word of batch) this.#deliver(word);
      await this.#session?.hasRoom();
    }
  }

  /** Told when the program is done with the session that has ended, so that it does not come before its result. */
  #drop(message: Message): void {
    if (this.#gone !== undefined || this.#stale++ >= STALE_LIMIT) return;
    if (this.#session === undefined) this.#onStale(message);
    else this.#late.push(message);
  }

  #deliver(output: ProgramAgentOutput): void {
    switch (output.kind) {
      case 'message':
        if (output.isStale === true || this.#session?.receive(output) !== true) this.#drop(output.raw);
        return;
      case 'stderr':
        this.stderr(output.text);
        return;
      case 'overtaken':
        this.#session?.overtaken(output);
        return;
      case 'gone':
        this.#gone = output.failure;
        this.#session?.fail(output.failure);
        return;
      case 'announced':
      case 'events':
      case 'usage':
      case 'withdrawn':
        return;
      case 'violation':
        if (output.fatal) this.#session?.fail(new WorldFailure('protocol', output.error.message));
        return;
      case 'exit': {
        const { code, signal, stderr } = output.exit;
        const how = signal === null ? `code ${code ?? '?'}` : `signal ${signal}`;
        const tail = stderr.trim() === '' ? '' : `: ${stderr.trim()}`;
        this.#gone = new WorldFailure('exited', `agent exited without result (${how})${tail}`, {
          details: { stderr, code, signal },
        });
        this.#session?.fail(this.#gone);
        return;
      }
    }
  }
}
