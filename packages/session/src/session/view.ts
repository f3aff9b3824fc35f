import { beginningOf, beginningOfText, type Json } from '@concerto/base';
import type { Message, MessageList, Session, SuspendEvent, Waiting } from '@concerto/protocol';
import { textOf } from '@concerto/protocol';
import { entryOf, listedEntries, pendingEntries, type QueueEntry, settledEntries } from '../queue/queue.ts';
import { budgetView, isBudgetRequest } from './budget.ts';
import { isoTime } from './iso-time.ts';
import { answerersOf, askedOf, comesAfter } from './route.ts';
import type { Request, SessionState } from './session-state.ts';
import { canSteer, couldNotStart, needsProcess, openRequests, statusOf, waitingStatus } from './status.ts';

/** The session as clients see it; `position` is the head of its events stream. */
export function sessionView(state: SessionState, position: number): Session {
  const { id, title, kind, agent, turn, usage, once, result, error } = state;
  const waiting = waitingOf(state);
  const reason = state.end?.reason ?? state.hold?.reason ?? madeRoomText(state.slot.madeRoomFor);
  return {
    id,
    title,
    kind,
    agent,
    status: statusOf(state),
    turn: turn.number,
    createdAt: isoTime(state.createdAt),
    updatedAt: isoTime(state.updatedAt),
    activeAt: isoTime(state.activeAt),
    ...(waiting === undefined ? {} : { waiting }),
    pending: listedEntries(state.queue).length,
    usage,
    position,
    ...(result === undefined ? {} : { result: mutable(result) }),
    ...(error === undefined ? {} : { error }),
    once,
    ...(reason === undefined ? {} : { reason }),
    ...(state.everReady ? { capabilities: [...state.capabilities] } : {}),
    ...(state.sandbox === undefined ? {} : { sandbox: state.sandbox }),
    ...(state.parent === undefined ? {} : { parent: state.parent }),
    ...(state.root === undefined ? {} : { root: state.root }),
    ...(state.budget === undefined ? {} : { budget: budgetView(state, state.budget) }),
    children: state.children.size,
    ...(state.supervisor === undefined ? {} : { supervisor: state.supervisor }),
    ...(state.supervises === undefined ? {} : { supervises: state.supervises }),
    answerers: answerersOf(state),
    ...(state.version === undefined ? {} : { version: state.version }),
    ...(state.archived === undefined ? {} : { archived: state.archived }),
    ...(state.settings === undefined ? {} : { settings: { ...state.settings } }),
    ...(state.forkOf === undefined ? {} : { forkOf: { session: state.forkOf.session, at: state.forkOf.at } }),
  };
}

/** Characters of a result, an error or a question that lists show: they are written with every change of the session. */
const rowCharsMax = 2_000;

/** As lists have it: what an agent said at length is only begun there. */
export function rowView(state: SessionState, position: number): Session {
  const row = sessionView(state, position);
  if (row.result !== undefined) row.result = beginningOf(row.result, rowCharsMax);
  if (row.reason !== undefined) row.reason = beginningOfText(row.reason, rowCharsMax);
  if (row.error !== undefined) row.error = { ...row.error, message: beginningOfText(row.error.message, rowCharsMax) };
  if (row.waiting !== undefined)
    row.waiting = { ...row.waiting, detail: beginningOfText(row.waiting.detail, rowCharsMax) };
  return row;
}

/** Who got the place: a session, or the pool itself, which was made smaller. */
export function madeRoomText(who: string | undefined): string | undefined {
  if (who === undefined) return undefined;
  const why = who === smallerPool ? 'the pool was made smaller' : `its place went to session ${who}`;
  return `${why}; the next message brings it back`;
}

/** No session's id. */
export const smallerPool = '@pool';

/** Why the session does not move, and what would make it. Undefined while it works, is idle or is over. */
export function waitingOf(state: SessionState): Waiting | undefined {
  if (state.end !== undefined || state.control !== undefined) return undefined;
  const [question] = openRequests(state).filter((one) => state.hold === undefined || isBudgetRequest(one));
  if (state.hold !== undefined && question === undefined) return heldWaiting(state);
  if (question !== undefined) {
    const { requestId, routedSince, event } = question;
    const what = waitingStatus(event) === 'waitingForApproval' ? 'approval' : 'input';
    return {
      for: what,
      since: isoTime(routedSince),
      requestId,
      detail: questionText(event),
      ...wayOf(state, question),
    };
  }
  if (!needsProcess(state)) return undefined;
  if (state.slot.kind === 'wanted') {
    return { for: 'slot', since: isoTime(state.slot.since), detail: 'every slot of the pool is taken' };
  }
  // One that rests is called when what it waits for has come.
  if (state.owner !== undefined || state.rests !== undefined) return undefined;
  // A runner that has as many programs at work as it may leaves the next one where it is.
  const orFull = state.kind === 'program' ? ', or all have `max_programs` at work' : '';
  return { for: 'runner', since: isoTime(state.activeAt), detail: `no runner has taken the session yet${orFull}` };
}

type Way = { readonly asked: string; readonly next: string[]; readonly expiresAt?: string };

/** Who is asked, who comes after, and when it runs out: while the session is held it does not, and nobody can say when. */
function wayOf({ control, hold }: SessionState, request: Request): Way {
  const waits = (control === undefined && hold === undefined) || isBudgetRequest(request);
  const expiresAt = waits ? expiryOf(request) : undefined;
  const asked = request.routedTo ?? 'person';
  return { asked, next: [...comesAfter(request)], ...(expiresAt === undefined ? {} : { expiresAt }) };
}

export function expiryOf(request: Request): string | undefined {
  const { withinMs } = askedOf(request);
  return withinMs === undefined ? undefined : isoTime(request.waitsSince + withinMs);
}

function heldWaiting(state: SessionState): Waiting | undefined {
  if (state.hold === undefined) return undefined;
  const { kind, since } = state.hold;
  const pending = pendingEntries(state.queue).length;
  const held = pending === 1 ? '1 message is held' : `${pending} messages are held`;
  if (kind === 'paused') {
    const detail = pending === 0 ? 'paused until it is resumed' : `paused until it is resumed; ${held}`;
    return { for: 'pause', since: isoTime(since), detail };
  }
  if (pending === 0) return undefined;
  const detail = `${held} until a message is sent or the session resumed`;
  // All of why is its error.
  const [why = ''] = couldNotStart(state) ? (state.error?.message ?? '').split('\n', 1) : [];
  return { for: 'pause', since: isoTime(since), detail: why === '' ? detail : `${detail}: ${why}` };
}

function questionText(event: SuspendEvent): string {
  switch (event.type) {
    case 'waitForInput':
    case 'waitForChoice':
      return textOf(event.prompt);
    case 'queryConsent': {
      const { description } = event.scope;
      return typeof description === 'string' ? description : event.consentType;
    }
    case 'readGraph':
      return 'the agent reads the graph';
    case 'inspectNode':
      return `the agent inspects node ${event.nodeId}`;
    case 'applyEdits':
      return event.label;
  }
}

/** A queue entry as clients see it: three statuses, and beside them what the domain knows more. */
export function messageView(entry: QueueEntry, state: SessionState): Message {
  return {
    id: entry.id,
    content: entry.content,
    ...(entry.objective === undefined ? {} : { parts: entry.objective.parts }),
    priority: entry.priority,
    status: publicStatus(entry),
    source: entry.source,
    by: entry.by,
    createdAt: isoTime(entry.createdAt),
    ...(entry.deliveredAt === undefined ? {} : { deliveredAt: isoTime(entry.deliveredAt) }),
    ...(entry.cancelledAt === undefined ? {} : { cancelledAt: isoTime(entry.cancelledAt) }),
    ...(entry.state === 'dispatched' ? { inFlight: true } : {}),
    ...(entry.how === undefined ? {} : { how: entry.how }),
    ...(entry.state === 'uncertain' ? { uncertain: true } : {}),
    ...reasonOf(entry, state),
  };
}

function reasonOf(entry: QueueEntry, state: SessionState): { readonly reason?: string } {
  if (entry.reason !== undefined) return { reason: entry.reason };
  const wouldSteer = entry.state === 'pending' && entry.priority === 'immediate' && state.turn.active;
  if (!wouldSteer || canSteer(state)) return {};
  return { reason: 'the agent takes nothing during a turn: it is first in the next one' };
}

function publicStatus(entry: QueueEntry): Message['status'] {
  switch (entry.state) {
    case 'delivered':
    case 'cancelled':
      return entry.state;
    case 'pending':
    case 'dispatched':
    case 'uncertain':
      return 'pending';
  }
}

/** A part of something long: what comes after a position, and how much of it. */
export type PageOf = { readonly after: number; readonly limit: number };

/** What is listed, and if wanted a page of what has left the queue. */
export function messageListView(state: SessionState, page?: PageOf): MessageList {
  const pending = listedEntries(state.queue).map((entry) => messageView(entry, state));
  const { version } = state.queue;
  if (page === undefined) return { pending, version };
  const settled = settledEntries(state.queue);
  const end = page.after + page.limit;
  const history = settled.slice(page.after, end).map((entry) => messageView(entry, state));
  return { pending, history, version, position: page.after + history.length, more: settled.length > end };
}

/** One message, or undefined when the session has none of that id. */
export function messageOf(state: SessionState, messageId: string): Message | undefined {
  const entry = entryOf(state.queue, messageId);
  return entry === undefined ? undefined : messageView(entry, state);
}

/** What the turn that runs was begun with. */
export function runningPrompt(state: SessionState): QueueEntry | undefined {
  const { active, messageId } = state.turn;
  const entry = !active || messageId === undefined ? undefined : entryOf(state.queue, messageId);
  // Until it is known to be there, it is only on its way.
  return entry?.state === 'delivered' ? entry : undefined;
}

/** How far the turn has come that a message began: `over` also when it will never begin. */
export function promptProgress(state: SessionState, messageId: string): 'waiting' | 'running' | 'over' {
  const entry = entryOf(state.queue, messageId);
  if (entry === undefined) return 'waiting';
  switch (entry.state) {
    case 'pending':
    case 'dispatched':
      return 'waiting';
    case 'cancelled':
    case 'uncertain':
      return 'over';
    case 'delivered':
      return state.turn.active && (entry.turn === undefined || entry.turn === state.turn.number) ? 'running' : 'over';
  }
}

export type RequestView = {
  readonly requestId: string;
  readonly type: SuspendEvent['type'];
  readonly event: SuspendEvent;
  readonly since: string;
  readonly routedTo: string;
  readonly next: string[];
  readonly expiresAt?: string;
};

export function requestsView(state: SessionState): readonly RequestView[] {
  return openRequests(state).map((request) => {
    const { requestId, event, routedSince } = request;
    const { asked, next, ...expiry } = wayOf(state, request);
    return { requestId, type: event.type, event, since: isoTime(routedSince), routedTo: asked, next, ...expiry };
  });
}

type Plain = Exclude<Session['result'], undefined>;

/** The protocol's JSON type is mutable where ours is not; the value is the same. */
function mutable(value: Json): Plain {
  if (Array.isArray(value)) return value.map(mutable);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, mutable(item)]));
}
