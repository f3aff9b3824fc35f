// oxlint-disable vitest/no-standalone-expect -- a story is only ever told inside a test
import { PoolRecord } from '@concerto/protocol';
import { describe, expect, test } from 'vitest';
import {
  decidePool,
  evolvePool,
  lineOf,
  newPool,
  type Pool,
  type PoolCommand,
  poolView,
  waitingMax,
  waitingPosition,
} from './pool.ts';

type Distribute<T, Keys extends PropertyKey> = T extends unknown ? Omit<T, Keys> : never;

class PoolStory {
  now = 1_000_000;
  pool: Pool;
  readonly records: PoolRecord[] = [];

  constructor(max?: number) {
    this.pool = newPool(max);
  }

  ask(command: Distribute<PoolCommand, 'at' | 'actor'>) {
    const decision = decidePool(this.pool, { at: this.now, actor: 'user', ...command } as PoolCommand);
    const stored = decision.records.map((record) => PoolRecord.parse(JSON.parse(JSON.stringify(record))));
    this.pool = stored.reduce(evolvePool, this.pool);
    this.records.push(...stored);
    expect(this.pool).toEqual(decision.pool);
    return decision;
  }

  reserve(sessionId: string, ifFull: 'reject' | 'queue' = 'reject') {
    return this.ask({ type: 'reserve', sessionId, ifFull }).outcome;
  }

  /** For one that was opened in a tree. */
  opens(sessionId: string, tree: string) {
    return this.ask({ type: 'reserve', sessionId, tree, ifFull: 'queue' }).outcome;
  }

  release(sessionId: string) {
    return this.ask({ type: 'release', sessionId, reason: 'ended' }).admitted;
  }
}

function full(max: number): PoolStory {
  const story = new PoolStory(max);
  for (let index = 1; index <= max; index++) story.reserve(`s${index}`);
  return story;
}

describe('pool', () => {
  test('7.1 twenty by default; the 21st is refused with the numbers, and that is recorded', () => {
    const story = new PoolStory();
    for (let index = 0; index < 20; index++) expect(story.reserve(`s${index}`)).toEqual({ kind: 'held' });
    expect(story.reserve('s20')).toEqual({ kind: 'full', active: 20, max: 20 });
    expect(story.records.at(-1)).toMatchObject({ type: 'capacity-reached', active: 20, max: 20, outcome: 'refused' });
    expect(poolView(story.pool)).toMatchObject({ active: 20, max: 20, waiting: 0 });
    expect(poolView(story.pool).capacityReached).toMatchObject({ sessionId: 's20', outcome: 'refused' });
  });

  test('7.2 or waits, and is told its place', () => {
    const story = full(2);
    expect(story.reserve('w1', 'queue')).toEqual({ kind: 'waiting', position: 1 });
    expect(story.reserve('w2', 'queue')).toEqual({ kind: 'waiting', position: 2 });
    expect(story.reserve('w1', 'queue')).toEqual({ kind: 'waiting', position: 1 });
    expect(poolView(story.pool)).toMatchObject({ active: 2, max: 2, waiting: 2 });
  });

  test('7.2 the waiting list has an end', () => {
    const story = full(1);
    for (let index = 0; index < waitingMax; index++)
      story.pool = { ...story.pool, waiting: new Map(story.pool.waiting).set(`w${index}`, `w${index}`) };
    expect(story.reserve('late', 'queue')).toEqual({ kind: 'full', active: 1, max: 1 });
    expect(story.records.at(-1)).toMatchObject({ type: 'capacity-reached', outcome: 'refused' });
  });

  test('7.3 first come, first served, one a freed slot', () => {
    const story = full(2);
    for (const id of ['w1', 'w2', 'w3']) story.reserve(id, 'queue');
    expect(story.release('s1')).toEqual(['w1']);
    expect(waitingPosition(story.pool, 'w2')).toBe(1);
    expect(story.release('w2')).toEqual([]);
    expect(story.release('s2')).toEqual(['w3']);
  });

  test('7.3 what one program opens lets others have the next place, and two share', () => {
    const story = new PoolStory(2);
    for (let index = 1; index <= 6; index++) story.opens(`a${index}`, 'a');
    expect(story.reserve('person', 'queue')).toEqual({ kind: 'waiting', position: 1 });
    for (let index = 1; index <= 2; index++) story.opens(`b${index}`, 'b');
    expect(lineOf(story.pool)).toEqual(['person', 'b1', 'b2', 'a3', 'a4', 'a5', 'a6']);
    expect(story.release('a1')).toEqual(['person']);
    // None of either has a place: who had the last one longest ago, or none yet.
    expect(story.release('a2')).toEqual(['b1']);
    expect(story.release('person')).toEqual(['a3']);
    expect(story.release('b1')).toEqual(['b2']);
    expect(story.release('b2')).toEqual(['a4']);
  });

  test('7.3 of two who wait for the only place each has it in turn', () => {
    const story = new PoolStory(1);
    for (let index = 1; index <= 4; index++) story.opens(`a${index}`, 'a');
    for (let index = 1; index <= 2; index++) story.opens(`b${index}`, 'b');
    const order = ['a1', 'b1', 'a2', 'b2', 'a3', 'a4'];
    for (const [at, id] of order.entries()) expect(story.release(id)).toEqual(order.slice(at + 1, at + 2));
    expect(story.pool.served.size).toBe(0);
  });

  test('7.9 a program that fills the list leaves others their place on it', () => {
    const story = new PoolStory(1);
    story.reserve('first');
    for (let index = 0; index <= waitingMax; index++) {
      expect(story.opens(`a${index}`, 'a')).toMatchObject({ kind: 'waiting' });
    }
    expect(story.opens('late', 'a')).toMatchObject({ kind: 'full' });
    expect(story.reserve('person', 'queue')).toEqual({ kind: 'waiting', position: 2 });
    expect(story.opens('b', 'b')).toEqual({ kind: 'waiting', position: 3 });
  });

  test('7.4 lowering ends nobody and drains; raising admits in order', () => {
    const story = full(4);
    story.reserve('w1', 'queue');
    story.reserve('w2', 'queue');
    story.ask({ type: 'configure', max: 2 });
    expect(poolView(story.pool)).toMatchObject({ active: 4, max: 2, waiting: 2 });
    expect(story.release('s1')).toEqual([]);
    expect(story.release('s2')).toEqual([]);
    expect(story.reserve('new')).toMatchObject({ kind: 'full', active: 2, max: 2 });
    expect(story.release('s3')).toEqual(['w1']);
    expect(story.ask({ type: 'configure', max: 9 }).admitted).toEqual(['w2']);
  });

  test('7.5 reserving and releasing twice are the same as once', () => {
    const story = new PoolStory(1);
    expect(story.reserve('a')).toEqual({ kind: 'held' });
    expect(story.reserve('a')).toEqual({ kind: 'held' });
    story.release('a');
    const records = story.records.length;
    story.release('a');
    expect(story.records).toHaveLength(records);
    expect(poolView(story.pool).active).toBe(0);
  });

  test('7.6 a slot whose session never came, or gave it back, is reclaimed; a young one is left alone', () => {
    const story = full(3);
    story.reserve('w', 'queue');
    const says = new Map([
      ['s1', 'held'],
      ['s2', 'none'],
      ['w', 'wanted'],
    ] as const);
    expect(story.ask({ type: 'reconcile', sessions: says }).records).toEqual([]);
    story.now += 30_000;
    const { admitted } = story.ask({ type: 'reconcile', sessions: says });
    expect([...story.pool.slots.keys()]).toEqual(['s1', 'w']);
    expect(admitted).toEqual(['w']);
    expect(story.records.filter((record) => record.type === 'slot-reclaimed')).toMatchObject([
      { sessionId: 's2', reason: 'its session gave it back' },
      { sessionId: 's3', reason: 'it has no session' },
    ]);
  });

  test('7.6 a session that waits and was forgotten is put on the list; one that runs is counted', () => {
    const story = full(1);
    story.ask({
      type: 'reconcile',
      sessions: new Map([
        ['s1', 'held'],
        ['lost', 'wanted'],
        ['alive', 'held'],
      ] as const),
    });
    expect(poolView(story.pool)).toMatchObject({ active: 2, max: 1, waiting: 1 });
    story.release('s1');
    expect(story.release('alive')).toEqual(['lost']);
  });

  test('7.6 a session that no longer waits leaves the list', () => {
    const story = full(1);
    story.reserve('w', 'queue');
    story.ask({
      type: 'reconcile',
      sessions: new Map([
        ['s1', 'held'],
        ['w', 'none'],
      ] as const),
    });
    expect(poolView(story.pool).waiting).toBe(0);
  });
});
