import type { Json } from '@concerto/base';
import type { LiveAgent } from './live-agent.ts';
import { OwedReplies, wantsReply } from './owed-replies.ts';
import type { Message, ProgramCall, Said, SettledMessage } from './program-agent.ts';
import { WorldFailure } from './program-world.ts';
import { WordQueue } from './word-queue.ts';

/** Messages a session may hold before its program reads them; then the agent waits. */
const QUEUE_LIMIT = 10_000;

/** Characters of what an agent wrote on stderr, for the error of one that takes too long. */
const STDERR_KEPT = 4_000;

/** One that ends within this time of a prompt, without a word, had most likely begun to end before it. */
const LOST_WITHIN_MS = 250;

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
  /** The end of what it wrote there. */
  #stderr = '';
  #handling = false;
  #isAwaited = false;
  #woken: (() => void) | undefined;
  #endDeadline: () => void = () => {};
  #endSilence: () => void = () => {};
  #roomy: (() => void) | undefined;

  constructor(agent: string, live: LiveAgent, limits: SessionLimits) {
    this.live = live;
    this.#agent = agent;
    this.#limits = limits;
    const { replySeconds } = limits;
    this.#owed = new OwedReplies(live.clock, replySeconds, (type) => {
      // An agent that has ended its work waits for nothing.
      if (!this.#isOver) this.#expire(`got no answer to its ${type} within ${replySeconds} s`);
    });
    live.attach(this);
  }

  /** Its prompt was given by an earlier process; the time that it has begins anew. */
  goOn(): void {
    this.#watchDeadline(this.#limits.deadline);
  }

  /** A reply is owed within a time of its own. */
  get owesReplies(): boolean {
    return this.#owed.some;
  }

  async prompt(text: string, context: Json | undefined, call: ProgramCall): Promise<void> {
    this.#promptedAt = this.live.clock.elapsed();
    // One timer for the whole session: one for each message would cost more than the message.
    this.#watchDeadline(this.#limits.deadline);
    await this.live.agent.prompt(context === undefined ? { text } : { text, context }, call);
  }

  #watchDeadline(deadline: number): void {
    const { clock, agent } = this.live;
    const { timeoutSeconds } = this.#limits;
    this.#endDeadline = clock.at(deadline, () => {
      // Time in which a person is asked, or has it paused, is not the agent's.
      if (agent.isHeld()) this.#watchDeadline(clock.now() + timeoutSeconds * 1000);
      else this.#expire(`did not finish within ${timeoutSeconds} s`);
    });
  }

  /** False when the session is over: the message is none of its. */
  receive({ raw: message, place }: { readonly raw: Message; readonly place: number }): boolean {
    if (this.#isOver) return false;
    this.#hasSpoken = true;
    if (message.type === 'result' || message.type === 'error') this.#isOver = true;
    this.#queue.push({ message, place });
    this.#wake();
    return true;
  }

  /** A full queue loses the line: to stop reading stderr would stop the agent. Its end is kept for the error. */
  observe(text: string): void {
    this.#hasSpoken = true;
    this.#stderr = `${this.#stderr}${text}\n`.slice(-STDERR_KEPT);
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

  /** The agent had ended before it read this prompt: a new one can take it. One that worked on it must not do so twice. */
  isLost(cause: unknown): boolean {
    const ended = cause instanceof WorldFailure ? cause.kind === 'exited' : this.live.isGone;
    const isSoon = this.live.clock.elapsed() - this.#promptedAt < LOST_WITHIN_MS;
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

  room(): Promise<void> | undefined {
    if (this.#queue.length < QUEUE_LIMIT || this.#isOver) return undefined;
    return new Promise<void>((resolve) => {
      this.#roomy = resolve;
    });
  }

  reply(line: string): void {
    const reply: ReplyLine = JSON.parse(line);
    this.#owed.replied(reply.in_reply_to, reply.in_reply_to_id ?? null);
    this.live.agent.replyLine(line).catch((cause: unknown) => {
      this.fail(new WorldFailure('protocol', cause instanceof Error ? cause.message : String(cause), { cause }));
    });
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
    this.#endDeadline();
    this.#endSilence();
    this.#owed.clear();
    this.live.release();
    this.#roomy?.();
    return this.#isOver;
  }

  async #wait(): Promise<void> {
    const woken = new Promise<void>((resolve) => {
      this.#woken = resolve;
    });
    this.#isAwaited = true;
    this.#watchSilence();
    await woken;
    this.#isAwaited = false;
    this.#endSilence();
  }

  /** Only silence that somebody waits through counts, and only if it is not ours. */
  #watchSilence(): void {
    this.#endSilence();
    const { idleSeconds } = this.#limits;
    if (idleSeconds === undefined || this.#handling || !this.#isAwaited) return;
    const { clock, agent } = this.live;
    this.#endSilence = clock.at(clock.now() + idleSeconds * 1000, () => {
      if (agent.isHeld()) this.#watchSilence();
      else this.#expire(`was silent for ${idleSeconds} s`);
    });
  }

  #expire(how: string): void {
    const details = this.#stderr === '' ? {} : { details: { stderr: this.#stderr } };
    const failure = new WorldFailure('timeout', `agent ${this.#agent} ${how}`, details);
    const isAwaited = this.#isAwaited;
    this.fail(failure);
    if (!isAwaited) this.#limits.onExpired(failure);
  }

  #wake(): void {
    this.#woken?.();
    // Words come in masses, and whoever waits is woken by the first.
    this.#woken = undefined;
  }
}
