import { expect, test } from 'vitest';
import type { PublicEvent } from './agent-event.ts';
import { encodeEvent } from './stored-event.ts';

const at = '2026-01-02T03:04:05.678Z';

test.each<PublicEvent>([
  { type: 'finish' },
  { type: 'functionCallUpdate', callId: 'turn-1', status: null },
  { type: 'subagentAddJson', callId: 'turn-1', title: 'brace }', data: { nested: { text: '"}' }, at: 'its own' } },
])('an event is stored with its own fields, then when it was recorded: $type', (event) => {
  expect(encodeEvent(event, at)).toBe(JSON.stringify({ ...event, at }));
});

test('half a character is stored as one that cannot be read; a backslash that was said stays', () => {
  const event: PublicEvent = { type: 'thought', text: 'a\ud83d b\ude00 c😀 \\ud83d \\\\\ud83d' };
  const half = encodeEvent(event, at);
  expect(JSON.parse(half)).toMatchObject({ text: 'a\ufffd b\ufffd c😀 \\ud83d \\\\\ufffd' });
  expect(half).not.toMatch(/[^\\](?:\\\\)*\\ud/);
});
