import type { FoldedEvent } from '@concerto/protocol';
import { expect, test } from 'vitest';
import { ModelRequests } from './model-requests.ts';

const at = '2026-01-01T00:00:00.000Z';
type Bare = FoldedEvent extends infer One ? (One extends FoldedEvent ? Omit<One, 'at' | 'seq'> : never) : never;

function asked(...events: readonly Bare[]): unknown[] {
  const requests = new ModelRequests();
  return events.flatMap((event, index) => {
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- with what every stored event has
    const request = requests.take({ ...event, at, seq: index + 1 } as FoldedEvent);
    return request === undefined ? [] : [request.body.contents.map(({ role, parts }) => [role, ...parts])];
  });
}

const user = (text: string) => ({ role: 'user', parts: [{ text }] });
const say = (text: string, messageId: string): Bare => ({
  type: 'content',
  content: { role: 'model', parts: [{ text }] },
  messageId,
});
const call = (id: string, messageId: string): Bare => ({
  type: 'functionCall',
  callId: id,
  name: 'f',
  args: {},
  messageId,
});
const response = { functionResponse: { name: 'f', response: { result: 1 } } };
const result = (callId: string): Bare => ({
  type: 'functionResult',
  callId,
  content: { role: 'user', parts: [response] },
  outcome: 'ok',
});

test('each answer is asked for with all that was said before it; results stand together, a steer where it was heard', () => {
  const called = (id: string) => ({ functionCall: { id, name: 'f', args: {} } });
  const first = [['user', { text: 'Go' }]];
  const second = [...first, ['model', { text: 'One. ' }, called('a'), called('b')], ['user', response, response]];
  expect(
    asked(
      { type: 'start', objective: user('Go') },
      { type: 'functionCall', callId: 'turn-1', name: 'helper', args: {}, isTurn: true },
      { type: 'thought', text: 'Hm', messageId: 'm1' },
      say('One', 'm1'),
      say('. ', 'm1'),
      call('a', 'm1'),
      call('b', 'm1'),
      result('b'),
      result('a'),
      call('c', 'm2'),
      result('c'),
      { type: 'content', content: user('Wait'), messageId: 'q1' },
      say('Done', 'm3'),
    ),
  ).toEqual([first, second, [...second, ['model', called('c')], ['user', response], ['user', { text: 'Wait' }]]]);
});

test('what became a summary is asked as one', () => {
  const data = { message: 'too long', compacted: { summary: 'Before: much', kept: 1 } };
  expect(
    asked(
      { type: 'start', objective: user('Go') },
      say('One', 'm1'),
      { type: 'turnComplete', outcome: 'done' },
      { type: 'start', objective: user('On') },
      { type: 'subagentAddJson', callId: 'turn-2', title: 'log', data },
      say('Two', 'm2'),
    ),
  ).toEqual([
    [['user', { text: 'Go' }]],
    [
      ['user', { text: 'Before: much' }],
      ['user', { text: 'On' }],
    ],
  ]);
});
