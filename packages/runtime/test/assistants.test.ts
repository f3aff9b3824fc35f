import { memoryEventLog } from '@concerto/log';
import { type Script, startScriptedModelServer } from '@concerto/models/testing';
import { afterEach, expect, test } from 'vitest';
import { type AssistantStage, openAssistantStage, saidIn } from './assistant-stage.ts';

let stage: AssistantStage;

afterEach(() => stage.close());

test('a turn: the text as it comes, what it cost, the result; the next turn knows the first', async () => {
  stage = await openAssistantStage(['Hello there, Ada.', 'You are Ada.'], { system: 'Be kind.' });
  const id = await stage.begin('I am Ada');
  const first = await stage.afterTurns(id, 1);
  expect(saidIn(first)).toBe('Hello there, Ada.');
  expect(first.filter(({ type }) => type === 'content').length).toBeGreaterThan(2);
  await stage.reached(id, 'idle');
  const session = await stage.sessions.get(id);
  expect(session).toMatchObject({ kind: 'assistant', agent: 'helper', result: { text: 'Hello there, Ada.' } });
  expect(session?.usage).toMatchObject({ inputTokens: 100, outputTokens: 20 });
  await stage.say(id, 'Who am I?');
  await stage.afterTurns(id, 2);
  expect(stage.model.requests[1]?.body.messages).toMatchObject([
    { role: 'system', content: 'Be kind.' },
    { role: 'user', content: 'I am Ada' },
    { role: 'assistant', content: 'Hello there, Ada.' },
    { role: 'user', content: 'Who am I?' },
  ]);
});

test.each(['openai', 'openai-responses', 'anthropic', 'google'])(
  '%s: calls and results, live and read back, are what it takes',
  async (provider) => {
    const log = memoryEventLog({ now: Date.now });
    const options = {
      provider,
      functions: ['current_time', 'ask_user'],
      system: 'Be kind.',
      environment: { OPENAI_API_KEY: 'k', ANTHROPIC_API_KEY: 'k', GEMINI_API_KEY: 'k' },
      log: { ...log, close: async () => {} },
    } as const;
    const time = { tool: 'current_time', arguments: {} };
    const wrong = { tool: 'ask_user', arguments: { question: 1 } };
    stage = await openAssistantStage([[{ text: 'See: ' }, time, wrong], [{ error: { status: 500 } }]], options);
    const id = await stage.begin('What time is it?');
    await stage.afterTurns(id, 1);
    await stage.close();
    stage = await openAssistantStage(['Noon.'], options);
    await stage.say(id, 'Well?');
    const events = await stage.afterTurns(id, 2);
    expect((await stage.sessions.get(id))?.result).toEqual({ text: 'Noon.' });
    expect(events.filter(({ type }) => type === 'functionResult')).toHaveLength(4);
    const asked = JSON.stringify(stage.model.requests[0]?.body);
    for (const heard of ['What time is it?', 'See: ', 'the arguments do not fit', 'Well?'])
      expect(asked).toContain(heard);
    await log.close();
  },
);

test('once: it ends with its first result', async () => {
  stage = await openAssistantStage(['Done.']);
  const id = await stage.begin('Do it', { once: true });
  await stage.until(id, ({ type }) => type === 'finish');
  expect((await stage.events(id)).slice(-2)).toMatchObject([
    { type: 'complete', result: { outcomes: { parts: [{ text: 'Done.' }] } } },
    { type: 'finish' },
  ]);
  expect((await stage.sessions.get(id))?.usage.inputTokens).toBe(100);
  const used = (await stage.events(id)).find(({ type }) => type === 'usage');
  expect(used).toMatchObject({ inputTokens: 100, turn: 1, model: expect.any(String) });
});

test('thoughts are thoughts', async () => {
  stage = await openAssistantStage([[{ thought: 'Hm.\n' }, { thought: 'Yes' }, { thought: '.' }, { text: 'Sure.' }]]);
  const events = await stage.afterTurns(await stage.begin('May I?'), 1);
  expect(events.flatMap(({ type, text }) => (type === 'thought' ? [text] : []))).toEqual(['Hm.\n', 'Yes.']);
  expect(saidIn(events)).toBe('Sure.');
});

test.each([
  ['a refused key', [{ error: { status: 401 } }], 'auth'],
  ['a provider in trouble', [{ error: { status: 500 } }], 'server'],
  ['an answer that breaks off', [{ text: 'Once upon a' }, { drop: true }], 'network'],
  ['a filter', [{ text: 'No' }, { finish: 'filter' }], 'content_filter'],
] as const)('%s ends the turn with an error, and the session goes on', async (_name, failing, code) => {
  stage = await openAssistantStage([failing, 'Here I am.']);
  const id = await stage.begin('Tell me a story');
  const events = await stage.afterTurns(id, 1);
  await stage.reached(id, 'idle');
  const turns = (await stage.sessions.audit(id))?.entries ?? [];
  expect(JSON.stringify(turns)).toContain(`"code":"${code}"`);
  expect(events.filter(({ type }) => type === 'turnComplete')).toMatchObject([{ outcome: 'failed' }]);
  await stage.say(id, 'Are you there?');
  expect(saidIn((await stage.afterTurns(id, 2)).slice(events.length))).toBe('Here I am.');
  const said = saidIn(events);
  expect(stage.model.requests[1]?.body.messages).toMatchObject([
    { role: 'user', content: 'Tell me a story' },
    ...(said === '' ? [] : [{ role: 'assistant', content: said }]),
    { role: 'user', content: 'Are you there?' },
  ]);
});

test('a model that never comes to an end is ended', async () => {
  const script = () => [{ tool: 'current_time', arguments: {} }];
  stage = await openAssistantStage(script, { functions: ['current_time'], maxSteps: 3 });
  const id = await stage.begin('What time is it?');
  const events = await stage.afterTurns(id, 1);
  expect(stage.model.requests).toHaveLength(3);
  expect(JSON.stringify(events.at(-2))).toContain('asked 3 times');
  await stage.reached(id, 'idle');
});

test('an answer that the model could not finish says so', async () => {
  stage = await openAssistantStage([[{ text: 'It is' }, { finish: 'length' }]]);
  const id = await stage.begin('Explain');
  await stage.afterTurns(id, 1);
  expect((await stage.sessions.get(id))?.result).toEqual({ text: 'It is', finish_reason: 'length' });
});

test('a missing key refuses the start and names the variable', async () => {
  const connections = { local: { provider: 'openai', default_model: 'm' } };
  stage = await openAssistantStage([], { connections });
  const id = await stage.begin('Hello');
  const held = await stage.until(id, ({ type, status }) => type === 'status' && status === 'interrupted');
  expect(held.reason).toContain('OPENAI_API_KEY');
  await expect.poll(() => stage.sessions.pool()).toMatchObject({ active: 0 });
});

test('the mock needs nothing, and calls what a line of the prompt names', async () => {
  const connections = { local: { provider: 'mock' } };
  stage = await openAssistantStage([], { connections, functions: ['ask_user'] });
  const id = await stage.begin('/call ask_user {"question": "Which one?"}');
  await stage.reached(id, 'waitingForInput');
  await stage.answer(id, { input: { parts: [{ text: 'the red one' }] } });
  expect(saidIn(await stage.afterTurns(id, 1))).toBe('[mock response to: the red one]');
});

test('an assistant that is not configured is refused by name', async () => {
  stage = await openAssistantStage([]);
  expect(await stage.start({ assistant: 'helpr', prompt: 'x' })).toMatchObject({
    ok: false,
    error: { code: 'no_such_assistant', message: expect.stringContaining('did you mean "helper"') },
  });
  expect(await stage.sessions.agents()).toMatchObject([
    { name: 'helper', kind: 'assistant', capabilities: expect.arrayContaining(['pause', 'steer']) },
  ]);
});

test('a provider that is busy is asked again when it says so, and the session shows it', async () => {
  const busy = { error: { status: 429, message: 'slow down', headers: { 'retry-after-ms': '30' } } };
  const trouble = { error: { status: 529, message: 'overloaded', headers: { 'retry-after-ms': '20' } } };
  const model = await startScriptedModelServer([[busy], [trouble], 'At last.']);
  stage = await openAssistantStage([], {
    connections: { local: { provider: 'custom', base_url: model.url, default_model: 'scripted' } },
  });
  const events = await stage.afterTurns(await stage.begin('Hello'), 1);
  expect(events.filter(({ title }) => title === 'log')).toMatchObject([
    { data: { message: expect.stringMatching(/429: slow down; asked again in 1 s \(2 of 4\)$/) } },
    { data: { message: expect.stringMatching(/529: overloaded; asked again in 2 s \(3 of 4\)$/) } },
  ]);
  expect(events.filter(({ type }) => type === 'turnComplete')).toMatchObject([{ outcome: 'done' }]);
  expect(model.requests).toHaveLength(3);
  await model.close();
});

test('a conversation that outgrows the window is summed up, also within a turn, and the next turn knows the first task', async () => {
  const call = { tool: 'current_time', arguments: { why: 'x'.repeat(1_500) } };
  const bodies: string[] = [];
  const script: Script = ({ body }) => {
    const asked = JSON.stringify(body.messages);
    bodies.push(asked);
    if (asked.includes('You shorten')) return 'Looked at the clock thrice.';
    if (asked.endsWith('"content":"Next"}]')) return 'Still here.';
    return bodies.length < 6 ? [call] : 'Done.';
  };
  stage = await openAssistantStage(script, { functions: ['current_time'], contextTokens: 1_200 });
  const id = await stage.begin('Watch the clock');
  const first = await stage.afterTurns(id, 1);
  const [note] = first.filter(({ data }) => JSON.stringify(data ?? '').includes('"compacted"'));
  expect(note).toMatchObject({ data: { message: expect.stringMatching(/too long for the model/) } });
  const shown = JSON.stringify(note);
  expect(shown).toContain('The first task:\\nWatch the clock');
  expect(shown).toContain('Looked at the clock thrice.');
  await stage.say(id, 'Next');
  await stage.afterTurns(id, 2);
  expect(bodies.at(-1)).toContain('Watch the clock');
  expect(bodies.at(-1)?.length).toBeLessThan(8_000);
});

test('of a session that is deleted nothing is left of what its model was either', async () => {
  stage = await openAssistantStage(['Hi.'], { model: 'scripted' });
  const id = await stage.begin('Hi', { once: true });
  await stage.afterTurns(id, 1);
  const noted = async (): Promise<number> =>
    (await stage.log.listDocuments({ collection: 'agent-details', limit: 10 })).documents.length;
  await expect.poll(noted).toBe(1);
  await expect
    .poll(async () => await stage.sessions.delete(id, { actor: 'user', key: undefined }))
    .toEqual({ ok: true });
  expect(await noted()).toBe(0);
});
