import { err, ok, type Result } from '@concerto/base';
import type { EventLog, StoredDocument } from '@concerto/log';
import { finalStatuses, PoolRecord, type PoolState, readStored, type SessionRecord } from '@concerto/protocol';
import {
  type Decision,
  decidePool,
  evolvePool,
  lineOf,
  newPool,
  type Pool,
  type PoolCommand,
  type PoolDecision,
  poolView,
  type SlotSaid,
  smallerPool,
  statusOf,
  waitingPosition,
} from '@concerto/session';
import * as z from 'zod';
import type { Clock, Report } from '../ports.ts';
import { refusal, type ServiceRefusal } from '../session/service-refusal.ts';
import { childrenCollection, sessionsCollection } from '../session/session-append.ts';
import type { SessionStore } from '../session/session-store.ts';
import { readUnfinished } from '../session/unfinished.ts';

/** Not a session's id: no client can propose one with this character. */
const poolStream = '@pool';
const conflictsMax = 100;
const pageEntries = 1_000;

/** What is read of a session's row. */
const Row = z.looseObject({
  status: z.string().optional(),
  updatedAt: z.string().optional(),
  activeAt: z.string().optional(),
});

type PoolWish = PoolCommand extends infer C ? (C extends unknown ? Omit<C, 'at'> : never) : never;

/**
 * A wish that depends on what the sessions say. It is read after the pool and holds only while the pool stays as it
 * was: a session that was over before would otherwise get back the slot that it had just given up.
 */
type AskedOfPool = () => Promise<PoolWish>;

export type PoolKeeperOptions = {
  readonly log: EventLog;
  readonly store: SessionStore;
  readonly clock: Clock;
  readonly report: Report;
  /** In force until somebody configures the pool. */
  readonly initialMax: number;
};

/**
 * Keeps the pool and the sessions in step: a slot is reserved before a session exists and given back when its agent
 * is gone. The pool is the authority; what a crash leaves between the two is found by comparing.
 */
export class PoolKeeper {
  readonly #options: PoolKeeperOptions;
  #pool: Pool;
  #position = 0;
  #busy: Promise<unknown> = Promise.resolve();
  readonly #told = new Set<Promise<void>>();

  constructor(options: PoolKeeperOptions) {
    this.#options = options;
    this.#pool = newPool(options.initialMax);
    options.log.onRewind(() => this.#forget());
    options.store.onDecision((session, decision) => {
      const told = this.#settle(session, decision)?.catch((cause: unknown) => {
        options.report('the pool could not be told of a session; comparing will mend it', cause);
      });
      if (told === undefined) return;
      this.#told.add(told);
      void told.then(() => this.#told.delete(told));
    });
  }

  /** What it has been told of sessions so far is on record: whoever closes the store after them waits for it. */
  async settled(): Promise<void> {
    while (this.#told.size > 0) await Promise.all(this.#told);
  }

  async view(): Promise<PoolState> {
    await this.#refresh();
    return poolView(this.#pool);
  }

  /** The place in the line for a slot, from 1, of how many; undefined for one that is not in it. */
  async placeInLine(sessionId: string): Promise<{ readonly place: number; readonly of: number } | undefined> {
    await this.#refresh();
    const place = waitingPosition(this.#pool, sessionId);
    return place === undefined ? undefined : { place, of: this.#pool.waiting.size };
  }

  async configure(max: number, actor: string): Promise<PoolState> {
    await this.#execute({ type: 'configure', actor, max });
    await this.#makeRoom();
    return poolView(this.#pool);
  }

  /** A slot for a session that is about to be written, or a place on the waiting list. */
  async reserve(
    sessionId: string,
    wish: { readonly ifFull: 'reject' | 'queue'; readonly actor: string; readonly tree?: string | undefined },
  ): Promise<Result<'held' | 'wanted', ServiceRefusal>> {
    await this.#makeRoom(sessionId);
    const { outcome } = await this.#execute({ type: 'reserve', sessionId, ...wish });
    if (outcome.kind !== 'full') return ok(outcome.kind === 'held' ? 'held' : 'wanted');
    const { active, max } = outcome;
    const message = `${takenText(active, max)}; wait for one with \`"ifFull": "queue"\`, end a session, or raise the maximum`;
    return err(refusal('pool_full', message, { active, max }));
  }

  async release(sessionId: string, reason: string): Promise<void> {
    await this.#execute({ type: 'release', actor: 'pool', sessionId, reason });
  }

  /** For a session that was written as waiting: its slot may have become free while it was being written. */
  async admitIfGranted(sessionId: string): Promise<void> {
    await this.#refresh();
    if (this.#pool.slots.has(sessionId)) await this.#admit(sessionId);
  }

  /** Compares the pool with what the sessions say; mends what a crash left between the two. */
  async reconcile(): Promise<void> {
    let sessions = new Map<string, SlotSaid>();
    await this.#execute(async () => {
      const unfinished = [...(await readUnfinished(this.#options.log))];
      sessions = new Map(unfinished.flatMap(([id, { slot, unpooled }]) => (unpooled === true ? [] : [[id, slot]])));
      for (const id of [...this.#pool.slots.keys(), ...this.#pool.waiting.keys()])
        if (!sessions.has(id) && (await this.#isOver(id))) sessions.set(id, 'over');
      return { type: 'reconcile', actor: 'pool', sessions };
    });
    for (const [id, slot] of sessions) if (slot === 'wanted' && this.#pool.slots.has(id)) await this.#admit(id);
    await this.#makeRoom();
  }

  /** Quiet sessions give way to those that wait for a place and to a newcomer, the longest quiet first. */
  async #makeRoom(newcomer?: string): Promise<void> {
    await this.#refresh();
    const { slots, waiting, max } = this.#pool;
    const known = newcomer === undefined || slots.has(newcomer) || waiting.has(newcomer);
    const line = lineOf(this.#pool);
    const needing = known ? line : [...line, newcomer];
    const missing = slots.size + needing.length - max;
    if (missing <= 0) return;
    let made = 0;
    for (const session of await this.#quiet()) {
      if (made >= missing) return;
      const wish = { type: 'make-room', for: needing[made] ?? smallerPool, at: this.#options.clock.now() } as const;
      const executed = await this.#options.store.execute(session, { ...wish, actor: 'pool' });
      // What its row said may be over: the session itself decides.
      if (!executed.ok || !executed.value.records.some((record) => record.type === 'parked')) continue;
      await this.release(session, 'another session needed its place');
      made += 1;
    }
  }

  async #quiet(): Promise<readonly string[]> {
    const rows = await Promise.all(
      [...this.#pool.slots.keys()].map(async (session) => {
        const row = await this.#rowOf(session);
        const {
          status,
          updatedAt = '',
          activeAt = updatedAt,
        } = row === undefined ? {} : Row.parse(JSON.parse(row.value));
        return status === 'idle' || status === 'interrupted' ? [{ session, since: activeAt }] : [];
      }),
    );
    const quiet = rows.flat().toSorted((a, b) => (a.since < b.since ? -1 : 1));
    return quiet.map(({ session }) => session);
  }

  async #isOver(session: string): Promise<boolean> {
    const row = await this.#rowOf(session);
    const { status = '' } = row === undefined ? {} : Row.parse(JSON.parse(row.value));
    return finalStatuses.some((final) => final === status);
  }

  async #rowOf(session: string): Promise<StoredDocument | undefined> {
    const { log } = this.#options;
    return (await log.getDocument(sessionsCollection, session)) ?? (await log.getDocument(childrenCollection, session));
  }

  /** Undefined for what is none of its business, which most decisions are. */
  #settle(session: string, { records, state }: Decision): Promise<void> | undefined {
    const says = (type: SessionRecord['type']): boolean => records.some((record) => record.type === type);
    if (says('ended')) return this.release(session, 'the session is over');
    if (says('parked')) return this.release(session, 'the session is parked');
    const isWanted = says('slot-wanted');
    const givesWay = this.#pool.waiting.size > 0 && statusOf(state) === 'idle';
    return isWanted || givesWay ? this.#place(session, { givesWay, isWanted, tree: state.root }) : undefined;
  }

  async #place(
    session: string,
    { givesWay, isWanted, tree }: { givesWay: boolean; isWanted: boolean; tree: string | undefined },
  ): Promise<void> {
    if (givesWay) await this.#makeRoom();
    if (!isWanted) return;
    const reserved = await this.reserve(session, { ifFull: 'queue', actor: 'pool', tree });
    if (reserved.ok && reserved.value === 'held') await this.#admit(session);
  }

  async #admit(sessionId: string): Promise<void> {
    const at = this.#options.clock.now();
    // A refusal means that the session is not there (any more): reconciling takes its slot back.
    await this.#options.store.execute(sessionId, { type: 'admit', at, actor: 'pool' });
  }

  async #execute(wish: PoolWish | AskedOfPool): Promise<PoolDecision> {
    const run = this.#busy.then(() => this.#decideAndAppend(wish));
    this.#busy = run.catch(() => undefined);
    const decision = await run;
    for (const admitted of decision.admitted) await this.#admit(admitted);
    return decision;
  }

  async #decideAndAppend(wish: PoolWish | AskedOfPool): Promise<PoolDecision> {
    for (let attempt = 0; attempt < conflictsMax; attempt++) {
      const asks = typeof wish === 'function';
      const fresh = attempt > 0 || asks;
      if (fresh || this.#position === 0) await this.#refresh();
      const before = this.#position;
      const asked = asks ? await wish() : wish;
      if (this.#position !== before) continue;
      const decision = decidePool(this.#pool, { ...asked, at: this.#options.clock.now() });
      // Nothing to do may be about a pool that another process has changed since.
      if (decision.records.length === 0 && fresh) return decision;
      if (decision.records.length === 0) continue;
      const appended = await this.#options.log.append({
        session: poolStream,
        streams: [
          {
            stream: 'domain',
            expected: this.#position,
            entries: decision.records.map((record) => ({ type: record.type, data: JSON.stringify(record) })),
          },
        ],
      });
      if (appended.kind !== 'appended') continue;
      if (this.#position < (appended.positions.domain ?? 0)) {
        this.#pool = decision.pool;
        this.#position = appended.positions.domain ?? this.#position;
      }
      return decision;
    }
    throw new Error(`the pool: ${conflictsMax} conflicts in a row`);
  }

  /** The store has less than it acknowledged: what it holds now is what is true. */
  #forget(): void {
    this.#pool = newPool(this.#options.initialMax);
    this.#position = 0;
  }

  async #refresh(): Promise<void> {
    for (;;) {
      const page = await this.#options.log.read({
        session: poolStream,
        stream: 'domain',
        after: this.#position,
        limit: pageEntries,
      });
      if (page.head < this.#position) {
        this.#forget();
        continue;
      }
      for (const entry of page.entries) {
        if (entry.position !== this.#position + 1) continue;
        this.#pool = evolvePool(this.#pool, readStored(PoolRecord, JSON.parse(entry.data)));
        this.#position = entry.position;
      }
      if (page.entries.length < pageEntries) return;
    }
  }
}

/** The pool may have been made smaller while they were at work. */
function takenText(active: number, max: number): string {
  if (active > max) return `${active} sessions are still at work, and ${max} may be`;
  return max === 1 ? 'the only slot is taken by a session at work' : `all ${max} slots are taken by sessions at work`;
}
