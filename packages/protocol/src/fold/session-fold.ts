import { unreachable } from '@concerto/base';
import type { SuspendEvent, TurnOutcome } from '../agent-event.ts';
import { textContent } from '../llm-content.ts';
import {
  type Cell,
  type EventOf,
  endTool,
  retellTool,
  setTool,
  type ToolCell,
  updateTool,
  writeOutput,
} from './cells.ts';
import { emptyQueue, queueAfter } from './queue-fold.ts';
import type { FoldedEvent, RawEntry, RequestEntry, SessionNews, SessionView, UnknownEvent } from './session-view.ts';
import { isTool, type PlacedTool, TurnDraft } from './turn-draft.ts';
import { noUsage, usageAfter } from './usage-fold.ts';

type Facts = Omit<SessionView, 'turns' | 'requests' | 'position'>;
type RequestCell = Cell<RequestEntry> & { readonly turn: TurnDraft };

/**
 * Puts a session together from its events, one at a time: turns with what was said, thought, called and asked in them,
 * the plan, the usage, the queue. It never compares texts and guesses nothing: what belongs together says so by its
 * ids. Events at or before its position are in it already and change nothing.
 */
export class SessionFold {
  readonly #turns: TurnDraft[] = [];
  readonly #tools = new Map<string, PlacedTool>();
  readonly #requests = new Map<string, RequestCell>();
  readonly #open = new Set<RequestCell>();
  #facts: Facts = {
    status: undefined,
    statusSince: undefined,
    statusReason: undefined,
    plan: [],
    usage: noUsage,
    context: undefined,
    budget: undefined,
    queue: emptyQueue,
    agent: {},
    end: undefined,
    isFinished: false,
    forgottenTo: 0,
  };
  readonly #turnsBefore: number;
  #position = 0;
  #view: SessionView | undefined;

  /** For a part of a log: how many turns began before it. */
  constructor({ turnsBefore = 0 }: { readonly turnsBefore?: number } = {}) {
    this.#turnsBefore = turnsBefore;
  }

  get position(): number {
    return this.#position;
  }

  /** As it is now. What has not changed since the last time is the same object. */
  get view(): SessionView {
    this.#view ??= {
      ...this.#facts,
      position: this.#position,
      turns: this.#turns.map((turn) => turn.shown),
      requests: [...this.#open].map(({ entry }) => entry),
    };
    return this.#view;
  }

  takeAll(events: Iterable<FoldedEvent>): this {
    for (const event of events) this.take(event);
    return this;
  }

  /** The entry that the event made or changed, by its key; undefined when it is about none. */
  take(event: FoldedEvent): number | undefined {
    if (event.seq <= this.#position) return undefined;
    const cell = this.#fold(event);
    this.#position = event.seq;
    this.#view = undefined;
    return cell?.entry.key;
  }

  /** How many entries the turns have. */
  get size(): number {
    return this.#turns.reduce((sum, turn) => sum + turn.size, 0);
  }

  /**
   * For a reader that looks at the end of a log without end: lets go of the oldest entries until so many are left. Sums,
   * plan, queue and whatever is still open stay as they are.
   */
  forget(kept: number): void {
    let excess = this.size - kept;
    for (const [index, turn] of this.#turns.entries()) {
      if (excess <= 0) break;
      const count = Math.min(excess, turn.size);
      excess -= count;
      const next = turn.keyAt(count) ?? this.#turns[index + 1]?.facts.key ?? this.#position + 1;
      this.#set({ forgottenTo: Math.max(this.#facts.forgottenTo, next - 1) });
      for (const cell of turn.forget(count)) {
        if (cell.entry.kind === 'request') this.#requests.delete(cell.entry.requestId);
        if (isTool(cell)) this.#forgetTool(cell);
      }
    }
    const last = this.#turns.at(-1);
    const left = this.#turns.filter((turn) => turn.size > 0 || turn === last);
    this.#turns.splice(0, this.#turns.length, ...left);
    this.#view = undefined;
  }

  #forgetTool({ entry, calls }: ToolCell): void {
    this.#tools.delete(entry.callId);
    for (const call of calls) this.#forgetTool(call);
  }

  #fold(event: FoldedEvent): Cell | undefined {
    switch (event.type) {
      case 'start':
        return this.#start(event);
      case 'content':
        return this.#content(event);
      case 'thought':
        return this.#turn(event).think(event, event.text, event.messageId);
      case 'functionCall':
        return this.#call(event);
      case 'functionCallUpdate':
      case 'functionResult':
      case 'toolOutput':
      case 'subagentError':
      case 'subagentFinish':
        return this.#aboutCall(event);
      case 'subagentAddJson': {
        const { seq: key, at, callId, title, data } = event;
        const isOfTurn = callId === this.#turn(event).facts.callId;
        return this.#turn(event).push({ kind: 'note', key, at, callId: isOfTurn ? undefined : callId, title, data });
      }
      case 'turnComplete':
        return this.#complete(event);
      case 'waitForInput':
      case 'waitForChoice':
      case 'queryConsent':
      case 'readGraph':
      case 'inspectNode':
      case 'applyEdits':
        return this.#request(event);
      case 'requestRouted':
      case 'requestSettled':
        return this.#aboutRequest(event);
      case 'plan':
        this.#set({ plan: event.entries });
        return undefined;
      case 'usage':
        this.#set({ usage: usageAfter(this.#facts.usage, event), context: event.context ?? this.#facts.context });
        this.#turns.at(-1)?.usage(event);
        return undefined;
      case 'agentInfo': {
        const { type: _type, extra: _extra, at: _at, seq: _seq, ...info } = event;
        this.#set({ agent: { ...this.#facts.agent, ...info } });
        return undefined;
      }
      case 'message':
        return this.#message(event);
      default:
        return this.#aboutSession(event);
    }
  }

  #aboutSession(event: UnknownEvent | EventOf<SessionNews>): Cell | undefined {
    const { seq: key, at } = event;
    switch (event.type) {
      case 'status': {
        const { status, previous, reason } = event;
        this.#set({ status, statusSince: at, statusReason: reason });
        return this.#turn(event).push({ kind: 'status', key, at, status, previous, reason });
      }
      case 'complete':
        this.#set({ end: { kind: 'completed', content: event.result.outcomes } });
        return undefined;
      case 'error':
        this.#set({ end: { kind: 'failed', message: event.message } });
        return undefined;
      case 'finish':
        this.#set({ isFinished: true });
        return undefined;
      case 'budget': {
        const { type: _type, seq: _seq, at: _at, level, what = [], ...budget } = event;
        this.#set({ budget });
        return this.#turn(event).push({ kind: 'budget', key, at, level, what, budget });
      }
      case 'gap':
        return this.#turn(event).push({ kind: 'gap', key, at, from: event.from, to: event.to });
      case 'sendRequest':
        return this.#raw(event, `request to ${event.model}`, event.body);
      case 'graphEdit':
        return this.#raw(event, event.label, event.edits, { isGraphEdit: true });
      case 'settings': {
        const data = { ...event.params, ...(event.reason === undefined ? {} : { reason: event.reason }) };
        return this.#raw(event, `settings ${event.outcome}`, data);
      }
      case 'worktree':
        return this.#raw(event, event.worktree.branch, event.worktree.state);
      case 'unknown':
        return this.#raw(event, event.raw.type, event.raw);
      default:
        return unreachable(event);
    }
  }

  #raw(event: FoldedEvent, title: string, data: unknown, more: Pick<RawEntry, 'isGraphEdit'> = {}): Cell | undefined {
    return this.#turn(event).push({ kind: 'raw', key: event.seq, at: event.at, title, data, ...more });
  }

  #set(facts: Partial<Facts>): void {
    this.#facts = { ...this.#facts, ...facts };
  }

  /** What comes before the first turn, or after the last, stands with the one before it. */
  #turn(place: { readonly seq: number; readonly at: string }): TurnDraft {
    let turn = this.#turns.at(-1);
    if (turn === undefined) {
      turn = new TurnDraft(this.#turnsBefore, place, undefined);
      this.#turns.push(turn);
    }
    return turn;
  }

  #start(event: EventOf<'start'>): undefined {
    this.#end('over', event.at);
    this.#turns.at(-1)?.leaveCalls(event.at);
    const number = (this.#turns.at(-1)?.facts.number ?? this.#turnsBefore) + 1;
    this.#turns.push(new TurnDraft(number, event, event.objective));
  }

  #complete({ outcome, reason, at }: EventOf<'turnComplete'>): undefined {
    this.#end(outcome ?? 'over', at, reason);
  }

  #end(state: 'over' | TurnOutcome, at: string, reason?: string): void {
    const turn = this.#turns.at(-1);
    if (turn?.facts.state === 'running') turn.end(state, at, reason);
  }

  #content(event: EventOf<'content'>): Cell {
    const { content, messageId, whole, seq: key, at } = event;
    const turn = this.#turn(event);
    if (content.role === 'user') {
      return turn.steer({ kind: 'steer', key, at, messageId, content, by: undefined, isHeard: true });
    }
    return turn.say(event, content, { id: messageId, whole: whole === true });
  }

  #call(event: EventOf<'functionCall'>): Cell | undefined {
    const turn = this.#turn(event);
    if (isTurnCall(event)) {
      turn.set({ callId: event.callId, agent: event.name });
      return undefined;
    }
    const known = this.#tools.get(event.callId);
    if (known !== undefined && known.cell.entry.state === 'running') {
      retellTool(known.cell, event);
      known.turn.changed();
      return known.cell;
    }
    const parent = event.parentCallId === undefined ? undefined : this.#tools.get(event.parentCallId);
    const placed = turn.call(event, parent);
    this.#tools.set(event.callId, placed);
    return placed.cell;
  }

  #aboutCall(
    event: EventOf<'functionCallUpdate' | 'functionResult' | 'toolOutput' | 'subagentError' | 'subagentFinish'>,
  ): Cell | undefined {
    const turn = this.#turn(event);
    if (event.callId === turn.facts.callId) return this.#aboutTurn(turn, event);
    const known = this.#tools.get(event.callId);
    if (known === undefined) return this.#aboutNoCall(turn, event);
    const { cell } = known;
    known.turn.changed();
    switch (event.type) {
      case 'functionCallUpdate':
        updateTool(cell, event);
        return cell;
      case 'toolOutput':
        writeOutput(cell, event.text);
        return cell;
      case 'subagentError':
        setTool(cell, { error: event.error.$error });
        return cell;
      case 'functionResult':
        endTool(cell, event);
        known.runsIn.callEnded(cell);
        return cell;
      case 'subagentFinish':
        return cell;
      default:
        return unreachable(event);
    }
  }

  #aboutTurn(
    turn: TurnDraft,
    event: EventOf<'functionCallUpdate' | 'functionResult' | 'toolOutput' | 'subagentError' | 'subagentFinish'>,
  ): Cell | undefined {
    switch (event.type) {
      case 'functionCallUpdate':
        turn.set(
          event.locations === undefined ? { progress: event.status ?? undefined } : { locations: event.locations },
        );
        return undefined;
      case 'functionResult':
        turn.endText();
        turn.set({ result: event.content });
        return undefined;
      case 'subagentError':
        if (turn.facts.state === 'running') turn.set({ reason: event.error.$error });
        return turn.push({ kind: 'error', key: event.seq, at: event.at, message: event.error.$error });
      case 'toolOutput':
        return turn.push({ kind: 'raw', key: event.seq, at: event.at, title: 'output', data: event.text });
      case 'subagentFinish':
        return undefined;
      default:
        return unreachable(event);
    }
  }

  /** A result without its call, or one that came from before what is still kept: shown as it is. */
  #aboutNoCall(
    turn: TurnDraft,
    event: EventOf<'functionCallUpdate' | 'functionResult' | 'toolOutput' | 'subagentError' | 'subagentFinish'>,
  ): Cell | undefined {
    const { seq: key, at, callId } = event;
    switch (event.type) {
      case 'functionResult':
        return turn.push({ kind: 'raw', key, at, title: `result of an unknown call ${callId}`, data: event.content });
      case 'toolOutput':
        return turn.push({ kind: 'raw', key, at, title: `output of an unknown call ${callId}`, data: event.text });
      case 'subagentError':
        return turn.push({ kind: 'error', key, at, message: event.error.$error });
      case 'functionCallUpdate':
        if (event.status === null) return undefined;
        return turn.push({ kind: 'note', key, at, callId, title: 'progress', data: { message: event.status } });
      case 'subagentFinish':
        return undefined;
      default:
        return unreachable(event);
    }
  }

  #request(event: SuspendEvent & { readonly at: string; readonly seq: number }): Cell {
    const { at, seq: key, ...suspend } = event;
    const { requestId } = event;
    const turn = this.#turn(event);
    const entry = { kind: 'request', key, at, requestId, event: suspend, routed: [], settled: undefined } as const;
    const cell: RequestCell = { entry, turn };
    turn.place(cell);
    this.#requests.set(requestId, cell);
    this.#open.add(cell);
    return cell;
  }

  #aboutRequest(event: EventOf<'requestRouted' | 'requestSettled'>): Cell | undefined {
    const cell = this.#requests.get(event.requestId);
    if (cell === undefined) return undefined;
    cell.turn.changed();
    if (event.type === 'requestRouted') {
      const { to, reason, at, expiresAt } = event;
      const routing = { to, reason, at, ...(expiresAt === undefined ? {} : { expiresAt }) };
      cell.entry = { ...cell.entry, routed: [...cell.entry.routed, routing] };
      return cell;
    }
    const { type: _type, requestId: _requestId, seq: _seq, ...settled } = event;
    this.#open.delete(cell);
    if (cell.entry.settled === undefined) cell.entry = { ...cell.entry, settled };
    return cell;
  }

  #message(event: EventOf<'message'>): Cell | undefined {
    const { message, seq: key, at } = event;
    this.#set({ queue: queueAfter(this.#facts.queue, event) });
    if (message.status !== 'delivered' || message.how !== 'steer') return undefined;
    const { id: messageId, by, parts } = message;
    const content = parts === undefined ? textContent(message.content, 'user') : { role: 'user', parts };
    return this.#turn(event).steer({ kind: 'steer', key, at, messageId, content, by, isHeard: false });
  }
}

/**
 * Whether a call is the turn itself. Before calls said it, a turn's own had an id of ours; any other call of today
 * belongs to a message.
 */
export function isTurnCall({ isTurn, callId, messageId, childSession }: EventOf<'functionCall'>): boolean {
  if (isTurn === true) return true;
  return messageId === undefined && childSession === undefined && /^turn-\d+$/.test(callId);
}
