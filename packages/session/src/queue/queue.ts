import type { Json } from '@concerto/base';
import type { DeliveryWay, LlmContent, Message, MessagePriority, SessionRecord } from '@concerto/protocol';
import { type Archive, close, closedValues, emptyArchive, find, keep } from '../archive.ts';

export type Dispatch = {
  readonly dispatchId: string;
  readonly how: DeliveryWay;
  readonly epoch: number;
  readonly incarnation: number;
  readonly turn: number;
  readonly at: number;
  readonly deadline: number;
  /** How often the same hand-over was asked for. */
  readonly attempt: number;
};

export type QueueEntry = {
  readonly id: string;
  readonly content: string;
  readonly objective?: LlmContent | undefined;
  /** Given to the agent beside the text. */
  readonly context?: Json | undefined;
  readonly priority: MessagePriority;
  readonly source: Message['source'];
  /** Whoever sent it answers what is asked in its turn, before anybody else. */
  readonly listens?: true | undefined;
  /** Who sent it. */
  readonly by: string;
  readonly createdAt: number;
  /** Place within its lane; the only sort key, since clocks tie and step back. */
  readonly laneSeq: number;
  readonly state: 'pending' | 'dispatched' | 'delivered' | 'uncertain' | 'cancelled';
  readonly dispatch?: Dispatch | undefined;
  readonly dispatches: number;
  /** The agent would not take it in the middle of a turn: it waits for the next one. */
  readonly steerRefused: boolean;
  readonly deliveredAt?: number | undefined;
  readonly cancelledAt?: number | undefined;
  readonly how?: DeliveryWay | undefined;
  readonly turn?: number | undefined;
  readonly reason?: string | undefined;
  readonly starved: boolean;
  /** A user put it where it is, so it no longer lets the user's own messages go first. */
  readonly placed: boolean;
};

export type Queue = {
  readonly entries: Archive<QueueEntry>;
  /** Rises with every change that a reader of the list could see. */
  readonly version: number;
  /** The version from which on the order has been what it is; what was handed over since only left it. */
  readonly orderVersion: number;
  readonly nextLaneSeq: number;
  /** The one message that was handed over and not yet confirmed. */
  readonly inFlight?: string | undefined;
  /** When each wish with a cause was granted, so that the same one sent again is known as such. */
  readonly granted: Archive<number>;
};

export const emptyQueue: Queue = {
  entries: emptyArchive(),
  version: 0,
  orderVersion: 0,
  nextLaneSeq: 1,
  inFlight: undefined,
  granted: emptyArchive(),
};

export type QueueRecord = Extract<SessionRecord, { type: `message${string}` }>;

export function isQueueRecord(record: SessionRecord): record is QueueRecord {
  return record.type.startsWith('message');
}

const wishes: ReadonlySet<QueueRecord['type']> = new Set([
  'message-enqueued',
  'message-edited',
  'message-promoted',
  'messages-reordered',
  'message-resent',
]);

const keepsOrder: ReadonlySet<QueueRecord['type']> = new Set([
  'message-edited',
  'message-dispatched',
  'message-redispatched',
  'message-delivered',
  'message-uncertain',
  'message-starved',
]);

export function evolveQueue(queue: Queue, record: QueueRecord): Queue {
  const changed = applyRecord(queue, record);
  const { entries, version, nextLaneSeq, inFlight, granted } = changed;
  // By name: a copy is slow where the engine has seen too many shapes.
  const next = keepsOrder.has(record.type)
    ? changed
    : { entries, version, orderVersion: version, nextLaneSeq, inFlight, granted };
  if (record.cause === undefined || !wishes.has(record.type)) return next;
  return { ...next, granted: close(next.granted, record.cause, record.at) };
}

function applyRecord(queue: Queue, record: QueueRecord): Queue {
  if (record.type === 'message-enqueued') return enqueue(queue, record);
  if (record.type === 'messages-reordered') return reorder(queue, record.ids);
  const entry = queue.entries.live.get(record.messageId);
  // History is never refused: a record about a message that is not there, or is settled, changes nothing.
  if (entry === undefined) return queue;
  const changed = evolveEntry(entry, record, queue.nextLaneSeq);
  const settled = changed.state === 'delivered' || changed.state === 'cancelled';
  const entries = (settled ? close : keep)(queue.entries, entry.id, changed);
  const inFlight = changed.state === 'dispatched' ? entry.id : otherInFlight(queue, entry.id);
  return {
    entries,
    version: queue.version + (record.type === 'message-starved' ? 0 : 1),
    orderVersion: queue.orderVersion,
    nextLaneSeq: queue.nextLaneSeq + (record.type === 'message-promoted' ? 1 : 0),
    inFlight,
    granted: queue.granted,
  };
}

function otherInFlight(queue: Queue, id: string): string | undefined {
  return queue.inFlight === id ? undefined : queue.inFlight;
}

function enqueue(queue: Queue, record: Extract<QueueRecord, { type: 'message-enqueued' }>): Queue {
  // With every key that it may have later: to give another one to a copy takes twenty times as long as the copy.
  const entry: Required<QueueEntry> = {
    id: record.messageId,
    content: record.content,
    objective: record.objective,
    context: record.context,
    priority: record.priority,
    source: record.source,
    listens: record.listens,
    by: record.actor,
    createdAt: record.at,
    laneSeq: queue.nextLaneSeq,
    state: 'pending',
    dispatch: undefined,
    dispatches: 0,
    steerRefused: false,
    deliveredAt: undefined,
    cancelledAt: undefined,
    how: undefined,
    turn: undefined,
    reason: undefined,
    starved: false,
    placed: false,
  };
  return {
    entries: keep(queue.entries, entry.id, entry),
    version: queue.version + 1,
    orderVersion: queue.orderVersion,
    nextLaneSeq: queue.nextLaneSeq + 1,
    inFlight: queue.inFlight,
    granted: queue.granted,
  };
}

function reorder(queue: Queue, ids: readonly string[]): Queue {
  const listed = ids.flatMap((id) => queue.entries.live.get(id) ?? []);
  const places = listed.map((entry) => entry.laneSeq).toSorted((a, b) => a - b);
  const live = new Map(queue.entries.live);
  listed.forEach((entry, index) => {
    live.set(entry.id, { ...entry, laneSeq: places[index] ?? entry.laneSeq, placed: true });
  });
  return { ...queue, entries: { ...queue.entries, live }, version: queue.version + 1 };
}

/** The turn whose prompt comes back, as nobody has read it. */
export function unreadTurn(queue: Queue, { type }: QueueRecord): number | undefined {
  const dispatch = type === 'message-returned' ? flyingEntry(queue)?.dispatch : undefined;
  return dispatch?.how === 'prompt' ? dispatch.turn : undefined;
}

/** What is in flight has until then. */
export function dispatchedAgain(queue: Queue, deadline: number): Queue {
  const entry = flyingEntry(queue);
  if (entry?.dispatch === undefined) return queue;
  return { ...queue, entries: keep(queue.entries, entry.id, { ...entry, dispatch: { ...entry.dispatch, deadline } }) };
}

type EntryRecord = Exclude<QueueRecord, { type: 'message-enqueued' | 'messages-reordered' }>;

function evolveEntry(entry: QueueEntry, record: EntryRecord, nextLaneSeq: number): QueueEntry {
  switch (record.type) {
    case 'message-edited':
      return { ...entry, content: record.content, objective: record.objective };
    case 'message-promoted':
      return { ...entry, priority: 'immediate', laneSeq: nextLaneSeq };
    case 'message-cancelled':
      return { ...entry, state: 'cancelled', cancelledAt: record.at, reason: record.reason, dispatch: undefined };
    case 'message-dispatched': {
      const { dispatchId, how, epoch, incarnation, turn, at, deadline } = record;
      return {
        ...entry,
        state: 'dispatched',
        dispatch: { dispatchId, how, epoch, incarnation, turn, at, deadline, attempt: 1 },
        dispatches: entry.dispatches + 1,
        reason: undefined,
      };
    }
    case 'message-redispatched':
      if (entry.dispatch === undefined) return entry;
      return {
        ...entry,
        dispatch: { ...entry.dispatch, deadline: record.deadline, attempt: entry.dispatch.attempt + 1 },
      };
    case 'message-delivered':
      return {
        ...entry,
        state: 'delivered',
        deliveredAt: record.at,
        how: record.how,
        turn: entry.dispatch?.turn,
        dispatch: undefined,
        reason: undefined,
      };
    case 'message-returned':
      return {
        ...entry,
        state: 'pending',
        steerRefused: entry.steerRefused || entry.dispatch?.how === 'steer',
        dispatch: undefined,
        reason: record.reason,
      };
    case 'message-uncertain':
      return { ...entry, state: 'uncertain', dispatch: undefined, reason: record.reason };
    case 'message-resent':
      return { ...entry, state: 'pending', reason: undefined };
    case 'message-starved':
      return { ...entry, starved: true, reason: `has waited for ${Math.round(record.waitedMs / 60_000)} minutes` };
  }
}

/** The session is over: what was listed is not any more. */
export function closeQueue(queue: Queue, reason: string): Queue {
  const listed = [...queue.entries.live.values()];
  if (listed.length === 0) return queue;
  const entries = listed.reduce(
    (archive, entry) => close(archive, entry.id, { ...entry, state: 'cancelled', reason, dispatch: undefined }),
    queue.entries,
  );
  return { ...queue, entries, version: queue.version + 1, inFlight: undefined };
}

const laneOf = (entry: QueueEntry): number => (entry.priority === 'immediate' ? 0 : 1);

/** What the system says waits behind what people said in the same lane. */
const rankOf = (entry: QueueEntry): number => (entry.source === 'system' && !entry.placed ? 1 : 0);

/** What will be handed over, in the order in which it will be. */
export function pendingEntries(queue: Queue): readonly QueueEntry[] {
  return [...queue.entries.live.values()]
    .filter((entry) => entry.state === 'pending')
    .toSorted((a, b) => laneOf(a) - laneOf(b) || rankOf(a) - rankOf(b) || a.laneSeq - b.laneSeq);
}

export function hasPending(queue: Queue): boolean {
  for (const entry of queue.entries.live.values()) if (entry.state === 'pending') return true;
  return false;
}

/** What a user sees as not yet settled: in flight, then delivery order, then what only the user can decide about. */
export function listedEntries(queue: Queue): readonly QueueEntry[] {
  const all = [...queue.entries.live.values()];
  return [
    ...all.filter((entry) => entry.state === 'dispatched'),
    ...pendingEntries(queue),
    ...all.filter((entry) => entry.state === 'uncertain'),
  ];
}

/** What has left the queue, in the order in which it did. */
export function settledEntries(queue: Queue): readonly QueueEntry[] {
  return closedValues(queue.entries);
}

export function entryOf(queue: Queue, id: string): QueueEntry | undefined {
  return find(queue.entries, id);
}

/** The one that was handed over and is not confirmed. */
export function flyingEntry(queue: Queue): QueueEntry | undefined {
  return queue.inFlight === undefined ? undefined : queue.entries.live.get(queue.inFlight);
}
