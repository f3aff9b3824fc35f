import { type OverviewEvent, type Session, type SuspendEvent, textContent } from '@concerto/protocol';
import { expect, test } from 'vitest';
import { columnsOf } from '../terminal/wrap.ts';
import { WatchBoard, watchLine } from './watch-board.ts';

const summary = (id: string, more: Partial<Session> = {}): OverviewEvent => ({
  type: 'session',
  summary: {
    id,
    title: `title of ${id}`,
    kind: 'agent',
    agent: 'coder',
    status: 'running',
    turn: 1,
    createdAt: new Date().toISOString(),
    updatedAt: `2026-01-01T00:00:0${id.length}.000Z`,
    pending: 0,
    usage: { inputTokens: 0, outputTokens: 0 },
    position: 1,
    ...more,
  },
});
const request: SuspendEvent = {
  type: 'waitForInput',
  requestId: 'r1',
  inputType: 'text',
  prompt: textContent('Which \u001b[2Jbranch?'),
};
const waiting = { for: 'input', since: '', requestId: 'r1', detail: 'Which?' } as const;
const size = { rows: 40, columns: 100 };
const shown = (board: WatchBoard): string => board.rows(size).join('\n');

test('what waits stands first, with a number, and goes when it is answered', () => {
  const board = new WatchBoard();
  board.take(summary('a'));
  board.take({ type: 'request', session: 'a', requestId: 'r1', request });
  expect(shown(board)).toMatch(
    /^1 wait for you · 1 at work · 1 session\n\n1 {2}title of a coder a\n {3}\? Which ␛\[2Jbranch\?\n/,
  );
  expect(board.numbered(1)).toMatchObject({ session: 'a', request });
  expect(board.numbered(2)).toBeUndefined();
  board.take({ type: 'requestSettled', session: 'a', requestId: 'r1', outcome: 'answered' });
  expect(shown(board)).toMatch(/^0 wait for you/);
  // An answer to 1 that is typed now must not go to another.
  board.take({ type: 'request', session: 'a', requestId: 'r2', request: { ...request, requestId: 'r2' } });
  expect(board.numbered(1)).toBeUndefined();
  expect(board.numbered(2)?.request.requestId).toBe('r2');
});

test('a question that was asked before we looked is asked for, once', () => {
  const board = new WatchBoard();
  expect(board.take(summary('a', { status: 'waitingForInput', waiting }))).toBe('a');
  board.asked('a', [request]);
  expect(board.take(summary('a', { status: 'waitingForInput', waiting }))).toBeUndefined();
  expect(shown(board)).toMatch(/^1 wait/);
  board.take(summary('a', { status: 'running' }));
  expect(shown(board)).toMatch(/^0 wait/);
});

test('those that are over come last, and no more rows than there is room for', () => {
  const board = new WatchBoard();
  board.take(summary('over', { status: 'completed' }));
  board.take(summary('a'));
  const rows = shown(board).split('\n');
  expect(rows.findIndex((row) => row.startsWith('a '))).toBeLessThan(rows.findIndex((row) => row.startsWith('over')));
  expect(board.rows({ rows: 4, columns: 80 })).toHaveLength(4);
  expect(board.rows({ rows: 4, columns: 80 }).at(-1)).toBe('… 2 more rows');
});

test('what was only parked, or taken over, was not active since', () => {
  const board = new WatchBoard();
  board.take(summary('a'));
  board.take(summary('parked', { activeAt: '2026-01-01T00:00:00.500Z' }));
  const rows = shown(board).split('\n');
  expect(rows.findIndex((row) => row.startsWith('a '))).toBeLessThan(rows.findIndex((row) => row.startsWith('parked')));
});

test('on a narrow screen a long question is broken, not cut, and nothing is wider than the screen', () => {
  const board = new WatchBoard();
  board.take(summary('s_abc', { title: '署名を鍵の組に変える、それからすべての検査を行う' }));
  const prompt = textContent('Which algorithm should sign the tokens of the login service?');
  board.take({ type: 'request', session: 's_abc', requestId: 'r1', request: { ...request, prompt } });
  const rows = board.rows({ rows: 30, columns: 40 });
  expect(rows.filter((row) => columnsOf(row) > 40)).toEqual([]);
  expect(rows.join('\n')).toMatch(/\n {3}\? Which algorithm should sign the\n {3}tokens of the login service\?\n/);
});

test('a session is meant by the beginning of its id', () => {
  const board = new WatchBoard();
  for (const id of ['s_abc', 's_abd', 'nightly']) board.take(summary(id));
  expect(board.idsMeant('s_abc')).toEqual(['s_abc']);
  expect(board.idsMeant('night')).toEqual(['nightly']);
  expect(board.idsMeant('ab')).toEqual(['s_abc', 's_abd']);
  expect(board.idsMeant('x')).toEqual([]);
});

test('elsewhere than on a terminal each change is a line', () => {
  expect(watchLine(summary('a', { title: 'x\ny' }))).toBe('a running coder: x y');
  expect(watchLine({ type: 'request', session: 'a', requestId: 'r1', request })).toBe('a ? Which ␛[2Jbranch?');
  expect(watchLine({ type: 'requestSettled', session: 'a', requestId: 'r', outcome: 'answered', by: 'rule:1' })).toBe(
    'a → answered by rule:1',
  );
});
