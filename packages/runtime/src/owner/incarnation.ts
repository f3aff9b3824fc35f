import type { AgentReply, KeptAgent, OutputPlace } from '@concerto/agents';
import { assert, type JsonObject } from '@concerto/base';
import {
  fileOf,
  type LlmContent,
  type Part,
  type RunnerCommand,
  type SuspendEvent,
  textContent,
  type WorkEvent,
} from '@concerto/protocol';
import { type Control, type SessionState, turnCallId } from '@concerto/session';
import { announces, isForeign } from '../agent/agent-worker.ts';
import { dispatchInFlight, keptName, respondMark } from '../agent/kept-agents.ts';
import { errorEvent, replyTo } from '../agent/translate.ts';
import { sessionError } from '../session/session-error.ts';
import type { Tenure } from '../session/tenure.ts';
import type { Worker, WorkerAnswer, WorkerControl } from '../worker.ts';
import type { OwnerWriter } from './owner-writer.ts';
import type { TurnTimeouts } from './turn-timeouts.ts';
import type { WorkerJournal } from './worker-journal.ts';

type Command<Type> = Extract<RunnerCommand, { type: Type }>;
type Deliver = Command<'deliver'>;
/** What the worker waits for, and under which name it wants to be answered. */
type Question = { readonly event: SuspendEvent; readonly name: Pick<AgentReply, 'inReplyTo' | 'inReplyToId'> };
/** Whose word it is. */
type Speaker = { readonly epoch: number; readonly incarnation: number };

export type IncarnationParts = {
  readonly number: number;
  readonly tenure: Tenure;
  readonly writer: OwnerWriter;
  readonly timeouts: TurnTimeouts;
  readonly journal: WorkerJournal | undefined;
  /** One that its keeper held. */
  readonly held?: KeptAgent | undefined;
};

/**
 * One incarnation of a session's worker, from its start to its end: what it was given, what it has open, and our words to
 * it. Everything here is about one worker and dies with it.
 */
export class Incarnation {
  readonly speaker: Speaker;
  readonly held: KeptAgent | undefined;
  /** The turn whose prompt it was given last, or that it began itself; 0 before either. */
  turn = 0;
  /** All that it said before we took it up has been heard. */
  readonly takenUp: Promise<void>;
  #takenUpNow: () => void = () => {};
  /** Settled when nothing more is heard of it. */
  up: Promise<void> = Promise.resolve();
  /** We have ended it: what it says of that is no failure of its turn, which the next owner settles. */
  isDismissed = false;
  /** It is over, or another one has its place: its word does not count any more. */
  isGone = false;
  #recorded: Promise<void> | undefined;
  readonly #parts: IncarnationParts;
  readonly #ended = new AbortController();
  readonly #left = new AbortController();
  #worker: Worker | undefined;
  /** How many lines it was given in reply to what was no request. */
  #responds = 0;
  readonly #questions = new Map<string, Question>();
  readonly #dispatches = new Map<string, 'writing' | 'written'>();
  /** Said into the turn and not yet known to be heard, by the message's id. */
  readonly #steers = new Map<string, LlmContent>();
  readonly #asked = new Set<string>();

  constructor(parts: IncarnationParts) {
    this.#parts = parts;
    this.held = parts.held;
    this.speaker = { epoch: parts.tenure.epoch, incarnation: parts.number };
    this.takenUp = new Promise((resolve) => {
      this.#takenUpNow = resolve;
    });
  }

  get number(): number {
    return this.#parts.number;
  }

  get worker(): Worker | undefined {
    return this.#worker;
  }

  /** A keeper holds it: also one that is just being taken up. */
  get isKept(): boolean {
    return (this.#worker === undefined ? this.held : this.#worker.kept) !== undefined;
  }

  /** Ends a start that is under way. */
  get ended(): AbortSignal {
    return this.#ended.signal;
  }

  /** It goes on without us. */
  get left(): AbortSignal {
    return this.#left.signal;
  }

  /** Until our last words to it are on record; undefined when they are. */
  get recorded(): Promise<void> | undefined {
    return this.#recorded;
  }

  get counts(): boolean {
    return !this.isGone && !this.#parts.tenure.isOver;
  }

  /** Names its work of this turn in every event about it. */
  get callId(): string {
    return turnCallId(this.turn);
  }

  isUp(worker: Worker): void {
    this.#worker = worker;
    void worker.kept?.takenUp.then(this.#takenUpNow);
  }

  /** What is being started is not wanted any more. */
  endStart(): void {
    this.#ended.abort();
  }

  /** Leaves it to its keeper and to the next owner; resolves when all that was heard of it is on record, with its name. */
  async leave(): Promise<string | undefined> {
    this.#left.abort();
    const left = this.#worker === undefined ? this.#heldStill() : this.#worker.kept?.leave();
    await this.up;
    return left;
  }

  /** One that was being taken up. */
  #heldStill(): string | undefined {
    return this.held?.recorded === undefined ? undefined : keptName(this.#parts.tenure.session, this.number);
  }

  /** Ends it, or its start; safe to repeat. */
  async stop(how: { readonly now?: boolean } = {}): Promise<void> {
    this.#ended.abort();
    await this.#worker?.stop(how);
  }

  /** The same id, whoever hears the same question. */
  requestAt(at: OutputPlace): string {
    const kept = this.#worker?.kept;
    assert(kept !== undefined, 'only what a keeper holds has places');
    return `req_${kept.idAt(at)}`;
  }

  /** It waits for this, under its own name for it. */
  asks(event: SuspendEvent, { type, id }: JsonObject & { readonly type: string }): void {
    const named = typeof id === 'string' || typeof id === 'number' ? { inReplyToId: id } : {};
    this.#questions.set(event.requestId, { event, name: { inReplyTo: type, ...named } });
  }

  /** A question that is on record; it is open unless it was replied to. */
  askedBefore(event: SuspendEvent, raw: JsonObject & { readonly type: string }): void {
    if (!this.#wasAsked(event.requestId)) this.asks(event, raw);
  }

  /** It waits no longer, by its own id; gives ours. */
  withdraws(id: string | number): string | undefined {
    for (const [requestId, { name }] of this.#questions) {
      if (name.inReplyToId !== id) continue;
      this.#questions.delete(requestId);
      return requestId;
    }
    return undefined;
  }

  /** Undefined only when it certainly has nothing of it. */
  handedOver(dispatchId: string): 'writing' | 'written' | undefined {
    return this.#dispatches.get(dispatchId) ?? (this.#hasMark(dispatchId) ? 'written' : undefined);
  }

  /** What it was given under an owner before us; what it heard of that it says again. */
  goesOn(wanted: {
    readonly promptedBy: string | undefined;
    readonly responds: number;
    readonly steers: readonly Deliver[];
  }): void {
    if (this.#parts.journal !== undefined) this.#parts.journal.promptedBy = wanted.promptedBy;
    this.#responds = wanted.responds;
    for (const command of wanted.steers) this.#steers.set(command.messageId, contentOf(command));
  }

  deliver(command: Deliver): void {
    const { dispatchId, how } = command;
    const { writer, timeouts } = this.#parts;
    // A repeat: when it was handed over, only the confirmation was lost.
    const before = this.handedOver(dispatchId);
    if (before === 'written') this.#say(writer.tell({ type: 'delivered', ...this.speaker, dispatchId, how }));
    if (before !== undefined) return;
    this.turn = command.turn;
    const handedOver = this.#handOver(command);
    // The agent waits for its line, not for our clocks.
    if (how === 'prompt') timeouts.turnStarted();
    this.#say(
      handedOver.then(
        (isHeard) => this.delivered(command, isHeard),
        (cause: unknown) => {
          const { message: reason } = sessionError(cause);
          const closing = how === 'prompt' ? [errorEvent(this.callId, reason)] : [];
          return writer.tell({ type: 'delivery-refused', ...this.speaker, dispatchId, reason, closing });
        },
      ),
    );
  }

  /** It has the message, by our own hand or by that of an owner before us. */
  async delivered({ dispatchId, how, messageId }: Deliver, isHeard = this.#hearsAtOnce): Promise<void> {
    const observed = how === 'steer' && isHeard ? this.heardSteer(messageId) : [];
    await this.#parts.writer.tell({ type: 'delivered', ...this.speaker, dispatchId, how, observed });
  }

  /** Resolves when it has taken it, with whether that is all that will be known of it. */
  async #handOver(command: Deliver): Promise<boolean> {
    const { messageId: id, dispatchId, how, context } = command;
    const worker = this.#worker;
    if (worker === undefined) throw new Error('the agent is not up');
    this.#dispatches.set(dispatchId, 'writing');
    let heard: 'heard' | 'taken' = 'taken';
    try {
      if (how === 'steer') {
        this.#steers.set(id, contentOf(command));
        heard = await worker.steer({ id, ...saidIn(command) }, dispatchId);
      } else {
        const { journal, tenure } = this.#parts;
        if (journal !== undefined) journal.promptedBy = id;
        const beside = context === undefined ? {} : { context };
        await worker.prompt({ session: tenure.session, id, ...beside, ...saidIn(command) }, dispatchId);
      }
      this.#dispatches.set(dispatchId, 'written');
      return heard === 'heard';
    } catch (cause) {
      this.#dispatches.delete(dispatchId);
      throw cause;
    }
  }

  answer({ requestId, response, line, reason }: Command<'answer'>): void {
    const question = this.#take(requestId);
    if (question === undefined) return;
    const reply = { line, ...question.name, ...replyTo(question.event, { response, reason }) };
    this.#say(
      this.#reply(reply, requestId).then((isTaken) => {
        if (isTaken) this.answered(requestId);
      }),
    );
  }

  /** It has the answer, and whoever gave it knew since it was on its way: it goes with what the worker says next. */
  answered(requestId: string): void {
    this.#parts.writer.tellSoon({ type: 'answer-delivered', ...this.speaker, requestId });
  }

  respond({ line }: Command<'respond'>): void {
    this.#responds += 1;
    this.#say(this.#reply({ line }, `${respondMark}${this.#responds}`));
  }

  withdraw({ requestId, reason }: Command<'withdraw'>): void {
    const question = this.#take(requestId);
    if (question !== undefined) this.#say(this.#reply({ ...question.name, error: reason }, requestId));
  }

  configure({ requestId, settings }: Command<'configure'>): void {
    const { writer, tenure } = this.#parts;
    const texts = Object.entries(settings).flatMap(([name, value]) =>
      typeof value === 'string' ? [[name, value]] : [],
    );
    const asked = this.#worker?.configure?.(Object.fromEntries(texts));
    const told = (asked ?? Promise.reject(new Error('it cannot be switched while it works'))).then(
      () => writer.tell({ type: 'settings-told', ...this.speaker, requestId }),
      (cause: unknown) => {
        const { message: error } = sessionError(cause);
        return writer.tell({ type: 'settings-told', ...this.speaker, requestId, error });
      },
    );
    // It may take its time, and nothing else waits for it.
    void tenure.guard(told);
  }

  /** Asks it, or makes it; `holds` means that it is so already and no word of it will follow. */
  control(control: WorkerControl): 'asked' | 'holds' {
    const { verb, id, force = false } = control;
    const worker = this.#worker;
    if (worker === undefined) {
      // One that is only to hold is asked as soon as it is up: a turn that it goes on with is not lost for it.
      if (verb !== 'pause' && (!force || verb === 'resume')) this.#ended.abort();
      return force && verb === 'pause' ? 'holds' : 'asked';
    }
    // A resume is repeated on purpose; of anything else one word is enough.
    const isAsked = !force && verb !== 'resume' && announces(worker.capabilities, verb);
    if (isAsked && this.#wasAsked(id)) return 'asked';
    if (isAsked) this.#asked.add(id);
    return worker.control(control);
  }

  /** It has said what it can do: what was wanted of it before, and is still, it is asked now; once. */
  announced(wanted: Pick<Control, 'kind' | 'requestId'> | undefined): void {
    if (wanted === undefined || wanted.kind === 'resume' || this.#worker === undefined) return;
    if (announces(this.#worker.capabilities, wanted.kind)) this.control({ verb: wanted.kind, id: wanted.requestId });
  }

  /** It has now heard what was said into its turn; what is shown of that, once. */
  heardSteer(id: string): readonly WorkEvent[] {
    const content = this.#steers.get(id);
    this.#steers.delete(id);
    return content === undefined ? [] : [{ type: 'content', content, messageId: id }];
  }

  turnEnded(): void {
    this.#steers.clear();
    this.#parts.timeouts.turnEnded();
  }

  /** Of one that was given it under an owner before us. */
  get #hearsAtOnce(): boolean {
    return this.held?.recorded !== undefined && isForeign(this.held.recorded.spec);
  }

  /** A word that it does not take means that it is gone, which it says itself. */
  async #reply(answer: WorkerAnswer, mark: string): Promise<boolean> {
    try {
      await this.#worker?.answer(answer, mark);
      return true;
    } catch {
      return false;
    }
  }

  #take(requestId: string): Question | undefined {
    const question = this.#questions.get(requestId);
    this.#questions.delete(requestId);
    return question;
  }

  #hasMark(name: string): boolean {
    return this.#worker?.kept?.marks.has(name) === true;
  }

  #wasAsked(requestId: string): boolean {
    return this.#asked.has(requestId) || this.#hasMark(requestId);
  }

  #say(words: Promise<unknown>): void {
    const recorded = this.#parts.tenure.guard(words).then(() => {
      if (this.#recorded === recorded) this.#recorded = undefined;
    });
    this.#recorded = recorded;
  }
}

function contentOf({ content, objective }: Deliver): LlmContent {
  return objective ?? textContent(content, 'user');
}

/** Its words, and all of it where it has files. */
function saidIn({ content: text, objective }: Deliver): { readonly text: string; readonly parts?: readonly Part[] } {
  const hasFiles = objective?.parts.some((part) => fileOf(part) !== undefined) === true;
  return hasFiles ? { text, parts: objective.parts } : { text };
}

/** The dispatch in flight, if the worker certainly has nothing of it: only we write to it, and we did not. */
export function undelivered(state: SessionState | undefined, live: Incarnation | undefined): readonly string[] {
  const dispatch = state === undefined ? undefined : dispatchInFlight(state);
  if (dispatch === undefined) return [];
  const reached = dispatch.incarnation === live?.number && live.handedOver(dispatch.dispatchId) !== undefined;
  return reached ? [] : [dispatch.dispatchId];
}
