import type { WorkEvent } from '@concerto/protocol';
import { expect, test } from 'vitest';
import { OpenCalls } from './open-calls.ts';

const call = (callId: string, name = 'Bash'): WorkEvent => ({ type: 'functionCall', callId, name, args: {} });
const result = (callId: string): WorkEvent => ({ type: 'functionResult', callId, content: { parts: [] } });

test('every call has one result: one that is made again under an id that is open closes the one before', () => {
  const calls = new OpenCalls();
  const shown = calls.checked([call('c1'), call('c1', 'Read'), result('c1'), result('c1'), call('c1')], 1);
  expect(shown.map(({ type }) => type)).toEqual([
    'functionCall',
    'functionResult',
    'functionCall',
    'functionResult',
    'subagentAddJson',
    'functionCall',
  ]);
  const part = { functionResponse: { name: 'Bash', response: { error: 'another call was made under its id' } } };
  expect(shown[1]).toMatchObject({ callId: 'c1', outcome: 'cancelled', content: { role: 'user', parts: [part] } });
  expect(shown[2]).toMatchObject({ callId: 'c1', name: 'Read' });
  expect(calls.list).toEqual([{ callId: 'c1', name: 'Bash' }]);
});

test('a copy and what it was made from go on by themselves', () => {
  const calls = new OpenCalls();
  calls.see([call('c1')]);
  const copy = calls.copy();
  const second = copy.copy();
  expect(copy.list).toEqual([{ callId: 'c1', name: 'Bash' }]);
  copy.see([call('c2', 'Read')]);
  calls.see([result('c1')]);
  const listed = [calls, copy, second].map(({ list }) => list.map(({ callId }) => callId));
  expect(listed).toEqual([[], ['c1', 'c2'], ['c1']]);
  calls.see([call('c3')]);
  expect([calls.has('c3'), copy.has('c3'), second.has('c1')]).toEqual([true, false, true]);
});
