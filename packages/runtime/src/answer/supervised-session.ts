import type { AgentPrompt } from '@concerto/agents';
import type { Json } from '@concerto/base';
import { type PublicEvent, readDecision, type SuspendEvent } from '@concerto/protocol';
import type { Request } from '@concerto/session';
import type { ChildSessions } from '../children/child-sessions.ts';
import type { AgentHearer, Message, ProgramAgent, ProgramAgentOutput, ProgramCall } from '../program/program-agent.ts';
import { SessionGrowth } from '../session/session-growth.ts';
import { questionOf, wordOf } from './session-words.ts';

const pageEntries = 512;

export type SupervisedOptions = {
  readonly children: ChildSessions;
  /** The session that it answers for. */
  readonly session: string;
  /** Who it is there: `supervisor:guard`. */
  readonly name: string;
  /** Everything that the program has said so far is on record. */
  readonly written: () => Promise<void>;
};

type ReplyLine = {
  readonly in_reply_to_id?: string;
  readonly value?: Json;
  readonly error?: Json;
  readonly passed?: boolean;
};

/**
 * A session that somebody else opened, as its supervisor listens to it: everything that it shows, from its beginning, and what is
 * routed to the supervisor, which answers or passes like anybody who is asked. Its end is the end of the `listen`.
 */
export class SupervisedSession implements ProgramAgent {
  readonly capabilities = [];
  readonly version = undefined;
  readonly #options: SupervisedOptions;
  /** Asked of the supervisor and not answered, by the request's id. */
  readonly #asked = new Map<string, SuspendEvent>();
  #position = 0;
  /** What comes before it the program has heard. */
  #heard = 0;
  #isOver = false;
  #isListening = false;
  /** The types of messages that the program has handlers for. */
  #wants: ReadonlySet<string> = new Set();
  #hearer: AgentHearer | undefined;
  readonly #growth: SessionGrowth;

  constructor(options: SupervisedOptions) {
    this.#options = options;
    this.#growth = new SessionGrowth(options.children, options.session);
  }

  heardBy(hearer: AgentHearer): void {
    this.#hearer = hearer;
  }

  /** Its time is the session's, which may take days. */
  isHeld(): boolean {
    return true;
  }

  onlyWaits(): undefined {
    return undefined;
  }

  knows(): boolean {
    return true;
  }

  /** From its beginning, each time somebody listens. */
  async prompt(_prompt: AgentPrompt, call: ProgramCall): Promise<void> {
    this.#position = 0;
    this.#heard = 0;
    this.#asked.clear();
    this.#begin(call);
  }

  /** What was replied and did not reach the session any more is replied again: the first answer counts. */
  async takeUp(call: ProgramCall, place: number, replies: readonly string[]): Promise<void> {
    this.#heard = place;
    while (this.#position < place) if (!(await this.#readPage(place))) break;
    for (const line of replies) await this.replyLine(line);
    this.#begin(call);
  }

  async replyLine(line: string): Promise<void> {
    const { children, session, name, written } = this.#options;
    const reply: ReplyLine = JSON.parse(line);
    const requestId = reply.in_reply_to_id ?? '';
    const event = this.#asked.get(requestId);
    if (event === undefined) return;
    this.#asked.delete(requestId);
    const cause = children.idOf('a', requestId);
    if (reply.passed === true || reply.error !== undefined) {
      const why = reply.error === undefined ? `${name} passed` : `${name} could not say: ${textIn(reply.error)}`;
      await children.askAs(name, session, { type: 'pass-request', requestId, by: name, reason: why }, cause);
      return;
    }
    const { response, reason } = answerIn(reply.value ?? null, event);
    await written();
    const data = { request: requestId, session, response };
    const because = await children.show([{ type: 'subagentAddJson', callId: requestId, title: 'answer', data }]);
    // Refused where somebody was quicker: the first answer counts.
    await children.askAs(name, session, { type: 'answer', requestId, response, reason, because }, cause);
  }

  async end(): Promise<void> {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#growth.close();
  }

  #begin({ wants = [] }: ProgramCall): void {
    this.#wants = new Set(wants);
    this.#growth.signal();
    if (this.#isListening) return;
    this.#isListening = true;
    void this.#listen().catch((cause: unknown) => {
      const message = cause instanceof Error ? cause.message : String(cause);
      this.#tell({ kind: 'violation', message });
    });
  }

  async #listen(): Promise<void> {
    while (!this.#isOver) {
      const since = this.#growth.seen;
      while (await this.#readPage(Number.MAX_SAFE_INTEGER)) {
        await this.#hearer?.room();
        if (this.#isOver) return;
      }
      if (!this.#isOver) await this.#growth.since(since);
    }
  }

  /** Whether there may be more. */
  async #readPage(until: number): Promise<boolean> {
    const { children, session } = this.#options;
    const entries = await children.eventsOf(session, this.#position, pageEntries);
    for (const { position, data } of entries) {
      if (this.#isOver || position > until) return false;
      this.#position = position;
      // Written by us, and read back as it was written.
      const event: PublicEvent = JSON.parse(data);
      await this.#hear(event, position);
    }
    return entries.length === pageEntries;
  }

  async #hear(event: PublicEvent, place: number): Promise<void> {
    if (event.type === 'requestRouted') return await this.#routed(event, place);
    if (event.type === 'requestSettled') return this.#settled(event);
    if (event.type === 'finish') return this.#say({ type: 'result', status: 'ended' }, place);
    const word = wordOf(event);
    if (word !== undefined && (this.#wants.has(word.type) || this.#wants.has('_'))) this.#say(word, place);
  }

  async #routed({ requestId, to }: Extract<PublicEvent, { type: 'requestRouted' }>, place: number): Promise<void> {
    const { children, session, name } = this.#options;
    if (to !== name || this.#asked.has(requestId)) return;
    const state = await children.stateOf(session);
    const request = state?.requests.live.get(requestId);
    // What was asked before we listened may be settled, or somebody else's by now.
    if (request === undefined || !isAsked(request, name)) return;
    this.#asked.set(requestId, request.event);
    this.#say(questionOf(request.event), place);
  }

  #settled({ requestId, by }: Extract<PublicEvent, { type: 'requestSettled' }>): void {
    const event = this.#asked.get(requestId);
    this.#asked.delete(requestId);
    if (event === undefined || by === this.#options.name) return;
    this.#tell({ kind: 'overtaken', type: questionOf(event).type, id: requestId, by: by ?? 'somebody else' });
  }

  #say(raw: Message, place: number): void {
    if (place > this.#heard) this.#tell({ kind: 'message', raw, place });
  }

  #tell(output: ProgramAgentOutput): void {
    this.#hearer?.hear(output);
  }
}

function isAsked({ state, routedTo }: Request, name: string): boolean {
  return state === 'open' && routedTo === name;
}

/** A yes or a no with its reason where that is asked for, else what the program said. */
export function answerIn(
  value: Json,
  event: SuspendEvent,
): { readonly response: Json; readonly reason?: string | undefined } {
  if (event.type !== 'queryConsent' || event.consentType === 'budget') return { response: value };
  const { isApproved, reason } = readDecision(value);
  return { response: isApproved, reason };
}

export function textIn(error: Json): string {
  return typeof error === 'string' ? error : JSON.stringify(error);
}
