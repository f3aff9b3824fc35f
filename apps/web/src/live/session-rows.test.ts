import type { Session } from '@concerto/protocol';
import { expect, test } from 'vitest';
import { waitingIn, withRows } from './session-rows.ts';

const session = (id: string, position: number, more: Partial<Session> = {}): Session => ({
  id,
  title: id,
  kind: 'agent',
  agent: 'echo',
  status: 'running',
  turn: 1,
  createdAt: '2026-01-01T00:00:00.000Z',
  updatedAt: '2026-01-01T00:00:01.000Z',
  pending: 0,
  usage: { inputTokens: 0, outputTokens: 0 },
  position,
  ...more,
});

test('what is older never takes the place of what is newer, whichever came first', () => {
  const rows = withRows(new Map(), [session('a', 5), session('b', 2)]);
  expect(withRows(rows, [session('a', 4, { status: 'starting' })])).toBe(rows);
  expect(withRows(rows, [session('a', 6, { status: 'idle' })]).get('a')?.status).toBe('idle');
  expect(withRows(rows, [session('a', 5, { updatedAt: '2026-01-02', title: 'z' })]).get('a')?.title).toBe('z');
});

test('who has waited longest is first', () => {
  const waits = (since: string) => ({ for: 'input' as const, since, detail: '?' });
  const rows = withRows(new Map(), [
    session('a', 1),
    session('b', 1, { status: 'waitingForInput', waiting: waits('2026-01-02') }),
    session('c', 1, { status: 'waitingForApproval', waiting: waits('2026-01-01') }),
  ]);
  expect(waitingIn(rows).map(({ id }) => id)).toEqual(['c', 'b']);
});
