import { memoryEventLog } from '@concerto/log';
import { type AgentEvent, encodeEvent, type PublicEvent, textContent } from '@concerto/protocol';
import { expect, test } from 'vitest';
import type { Said } from './assistant-history.ts';
import { recallConversation } from './assistant-recall.ts';
import { resultEvent, WithFiles } from './assistant-result.ts';

async function recalled(events: readonly PublicEvent[]): Promise<readonly Said[]> {
  const log = memoryEventLog({ now: () => 0 });
  const entries = events.map((event) => ({ type: event.type, data: encodeEvent(event, '2026-01-01T00:00:00.000Z') }));
  await log.append({ session: 's', streams: [{ stream: 'events', entries }] });
  return await recallConversation(log, 's');
}

const begin = (text: string, turn = 1): AgentEvent[] => [
  { type: 'start', objective: textContent(text, 'user') },
  { type: 'functionCall', callId: `turn-${turn}`, name: 'helper', args: { prompt: text }, isTurn: true },
];
const say = (text: string, messageId?: string): AgentEvent => ({
  type: 'content',
  content: textContent(text),
  ...(messageId === undefined ? {} : { messageId }),
});
const call = (id: string, messageId = 'm1'): AgentEvent => ({
  type: 'functionCall',
  callId: id,
  name: 'look',
  args: { at: id },
  messageId,
});
const looked = (id: string): AgentEvent => resultEvent({ id, name: 'look', args: {} }, new WithFiles('a tree', []));
const end = (text: string, turn = 1, messageId?: string): AgentEvent[] => [
  { type: 'subagentFinish', callId: `turn-${turn}` },
  {
    type: 'functionResult',
    callId: `turn-${turn}`,
    content: { parts: [{ functionResponse: { name: 'helper', response: { text } } }] },
  },
  { ...say(text, messageId), ...(messageId === undefined ? {} : { whole: true as const }) },
  { type: 'turnComplete' },
];

test('nothing was said yet', async () => {
  expect(await recalled([{ type: 'status', status: 'queued' }])).toEqual([]);
});

const hello = [
  { kind: 'user', text: 'Hi' },
  { kind: 'model', text: 'Hello', thought: '', calls: [] },
  { kind: 'user', text: 'And?' },
];

test('a result that names the message it repeats is not said again', async () => {
  const events = [...begin('Hi'), say('Hel', 'm1'), say('lo', 'm1'), ...end('Hello', 1, 'm1'), ...begin('And?', 2)];
  expect(await recalled(events)).toEqual(hello);
});

test('nor is it in a log from before messages had ids', async () => {
  const [start, turn] = begin('Hi');
  const old = [start, { ...turn, isTurn: undefined }].map((event): AgentEvent => JSON.parse(JSON.stringify(event)));
  expect(await recalled([...old, say('Hel'), say('lo'), ...end('Hello'), ...begin('And?', 2)])).toEqual(hello);
});

test('what was said into the turn stands where the model heard it, not where it was accepted', async () => {
  const up: AgentEvent = { type: 'content', content: textContent('Up!', 'user'), messageId: 'q1' };
  const events = [...begin('Look'), say('I look.', 'm1'), call('c1'), looked('c1'), up, say('A tree.', 'm2')];
  expect((await recalled(events)).map(({ kind }) => kind)).toEqual(['user', 'model', 'results', 'user', 'model']);
});

test('a call that was under way when everything ended is lost, and known to be', async () => {
  expect((await recalled([...begin('Look'), call('c1')])).at(-1)).toEqual({
    kind: 'results',
    results: [{ id: 'c1', name: 'look', text: 'lost: it may or may not have been done', failed: true }],
  });
});

test('a log whose beginning is gone begins with its first whole turn', async () => {
  expect(await recalled([say('…the end.', 'm0'), call('c1'), looked('c1'), ...begin('Next')])).toEqual([
    { kind: 'user', text: 'Next' },
  ]);
});
