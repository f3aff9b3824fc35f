import type { AuditEntry, SessionRecord } from '@concerto/protocol';
import { isoTime } from './iso-time.ts';

/** Toward the agent: what people, the pool and the clock asked. Everything else came from the agent's side. */
const inward: ReadonlySet<SessionRecord['type']> = new Set([
  'created',
  'slot-granted',
  'slot-wanted',
  'parked',
  'start-requested',
  'request-answered',
  'request-routed',
  'request-passed',
  'request-timed-out',
  'supervisor-set',
  'described',
  'deleted',
  'rule-added',
  'answer-kept',
  'answer-sent',
  'responded',
  'child-opened',
  'budget-raised',
  'control-requested',
  'control-escalated',
  'control-superseded',
  'queue-continued',
  'message-enqueued',
  'message-edited',
  'message-promoted',
  'messages-reordered',
  'message-cancelled',
  'message-dispatched',
  'message-redispatched',
  'message-resent',
  'message-starved',
] as const satisfies readonly SessionRecord['type'][]);

/** The request that a record confirms, and the key under which it was noted. */
function confirms(record: SessionRecord): string | undefined {
  switch (record.type) {
    case 'control-confirmed':
    case 'control-refused':
    case 'control-superseded':
      return `control ${record.requestId}`;
    case 'message-delivered':
    case 'message-returned':
    case 'message-uncertain':
      return `dispatch ${record.dispatchId}`;
    case 'request-answered':
    case 'request-withdrawn':
      return `request ${record.requestId}`;
    case 'answer-delivered':
    case 'answer-returned':
      return `answer ${record.requestId}`;
    case 'agent-ready':
    case 'process-lost':
      return `process ${record.incarnation}`;
    case 'turn-ended':
      return `turn ${record.turn}`;
    default:
      return undefined;
  }
}

function requests(record: SessionRecord): string | undefined {
  switch (record.type) {
    case 'control-requested':
      return `control ${record.requestId}`;
    case 'message-dispatched':
      return `dispatch ${record.dispatchId}`;
    case 'request-opened':
      return `request ${record.requestId}`;
    case 'request-answered':
      return `answer ${record.requestId}`;
    case 'start-requested':
      return `process ${record.incarnation}`;
    case 'turn-started':
      return `turn ${record.turn}`;
    default:
      return undefined;
  }
}

/** Both directions in one timeline: every record once, each confirmation with the time since its request. */
export function audit(records: Iterable<SessionRecord>): readonly AuditEntry[] {
  const asked = new Map<string, number>();
  const answers = new Map<string, AuditEntry>();
  const entries: AuditEntry[] = [];
  for (const record of records) {
    const confirmed = confirms(record);
    const since = confirmed === undefined ? undefined : asked.get(confirmed);
    const entry = entryOf(record, since);
    entries.push(entry);
    if (record.type === 'request-answered') answers.set(record.requestId, entry);
    if (record.type === 'answer-delivered') {
      const answer = answers.get(record.requestId);
      if (answer !== undefined) answer.deliveredAt = entry.at;
      entry.deliveredAt = entry.at;
    }
    const request = requests(record);
    if (request !== undefined) asked.set(request, record.at);
  }
  return entries;
}

function entryOf(record: SessionRecord, since: number | undefined): AuditEntry {
  const { type, at, actor, cause, ...rest } = record;
  const fields: Record<string, unknown> = rest;
  const { requestId, messageId, epoch, ...detail } = fields;
  const told = Object.fromEntries(Object.entries(detail).filter(([, value]) => value !== undefined));
  return {
    at: isoTime(at),
    direction: inward.has(type) ? 'in' : 'out',
    actor,
    what: type,
    ...(typeof requestId === 'string' ? { requestId } : {}),
    ...(typeof messageId === 'string' ? { messageId } : {}),
    ...(since === undefined ? {} : { latencyMs: at - since }),
    ...(cause === undefined ? {} : { causedBy: cause }),
    ...(typeof epoch === 'number' ? { epoch } : {}),
    ...(Object.keys(told).length === 0 ? {} : { detail: asJson(told) }),
  };
}

type Detail = Exclude<AuditEntry['detail'], undefined>;

/** Records are JSON by their schema; this says so to the compiler without a cast. */
function asJson(value: unknown): Detail {
  if (value === null || typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean')
    return value;
  if (Array.isArray(value)) return value.map(asJson);
  if (typeof value !== 'object') return null;
  return Object.fromEntries(
    Object.entries(value).flatMap(([key, item]) => (item === undefined ? [] : [[key, asJson(item)]])),
  );
}

/** One message's whole life, from whoever wrote it to how the agent got it. */
export function messageHistory(records: Iterable<SessionRecord>, messageId: string): readonly AuditEntry[] {
  const all = [...records];
  const timeline = audit(all);
  return timeline.filter((_, index) => {
    const record = all[index];
    if (record === undefined) return false;
    if (record.type === 'messages-reordered') return record.ids.includes(messageId);
    return 'messageId' in record && record.messageId === messageId;
  });
}
