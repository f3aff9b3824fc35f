import type { JsonObject } from '@concerto/base';
import { expect, test } from 'vitest';
import { WireCheck } from '../src/doctor/wire-check.ts';

type Step = 'prompt' | 'answered' | JsonObject;

/** What is found, of an agent that says this; `prompt` is ours, and `answered`, to the question of the id `q`. */
function found(...steps: readonly Step[]): readonly string[] {
  const wire = new WireCheck('result', new Set());
  for (const step of steps) {
    if (step === 'prompt') wire.prompted();
    else if (step === 'answered') wire.answered('question', 'q');
    else wire.line(JSON.stringify(step));
  }
  return wire.findings('wire').map(({ status, message }) => `${status} ${message}`);
}

const result = { type: 'result', text: 'Done.' };
const call = (id: string, more: JsonObject = {}) => ({ type: 'tool_call', id, name: 'Bash', ...more });
const ended = (id: string) => ({ type: 'tool_result', id, content: 'ok' });
const question = { type: 'question', id: 'q', question: 'Which?' };

test('calls that begin and end, each with its own id', () => {
  expect(
    found('prompt', call('a'), call('b', { parent: 'a' }), ended('b'), ended('a'), call('a'), ended('a'), result),
  ).toEqual([expect.stringMatching(/^ok 7 lines/)]);
});

test.each([
  [
    'an id that a call has which is open',
    [call('a'), call('a'), ended('a')],
    'warn line 2: `tool_call` with the id "a" of a call that is open, which it ends',
  ],
  ['an end without its call', [ended('x')], 'warn line 1: `tool_result` for the id "x", which no open call has'],
  [
    'output after the end',
    [call('a'), ended('a'), { type: 'tool_output', id: 'a', text: 'x' }],
    'warn line 3: `tool_output` for the id "a", which no open call has',
  ],
  [
    'a parent that is none',
    [call('a', { parent: 'a' }), ended('a')],
    'warn line 1: `tool_call`: field `parent`: no call before it has the id "a"',
  ],
  [
    'calls that are left open',
    [call('a'), call('b')],
    'warn line 3: 2 calls are without a `tool_result` at the end of the turn, and shown as cancelled: a, b',
  ],
  [
    'two questions of one id at once',
    [question, question],
    'fail line 2: `question` with the id "q" of one that waits for its answer',
  ],
] as const)('%s', (_what, said, message) => {
  expect(found('prompt', ...said, result)).toEqual([message]);
});

test('the id of a question that is answered may come again', () => {
  expect(found('prompt', question, 'answered', question, 'answered', result)).toEqual([expect.stringMatching(/^ok/)]);
});

test('what belongs to a turn, before it and after it', () => {
  const partial = { type: 'partial', text: 'The ' };
  expect(found(partial, { type: 'progress', message: 'starts' })).toEqual([
    'fail line 1: `partial` before the first prompt',
  ]);
  expect(found('prompt', result, partial, { type: 'log', message: 'bye' }, { type: 'error', message: 'no' })).toEqual([
    'warn line 2: `partial` after the turn had ended',
    'warn line 4: `error` after the turn had ended',
  ]);
});

test('a line that nests so deep that it ends the turn', () => {
  const wire = new WireCheck('result', new Set());
  wire.prompted();
  wire.line(`{"type":"log","message":"m","x":${'['.repeat(600)}${']'.repeat(600)}}`);
  expect(wire.findings('wire')).toMatchObject([
    { status: 'fail', message: 'line 1: `log` nests deeper than 500 levels' },
  ]);
});
