import { unreachable } from '@concerto/base';
import type { Clock } from '../ports.ts';
import { pause } from '../session/store-patience.ts';
import type { AgentHearer, Message, ProgramAgent, ProgramAgentOutput, SettledMessage } from './program-agent.ts';
import { WorldFailure } from './program-world.ts';

/** Lines on stderr that are kept until there is a call to see them. */
const EARLY_STDERR_LIMIT = 1_000;

/** Messages outside of a session that are told between two prompts; an agent may talk on and on. */
const STALE_LIMIT = 100;

/** After its result an agent may still say something; this long it is taken to belong to what has ended. */
const AFTERWARDS_MS = 30;

/** Whom it works for at the moment. */
type Served = {
  /** False when it is over: the message is none of its. */
  receive(said: { readonly raw: Message; readonly place: number }): boolean;
  observe(line: string): void;
  overtaken(message: SettledMessage): void;
  fail(failure: WorldFailure): void;
  room(): Promise<void> | undefined;
};

type LiveAgentOptions = {
  readonly clock: Clock;
  readonly onStale: (message: Message) => void;
};

/** An agent that serves one call after another. What it says outside of a call is nobody's: it is told and dropped. */
export class LiveAgent implements AgentHearer {
  readonly agent: ProgramAgent;
  readonly clock: Clock;
  #session: Served | undefined;
  #claimed = true;
  #gone: WorldFailure | undefined;
  #endedAt = Number.NEGATIVE_INFINITY;
  #sessions = 0;
  #earlyStderr: string[] = [];
  #stale = 0;
  #late: Message[] = [];
  readonly #onStale: (message: Message) => void;

  constructor(agent: ProgramAgent, { clock, onStale }: LiveAgentOptions) {
    this.agent = agent;
    this.clock = clock;
    this.#onStale = onStale;
    agent.heardBy(this);
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

  /** What comes while it starts belongs to its first call. */
  #stderr(line: string): void {
    if (this.#session !== undefined) this.#session.observe(line);
    else if (this.#sessions === 0 && this.#earlyStderr.length < EARLY_STDERR_LIMIT) this.#earlyStderr.push(line);
  }

  release(): void {
    this.#session = undefined;
    this.#endedAt = this.clock.elapsed();
    this.#claimed = false;
    for (const message of this.#late.splice(0)) this.#onStale(message);
  }

  async end(): Promise<void> {
    this.#gone ??= new WorldFailure('cancelled', 'the agent was ended');
    await this.agent.end();
  }

  room(): Promise<void> | undefined {
    return this.#session?.room();
  }

  /** Told when the program is done with the session that has ended, so that it does not come before its result. */
  #drop(message: Message): void {
    if (this.#gone !== undefined || this.#stale++ >= STALE_LIMIT) return;
    if (this.#session === undefined) this.#onStale(message);
    else this.#late.push(message);
  }

  hear(output: ProgramAgentOutput): void {
    switch (output.kind) {
      case 'message':
        if (output.isStale === true || this.#session?.receive(output) !== true) this.#drop(output.raw);
        return;
      case 'stderr':
        return this.#stderr(output.text);
      case 'overtaken':
        return this.#session?.overtaken(output);
      case 'violation':
        return this.#session?.fail(new WorldFailure('protocol', output.message));
      case 'gone':
        this.#gone = output.failure;
        return this.#session?.fail(output.failure);
      default:
        return unreachable(output);
    }
  }
}
