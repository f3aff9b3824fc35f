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
