import type { Json, JsonObject } from '@concerto/base';
import { parseAgentLine, type SuspendEvent, textContent } from '@concerto/protocol';
import { describe, expect, test } from 'vitest';
import { answerValue, errorEvent, type Heard, translate } from './translate.ts';

const turn = {
  agent: 'echo',
  number: 1,
  callId: 'turn-1',
  toolName: () => 'Bash',
  knowsMessage: (id: string) => id === 'm1',
};

function translated(raw: JsonObject & { readonly type: string }): Heard {
  const line = parseAgentLine(JSON.stringify(raw));
  if (line.kind !== 'message' || line.message.type === 'init_ack') throw new Error('not for the translation');
  return translate(turn, line.message, line.raw, () => 'req-1');
}

function toldBy(raw: JsonObject & { readonly type: string }): Heard['told'] {
  return translated(raw).told;
}

test('the names of turns are ours: a call of the agent that has one is another call, wherever it is named', () => {
  const named = { id: 'turn-1', name: 'Bash' };
  expect(translated({ type: 'tool_call', ...named, parent: 'turn-2' }).shown).toMatchObject([
    { type: 'functionCall', callId: 'tool-turn-1', parentCallId: 'tool-turn-2' },
  ]);
  expect(translated({ type: 'tool_output', id: 'turn-1', text: 'x' }).shown).toMatchObject([{ callId: 'tool-turn-1' }]);
  expect(translated({ type: 'tool_result', id: 'turn-1' }).shown).toMatchObject([{ callId: 'tool-turn-1' }]);
  const asked = translated({ type: 'approval', description: 'May I?', call: 'turn-1' }).told;
  expect(asked).toMatchObject({ event: { callId: 'tool-turn-1' } });
  const unnamed = translated({ type: 'approval', description: 'May I?', call: '' }).told;
  expect(unnamed).not.toHaveProperty('event.callId');
  expect(translated({ type: 'tool_call', ...named, parent: '' }).shown?.[0]).not.toHaveProperty('parentCallId');
  expect(translated({ type: 'tool_result', id: 'turn-x' }).shown).toMatchObject([{ callId: 'turn-x' }]);
});

/** The table of the contract, row by row. */
describe('how agent messages become events', () => {
  test('progress: functionCallUpdate and subagentAddJson with every field but the type', () => {
    expect(translated({ type: 'progress', message: 'half', percent: 50, stage: 'build', extra: { a: 1 } })).toEqual({
      shown: [
        { type: 'functionCallUpdate', callId: 'turn-1', status: 'half' },
        {
          type: 'subagentAddJson',
          callId: 'turn-1',
          title: 'progress',
          data: { message: 'half', percent: 50, stage: 'build', extra: { a: 1 } },
        },
      ],
    });
  });

  test('log and any unknown type: subagentAddJson under its own name', () => {
    expect(translated({ type: 'log', level: 'warn', message: 'careful' })).toEqual({
      shown: [{ type: 'subagentAddJson', callId: 'turn-1', title: 'log', data: { level: 'warn', message: 'careful' } }],
    });
    expect(translated({ type: 'weather', sky: 'blue' })).toEqual({
      shown: [{ type: 'subagentAddJson', callId: 'turn-1', title: 'weather', data: { sky: 'blue' } }],
    });
  });

  test('partial: content', () => {
    expect(translated({ type: 'partial', text: 'so f' })).toEqual({
      shown: [{ type: 'content', content: { role: 'model', parts: [{ text: 'so f' }] } }],
    });
  });

  test('question: waitForInput, with its context beside the question', () => {
    expect(translated({ type: 'question', id: 'q', question: 'Why?', context: { file: 'a' } })).toEqual({
      shown: [],
      told: {
        type: 'request-opened',
        requestId: 'req-1',
        event: {
          type: 'waitForInput',
          requestId: 'req-1',
          prompt: { role: 'model', parts: [{ text: 'Why?' }, { json: { file: 'a' } }] },
          inputType: 'text',
        },
      },
    });
  });

  test('question with options: waitForChoice; without any, waitForInput', () => {
    expect(toldBy({ type: 'question', question: 'Which?', options: ['red', 'blue'] })).toMatchObject({
      event: {
        type: 'waitForChoice',
        selectionMode: 'single',
        choices: [
          { id: 'option-1', content: textContent('red') },
          { id: 'option-2', content: textContent('blue') },
        ],
      },
    });
    expect(toldBy({ type: 'question', question: 'Which?', options: ['red'], multiple: true })).toMatchObject({
      event: { type: 'waitForChoice', selectionMode: 'multiple' },
    });
    expect(toldBy({ type: 'question', question: 'Which?', options: [] })).toMatchObject({
      event: { type: 'waitForInput' },
    });
  });

  test('approval: the answers that it offers and the call that it is about', () => {
    const options = [
      { id: 'allow', label: 'Allow', kind: 'allow_once' },
      { id: 'ever', name: 'Always', kind: 'allow_always' },
      { id: 'odd', label: 'Odd', kind: 'whatever' },
      'no option',
    ];
    expect(toldBy({ type: 'approval', id: 7, description: 'rm -r', call: 'c-1', options })).toMatchObject({
      event: {
        callId: 'c-1',
        options: [
          { id: 'allow', label: 'Allow', kind: 'allow_once' },
          { id: 'ever', label: 'Always', kind: 'allow_always' },
        ],
      },
    });
  });

  test('approval: queryConsent with its fields as the scope', () => {
    expect(translated({ type: 'approval', id: 7, description: 'rm -r', risk_level: 'high', path: '/tmp' })).toEqual({
      shown: [],
      told: {
        type: 'request-opened',
        requestId: 'req-1',
        event: {
          type: 'queryConsent',
          requestId: 'req-1',
          consentType: 'approval',
          scope: { description: 'rm -r', risk_level: 'high', path: '/tmp' },
          graphUrl: '',
        },
      },
    });
  });

  test.each([
    ['OPEN_WEBPAGE', 'OPEN_WEBPAGE'],
    ['budget', 'approval'],
    ['', 'approval'],
  ])('approval with consent_type %j: consentType %j', (said, shown) => {
    const { told } = translated({ type: 'approval', description: 'x', consent_type: said });
    expect(told).toMatchObject({ event: { consentType: shown, scope: { description: 'x' } } });
    expect(JSON.stringify(told)).not.toContain('consent_type');
  });

  test('result: subagentFinish, functionResult, and its text as a message of its own', () => {
    expect(toldBy({ type: 'result', text: 'done', files: 3 })).toEqual({
      type: 'turn-ended',
      turn: 1,
      outcome: 'result',
      value: { text: 'done', files: 3 },
      result: { success: true, href: '/', outcomes: textContent('done') },
      closing: [
        { type: 'subagentFinish', callId: 'turn-1' },
        {
          type: 'functionResult',
          callId: 'turn-1',
          content: {
            role: 'user',
            parts: [{ functionResponse: { name: 'echo', response: { text: 'done', files: 3 } } }],
          },
          outcome: 'ok',
        },
        { type: 'content', content: { role: 'model', parts: [{ text: 'done' }] }, whole: true },
      ],
      late: [{ type: 'subagentAddJson', callId: 'turn-1', title: 'result', data: { text: 'done', files: 3 } }],
    });
  });

  test('result without text: a json part', () => {
    expect(toldBy({ type: 'result', files: 3 })).toMatchObject({
      closing: [
        { type: 'subagentFinish' },
        { type: 'functionResult' },
        { type: 'content', content: { role: 'model', parts: [{ json: { files: 3 } }] }, whole: true },
      ],
    });
  });

  test('a result whose text was streamed names its message; one without any says nothing more', () => {
    const finish = { type: 'subagentFinish' };
    const result = { type: 'functionResult' };
    expect(toldBy({ type: 'result', text: 'done', message: 'm1' })).toMatchObject({
      closing: [finish, result, { messageId: 'm1', whole: true }],
    });
    expect(toldBy({ type: 'result', message: 'all good' })).toMatchObject({ value: { message: 'all good' } });
    for (const bare of [{ type: 'result' }, { type: 'result', message: 'm1' }]) {
      expect(toldBy(bare)).toMatchObject({ closing: [finish, result] });
    }
  });

  test('thoughts, messages, calls with what they touch, output, results, plan: each is its event', () => {
    const patch = '--- a/x\n+++ b/x\n@@ -1,2 +1,2 @@\n-a\n+b\n+c\n';
    const eventOf = (raw: JsonObject & { type: string }) => translated(raw).shown[0];
    expect(eventOf({ type: 'thought', text: 'hm', message: 'm1' })).toEqual({
      type: 'thought',
      text: 'hm',
      messageId: 'm1',
    });
    expect(eventOf({ type: 'message', id: 7, text: 'All.' })).toEqual({
      type: 'content',
      content: textContent('All.'),
      messageId: '7',
      whole: true,
    });
    expect(
      eventOf({
        type: 'tool_call',
        id: 't1',
        name: 'Edit',
        kind: 'edit',
        parent: 't0',
        changes: [{ path: 'x', patch }],
      }),
    ).toEqual({
      type: 'functionCall',
      callId: 't1',
      name: 'Edit',
      args: {},
      kind: 'edit',
      changes: [{ path: 'x', kind: 'edit', patch, added: 2, removed: 1 }],
      parentCallId: 't0',
    });
    expect(eventOf({ type: 'tool_output', id: 't1', text: 'x' })).toEqual({
      type: 'toolOutput',
      callId: 't1',
      text: 'x',
    });
    expect(eventOf({ type: 'tool_result', id: 't1', content: 'no', outcome: 'denied' })).toMatchObject({
      type: 'functionResult',
      outcome: 'denied',
      content: { parts: [{ functionResponse: { name: 'Bash', response: { error: 'no' } } }] },
    });
    expect(eventOf({ type: 'plan', entries: [{ content: 'Read' }] })).toEqual({
      type: 'plan',
      entries: [{ content: 'Read', status: 'pending' }],
    });
    expect(toldBy({ type: 'usage', input_tokens: 3, output_tokens: 4, cost_usd: 0.5, model: 'm' })).toEqual({
      type: 'usage',
      usage: { inputTokens: 3, outputTokens: 4, costMicroUsd: 500_000 },
      source: { model: 'm' },
    });
  });

  test('an approval says which call it is about and what it touches', () => {
    expect(
      toldBy({ type: 'approval', description: 'rm', call: 't1', paths: ['x'], changes: [{ path: 'x' }] }),
    ).toMatchObject({
      event: { callId: 't1', locations: [{ path: 'x' }], changes: [{ path: 'x', kind: 'edit', patch: '' }] },
    });
  });

  test('a binary edit is a change without lines', () => {
    const said = translated({
      type: 'tool_result',
      id: 't1',
      changes: [{ path: 'a.png', kind: 'edit', patch: 'Binary files a/a.png and b/a.png differ' }],
    });
    expect(said.shown[0]).toMatchObject({
      changes: [{ path: 'a.png', added: 0, removed: 0, patch: expect.stringContaining('Binary') }],
    });
  });

  test('of a patch of 10 MB the beginning is shown, and the counts are those of all of it', () => {
    const patch = `@@ -1 +1 @@\n${'+0123456789\n'.repeat(1_000_000)}`;
    const said = translated({ type: 'tool_call', id: 't1', name: 'Edit', changes: [{ path: 'a\nb', patch }] });
    const [event] = said.shown;
    const change = event?.type === 'functionCall' ? event.changes?.[0] : undefined;
    expect(change).toMatchObject({ path: 'a\nb', added: 1_000_000, removed: 0 });
    expect(change?.patch.length).toBeLessThan(300_000);
  });

  test('error: subagentError, with the agent’s code or ours', () => {
    expect(toldBy({ type: 'error', message: 'no luck' })).toEqual({
      type: 'turn-ended',
      turn: 1,
      outcome: 'error',
      error: { code: 'agent_error', message: 'no luck' },
      closing: [errorEvent('turn-1', 'no luck')],
      late: [{ type: 'subagentAddJson', callId: 'turn-1', title: 'error', data: { message: 'no luck' } }],
    });
    expect(toldBy({ type: 'error', message: 'no luck', code: 'E42' })).toMatchObject({ error: { code: 'E42' } });
  });

  test('ack: which request it confirms', () => {
    expect(toldBy({ type: 'ack', in_reply_to: 'pause', in_reply_to_id: 'c-1' })).toEqual({
      type: 'control-acked',
      requestId: 'c-1',
    });
  });
});

describe('what the agent gets for an answer', () => {
  const prompt = textContent('?');
  const input: SuspendEvent = { type: 'waitForInput', requestId: 'r', prompt, inputType: 'text' };
  const choice: SuspendEvent = {
    type: 'waitForChoice',
    requestId: 'r',
    prompt,
    selectionMode: 'single',
    choices: [
      { id: 'option-1', content: textContent('red') },
      { id: 'option-2', content: textContent('blue') },
    ],
  };
  const consent: SuspendEvent = {
    type: 'queryConsent',
    requestId: 'r',
    consentType: 'approval',
    scope: {},
    graphUrl: '',
  };
  const content = { role: 'user', parts: [{ text: 'two' }, { text: 'lines' }] };

  test.each<[string, SuspendEvent, Json, Json]>([
    ['content for an input is its text', input, { input: content }, 'two\nlines'],
    ['any other JSON for an input is passed on', input, { answer: 42 }, { answer: 42 }],
    ['plain text for an input is passed on', input, 'yes', 'yes'],
    ['null is passed on', input, null, null],
    ['a selected option is its text', choice, { selected: ['option-2'] }, 'blue'],
    ['several are an array of texts', choice, { selected: ['option-2', 'option-1'] }, ['blue', 'red']],
    ['an unknown option is passed on as it is', choice, { selected: ['option-9'] }, 'option-9'],
    ['content for a choice is its text', choice, { input: content }, 'two\nlines'],
    ['any other JSON for a choice is passed on', choice, 'green', 'green'],
    ['true for an approval is yes', consent, true, 'yes'],
    ['false for an approval is no', consent, false, 'no'],
    ['any other JSON for an approval is passed on', consent, { remember: true }, { remember: true }],
  ])('%s', (_, event, response, value) => {
    expect(answerValue(event, response)).toEqual(value);
  });
});
