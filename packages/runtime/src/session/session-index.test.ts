import { memoryEventLog } from '@concerto/log';
import { expect, test } from 'vitest';
import { readInsight } from '../overview/insight.ts';
import { SessionIndex } from './session-index.ts';

const log = memoryEventLog({ now: Date.now });
const at = '2026-01-01T00:00:00.000Z';
const row = {
  kind: 'agent',
  agent: 'coder',
  status: 'idle',
  turn: 1,
  createdAt: at,
  updatedAt: at,
  pending: 0,
  position: 0,
};

async function session(id: string, inputTokens: number | null): Promise<void> {
  const usage = { inputTokens, outputTokens: 0 };
  const value = JSON.stringify({ id, title: id, ...row, usage });
  const record = { type: 'usage-reported', usage, at: Date.parse(at), actor: 'runner:a' };
  const domain = { stream: 'domain', entries: [{ type: record.type, data: JSON.stringify(record) }] } as const;
  const documents = [{ collection: 'sessions', key: id, value, sort: 1, tag: 'idle' }];
  await log.append({ session: id, streams: [domain], documents });
}

test('a session whose row or records cannot be read is left out and told of; all others are as they are', async () => {
  await session('s_good', 7);
  await session('s_broken', null);
  const told: string[] = [];
  const index = new SessionIndex(log, (message) => told.push(message));
  expect((await index.list({ limit: 10 })).sessions.map(({ id }) => id)).toEqual(['s_good']);
  expect(told).toEqual(['session s_broken: its row cannot be read']);
  const insight = await readInsight(log, { now: Date.parse(at), days: 1, offsetMinutes: 0 });
  expect(insight.agents).toMatchObject([{ usage: { inputTokens: 7 } }]);
});
