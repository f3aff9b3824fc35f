import { concertoClient } from '@concerto/client';
import { expect, test } from 'vitest';
import { listSessions } from './list-sessions.ts';

/** A server that has so many of each status, and gives them a page at a time. */
const clientOf = (counts: Readonly<Record<string, number>>) =>
  concertoClient({
    url: 'http://server.test',
    fetch: async (input) => {
      const query = new URL(new Request(input).url).searchParams;
      const status = query.get('status');
      const all = Object.entries(counts).flatMap(([name, count]) =>
        status === null || status === name
          ? Array.from({ length: count }, (_, at) => session(`${name}-${at}`, name))
          : [],
      );
      const from = Number(query.get('cursor') ?? 0);
      const end = from + Number(query.get('limit'));
      const more = end < all.length ? { nextCursor: String(end) } : {};
      return Response.json({ sessions: all.slice(from, end), ...more });
    },
  });

const session = (id: string, status: string) => ({
  id,
  title: id,
  kind: 'agent',
  agent: 'echo',
  status,
  turn: 1,
  createdAt: '2026-01-01T00:00:00.000Z',
  updatedAt: '2026-01-01T00:00:01.000Z',
  pending: 0,
  usage: { inputTokens: 0, outputTokens: 0 },
  position: 1,
});

test.each([
  ['all were read', { waitingForInput: 200, idle: 3 }, { mayMoreWait: false, hasMore: true }],
  ['more wait than were read', { waitingForApproval: 201 }, { mayMoreWait: true, hasMore: true }],
  ['only others were not read', { idle: 500, waitingForInput: 2 }, { mayMoreWait: false, hasMore: true }],
])('whether more may wait: %s', async (_what, counts, told) => {
  expect(await listSessions(clientOf(counts), 200)).toMatchObject(told);
});
