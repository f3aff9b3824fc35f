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
    /^1 waits for you · 1 at work · 1 session\n\n1 {2}title of a coder a\n {3}\? Which ␛\[2Jbranch\?\n/,
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
  expect(shown(board)).toMatch(/^1 waits/);
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

test('where many wait all of them are seen, who has waited longest first; a command is never left out before its rest', () => {
  const board = new WatchBoard();
  for (const at of [3, 1, 2, 0]) {
    const since = `2026-01-01T00:00:0${at}.000Z`;
    board.take(summary(`s${at}`, { status: 'waitingForApproval', waiting: { ...waiting, for: 'approval', since } }));
    const scope = { description: `Clean ${at}`, command: `rm -rf build/${at}` };
    const patch = `@@ -1,30 +0,0 @@\n${'-gone\n'.repeat(30)}`;
    const changes = [{ path: 'a.ts', kind: 'edit', patch, added: 0, removed: 30 } as const];
    const asked = {
      type: 'queryConsent',
      requestId: `r${at}`,
      consentType: 'approval',
      graphUrl: '',
      scope,
      changes,
    } as const;
    board.asked(`s${at}`, [{ ...asked, changes: [...changes] }]);
  }
  const order = (rows: readonly string[]) => rows.flatMap((row) => /Clean (\d)/.exec(row)?.[1] ?? []);
  const heights = [80, 34, 16, 11];
  const seen = heights.map((rows) => board.rows({ rows, columns: 60 }));
  expect(seen.map(order)).toEqual(seen.map(() => ['0', '1', '2', '3']));
  expect(seen.map((rows) => rows.filter((row) => row.includes('rm -rf build/')).length)).toEqual([4, 4, 4, 4]);
  expect(seen.filter((rows, at) => rows.length > (heights[at] ?? 0))).toEqual([]);
  expect(seen[3]?.[2]).toMatch(/^4 {2}! Clean 0 \$ rm -rf build\/0 … 32 more$/);
});
