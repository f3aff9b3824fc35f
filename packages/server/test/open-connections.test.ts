import { EventEmitter } from 'node:events';
import type { Socket } from 'node:net';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { limitsOf, OpenConnections } from '../src/open-connections.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

class FakeSocket extends EventEmitter {
  destroyed = false;
  destroy(): void {
    this.destroyed = true;
    this.emit('close');
  }
}

function opened(limits = limitsOf(1_000_000)) {
  const connections = new OpenConnections(limits);
  const server = new EventEmitter();
  connections.watch(server);
  const connect = (): FakeSocket => {
    const socket = new FakeSocket();
    server.emit('connection', socket);
    return socket;
  };
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- only its identity counts
  const known = (socket: FakeSocket): void => connections.known(socket as unknown as Socket);
  return { connections, connect, known };
}

test('one that shows no token for half a minute is closed, one that did stays', () => {
  const { connections, connect, known } = opened();
  const [stranger, guest] = [connect(), connect()];
  known(guest);
  vi.advanceTimersByTime(29_000);
  expect(stranger.destroyed).toBe(false);
  vi.advanceTimersByTime(10_000);
  expect([stranger.destroyed, guest.destroyed]).toEqual([true, false]);
  connections.close();
});

test('of too many the oldest gives way, and never one that is known', () => {
  const { connections, connect, known } = opened();
  const guest = connect();
  known(guest);
  const strangers = Array.from({ length: 1_030 }, connect);
  expect(strangers.filter(({ destroyed }) => destroyed)).toEqual(strangers.slice(0, 6));
  expect(guest.destroyed).toBe(false);
  connections.close();
});

test('descriptors are left for agents and the store, whoever connects: then the newcomer is sent away', () => {
  const limits = limitsOf(256);
  expect(limits).toEqual({ strangers: 64, all: 128 });
  const { connections, connect, known } = opened(limits);
  const guests = Array.from({ length: 128 }, () => {
    const guest = connect();
    known(guest);
    return guest;
  });
  const late = connect();
  expect(late.destroyed).toBe(true);
  expect(guests.filter(({ destroyed }) => destroyed)).toEqual([]);
  guests[0]?.destroy();
  expect(connect().destroyed).toBe(false);
  connections.close();
});
