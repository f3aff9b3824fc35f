import { SessionRecord } from '@concerto/protocol';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Archive } from '../src/archive.ts';
import { decidePool, newPool } from '../src/pool/pool.ts';
import { flyingEntry } from '../src/queue/queue.ts';
import { audit } from '../src/session/audit.ts';
import { fold } from '../src/session/evolve.ts';
import type { Report, Wish } from '../src/session/session-command.ts';
import type { SessionState } from '../src/session/session-state.ts';
import { openRequests, statusOf } from '../src/session/status.ts';
import { must, Oracle } from './oracle.ts';
import { everything, failure, suspend } from './story.ts';
import { World, type WorldSession } from './world.ts';

/** One thing that happens: who, what, and a number that picks among whatever there is to pick from. */
type Happening = { readonly session: number; readonly what: string; readonly pick: number };

const sessionCount = 4;

function choose<T>(from: readonly T[], pick: number): T | undefined {
  return from[pick % Math.max(1, from.length)];
}

/** Every id, over or not. */
function ids(archive: Archive<unknown>): readonly string[] {
  return [...archive.closed.ids(), ...archive.live.keys()];
}

function wishOf(world: World, state: SessionState, { what, pick }: Happening): Wish | undefined {
  const messageId = choose(ids(state.queue.entries), pick) ?? 'none';
  switch (what) {
    case 'send':
    case 'steer': {
      const priority = what === 'steer' ? 'immediate' : 'queued';
      return { type: 'enqueue', messageId: world.mint('m'), content: 'text', priority, source: 'user' };
    }
    case 'edit':
      return { type: 'edit', messageId, content: `edited ${pick}` };
    case 'promote':
    case 'resend':
    case 'drop':
      return { type: what, messageId };
    case 'unsend':
      return { type: 'cancel-message', messageId };
    case 'reorder': {
      const lane = [...state.queue.entries.live.values()].filter(
        (one) => one.state === 'pending' && one.priority === 'queued',
      );
      const order = lane.map((one) => one.id).toSorted((a, b) => ((a.length * 7 + pick) % 3) - 1 || b.localeCompare(a));
      return { type: 'reorder', ids: order, version: state.queue.version - (pick % 5 === 0 ? 1 : 0) };
    }
    case 'interrupt':
    case 'pause':
    case 'resume':
    case 'cancel':
      return { type: 'control', kind: what, requestId: world.mint('r') };
    case 'answer':
      return {
        type: 'answer',
        requestId: choose(ids(state.requests).toReversed(), pick % 4) ?? 'none',
        response: pick,
      };
    default:
      return undefined;
  }
}

/** What a good owner and its agent do next. */
function cooperative(
  state: SessionState,
  { pick, called }: { readonly pick: number; readonly called: boolean },
): string {
  if (state.owner === undefined) return 'claim';
  if (called) return 'attend';
  if (state.agentProcess.kind === 'starting') return 'ready';
  if (state.control !== undefined) return 'ack';
  if (state.queue.inFlight !== undefined) return 'delivered';
  if (openRequests(state).length > 0) return 'answer';
  if (state.hold !== undefined) return 'resume';
  if (!state.turn.active) return 'send';
  return pick % 3 === 0 ? 'question' : 'result';
}

/** A report as a good agent, a late one or a lying one makes it. */
function reportOf(world: World, state: SessionState, { what, pick }: Happening): Report | undefined {
  const stale = pick % 11 === 0;
  const epoch = stale && pick % 2 === 0 ? Math.max(0, state.epoch - 1) : state.epoch;
  const incarnation = stale ? Math.max(1, state.incarnations - 1) : Math.max(1, state.incarnations);
  const spoke = { epoch, incarnation };
  const flying = flyingEntry(state.queue)?.dispatch;
  const dispatchId = flying?.dispatchId ?? 'm1.1';
  const acked = pick % 7 === 0 ? choose(ids(state.settledControls), pick) : state.control?.requestId;
  switch (what) {
    case 'claim':
      return { type: 'claimed', epoch: world.nextEpoch(), runner: 'r' };
    case 'release':
      return { type: 'released', epoch, reason: 'shutting down', undelivered: pick % 3 === 0 ? [dispatchId] : [] };
    case 'ready':
      return {
        type: 'agent-ready',
        ...spoke,
        capabilities: everything.filter((_, index) => (pick >> index) % 2 === 0),
      };
    case 'start-failed':
      return { type: 'start-failed', ...spoke, error: failure };
    case 'exit':
      return {
        type: 'process-exited',
        ...spoke,
        error: failure,
        ...(pick % 3 === 0 ? { undelivered: [dispatchId] } : {}),
      };
    case 'delivered':
      return { type: 'delivered', ...spoke, dispatchId, how: flying?.how ?? 'prompt' };
    case 'delivery-refused':
      return { type: 'delivery-refused', ...spoke, dispatchId, reason: 'no' };
    case 'turn-started':
      return { type: 'turn-started', ...spoke };
    case 'result':
      return { type: 'turn-ended', ...spoke, outcome: 'result', value: pick, result: { success: true, href: '' } };
    case 'error':
      return { type: 'turn-ended', ...spoke, outcome: 'error', error: failure };
    case 'question': {
      const requestId = pick % 9 === 0 ? (choose(ids(state.requests), pick) ?? 'q') : world.mint('q');
      const event = suspend(requestId, pick % 2 === 0 ? 'input' : 'approval');
      return { type: 'request-opened', ...spoke, requestId, event };
    }
    case 'withdraw': {
      const requestId = choose(ids(state.requests).toReversed(), pick % 4) ?? 'none';
      return { type: 'request-withdrawn', ...spoke, requestId, reason: 'found it' };
    }
    case 'use':
      return { type: 'usage', epoch, usage: { inputTokens: pick % 20, outputTokens: 0 } };
    case 'ack':
      return { type: 'control-acked', ...spoke, requestId: acked ?? 'none' };
    case 'nack':
      return { type: 'control-refused', ...spoke, requestId: acked ?? 'none', reason: 'cannot' };
    default:
      return undefined;
  }
}

function start(world: World, session: WorldSession, pick: number): void {
  const ifFull = pick % 2 === 0 ? 'queue' : 'reject';
  const outcome = world.askPool({ type: 'reserve', sessionId: session.id, ifFull });
  // The server may die between the slot and the session: a leak that only reconciliation finds.
  if (outcome.kind === 'full' || pick % 13 === 0) return;
  world.ask(session, {
    type: 'start',
    sessionId: session.id,
    kind: 'agent',
    agent: 'demo',
    title: 't',
    once: pick % 5 === 0,
    slot: outcome.kind === 'held' ? 'held' : 'wanted',
    prompt: { messageId: world.mint('m'), content: 'first' },
    budget: pick % 3 === 0 ? { minutes: 1, tokens: 50, turns: 4 } : undefined,
  });
}

const waits = [1, 1, 1, 50, 50, 100, 1_000, 4_999, 5_000, 10_000, 20_000, 31_000, 301_000, 601_000];

class Step implements fc.Command<Oracle, World> {
  private readonly happening: Happening;

  constructor(happening: Happening) {
    this.happening = happening;
  }

  check(): boolean {
    return true;
  }

  run(oracle: Oracle, world: World): void {
    const { what, pick } = this.happening;
    oracle.steps += 1;
    const session = world.session(this.happening.session, pick % 10 === 0);
    if (what === 'pass') {
      world.pass(choose(waits, pick) ?? 1);
      oracle.checkTime(world.sessions, world.now);
    } else if (what === 'configure') {
      world.askPool({ type: 'configure', max: 1 + (pick % 4) });
    } else if (what === 'reconcile') {
      world.reconcile();
    } else if (what === 'forget') {
      world.forgetful = pick % 3 === 0;
    } else if (session.state === undefined) {
      start(world, session, pick);
    } else {
      this.happen(world, session, session.state);
    }
  }

  private happen(world: World, session: WorldSession, state: SessionState): void {
    const { what, pick } = this.happening;
    const next = what === 'cooperate' ? cooperative(state, { pick, called: session.called }) : what;
    if (next === 'attend') {
      const epoch = pick % 11 === 0 ? state.epoch - 1 : state.epoch;
      must(world.ask(session, { type: 'attend', epoch }, 'runner:r'), 'a notice is never refused');
      return;
    }
    const report = reportOf(world, state, { ...this.happening, what: next });
    const wish = wishOf(world, state, { ...this.happening, what: next });
    if (report !== undefined) must(world.ask(session, report, 'runner:r'), 'a report is never refused');
    else if (wish !== undefined && pick % 2 === 0) world.ask(session, wish);
    else if (wish !== undefined) world.wishBesideOwner(session, wish, pick % 11 === 0 ? state.epoch - 1 : state.epoch);
  }

  toString(): string {
    return JSON.stringify(this.happening);
  }
}

const weights: Readonly<Record<string, number>> = {
  cooperate: 70,
  send: 6,
  steer: 8,
  edit: 2,
  promote: 4,
  unsend: 3,
  reorder: 4,
  resend: 4,
  drop: 1,
  interrupt: 4,
  pause: 6,
  resume: 8,
  cancel: 1,
  answer: 10,
  attend: 4,
  claim: 1,
  release: 1,
  ready: 2,
  'start-failed': 1,
  exit: 2,
  delivered: 4,
  'delivery-refused': 2,
  'turn-started': 1,
  result: 4,
  error: 2,
  question: 4,
  withdraw: 2,
  use: 2,
  ack: 6,
  nack: 2,
  pass: 3,
  configure: 1,
  reconcile: 2,
  forget: 1,
};

const steps = fc
  .record({
    session: fc.nat({ max: sessionCount - 1 }),
    what: fc.oneof(...Object.entries(weights).map(([what, weight]) => ({ weight, arbitrary: fc.constant(what) }))),
    pick: fc.nat({ max: 1_000_000 }),
  })
  .map((happening) => new Step(happening));

/** Ends everything, lets all time pass, and looks for what stayed behind. */
function clearUp(world: World): void {
  world.forgetful = false;
  for (const session of world.sessions) {
    if (session.state === undefined || session.state.end !== undefined) continue;
    if (statusOf(session.state) !== 'cancelling') {
      const requestId = world.mint('r');
      must(world.ask(session, { type: 'control', kind: 'cancel', requestId }), 'cancel from everywhere');
    }
  }
  world.pass(15_000);
  world.pass(30_000);
  world.reconcile();
}

function checkLeftovers(world: World): void {
  expect(world.pool.slots.size, 'no slot leaks').toBe(0);
  expect([...world.pool.waiting.keys()]).toEqual([]);
  for (const { state, records } of world.sessions) {
    if (state === undefined) continue;
    expect(['completed', 'failed', 'cancelled']).toContain(statusOf(state));
    const stored = records.map((record) => SessionRecord.parse(JSON.parse(JSON.stringify(record))));
    expect(fold(stored), 'history gives the state').toEqual(state);
    expect(audit(stored), 'audit complete').toHaveLength(records.length);
    checkConfirmations(stored);
  }
}

/** Every request has exactly one end, and every hand-over exactly one outcome. */
function checkConfirmations(records: readonly SessionRecord[]): void {
  const ends = new Map<string, number>();
  const count = (key: string, by: number) => ends.set(key, (ends.get(key) ?? 0) + by);
  for (const record of records) {
    if (record.type === 'control-requested') count(`control ${record.requestId}`, -1);
    if (record.type === 'message-dispatched') count(`dispatch ${record.dispatchId}`, -1);
    const settled = ['control-confirmed', 'control-refused', 'control-superseded'].includes(record.type);
    if (settled && 'requestId' in record) count(`control ${record.requestId}`, 1);
    const landed = ['message-delivered', 'message-returned', 'message-uncertain'].includes(record.type);
    if (landed && 'dispatchId' in record) count(`dispatch ${record.dispatchId}`, 1);
  }
  expect([...ends].filter(([, balance]) => balance !== 0)).toEqual([]);
}

describe('model', () => {
  test('1.1 2.3 2.5 3.1 4.1 4.2 4.11 4.12 5.2 6.1 7.1 7.3 9.1 hold in any order of events, with lost, late and lying reports', () => {
    let total = 0;
    fc.assert(
      fc.property(fc.commands([steps], { maxCommands: 400, size: 'max' }), (commands) => {
        const oracle = new Oracle();
        const world = new World(oracle, sessionCount);
        fc.modelRun(() => ({ model: oracle, real: world }), commands);
        clearUp(world);
        checkLeftovers(world);
        total += oracle.steps;
      }),
      { seed: 20_261_115, numRuns: 110, endOnFailure: false },
    );
    expect(total).toBeGreaterThanOrEqual(20_000);
  }, 120_000);

  test('7.1 however many start at once, the last slot is given once', () => {
    const pool = decidePool(newPool(1), {
      type: 'reserve',
      sessionId: 'a',
      ifFull: 'reject',
      at: 1,
      actor: 'user',
    }).pool;
    const second = decidePool(pool, { type: 'reserve', sessionId: 'b', ifFull: 'reject', at: 1, actor: 'user' });
    expect(second.outcome).toEqual({ kind: 'full', active: 1, max: 1 });
  });
});
