import type { Session } from '@concerto/protocol';
import { expect, test } from 'vitest';
import { countsOf, groupSessions } from './overview.ts';

const session = (id: string, status: Session['status'], more: Partial<Session> = {}): Session => ({
  id,
  title: `Title ${id}`,
  kind: 'agent',
  agent: 'echo',
  status,
  turn: 1,
  createdAt: '2026-01-01T00:00:00.000Z',
  updatedAt: `2026-01-01T00:00:0${id}.000Z`,
  pending: 0,
  usage: { inputTokens: 0, outputTokens: 0 },
  position: 1,
  ...more,
});
const waiting = (since: string) => ({ for: 'input' as const, since, detail: 'Which database?' });
const all = [
  session('1', 'idle'),
  session('2', 'waitingForInput', { waiting: waiting('2026-01-01T02') }),
  session('3', 'waitingForApproval', { waiting: waiting('2026-01-01T01') }),
  session('4', 'idle', { result: { text: 'The wombat is fed' } }),
  session('5', 'cancelled'),
];
const wish = { filter: 'all', sought: '', sort: 'activity' } as const;
const shape = (groups: ReturnType<typeof groupSessions>) =>
  groups.map(({ name, rows }) => [name, rows.map(({ session: { id }, depth }) => '>'.repeat(depth) + id)]);

test('what was only parked, or taken over, was not active since', () => {
  const parked = session('9', 'idle', { activeAt: '2026-01-01T00:00:00.500Z' });
  expect(shape(groupSessions([...all, parked], wish))[1]).toEqual(['idle', ['4', '1', '9']]);
});

test('grouped by what needs a person, who waits longest first, the others by their last activity', () => {
  expect(shape(groupSessions(all, wish))).toEqual([
    ['you', ['3', '2']],
    ['idle', ['4', '1']],
    ['over', ['5']],
  ]);
  expect(shape(groupSessions(all, { ...wish, filter: 'over' }))).toEqual([['over', ['5']]]);
});

test('one that is paused because its budget is used up needs a person, one that somebody paused does not', () => {
  const since = '2026-01-01T02';
  const asks = { for: 'approval' as const, since, detail: 'More, or stop?', asked: 'person', next: [] };
  const held = [
    session('1', 'paused', { waiting: asks }),
    session('2', 'paused', { waiting: { ...asks, asked: 'supervisor:guard' } }),
    session('3', 'paused', { waiting: { for: 'pause', since, detail: 'paused until it is resumed' } }),
  ];
  expect(shape(groupSessions(held, wish))).toEqual([
    ['you', ['1']],
    ['held', ['3', '2']],
  ]);
  expect(countsOf(held, '')).toMatchObject({ all: 3, you: 1, held: 2 });
});

test('a search looks in titles, questions and results; the counts are of what is found', () => {
  expect(shape(groupSessions(all, { ...wish, sought: 'WOMBAT fed' }))).toEqual([['idle', ['4']]]);
  expect(shape(groupSessions(all, { ...wish, sought: 'database' }))).toEqual([['you', ['3', '2']]]);
  expect(countsOf(all, 'database')).toMatchObject({ all: 2, you: 2, idle: 0 });
});

test('what a session opened stands under it; one that waits stands with those that wait', () => {
  const tree = [
    session('1', 'running', { children: 3 }),
    session('2', 'running', { parent: '1', root: '1' }),
    session('3', 'running', { parent: '2', root: '1' }),
    session('4', 'running'),
    session('5', 'waitingForInput', { parent: '1', root: '1' }),
  ];
  expect(shape(groupSessions(tree, wish))).toEqual([
    ['you', ['5']],
    ['working', ['4', '1', '>2', '>>3']],
  ]);
});
