import type { Message } from '@concerto/protocol';
import { expect, test } from 'vitest';
import { movable, moved } from './queue-order.ts';

const message = (id: string, more: Partial<Message> = {}): Message => ({
  id,
  content: id,
  priority: 'queued',
  status: 'pending',
  source: 'user',
  createdAt: '2026-01-01T00:00:00.000Z',
  ...more,
});

test('only queued messages that were not handed over have an order to change', () => {
  const pending = [
    message('a', { priority: 'immediate' }),
    message('b', { inFlight: true }),
    message('c', { uncertain: true }),
    message('d'),
    message('e'),
  ];
  expect(movable(pending)).toEqual(['d', 'e']);
});

test('moving keeps every id once and stops at the ends', () => {
  expect(moved(['a', 'b', 'c'], 'c', -1)).toEqual(['a', 'c', 'b']);
  expect(moved(['a', 'b', 'c'], 'a', 1)).toEqual(['b', 'a', 'c']);
  expect(moved(['a', 'b'], 'a', -1)).toEqual(['a', 'b']);
  expect(moved(['a', 'b'], 'b', 5)).toEqual(['a', 'b']);
  expect(moved(['a', 'b'], 'x', 1)).toEqual(['a', 'b']);
});
