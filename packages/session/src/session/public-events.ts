import type { PublicEvent, SessionRecord, SuspendEvent } from '@concerto/protocol';
import { entryOf, listedEntries, type QueueEntry } from '../queue/queue.ts';
import { budgetView, isBudgetRequest } from './budget.ts';
import type { OpenCall } from './session-command.ts';
import type { SessionState } from './session-state.ts';
import { settingsEvents } from './settings.ts';
import { statusOf } from './status.ts';
import { turnClosing, turnOpening } from './turn-events.ts';
import { expiryOf, messageView } from './view.ts';

export type Told = {
  readonly before: SessionState | undefined;
  readonly after: SessionState;
  readonly records: readonly SessionRecord[];
  /** What was heard before it. */
  readonly observed: readonly PublicEvent[];
  readonly openCalls: readonly OpenCall[];
  readonly reason: string | undefined;
  /** Who asked. */
  readonly actor: string;
};

/**
 * What clients are told about a decision: the turn that begins, what was observed, settled requests, what was used and
 * what comes of that, the turn that ends, changed messages, the status, and at the very end the end.
 */
export function publicEvents(told: Told): readonly PublicEvent[] {
  const { before, after, records, observed } = told;
  const events: PublicEvent[] = [];
  const say = (said: readonly PublicEvent[] | PublicEvent | undefined): void => {
    if (said === undefined) return;
    // Most of a decision says nothing, or one thing: a list of each would cost more than the decision.
    if ('type' in said) events.push(said);
    else for (const event of said) events.push(event);
  };
  say(turnOpening(told, records));
  say(observed);
  for (const record of records) say(settledRequest(told, record));
  say(settingsEvents(told, records));
  let turn = before?.turn.number ?? 0;
  for (const record of records) {
    if (record.type === 'turn-started') turn = record.turn;
    say(usageEvent(before, record, turn));
  }
  for (const record of records) {
    say(budgetEvent(after, record));
    say(ownRequest(record));
  }
  // What is asked at the end of a turn is within it: readers of one answer hear no further.
  say(turnClosing(told, records));
  for (const id of changedMessages(records)) {
    const entry = entryOf(after.queue, id);
    if (entry !== undefined) say(messageEvent(entry, told));
  }
  say(statusEvent(told));
  for (const record of records) say(ending(record));
  return events;
}

function messageEvent(entry: QueueEntry, { after, records }: Told): PublicEvent {
  const { version } = after.queue;
  return { type: 'message', message: messageView(entry, after), version, ...newOrder(after, records, entry.id) };
}

/** What is typed unseen must not be read by everybody who follows. */
function isSecret(event: SuspendEvent | undefined): boolean {
  return event?.type === 'waitForInput' && (event.inputType === 'password' || event.inputType === 'secret');
}

type Change = { readonly before: SessionState | undefined; readonly after: SessionState };

/** An answer counts from when a living owner has it: one that nobody took was never given. */
function settledRequest({ before, after }: Change, record: SessionRecord): PublicEvent | undefined {
  if (record.type === 'answer-kept' || record.type === 'answer-sent') {
    const { requestId } = record;
    const request = after.requests.live.get(requestId);
    const known = before?.requests.live.get(requestId)?.answer?.stage === 'kept';
    if (request?.answer === undefined || known) return undefined;
    const { response, reason, by, because } = request.answer;
    const told = isSecret(request.event) ? {} : { response };
    const decided = because === undefined ? {} : { because };
    const why = reason === undefined ? {} : { reason };
    return { type: 'requestSettled', requestId, outcome: 'answered', by, ...why, ...decided, ...told };
  }
  // Nobody had to be told but the session itself.
  if (record.type === 'request-answered' && !record.held) {
    const { requestId, response, by = record.actor, reason } = record;
    const why = reason === undefined ? {} : { reason };
    return { type: 'requestSettled', requestId, outcome: 'answered', by, ...why, response };
  }
  if (record.type === 'request-routed') return routedEvent(after, record);
  if (record.type !== 'request-withdrawn') return undefined;
  // A request is settled once: an answer that was shown and then did not arrive is told in the status and the audit.
  const { requestId, reason } = record;
  const shown = before?.requests.live.get(requestId)?.answer?.stage;
  if (shown !== undefined && shown !== 'offered') return undefined;
  return { type: 'requestSettled', requestId, outcome: 'withdrawn', reason };
}

function routedEvent(after: SessionState, record: Extract<SessionRecord, { type: 'request-routed' }>): PublicEvent {
  const { requestId, to, reason } = record;
  const request = after.requests.live.get(requestId);
  const expiresAt = to === 'rules' || request === undefined ? undefined : expiryOf(request);
  return {
    type: 'requestRouted',
    requestId,
    to,
    ...(reason === undefined ? {} : { reason }),
    ...(expiresAt === undefined ? {} : { expiresAt }),
  };
}

/**
 * What was used, of what and in which turn, which may be over by the end of the decision, as the session may be: the sum
 * is its reader's. After `finish` nothing is told.
 */
function usageEvent(before: SessionState | undefined, record: SessionRecord, turn: number): PublicEvent | undefined {
  if (record.type !== 'usage-reported' || before?.end !== undefined) return undefined;
  return { type: 'usage', ...record.usage, ...record.source, turn };
}

/** What the session itself asks follows from what it has recorded, and nobody has said it. */
function ownRequest(record: SessionRecord): PublicEvent | undefined {
  return record.type === 'request-opened' && isBudgetRequest(record) ? record.event : undefined;
}

function budgetEvent(after: SessionState, record: SessionRecord): PublicEvent | undefined {
  const { budget } = after;
  if (budget === undefined || (record.type !== 'budget-told' && record.type !== 'budget-raised')) return undefined;
  const told =
    record.type === 'budget-told' ? { level: record.level, what: record.what } : { level: 'raised' as const };
  return { type: 'budget', ...told, ...budgetView(after, budget) };
}

/** A reorder moves many at once: the first of the lane carries the order of all. */
function newOrder(after: SessionState, records: readonly SessionRecord[], id: string): { readonly order?: string[] } {
  const moved = records.some((record) => record.type === 'messages-reordered' && record.ids[0] === id);
  return moved ? { order: listedEntries(after.queue).map((entry) => entry.id) } : {};
}

/** Each changed message once, in the order of its first change. */
function changedMessages(records: readonly SessionRecord[]): Iterable<string> {
  if (!records.some(({ type }) => type.startsWith('message'))) return [];
  const ids = new Set<string>();
  for (const record of records) {
    if (record.type === 'messages-reordered') record.ids.slice(0, 1).forEach((id) => ids.add(id));
    else if (record.type.startsWith('message-') && 'messageId' in record && record.messageId !== undefined) {
      ids.add(record.messageId);
    }
  }
  return ids;
}

/** For the difference; also for a place that was given up, which the status alone does not show. */
function statusEvent({ before, after, records, reason, actor }: Told): PublicEvent | undefined {
  const status = statusOf(after);
  if (before === undefined) return { type: 'status', status };
  const previous = statusOf(before);
  const madeRoom = records.some((record) => record.type === 'parked' && record.madeRoomFor !== undefined);
  if (status === previous && !madeRoom) return undefined;
  const why = reason === undefined ? {} : { reason };
  return { type: 'status', status, previous, ...why, ...(actor.startsWith('user:') ? { by: actor } : {}) };
}

/** `complete` or `error`, then `finish`, which nothing follows. */
function ending(record: SessionRecord): readonly PublicEvent[] | undefined {
  if (record.type !== 'ended') return undefined;
  switch (record.status) {
    case 'completed':
      return [{ type: 'complete', result: record.result ?? { success: true, href: '' } }, { type: 'finish' }];
    case 'failed':
      return [{ type: 'error', message: record.error?.message ?? record.reason ?? 'failed' }, { type: 'finish' }];
    case 'cancelled':
      return [{ type: 'error', message: 'cancelled' }, { type: 'finish' }];
  }
}
