import type { Kept, KeptAgent, OutputPlace } from '@concerto/agents';
import { assert, type Json, type JsonObject } from '@concerto/base';
import { type RunnerCommand, type SuspendEvent, textContent, type WorkEvent } from '@concerto/protocol';
import { type Dispatch, type SessionState, turnCallId } from '@concerto/session';
import type { Clock, SessionConnection } from '../ports.ts';
import { type OpenQuestion, OpenQuestions } from './open-questions.ts';
import { pause } from './store-patience.ts';

type Deliver = Extract<RunnerCommand, { type: 'deliver' }>;
type Control = Extract<RunnerCommand, { type: 'interrupt' | 'pause' | 'resume' | 'cancel' }>;

/** So long a new process that has said nothing may still announce what it can: signalled before, it could not. */
const announceWithinMs = 1_000;

/**
 * One incarnation of the agent: its connection once there is one, the questions it has open, the dispatches it was
 * given. Everything here is about one process and dies with it.
 */
export class AgentLink {
  readonly incarnation: number;
  readonly questions = new OpenQuestions();
  /** Ends a start that is under way. */
  readonly abort = new AbortController();
  /** The turn whose prompt it was given last, or that it began itself; 0 before either. */
  turn = 0;
  /** The message that it was prompted with last. */
  promptedBy: string | undefined;
  /** How many lines it was given in reply to what was no request. */
  responds = 0;
  /** Settled when nothing more is heard of it. */
  up: Promise<void> = Promise.resolve();
  /** All that it said before we took it up has been heard. */
  readonly takenUp: Promise<void>;
  #takenUpNow: () => void = () => {};
  /** How its process is to be kept, where it is. */
  readonly agent: KeptAgent | undefined;
  #isDetached = false;
  readonly #dispatches = new Map<string, 'writing' | 'written'>();
  /** Said into the turn and not yet known to be heard, by the message's id. */
  readonly #steers = new Map<string, string>();
  #connection: SessionConnection | undefined;
  #turnSettled: AbortController | undefined;
  readonly #clock: Clock;
  readonly #asked = new Set<string>();
  /** Settled by its first word, or when it has been silent for so long that none is to be expected. */
  #introduced: Promise<void> = Promise.resolve();
  #introduce: (() => void) | undefined;

  constructor(incarnation: number, clock: Clock, agent?: KeptAgent) {
    this.incarnation = incarnation;
    this.#clock = clock;
    this.agent = agent;
    this.takenUp = new Promise((resolve) => {
      this.#takenUpNow = resolve;
    });
  }

  get pid(): number {
    return this.#connection?.identity.pid ?? 0;
  }

  get isDetached(): boolean {
    return this.#isDetached;
  }

  /** Leaves the agent to its keeper and to the next owner; resolves when all that was heard of it is on record. */
  async detach(): Promise<void> {
    this.#isDetached = true;
    if (this.kept === undefined) this.agent?.current?.detach();
    else this.kept.detach();
    await this.up;
  }

  /** Names the agent's work of this turn in every event about it. */
  get callId(): string {
    return turnCallId(this.turn);
  }

  connected(connection: SessionConnection): void {
    this.#connection = connection;
    void connection.kept?.takenUp.then(this.#takenUpNow);
    const spoke = new Promise<void>((resolve) => {
      this.#introduce = resolve;
    });
    this.#introduced = Promise.race([spoke, pause(this.#clock, announceWithinMs)]);
  }

  /** Only where a keeper holds it. */
  get kept(): Kept | undefined {
    return this.#connection?.kept;
  }

  get #marks(): ReadonlySet<string> | undefined {
    return this.#connection?.kept?.marks;
  }

  #wasAsked(requestId: string): boolean {
    return this.#asked.has(requestId) || this.#marks?.has(requestId) === true;
  }

  /** The same id, whoever hears the same question. */
  requestAt(at: OutputPlace): string {
    assert(this.kept !== undefined, 'only what a keeper holds has places');
    return `req_${this.kept.idAt(at)}`;
  }

  /** A question that is on record; it is open unless it was replied to. */
  askedBefore(event: SuspendEvent, raw: JsonObject & { readonly type: string }): void {
    if (!this.#wasAsked(event.requestId)) this.questions.add(event, raw);
  }

  /** The agent said something. */
  heard(): void {
    this.#introduce?.();
  }

  /** Undefined only when the agent certainly has nothing of it. */
  handedOver(dispatchId: string): 'writing' | 'written' | undefined {
    return this.#dispatches.get(dispatchId) ?? (this.#marks?.has(dispatchId) === true ? 'written' : undefined);
  }

  /** Resolves when the pipe has taken it; rejects when the agent is not there to take it. */
  async deliver(command: Deliver, session: string): Promise<void> {
    if (this.#connection === undefined) throw new Error('the agent is not up');
    const { content: text, messageId: id, dispatchId } = command;
    this.#dispatches.set(dispatchId, 'writing');
    try {
      if (command.how === 'steer') this.#steers.set(id, text);
      this.kept?.mark(dispatchId);
      if (command.how === 'steer') await this.#connection.steer({ id, text });
      else {
        this.promptedBy = id;
        const { context } = command;
        await this.#connection.prompt({ text, session, id, ...(context === undefined ? {} : { context }) });
      }
      this.#dispatches.set(dispatchId, 'written');
    } catch (cause) {
      this.#dispatches.delete(dispatchId);
      throw cause;
    }
  }

  /** A write that fails means that the process is gone, which its exit reports. */
  async reply(
    question: OpenQuestion,
    answer: { readonly value: Json; readonly reason?: string } | { readonly error: Json },
  ): Promise<boolean> {
    const id = question.id === undefined ? {} : { inReplyToId: question.id };
    try {
      this.kept?.mark(question.event.requestId);
      await this.#connection?.reply({ inReplyTo: question.type, ...id, ...answer });
      return true;
    } catch {
      return false;
    }
  }

  /** One line for it, as it is; false when it is not there to take it. */
  async replyLine(line: string, mark: string): Promise<boolean> {
    try {
      this.kept?.mark(mark);
      await this.#connection?.replyLine?.(line);
      return true;
    } catch {
      return false;
    }
  }

  /** Whether a reply can be sent as it was written. */
  get takesLines(): boolean {
    return this.#connection?.replyLine !== undefined;
  }

  /**
   * Asks the agent, or does the best its process allows. `done` means that it holds already and no word of the agent
   * will follow.
   */
  control(command: Control): 'asked' | 'done' {
    const connection = this.#connection;
    if (command.type === 'resume' && command.frozen) connection?.thaw();
    if (connection === undefined) {
      this.abort.abort();
      return 'asked';
    }
    if (announces(connection.capabilities, command.type)) {
      // A resume is repeated on purpose; of anything else one word is enough.
      if (command.type !== 'resume' && this.#wasAsked(command.requestId)) return 'asked';
      this.#asked.add(command.requestId);
      connection.request(command.type, command.requestId).catch(() => undefined);
      return 'asked';
    }
    switch (command.type) {
      case 'interrupt':
      case 'cancel':
        void this.#signal(connection, command.type);
        return 'asked';
      case 'pause':
        return 'asked'; // It is held at the end of the turn, which the turn's end confirms.
      case 'resume':
        return 'done';
    }
  }

  /** Not before it could introduce itself: one that announces the verb is asked for it once that is recorded. */
  async #signal(connection: SessionConnection, verb: 'interrupt' | 'cancel'): Promise<void> {
    await this.#introduced;
    if (announces(connection.capabilities, verb)) return;
    if (verb === 'interrupt') this.interrupt();
    else await this.end().catch(() => undefined);
  }

  interrupt(): void {
    this.#turnSettled = new AbortController();
    this.#connection?.interruptProcess({ settled: this.#turnSettled.signal }).catch(() => undefined);
  }

  /** What was said into a turn before we took it up; what was heard of that is told again. */
  steeredBefore(steers: readonly Deliver[]): void {
    for (const { messageId, content } of steers) this.#steers.set(messageId, content);
  }

  /** The model has it now; what is shown of that, once. */
  heardSteer(id: string): readonly WorkEvent[] {
    const text = this.#steers.get(id);
    this.#steers.delete(id);
    return text === undefined ? [] : [{ type: 'content', content: textContent(text, 'user'), messageId: id }];
  }

  /** Our own wire confirms a steer where it is heard; of the others nothing better is known than that they took it. */
  heardAtOnce({ how, messageId }: Deliver): readonly WorkEvent[] {
    const { protocol = 'ndjson' } = this.#connection?.spec ?? this.agent?.recorded?.spec ?? {};
    return how === 'steer' && protocol !== 'ndjson' ? this.heardSteer(messageId) : [];
  }

  turnEnded(): void {
    this.#steers.clear();
    this.#turnSettled?.abort();
  }

  freeze(): void {
    this.#connection?.freeze();
  }

  /** Ends the process, or the start of one; safe to repeat. */
  async end(stepMs?: number): Promise<void> {
    this.abort.abort();
    await this.#connection?.end(stepMs === undefined ? {} : { stepMs });
  }
}

/** As the domain sees it: who cannot be told to go on is not told to stop. */
function announces(capabilities: ReadonlySet<string>, verb: Control['type']): boolean {
  return capabilities.has(verb) && (verb !== 'pause' || capabilities.has('resume'));
}

export function dispatchInFlight({ queue: { inFlight, entries } }: SessionState): Dispatch | undefined {
  return inFlight === undefined ? undefined : entries.live.get(inFlight)?.dispatch;
}

/** The dispatch in flight, if the agent certainly has nothing of it: only we write to it, and we did not. */
export function undelivered(state: SessionState | undefined, live: AgentLink | undefined): readonly string[] {
  const dispatch = state === undefined ? undefined : dispatchInFlight(state);
  if (dispatch === undefined) return [];
  const reached = dispatch.incarnation === live?.incarnation && live.handedOver(dispatch.dispatchId) !== undefined;
  return reached ? [] : [dispatch.dispatchId];
}
