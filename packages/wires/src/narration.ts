import { canonicalJson, unreachable, withoutHalves } from '@concerto/base';
import {
  emptyQueue,
  type FoldedEvent,
  isTurnCall,
  JsonRecord,
  type LlmContent,
  noUsage,
  queueAfter,
  type SessionEnd,
  type SuspendEvent,
  textOf,
  usageAfter,
} from '@concerto/protocol';
import { type Call, callOf, type EventOf, type Standing, type Told, withTouched } from './told.ts';

type Open = { readonly kind: 'text' | 'thought'; readonly id: string };
type OpenCall = { call: Call; isTold: boolean };
type Asked = { readonly event: SuspendEvent; to: string | undefined };

/**
 * A session's events as a telling that every wire can follow: what opens is closed before something else opens, a call
 * has its arguments once, a message of a person is told once. It guesses nothing; what belongs together has one id.
 */
export class Narration {
  #standing: Standing = {
    status: undefined,
    plan: [],
    usage: noUsage,
    context: undefined,
    queue: emptyQueue,
    agent: {},
  };
  #position = 0;
  #open: Open | undefined;
  /** Of the running turn: what was said under each id. */
  readonly #texts = new Map<string, string>();
  readonly #calls = new Map<string, OpenCall>();
  readonly #asked = new Map<string, Asked>();
  readonly #users = new Set<string>();
  /** Messages that were taken back before anybody heard them. */
  readonly #withdrawn = new Set<string>();
  /** What stood in each message of the queue, in all its versions. */
  readonly #wordings = new Map<string, Set<string>>();
  #turnCall: string | undefined;
  #turnResult: LlmContent | undefined;
  #isBusy = false;
  #firstMessage: string | undefined;
  #end: SessionEnd | undefined;
  #isOver = false;

  get position(): number {
    return this.#position;
  }

  get standing(): Standing {
    return this.#standing;
  }

  /** The text or thought that is being said. */
  get open(): Open | undefined {
    return this.#open;
  }

  /** Calls that have no result yet; `isTold`: with their arguments. */
  get calls(): ReadonlyMap<string, Readonly<OpenCall>> {
    return this.#calls;
  }

  get isBusy(): boolean {
    return this.#isBusy;
  }

  get isOver(): boolean {
    return this.#isOver;
  }

  get end(): SessionEnd | undefined {
    return this.#end;
  }

  /** The prompt that it was started with. */
  get firstMessage(): string | undefined {
    return this.#firstMessage;
  }

  hasHeard(messageId: string): boolean {
    return this.#users.has(messageId) || this.isPending(messageId);
  }

  /** Whether a message that was heard was heard in these words, as far as that is known. */
  hasHeardAs(messageId: string, text: string): boolean {
    const wordings = this.#wordings.get(messageId);
    return wordings === undefined || wordings.has(withoutHalves(JSON.stringify(text)));
  }

  isWithdrawn(messageId: string): boolean {
    return this.#withdrawn.has(messageId);
  }

  isPending(messageId: string): boolean {
    return this.#standing.queue.pending.some(({ id }) => id === messageId);
  }

  /** Requests that wait for a person, oldest first; a supervisor or a model that is being asked is not disturbed. */
  get waiting(): readonly SuspendEvent[] {
    return [...this.#asked.values()].filter(({ to }) => to === undefined || to === 'person').map(({ event }) => event);
  }

  isAsked(requestId: string): boolean {
    return this.#asked.has(requestId);
  }

  take(event: FoldedEvent): readonly Told[] {
    if (event.seq <= this.#position) return [];
    this.#position = event.seq;
    return this.#tell(event);
  }

  #tell(event: FoldedEvent): readonly Told[] {
    switch (event.type) {
      case 'start':
        return this.#start(event);
      case 'content':
        return this.#content(event);
      case 'thought':
        return this.#say('thought', this.#idOf('thought', event), event.text);
      case 'functionCall':
        return this.#call(event);
      case 'functionCallUpdate':
      case 'functionResult':
      case 'toolOutput':
      case 'subagentError':
      case 'subagentFinish':
      case 'subagentAddJson':
        return this.#aboutCall(event);
      case 'waitForInput':
      case 'waitForChoice':
      case 'queryConsent':
      case 'readGraph':
      case 'inspectNode':
      case 'applyEdits':
        return this.#ask(event);
      case 'requestRouted':
      case 'requestSettled':
        return this.#aboutRequest(event);
      case 'turnComplete':
        return this.#complete(event);
      case 'plan':
        return this.#stands({ plan: event.entries }, 'plan');
      case 'usage': {
        const told = this.#stands({ usage: usageAfter(this.#standing.usage, event) }, 'usage');
        return event.context === undefined ? told : [...told, ...this.#stands({ context: event.context }, 'context')];
      }
      case 'agentInfo': {
        const { type: _type, extra: _extra, at: _at, seq: _seq, ...info } = event;
        return this.#stands({ agent: { ...this.#standing.agent, ...info } }, 'agent');
      }
      case 'message':
        return this.#message(event);
      case 'status':
        return this.#stands({ status: event.status }, 'status');
      case 'complete':
        this.#end = { kind: 'completed', content: event.result.outcomes };
        return [];
      case 'error':
        this.#end = { kind: 'failed', message: event.message };
        return [];
      case 'finish':
        this.#isOver = true;
        this.#isBusy = false;
        return [...this.#close(), { tell: 'over', end: this.#end }];
      case 'budget':
      case 'settings':
      case 'worktree':
      case 'gap':
      case 'sendRequest':
      case 'graphEdit':
      case 'unknown':
        return [{ tell: 'raw', event }];
      default:
        return unreachable(event);
    }
  }

  #stands(change: Partial<Standing>, key: keyof Standing): readonly Told[] {
    this.#standing = { ...this.#standing, ...change };
    return [{ tell: 'standing', key }];
  }

  #start({ objective, seq }: EventOf<'start'>): readonly Told[] {
    const told = [...this.#close()];
    this.#isBusy = true;
    this.#texts.clear();
    this.#turnCall = undefined;
    this.#turnResult = undefined;
    told.push({ tell: 'turn-began' });
    // The one that is on its way is what the turn was begun with.
    const prompt = this.#standing.queue.pending.find(({ id, inFlight }) => inFlight === true && !this.#users.has(id));
    if (objective.parts.length === 0) return told;
    const id = prompt?.id ?? `start-${seq}`;
    this.#users.add(id);
    return [...told, { tell: 'user', id, content: objective, isSteer: false }];
  }

  #message(event: EventOf<'message'>): readonly Told[] {
    const { message } = event;
    this.#firstMessage ??= message.id;
    const parts = message.parts ?? [{ text: message.content }];
    const wordings = this.#wordings.get(message.id) ?? new Set<string>();
    this.#wordings.set(message.id, wordings.add(withoutHalves(JSON.stringify(textOf({ parts })))));
    const told = this.#stands({ queue: queueAfter(this.#standing.queue, event) }, 'queue');
    if (message.status === 'cancelled') this.#withdrawn.add(message.id);
    else this.#withdrawn.delete(message.id);
    if (message.status !== 'delivered') return told;
    return [...told, ...this.#user(message.id, { role: 'user', parts }, message.how)];
  }

  #user(id: string, content: LlmContent, how: 'steer' | 'prompt' | undefined): readonly Told[] {
    if (this.#users.has(id)) return [];
    this.#users.add(id);
    return [...this.#close(), { tell: 'user', id, content, isSteer: how === 'steer' }];
  }

  #content(event: EventOf<'content'>): readonly Told[] {
    const { content, messageId, whole, seq } = event;
    if (content.role === 'user') return this.#user(messageId ?? `heard-${seq}`, content, 'steer');
    const id = this.#idOf('text', event);
    const text = content.parts
      .map((part) => ('text' in part && typeof part.text === 'string' ? part.text : ''))
      .join('');
    const others = content.parts.filter((part) => !('text' in part && typeof part.text === 'string'));
    const said = whole === true ? this.#whole(id, text) : this.#say('text', id, text);
    return others.length === 0 ? said : [...said, ...this.#close(), { tell: 'parts', id, parts: others }];
  }

  /** Only what is not said yet has to be said: usually nothing, when the pieces came before. */
  #whole(id: string, text: string): readonly Told[] {
    const said = this.#texts.get(id) ?? '';
    if (text.startsWith(said)) return this.#say('text', id, text.slice(said.length));
    this.#texts.set(id, text);
    return [...this.#close(), { tell: 'text-replaced', id, text }];
  }

  #say(kind: 'text' | 'thought', id: string, delta: string): readonly Told[] {
    if (delta === '') return [];
    const told: Told[] = [];
    if (this.#open?.kind !== kind || this.#open.id !== id) {
      told.push(...this.#close(), { tell: `${kind}-began`, id });
      this.#open = { kind, id };
    }
    if (kind === 'text') this.#texts.set(id, (this.#texts.get(id) ?? '') + delta);
    told.push({ tell: kind, id, delta });
    return told;
  }

  /** Without an id, pieces belong together as long as nothing comes between. */
  #idOf(kind: 'text' | 'thought', event: EventOf<'content' | 'thought'>): string {
    const prefix = kind === 'thought' ? 'thought-' : '';
    if (event.messageId !== undefined) return prefix + event.messageId;
    return this.#open?.kind === kind ? this.#open.id : `${prefix === '' ? 'text-' : prefix}${event.seq}`;
  }

  #close(): Told[] {
    if (this.#open === undefined) return [];
    const { kind, id } = this.#open;
    this.#open = undefined;
    return [{ tell: `${kind}-ended`, id }];
  }

  #call(event: EventOf<'functionCall'>): readonly Told[] {
    if (isTurnCall(event)) {
      this.#turnCall = event.callId;
      return [];
    }
    const known = this.#calls.get(event.callId);
    const call = callOf(event, known?.call);
    const knowsArgs = Object.keys(call.args).length > 0;
    if (known === undefined) {
      this.#calls.set(call.callId, { call, isTold: knowsArgs });
      const began = [...this.#close(), { tell: 'call-began', call } as const];
      // Some agents learn the arguments late and tell the call again.
      return knowsArgs ? [...began, { tell: 'call-args', call }] : began;
    }
    const wasTold = known.isTold;
    known.call = call;
    known.isTold ||= knowsArgs;
    if (!knowsArgs) return [];
    return [{ tell: wasTold ? 'call-retold' : 'call-args', call }];
  }

  /** Beside what a call does now an agent may tell what it was given. */
  #givenLate({ callId, extra }: EventOf<'functionCallUpdate'>): readonly Told[] {
    const known = this.#calls.get(callId);
    if (known === undefined || extra?.args === undefined) return [];
    const given = JsonRecord.safeParse(extra.args);
    const { isTold, call } = known;
    if (!given.success || (isTold && canonicalJson(given.data) === canonicalJson(call.args))) return [];
    known.call = { ...call, args: given.data };
    known.isTold = true;
    return [{ tell: isTold ? 'call-retold' : 'call-args', call: known.call }];
  }

  /** A call that is decided about or over will not say its arguments any more. */
  #tellArgs(callId: string | undefined): readonly Told[] {
    const known = callId === undefined ? undefined : this.#calls.get(callId);
    if (known === undefined || known.isTold) return [];
    known.isTold = true;
    return [{ tell: 'call-args', call: known.call }];
  }

  #aboutCall(
    event: EventOf<
      'functionCallUpdate' | 'functionResult' | 'toolOutput' | 'subagentError' | 'subagentFinish' | 'subagentAddJson'
    >,
  ): readonly Told[] {
    const isTurn = event.callId === this.#turnCall;
    const callId = isTurn ? undefined : event.callId;
    switch (event.type) {
      case 'functionCallUpdate': {
        const known = this.#calls.get(event.callId);
        if (known !== undefined) known.call = withTouched(known.call, event);
        return [...this.#givenLate(event), { tell: 'call-status', callId, status: event.status }];
      }
      case 'functionResult':
        if (!isTurn) return this.#result(event);
        this.#turnResult = event.content;
        return [];
      case 'toolOutput':
        return [{ tell: 'call-output', callId: event.callId, text: event.text }];
      case 'subagentError':
        return [{ tell: 'note', title: 'error', data: { message: event.error.$error }, callId }];
      case 'subagentAddJson':
        return [{ tell: 'note', title: event.title, data: event.data, callId }];
      case 'subagentFinish':
        return [];
      default:
        return unreachable(event);
    }
  }

  /** A result whose call is from before what is kept has nobody to be told to. */
  #result(event: EventOf<'functionResult'>): readonly Told[] {
    const known = this.#calls.get(event.callId);
    if (known === undefined) return [{ tell: 'raw', event }];
    const args = this.#tellArgs(event.callId);
    this.#calls.delete(event.callId);
    const call = withTouched(known.call, event);
    return [...args, { tell: 'call-result', call, content: event.content, outcome: event.outcome ?? 'ok' }];
  }

  #ask(event: SuspendEvent & { readonly at: string; readonly seq: number }): readonly Told[] {
    this.#asked.set(event.requestId, { event, to: undefined });
    return [...this.#close(), ...this.#tellArgs(event.callId), { tell: 'asked', event }];
  }

  #aboutRequest(event: EventOf<'requestRouted' | 'requestSettled'>): readonly Told[] {
    const asked = this.#asked.get(event.requestId);
    if (asked === undefined) return [];
    if (event.type === 'requestRouted') {
      asked.to = event.to;
      return [{ tell: 'routed', requestId: event.requestId, to: event.to }];
    }
    this.#asked.delete(event.requestId);
    return [{ tell: 'settled', request: asked.event, settlement: event }];
  }

  #complete({ outcome, reason }: EventOf<'turnComplete'>): readonly Told[] {
    const told = this.#close();
    this.#isBusy = false;
    // Every call has a result by now; what older logs left open has come to nothing.
    for (const [callId, { call }] of this.#calls) {
      told.push(...this.#tellArgs(callId), { tell: 'call-result', call, content: { parts: [] }, outcome: 'cancelled' });
    }
    this.#calls.clear();
    return [...told, { tell: 'turn-ended', outcome: outcome ?? 'done', reason, result: this.#turnResult }];
  }
}

/**
 * Whether a listener that came for these messages has heard all that there is for now: somebody must answer first, or
 * what it said is done and nothing is under way, or the session is over.
 */
export function isHeardOut(narration: Narration, messages: readonly string[]): boolean {
  if (narration.isOver || narration.waiting.length > 0) return true;
  if (narration.isBusy) return false;
  return messages.every((id) => narration.isWithdrawn(id) || (narration.hasHeard(id) && !narration.isPending(id)));
}
