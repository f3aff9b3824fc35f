import type { Json, JsonObject } from '@concerto/base';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { CodexTranslator } from './codex-translator.ts';

const methods = [
  'turn/started',
  'turn/completed',
  'item/started',
  'item/completed',
  'item/agentMessage/delta',
  'thread/tokenUsage/updated',
  'error',
  'never/heard/of',
];

test('no notification makes us fail, whatever is in it', () => {
  const params = fc.json().map((text): Json => JSON.parse(text));
  fc.assert(
    fc.property(fc.array(fc.tuple(fc.constantFrom(...methods), params), { maxLength: 20 }), (notices) => {
      const translator = new CodexTranslator();
      for (const [method, given] of notices) expect(Array.isArray(translator.read(method, given))).toBe(true);
    }),
  );
});

test('usage is the difference of sums that only grow, however often they are told', () => {
  const step = fc.record({ input: fc.nat(1000), output: fc.nat(1000), times: fc.integer({ min: 1, max: 3 }) });
  fc.assert(
    fc.property(fc.array(step, { minLength: 1, maxLength: 10 }), (steps) => {
      const translator = new CodexTranslator();
      const total = { inputTokens: 0, outputTokens: 0 };
      let counted = 0;
      for (const { input, output, times } of steps) {
        const last = { inputTokens: input, outputTokens: output };
        total.inputTokens += input;
        total.outputTokens += output;
        for (let time = 0; time < times; time++) {
          const params = { threadId: 't', tokenUsage: { total: { ...total }, last } };
          for (const meaning of translator.read('thread/tokenUsage/updated', params)) {
            if (meaning.kind === 'usage') counted += meaning.usage.inputTokens + meaning.usage.outputTokens;
          }
        }
      }
      expect(counted).toBe(total.inputTokens + total.outputTokens);
    }),
  );
});

test('fields in a shape that we do not know do not cost us an answer or the end of a turn', () => {
  const translator = new CodexTranslator();
  const item = { type: 'agentMessage', id: 'm', text: 'Done.', error: 'none', changes: {}, exitCode: 'x' };
  translator.read('item/completed', { threadId: 't', item });
  const turn = { id: 'turn-1', status: 'completed', error: 'none' };
  expect(translator.read('turn/completed', { threadId: 't', turn })).toEqual([
    { kind: 'ended', turnId: 'turn-1', end: { kind: 'completed', text: 'Done.', message: 'm' } },
  ]);
});

test('limits of the account are kept when they are known, and told when one is reached', () => {
  const translator = new CodexTranslator();
  const read = (more: JsonObject) => {
    const rateLimits = { limitId: 'codex', primary: null, secondary: null, rateLimitReachedType: null, ...more };
    return translator.read('account/rateLimits/updated', { rateLimits });
  };
  expect(read({})).toEqual([]);
  expect(read({ primary: { usedPercent: 40 } })).toMatchObject([{ output: { kind: 'events' } }]);
  expect(read({ primary: { usedPercent: 40 } })).toEqual([]);
  expect(read({ rateLimitReachedType: 'usage', primary: { usedPercent: 100, resetsAt: 1_800_000_000 } })).toMatchObject(
    [
      { output: { kind: 'events' } },
      {
        output: {
          raw: { message: 'the limit of its account (usage) is reached; it is renewed at 2027-01-15T08:00:00.000Z' },
        },
      },
    ],
  );
});

test('work whose beginning was not told is seen with its end, and what is told twice is seen once', () => {
  const translator = new CodexTranslator();
  const item = { type: 'commandExecution', id: 'c1', command: 'ls', status: 'completed', aggregatedOutput: 'a' };
  const told = (method: string) =>
    translator.read(`item/${method}`, { threadId: 't', item }).map((meaning) => {
      return meaning.kind === 'say' && meaning.output.kind === 'message' ? meaning.output.raw.type : meaning.kind;
    });
  const whole = ['tool_call', 'began', 'done', 'tool_result'];
  expect(told('completed')).toEqual(whole);
  expect(told('completed')).toEqual([]);
  expect([...told('started'), ...told('started'), ...told('completed')]).toEqual(whole);
  told('started');
  expect(translator.close()).toHaveLength(1);
  expect(told('completed')).toEqual([]);
});
