import { setTimeout as sleep } from 'node:timers/promises';
import type { AgentExit } from '@concerto/agents';
import type { Json } from '@concerto/base';
import { folderOf, weighed } from '../session/request-risk.ts';
import { LONGEST_TIMER_MS, OwedReplies, wantsReply } from './owed-replies.ts';
import type { Message, ProgramAgent, ProgramAgentOutput, ProgramCall, Said, SettledMessage } from './program-agent.ts';
import { WorldFailure } from './program-world.ts';
import { WordQueue } from './word-queue.ts';

/** Messages a session may hold before its program reads them; then the agent waits. */
const QUEUE_LIMIT = 10_000;

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

/** A process that ends within this time of a prompt, without a word, had most likely begun to end before it. */
const LOST_WITHIN_MS = 250;

/** A process that serves one session after another. What it says outside of a session is nobody's: it is told and dropped. */
export class LiveAgent {
  readonly connection: ProgramAgent;
  #session: AgentSession | undefined;
  #claimed = true;
  #gone: WorldFailure | undefined;
  #endedAt = Number.NEGATIVE_INFINITY;
  #sessions = 0;
  #earlyStderr: string[];
  #stale = 0;
  #late: Message[] = [];
  readonly #onStale: (message: Message) => void;

  constructor(
    connection: ProgramAgent,
    { earlyStderr, onStale }: { readonly earlyStderr: string[]; readonly onStale: (message: Message) => void },
  ) {
    this.connection = connection;
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
    const left = this.#endedAt + AFTERWARDS_MS - performance.now();
    if (left > 0) await sleep(left);
  }

  /** It has served a session before. */
  get isUsed(): boolean {
    return this.#sessions > 1;
  }

  attach(session: AgentSession): void {
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
    this.#endedAt = performance.now();
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
      await Promise.race([told.then(() => connection.exited), sleep(CANCEL_MS, undefined, { ref: false })]);
    }
    return connection.end({ atWork: true, stepMs: TERMINATE_MS });
  }

  async #pump(): Promise<void> {
    const { output, spec } = this.connection;
    for await (const batch of spec === undefined
      ? output
      : weighed(output, { agent: spec.name, folder: folderOf(spec) })) {
      for (const output of batch) this.#deliver(output);
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

type SessionLimits = {
  readonly deadline: number;
  readonly timeoutSeconds: number;
  readonly idleSeconds: number | undefined;
  /** How long the program may take to answer a question. */
  readonly replySeconds: number | undefined;
  /** The program has a handler for lines on stderr. */
  readonly watchesStderr: boolean;
  /** Somebody else has answered a message that the program has. */
  readonly onOvertaken: (message: SettledMessage) => void;
  /** One of the limits has passed while nobody waits for the next message. */
  readonly onExpired: (failure: WorldFailure) => void;
};

/** What the VM writes. */
type ReplyLine = {
  readonly in_reply_to: string;
  readonly in_reply_to_id?: string | number;
  readonly value?: Json;
  readonly error?: Json;
};

/** One prompt and what comes back until `result` or `error`. */
export class AgentSession {
  readonly live: LiveAgent;
  readonly #agent: string;
  readonly #limits: SessionLimits;
  readonly #queue = new WordQueue<Said>();
  readonly #owed: OwedReplies;
  #failure: WorldFailure | undefined;
  #isOver = false;
  /** On stdout or stderr. */
  #hasSpoken = false;
  #promptedAt = 0;
  #handling = false;
  #woken: (() => void) | undefined;
  #deadline: NodeJS.Timeout | undefined;
  #silence: NodeJS.Timeout | undefined;
  #roomy: (() => void) | undefined;

  constructor(agent: string, live: LiveAgent, limits: SessionLimits) {
    this.live = live;
    this.#agent = agent;
    this.#limits = limits;
    const { replySeconds } = limits;
    this.#owed = new OwedReplies(replySeconds, (type) => {
      // An agent that has ended its work waits for nothing.
      if (!this.#isOver) this.#expire(`got no answer to its ${type} within ${replySeconds} s`);
    });
    live.attach(this);
  }

  /** Its prompt was given by an earlier process; the time that it has begins anew. */
  goOn(): void {
    this.#watchDeadline(this.#limits.deadline - Date.now());
  }

  /** A reply is owed within a time of its own. */
  get owesReplies(): boolean {
    return this.#owed.some;
  }

  async prompt(text: string, context: Json | undefined, call: ProgramCall): Promise<void> {
    this.#promptedAt = performance.now();
    // One timer for the whole session: one for each message would cost more than the message.
    this.#watchDeadline(this.#limits.deadline - Date.now());
    await this.live.connection.prompt(context === undefined ? { text } : { text, context }, call);
  }

  #watchDeadline(ms: number): void {
    this.#deadline = setTimeout(
      () => {
        // Time in which a person is asked, or has it paused, is not the agent's.
        if (this.live.connection.isHeld?.() === true) this.#watchDeadline(this.#limits.timeoutSeconds * 1000);
        else this.#expire(`did not finish within ${this.#limits.timeoutSeconds} s`);
      },
      Math.min(Math.max(0, ms), LONGEST_TIMER_MS),
    );
  }

  /** False when the session is over: the message is none of its. */
  receive({ raw: message, place }: { readonly raw: Message; readonly place?: number }): boolean {
    if (this.#isOver) return false;
    this.#hasSpoken = true;
    if (message.type === 'result' || message.type === 'error') this.#isOver = true;
    this.#queue.push(place === undefined ? { message } : { message, place });
    this.#wake();
    return true;
  }

  /** A full queue loses the line: to stop reading stderr would stop the agent. Its end is kept for the error. */
  observe(text: string): void {
    this.#hasSpoken = true;
    if (this.#isOver || !this.#limits.watchesStderr || this.#queue.length >= QUEUE_LIMIT) return;
    this.#queue.push({ observed: 'stderr', text });
    this.#wake();
  }

  /** One that the program has not taken yet is not taken any more: nobody waits for its answer. */
  overtaken({ type, id, by }: SettledMessage): void {
    const isIt = (said: Said): boolean =>
      'message' in said && said.message.type === type && (said.message.id ?? null) === id;
    if (this.#queue.drop(isIt)) return;
    this.#owed.replied(type, id);
    this.#limits.onOvertaken({ type, id, by });
  }

  fail(failure: WorldFailure): void {
    this.#failure ??= failure;
    this.#wake();
  }

  /** The process had ended before it read this prompt: a new one can take it. One that worked on it must not do so twice. */
  isLost(cause: unknown): boolean {
    const ended = cause instanceof WorldFailure ? cause.kind === 'exited' : this.live.isGone;
    const isSoon = performance.now() - this.#promptedAt < LOST_WITHIN_MS;
    return ended && isSoon && this.live.isUsed && !this.#hasSpoken;
  }

  /** The next message; rejects when the agent is gone or one of the limits has passed. */
  async next(): Promise<Said> {
    for (;;) {
      const said = this.take();
      if (said !== undefined) return said;
      if (this.#failure !== undefined) throw this.#failure;
      await this.#wait();
    }
  }

  /** A message that has come already. */
  take(): Said | undefined {
    const said = this.#queue.take();
    if (said !== undefined && 'message' in said) this.#owed.handed(said.message);
    this.#roomy?.();
    this.#roomy = undefined;
    return said;
  }

  /** The first that have come, up to one that wants an answer: somebody else may give it before the program has it. */
  ahead(most: number): readonly Said[] {
    const said = this.#queue.first(most);
    const asking = said.findIndex((one) => 'message' in one && wantsReply(one.message));
    return asking < 0 ? said : said.slice(0, asking);
  }

  async hasRoom(): Promise<void> {
    if (this.#queue.length < QUEUE_LIMIT || this.#isOver) return;
    await new Promise<void>((resolve) => {
      this.#roomy = resolve;
    });
  }

  reply(line: string): void {
    const reply: ReplyLine = JSON.parse(line);
    this.#owed.replied(reply.in_reply_to, reply.in_reply_to_id ?? null);
    this.#write(line, reply).catch((cause: unknown) => {
      this.fail(new WorldFailure('protocol', cause instanceof Error ? cause.message : String(cause), { cause }));
    });
  }

  /** As the program wrote it where that can be sent: a whole Float would lose its `.0`. */
  async #write(line: string, reply: ReplyLine): Promise<void> {
    const { connection } = this.live;
    if (connection.replyLine !== undefined) return connection.replyLine(line);
    const id = reply.in_reply_to_id === undefined ? {} : { inReplyToId: reply.in_reply_to_id };
    const outcome = reply.error === undefined ? { value: reply.value ?? null } : { error: reply.error };
    return connection.reply?.({ inReplyTo: reply.in_reply_to, ...id, ...outcome });
  }

  /** Handlers run beside the session: the agent may be silent because it waits for them. */
  handling(isHandling: boolean): void {
    this.#handling = isHandling;
    this.#watchSilence();
  }

  abandon(): void {
    this.fail(new WorldFailure('cancelled', 'nobody waits for the agent any more'));
  }

  /** False when the agent is still at work on this session. */
  close(): boolean {
    clearTimeout(this.#deadline);
    clearTimeout(this.#silence);
    this.#owed.clear();
    this.live.release();
    this.#roomy?.();
    return this.#isOver;
  }

  async #wait(): Promise<void> {
    const woken = new Promise<void>((resolve) => {
      this.#woken = resolve;
    });
    this.#watchSilence();
    await woken;
    this.#woken = undefined;
    clearTimeout(this.#silence);
  }

  /** Only silence that somebody waits through counts, and only if it is not ours. */
  #watchSilence(): void {
    clearTimeout(this.#silence);
    const { idleSeconds } = this.#limits;
    if (idleSeconds === undefined || this.#handling || this.#woken === undefined) return;
    this.#silence = setTimeout(
      () => {
        if (this.live.connection.isHeld?.() === true) this.#watchSilence();
        else this.#expire(`was silent for ${idleSeconds} s`);
      },
      Math.min(idleSeconds * 1000, LONGEST_TIMER_MS),
    );
  }

  #expire(how: string): void {
    const failure = new WorldFailure('timeout', `agent ${this.#agent} ${how}`);
    const isAwaited = this.#woken !== undefined;
    this.fail(failure);
    if (!isAwaited) this.#limits.onExpired(failure);
  }

  #wake(): void {
    this.#woken?.();
  }
}
