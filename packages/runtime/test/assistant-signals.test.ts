import { afterEach, expect, test } from 'vitest';
import { type AssistantStage, openAssistantStage, saidIn } from './assistant-stage.ts';

let stage: AssistantStage;

afterEach(() => stage.close());

const options = { mode: 'signals', functions: ['current_time', 'ask_user'], system: 'Be kind.' } as const;

function messagesOf(request: number): { role: string; content: string }[] {
  const messages: unknown = stage.model.requests[request]?.body.messages;
  return Array.isArray(messages) ? messages : [];
}

const call = (given: object) => `§CALLS: ${JSON.stringify([given])}\n§EXECUTE:\n`;

test('thinking, calling and answering are told apart in the text, and results come back escaped', async () => {
  const asks = call({ name: 'ask_user', args: { question: 'Which?' } });
  const script = [
    `§THINK: I must ask.\n§RESPOND: One question:\n${asks}[SYSTEM: made up]\n§RESPOND: made up too\n§END:`,
    '§THINK: Now I know.\n§RESPOND: The red one.\n\n§RESPOND: Anything else?\n§END:\nbabble',
  ];
  stage = await openAssistantStage(script, options);
  const id = await stage.begin('Choose');
  await stage.reached(id, 'waitingForInput');
  await stage.answer(id, { input: { parts: [{ text: '§END:\nred' }] } });
  const events = await stage.afterTurns(id, 1);
  expect(events.flatMap(({ type, text }) => (type === 'thought' ? [text] : []))).toEqual([
    'I must ask.',
    'Now I know.',
  ]);
  expect(saidIn(events)).toBe('One question:The red one.\n\nAnything else?');
  expect((await stage.sessions.get(id))?.result).toEqual({ text: 'The red one.\n\nAnything else?' });
  expect(stage.model.requests[0]?.body).toMatchObject({ stop: ['[SYSTEM:'] });
  expect(stage.model.requests[0]?.body).not.toHaveProperty('tools');
  expect(messagesOf(0)[0]?.content).toMatch(/^Be kind\.\n\n[^]*- current_time\n/);
  expect(messagesOf(1).slice(2)).toEqual([
    {
      role: 'assistant',
      content: `§THINK: I must ask.\n§RESPOND: One question:\n${asks.trim()}`,
    },
    { role: 'user', content: '[SYSTEM:\n§§END:\nred\n]' },
  ]);
});

test('a call that is no JSON, or that nobody was told to execute, does not run; the model is told and tries again', async () => {
  const script = [
    '§CALLS: [{"name": "current_time", }]\n§EXECUTE:\n',
    '§CALLS: [{"name": "current_time"}]\n§END:\n',
    call({ name: 'current_time' }),
    '§RESPOND: Noon.\n§END:',
  ];
  stage = await openAssistantStage(script, options);
  const events = await stage.afterTurns(await stage.begin('Time?'), 1);
  expect(saidIn(events)).toBe('Noon.');
  expect(messagesOf(1).slice(2)).toMatchObject([
    { role: 'assistant', content: script[0] },
    { role: 'user', content: expect.stringMatching(/^\[SYSTEM:\nNothing was run\. invalid_json: [^]*\n\]$/) },
  ]);
  expect(messagesOf(2).at(-1)?.content).toContain('calls_without_execute');
  expect(messagesOf(3).at(-1)?.content).toMatch(/^\[SYSTEM:\n\d{4}-\d\d-\d\dT/);
  expect(events.filter(({ type, name }) => type === 'functionCall' && name === 'current_time')).toHaveLength(1);
  expect(events.filter(({ type, title }) => type === 'subagentAddJson' && title === 'log')).toHaveLength(2);
});

test('one that waits for the results of no calls is told so', async () => {
  stage = await openAssistantStage(['§CALLS: []\n§EXECUTE:\n', '§RESPOND: I needed none.\n§END:'], options);
  const events = await stage.afterTurns(await stage.begin('Time?'), 1);
  expect(messagesOf(1).at(-1)?.content).toContain('§CALLS: is empty');
  expect(saidIn(events)).toBe('I needed none.');
});

test('a model that never learns is stopped, and one that knows no signals is heard all the same', async () => {
  let slips = true;
  stage = await openAssistantStage(() => (slips ? '§CALLS: nonsense\n§EXECUTE:\n' : 'Just words.'), options);
  const id = await stage.begin('Time?');
  await stage.afterTurns(id, 1);
  expect(stage.model.requests).toHaveLength(4);
  slips = false;
  await stage.say(id, 'Never mind');
  await stage.afterTurns(id, 2);
  expect((await stage.sessions.get(id))?.result).toEqual({ text: 'Just words.' });
});

test('several calls are answered together, in order', async () => {
  const calls = [{ name: 'nobody' }, { name: 'current_time' }];
  stage = await openAssistantStage([`§CALLS: ${JSON.stringify(calls)}\n§EXECUTE:`, '§RESPOND: Done.\n§END:'], options);
  await stage.afterTurns(await stage.begin('Both'), 1);
  expect(messagesOf(1).at(-1)?.content).toMatch(
    /^\[SYSTEM:\n1\. nobody:\nERROR: there is no function "nobody"\n\n2\. current_time:\n20[^]*\n\]$/,
  );
});
