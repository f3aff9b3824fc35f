import { memoryEventLog, type NewEntry } from '@concerto/log';
import { expect, test } from 'vitest';
import { SessionIndex } from './session-index.ts';

const log = memoryEventLog({ now: Date.now });
const index = new SessionIndex(log);
let created = 0;

async function session(
  id: string,
  title: string,
  ...events: readonly (object & { readonly type: string })[]
): Promise<void> {
  created += 1;
  const at = '2026-01-01T00:00:00.000Z';
  const usage = { inputTokens: 0, outputTokens: 0 };
  const row = { id, title, kind: 'agent', agent: 'coder', status: 'idle', turn: 1, createdAt: at, updatedAt: at };
  const value = JSON.stringify({ ...row, pending: 0, usage, position: 0 });
  const entries = events.map((event): NewEntry => ({ type: event.type, data: JSON.stringify({ ...event, at }) }));
  const documents = [{ collection: 'sessions', key: id, value, sort: created, tag: 'idle' }];
  await log.append({ session: id, streams: [{ stream: 'events', entries }], documents });
}

const said = (text: string, messageId = 'm') => ({ type: 'content', content: { parts: [{ text }] }, messageId });
const thought = (text: string) => ({ type: 'thought', text });
const asked = (text: string) => ({ type: 'start', objective: { parts: [{ text }] } });
const find = async (sought: string, more: object = {}) =>
  (await index.list({ sought, limit: 50, ...more })).sessions.map(({ id }) => id);

test('finds titles, what was asked and what was said, whatever the case and however it came in pieces', async () => {
  await session(
    's1',
    'Mend the parser',
    asked('It fails on Umlaute'),
    said('I found the cul'),
    said('prit in lexer.ts'),
  );
  await session('s2', 'Water the plants', asked('Now'), thought('culprit'), said('cul'), asked('prit'));
  await session('s3', 'Nothing', asked('Look at\n "quotes" here'));
  expect(await find('PARSER')).toEqual(['s1']);
  expect(await find('umlaute')).toEqual(['s1']);
  expect(await find('culprit')).toEqual(['s1']);
  expect(await find('"quotes"')).toEqual(['s3']);
  expect(await find('plants now')).toEqual(['s2']);
  expect(await find('coder')).toEqual(['s3', 's2', 's1']);
  expect(await find('plants parser')).toEqual([]);
  expect(await find('   ')).toHaveLength(3);
  expect(await find('parser', { status: 'failed' })).toEqual([]);
});

test('one call looks through so much, and its cursor goes on: in the end everything was looked through', async () => {
  const many = Array.from({ length: 3_000 }, (_, n) => said(`word ${n}`));
  for (let n = 0; n < 30; n++) await session(`long${n}`, 'Long', ...many);
  const found: string[] = [];
  let calls = 0;
  for (let cursor: string | undefined; ; ) {
    const page = await index.list({ sought: 'parser', limit: 50, ...(cursor === undefined ? {} : { cursor }) });
    found.push(...page.sessions.map(({ id }) => id));
    calls += 1;
    cursor = page.nextCursor;
    if (cursor === undefined) break;
  }
  expect(found).toEqual(['s1']);
  expect(calls).toBeGreaterThan(1);
});
