import type { SuspendEvent } from '@concerto/protocol';
import { push, type TimelineDraft } from './timeline-draft.ts';
import type { EventOf } from './timeline-state.ts';

export function foldRequest(draft: TimelineDraft, event: EventOf<SuspendEvent['type']>): void {
  const { at, seq, ...request } = event;
  draft.requests.set(event.requestId, draft.items.length);
  draft.open = [...draft.open, event.requestId];
  draft.sessionRevision = seq;
  push(draft, { kind: 'request', key: seq, at, turn: draft.turn, event: request, settled: undefined });
}

export function foldSettlement(draft: TimelineDraft, event: EventOf<'requestSettled'>): void {
  const { requestId, outcome, by, reason, response, at } = event;
  draft.open = draft.open.filter((open) => open !== requestId);
  draft.sessionRevision = event.seq;
  const index = draft.requests.get(requestId);
  const item = index === undefined ? undefined : draft.items[index];
  if (index === undefined || item?.kind !== 'request') return;
  draft.items[index] = { ...item, settled: { outcome, at, by, reason, response } };
}
