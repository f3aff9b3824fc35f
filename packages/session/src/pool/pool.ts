import { unreachable } from '@concerto/base';
import type { PoolRecord, PoolState } from '@concerto/protocol';
import { isoTime } from '../session/iso-time.ts';

export const poolMaxDefault = 20;
/** A slot is taken before its session is written; for this long a slot without a session is not a leak. */
export const slotGraceMs = 30_000;

/**
 * So many trees may wait for a place, and behind the first of each so many more altogether: what one program opens leaves
 * others their place on the list. A start beyond it is refused, whatever it wished.
 */
export const waitingMax = 1_000;

/** `tree`: the top of the tree that its session belongs to; a session that nobody opened is a tree of its own. */
export type Slot = { readonly leaseId: number; readonly since: number; readonly tree: string };

/** How many sessions may run at once, and who does. One aggregate, so that two starts cannot both take the last slot. */
export type Pool = {
  readonly max: number;
  readonly slots: ReadonlyMap<string, Slot>;
  /** With the tree of each, in the order in which they came; `lineOf` is the order in which they are served. */
  readonly waiting: ReadonlyMap<string, string>;
  /** The last slot that each tree got, of those that have one or wait for one. */
  readonly served: ReadonlyMap<string, number>;
  readonly nextLeaseId: number;
  /** The last start that found no room. */
  readonly capacityReached?: PoolState['capacityReached'];
};

export function newPool(max: number = poolMaxDefault): Pool {
  return { max, slots: new Map(), waiting: new Map(), served: new Map(), nextLeaseId: 1 };
}

export function evolvePool(pool: Pool, record: PoolRecord): Pool {
  switch (record.type) {
    case 'configured':
      return { ...pool, max: record.max };
    case 'slot-allocated': {
      const { sessionId, leaseId, tree = sessionId } = record;
      return {
        ...without(pool, sessionId),
        slots: new Map(pool.slots).set(sessionId, { leaseId, since: record.at, tree }),
        served: new Map(pool.served).set(tree, leaseId),
        nextLeaseId: Math.max(pool.nextLeaseId, record.leaseId + 1),
      };
    }
    case 'waitlisted':
      return { ...pool, waiting: new Map(pool.waiting).set(record.sessionId, record.tree ?? record.sessionId) };
    case 'left-waitlist':
    case 'slot-released':
    case 'slot-reclaimed':
      return without(pool, record.sessionId);
    case 'capacity-reached': {
      const { sessionId, outcome } = record;
      return { ...pool, capacityReached: { at: isoTime(record.at), sessionId, outcome } };
    }
    default:
      return unreachable(record);
  }
}

function without(pool: Pool, sessionId: string): Pool {
  const slots = new Map(pool.slots);
  slots.delete(sessionId);
  const waiting = new Map(pool.waiting);
  waiting.delete(sessionId);
  const tree = pool.slots.get(sessionId)?.tree ?? pool.waiting.get(sessionId);
  const isLeft = [...slots.values()].some((slot) => slot.tree === tree) || [...waiting.values()].includes(tree ?? '');
  if (tree === undefined || isLeft) return { ...pool, slots, waiting };
  const served = new Map(pool.served);
  served.delete(tree);
  return { ...pool, slots, waiting, served };
}

export function poolView(pool: Pool): PoolState {
  const { slots, max, waiting, capacityReached } = pool;
  return {
    active: slots.size,
    max,
    waiting: waiting.size,
    ...(capacityReached === undefined ? {} : { capacityReached }),
  };
}

/**
 * Who waits, in the order in which they are served: the tree that has the fewest places is first, of those that have the
 * same the one that got its last one longest ago, and then who came first. One that opens a thousand sessions so waits for
 * its own, not others for them.
 */
export function lineOf({ slots, waiting, served }: Pool): readonly string[] {
  const taken = new Map<string, number>();
  const takes = (tree: string): number => {
    const before = taken.get(tree) ?? 0;
    taken.set(tree, before + 1);
    return before;
  };
  for (const { tree } of slots.values()) takes(tree);
  const line = [...waiting].map(([session, tree]) => ({ session, before: takes(tree), last: served.get(tree) ?? 0 }));
  return line.toSorted((a, b) => a.before - b.before || a.last - b.last).map(({ session }) => session);
}

/** A session's place in the line, from 1, or undefined. */
export function waitingPosition(pool: Pool, sessionId: string): number | undefined {
  const index = lineOf(pool).indexOf(sessionId);
  return index < 0 ? undefined : index + 1;
}

/** What a session says of its slot. */
export type SlotSaid = 'held' | 'wanted' | 'none' | 'over';

export type PoolCommand = { readonly at: number; readonly actor: string; readonly cause?: string | undefined } & (
  | {
      readonly type: 'reserve';
      readonly sessionId: string;
      readonly tree?: string | undefined;
      readonly ifFull: 'reject' | 'queue';
    }
  | { readonly type: 'release'; readonly sessionId: string; readonly reason: string }
  | { readonly type: 'configure'; readonly max: number }
  /** What the sessions themselves say, for every session that has a slot, waits for one, or believes so. */
  | { readonly type: 'reconcile'; readonly sessions: ReadonlyMap<string, SlotSaid> }
);

export type PoolOutcome =
  | { readonly kind: 'held' }
  | { readonly kind: 'waiting'; readonly position: number }
  /** HTTP's `pool_full`; recorded, because a refused start must be found in the audit. */
  | { readonly kind: 'full'; readonly active: number; readonly max: number }
  | { readonly kind: 'done' };

export type PoolDecision = {
  readonly records: readonly PoolRecord[];
  readonly outcome: PoolOutcome;
  /** Sessions that came off the waiting list and must be told `admit`. */
  readonly admitted: readonly string[];
  readonly pool: Pool;
};

type Distribute<T, Keys extends PropertyKey> = T extends unknown ? Omit<T, Keys> : never;
type PoolRecordBody = Distribute<PoolRecord, 'at' | 'actor' | 'cause'>;
type PoolDraft = { pool: Pool; readonly records: PoolRecord[]; readonly command: PoolCommand };

function record(draft: PoolDraft, body: PoolRecordBody): void {
  const { at, actor, cause } = draft.command;
  const stamped = { ...body, at: Math.trunc(at), actor, ...(cause === undefined ? {} : { cause }) };
  draft.records.push(stamped);
  draft.pool = evolvePool(draft.pool, stamped);
}

/** Never refuses with an error: a full pool is an outcome, and it is recorded. */
export function decidePool(pool: Pool, command: PoolCommand): PoolDecision {
  const draft: PoolDraft = { pool, records: [], command };
  const outcome = perform(draft, command);
  const admitted = admitWaiting(draft);
  const { records } = draft;
  const kept =
    outcome.kind === 'waiting' && admitted.includes(sessionOf(command)) ? ({ kind: 'held' } as const) : outcome;
  return { records, outcome: kept, admitted: admitted.filter((id) => id !== sessionOf(command)), pool: draft.pool };
}

function sessionOf(command: PoolCommand): string {
  return command.type === 'reserve' ? command.sessionId : '';
}

function perform(draft: PoolDraft, command: PoolCommand): PoolOutcome {
  switch (command.type) {
    case 'reserve':
      return reserve(draft, command);
    case 'release':
      release(draft, command.sessionId, command.reason);
      return { kind: 'done' };
    case 'configure':
      if (command.max !== draft.pool.max) record(draft, { type: 'configured', max: command.max });
      return { kind: 'done' };
    case 'reconcile':
      reconcile(draft, command.sessions);
      return { kind: 'done' };
  }
}

type Reserve = Extract<PoolCommand, { type: 'reserve' }>;

function reserve(draft: PoolDraft, { sessionId, tree, ifFull }: Reserve): PoolOutcome {
  const { pool } = draft;
  const of = tree === undefined || tree === sessionId ? {} : { tree };
  if (pool.slots.has(sessionId)) return { kind: 'held' };
  const position = waitingPosition(pool, sessionId);
  if (position !== undefined) return { kind: 'waiting', position };
  const active = pool.slots.size;
  if (active < pool.max && pool.waiting.size === 0) {
    record(draft, { type: 'slot-allocated', sessionId, leaseId: pool.nextLeaseId, ...of });
    return { kind: 'held' };
  }
  const refused = ifFull === 'reject' || !hasRoomToWait(pool, tree ?? sessionId);
  const outcome = refused ? 'refused' : 'waitlisted';
  record(draft, { type: 'capacity-reached', sessionId, active, max: pool.max, outcome });
  if (refused) return { kind: 'full', active, max: pool.max };
  record(draft, { type: 'waitlisted', sessionId, ...of });
  return { kind: 'waiting', position: waitingPosition(draft.pool, sessionId) ?? draft.pool.waiting.size };
}

function hasRoomToWait({ waiting }: Pool, tree: string): boolean {
  const trees = new Set(waiting.values());
  return trees.has(tree) ? waiting.size - trees.size < waitingMax : trees.size < waitingMax;
}

function release(draft: PoolDraft, sessionId: string, reason: string): void {
  if (draft.pool.slots.has(sessionId)) record(draft, { type: 'slot-released', sessionId, reason });
  else if (draft.pool.waiting.has(sessionId)) record(draft, { type: 'left-waitlist', sessionId, reason });
}

/** Compares what the pool holds with what the sessions say, and follows the sessions. */
const reclaimedBecause = {
  none: 'its session gave it back',
  over: 'its session is over',
  unknown: 'it has no session',
} as const;

function reconcile(draft: PoolDraft, sessions: ReadonlyMap<string, SlotSaid>): void {
  const { at } = draft.command;
  for (const [sessionId, slot] of draft.pool.slots) {
    const says = sessions.get(sessionId);
    if (says === 'held' || says === 'wanted') continue;
    // One that is over is so for ever, whatever a clock says of when it got its slot; of others more may be written yet.
    if (says !== 'over' && at - slot.since < slotGraceMs) continue;
    record(draft, { type: 'slot-reclaimed', sessionId, reason: reclaimedBecause[says ?? 'unknown'] });
  }
  for (const sessionId of draft.pool.waiting.keys()) {
    const says = sessions.get(sessionId);
    if (says === 'none' || says === 'over')
      record(draft, { type: 'left-waitlist', sessionId, reason: 'no longer wanted' });
  }
  for (const [sessionId, says] of sessions) {
    const known = draft.pool.slots.has(sessionId) || draft.pool.waiting.has(sessionId);
    if (known || says === 'none' || says === 'over') continue;
    // A session that runs without a slot is counted, even beyond the maximum: the number must be true.
    if (says === 'held') record(draft, { type: 'slot-allocated', sessionId, leaseId: draft.pool.nextLeaseId });
    else record(draft, { type: 'waitlisted', sessionId });
  }
}

function admitWaiting(draft: PoolDraft): readonly string[] {
  const admitted: string[] = [];
  for (;;) {
    const { pool } = draft;
    const next = pool.slots.size < pool.max ? lineOf(pool)[0] : undefined;
    if (next === undefined) return admitted;
    const tree = pool.waiting.get(next);
    const of = tree === undefined || tree === next ? {} : { tree };
    record(draft, { type: 'slot-allocated', sessionId: next, leaseId: pool.nextLeaseId, ...of });
    admitted.push(next);
  }
}
