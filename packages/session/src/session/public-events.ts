import type { PublicEvent, SessionRecord, SuspendEvent } from '@concerto/protocol';
import { find } from '../archive.ts';
import { entryOf, listedEntries } from '../queue/queue.ts';
import type { SessionState } from './session-state.ts';
import { statusOf } from './status.ts';
import { messageView } from './view.ts';

/** What clients are told about a decision: settled requests, changed messages, the status, and at the very end the end. */
export function publicEvents(
  before: SessionState | undefined,
  after: SessionState,
  records: readonly SessionRecord[],
  reason: string | undefined,
): readonly PublicEvent[] {
  return [
    ...records.flatMap((record) => settledRequest(after, record)),
    ...records.flatMap((record) => usageEvent(after, record)),
    ...changedMessages(records).flatMap((id): PublicEvent[] => {
      const entry = entryOf(after.queue, id);
      if (entry === undefined) return [];
      const { version } = after.queue;
      return [{ type: 'message', message: messageView(entry, after), version, ...newOrder(after, records, id) }];
    }),
    ...statusEvent(before, after, reason),
    ...records.flatMap(ending),
  ];
}

/** What is typed unseen must not be read by everybody who follows. */
function isSecret(event: SuspendEvent | undefined): boolean {
  return event?.type === 'waitForInput' && (event.inputType === 'password' || event.inputType === 'secret');
}

function settledRequest(after: SessionState, record: SessionRecord): PublicEvent[] {
  if (record.type === 'request-answered') {
    const { requestId, actor: by, response } = record;
    const event = find(after.requests, requestId)?.event;
    return [{ type: 'requestSettled', requestId, outcome: 'answered', by, ...(isSecret(event) ? {} : { response }) }];
  }
  if (record.type === 'request-withdrawn') {
    return [{ type: 'requestSettled', requestId: record.requestId, outcome: 'withdrawn', reason: record.reason }];
  }
  return [];
}

/** What was used, of what and in which turn: the sum is its reader's. */
function usageEvent(after: SessionState, record: SessionRecord): PublicEvent[] {
  if (record.type !== 'usage-reported' || after.end !== undefined) return [];
  return [{ type: 'usage', ...record.usage, ...record.source, turn: after.turn.number }];
}

/** A reorder moves many at once: the first of the lane carries the order of all. */
function newOrder(after: SessionState, records: readonly SessionRecord[], id: string): { readonly order?: string[] } {
  const moved = records.some((record) => record.type === 'messages-reordered' && record.ids[0] === id);
  return moved ? { order: listedEntries(after.queue).map((entry) => entry.id) } : {};
}

/** Each changed message once, in the order of its first change. */
function changedMessages(records: readonly SessionRecord[]): readonly string[] {
  const ids = new Set<string>();
  for (const record of records) {
    if (record.type === 'messages-reordered') record.ids.slice(0, 1).forEach((id) => ids.add(id));
    else if (record.type.startsWith('message-') && 'messageId' in record && record.messageId !== undefined) {
      ids.add(record.messageId);
    }
  }
  return [...ids];
}

function statusEvent(before: SessionState | undefined, after: SessionState, reason: string | undefined): PublicEvent[] {
  const status = statusOf(after);
  if (before === undefined) return [{ type: 'status', status }];
  const previous = statusOf(before);
  if (status === previous) return [];
  return [{ type: 'status', status, previous, ...(reason === undefined ? {} : { reason }) }];
}

/** `complete` or `error`, then `finish`, which nothing follows. */
function ending(record: SessionRecord): PublicEvent[] {
  if (record.type !== 'ended') return [];
  switch (record.status) {
    case 'completed':
      return [{ type: 'complete', result: record.result ?? { success: true, href: '' } }, { type: 'finish' }];
    case 'failed':
      return [{ type: 'error', message: record.error?.message ?? record.reason ?? 'failed' }, { type: 'finish' }];
    case 'cancelled':
      return [{ type: 'error', message: 'cancelled' }, { type: 'finish' }];
  }
}
