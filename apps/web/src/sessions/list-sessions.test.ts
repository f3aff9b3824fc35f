import type { ConcertoClient } from '@concerto/client';
import type { Session, SessionStatus } from '@concerto/protocol';
import { expect, test } from 'vitest';
import { listSessions, waitingFirst } from './list-sessions.ts';

let minute = 0;

function session(id: string, status: SessionStatus, since?: string): Session {
  minute += 1;
  const at = `2026-01-01T00:${String(minute).padStart(2, '0')}:00.000Z`;
  return {
    id,
    title: id,
    kind: 'agent',
    agent: 'demo',
    status,
    turn: 1,
    createdAt: at,
    updatedAt: at,
    pending: 0,
    usage: { inputTokens: 0, outputTokens: 0 },
    position: 1,
    ...(since === undefined ? {} : { waiting: { for: 'input', since, detail: '?' } }),
  };
}

test('who waits longest for a person comes first, then the newest', () => {
  const sessions = [
    session('old', 'idle'),
    session('waits', 'waitingForInput', '2026-01-01T02:00:00.000Z'),
    session('waits longer', 'waitingForApproval', '2026-01-01T01:00:00.000Z'),
    session('new', 'running'),
  ];
  expect(sessions.toSorted(waitingFirst).map(({ id }) => id)).toEqual(['waits longer', 'waits', 'new', 'old']);
});

test('one that waits for a person is in the list however old it is, and once', async () => {
  const all = [
    session('forgotten', 'waitingForInput', '2026-01-01T01:00:00.000Z'),
    ...Array.from({ length: 5 }, (_, n) => session(`s${n}`, 'idle')),
  ].toReversed();
  const list: ConcertoClient['list'] = async ({ status, limit = 50, cursor } = {}) => {
    const from = Number(cursor ?? 0);
    const found = all.filter((one) => status === undefined || one.status === status);
    const sessions = found.slice(from, from + limit);
    return from + limit < found.length ? { sessions, nextCursor: String(from + limit) } : { sessions };
  };
  const client = { list } as unknown as ConcertoClient;
  const signal = new AbortController().signal;
  const listed = await listSessions(client, 'all', 3, signal);
  expect(listed.sessions.map(({ id }) => id)).toEqual(['forgotten', 's4', 's3']);
  expect(listed.hasMore).toBe(true);
  const whole = await listSessions(client, 'all', 50, signal);
  expect(whole.sessions).toHaveLength(6);
  expect(whole.hasMore).toBe(false);
});
