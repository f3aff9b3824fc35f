import { fileURLToPath } from 'node:url';
import { memoryEventLog } from '@concerto/log';
import type { Script } from '@concerto/models/testing';
import { afterEach, expect, test } from 'vitest';
import type { CatalogEntry } from '../src/index.ts';
import { type AssistantStage, type AssistantStageOptions, openAssistantStage } from './assistant-stage.ts';

let stage: AssistantStage;

afterEach(() => stage.close());

const file = fileURLToPath(new URL('../../agents/test/agents/ndjson.mjs', import.meta.url));
const coder: CatalogEntry = {
  kind: 'agent',
  name: 'coder',
  description: 'Writes code',
  spec: { name: 'coder', command: process.execPath, args: [file] },
  initTimeoutMs: 10_000,
};

const call = (prompt: string) => ({ tool: 'coder', arguments: { prompt } });

async function open(script: Script, options: AssistantStageOptions = {}): Promise<void> {
  stage = await openAssistantStage(script, { agents: ['coder'], others: () => [coder], ...options });
}

/** The session that the assistant opened, once it has. */
async function childOf(parent: string): Promise<string> {
  const shown = await stage.until(
    parent,
    ({ type, childSession }) => type === 'functionCall' && childSession !== undefined,
  );
  const child = String(shown.childSession);
  await expect.poll(async () => await stage.sessions.exists(child), { timeout: 10_000 }).toBe(true);
  return child;
}

test('an agent is a tool: each call is a session below it, and its result is what the model hears', async () => {
  await open([[call('hello'), call('hello')], 'It greets.']);
  const id = await stage.begin('Let it greet');
  const events = await stage.afterTurns(id, 1);
  const calls = events.filter(({ type, childSession }) => type === 'functionCall' && childSession !== undefined);
  expect(calls).toHaveLength(2);
  expect(stage.model.requests[0]?.body).toMatchObject({
    tools: [{ function: { name: 'coder', description: expect.stringContaining('Writes code. An agent') } }],
  });
  expect(stage.model.requests[1]?.body.messages).toMatchObject([
    {},
    { tool_calls: [{}, {}] },
    { role: 'tool', content: 'Hello there.' },
    { role: 'tool', content: 'Hello there.' },
  ]);
  const { sessions } = await stage.sessions.list({ parent: id, limit: 10 });
  expect(sessions.map(({ id: child }) => child).toSorted()).toEqual(
    calls.map(({ childSession }) => String(childSession)).toSorted(),
  );
  expect(sessions[0]).toMatchObject({ kind: 'agent', agent: 'coder', title: 'hello', parent: id, status: 'completed' });
});

test('what it asks goes to a person in its own session, and the assistant waits for the answer', async () => {
  await open([[call('permission')], 'Done.']);
  const id = await stage.begin('Clean up');
  const child = await childOf(id);
  await stage.reached(child, 'waitingForApproval');
  await stage.until(id, ({ type, status }) => type === 'functionCallUpdate' && status === 'waits for an answer');
  await stage.answer(child, 'yes');
  await stage.afterTurns(id, 1);
  expect(stage.model.requests[1]?.body.messages).toMatchObject([{}, {}, { role: 'tool', content: '"yes"' }]);
});

/** Asks, and goes on without an answer where it gets none; it takes its time to stop. */
const undeterred = `
const lines = require('node:readline').createInterface({ input: process.stdin });
const say = (message) => console.log(JSON.stringify(message));
say({ type: 'init_ack', capabilities: ['interrupt', 'cancel'] });
lines.on('line', (line) => {
  const message = JSON.parse(line.startsWith('{') ? line : JSON.stringify({ type: 'prompt' }));
  if (message.type === 'prompt') say({ type: 'question', id: 'q1', question: 'Which?' });
  if (message.type === 'response') say({ type: 'result', text: 'then without' });
  if (message.type === 'interrupt' || message.type === 'cancel')
    setTimeout(() => say({ type: 'ack', in_reply_to: message.type, in_reply_to_id: message.id }), 300);
});
`;

test.each(['cancel', 'interrupt'] as const)(
  'what an agent hands over that somebody has asked to %s is no result: the model hears that it was stopped',
  async (verb) => {
    const spec = { name: 'coder', command: process.execPath, args: ['-e', undeterred] };
    await open([[call('go')], 'Never mind.'], { others: () => [{ ...coder, spec }] });
    const id = await stage.begin('Do it');
    const child = await childOf(id);
    await stage.reached(child, 'waitingForInput');
    await stage.control(child, verb);
    await stage.afterTurns(id, 1);
    const heard = JSON.stringify(stage.model.requests[1]?.body.messages);
    expect(heard).toContain('its session was');
    expect(heard).not.toContain('then without');
  },
);

test.each(['cancel', 'interrupt'] as const)('a %s of the assistant ends what works for it', async (verb) => {
  await open([[call('wait')], 'Never mind.']);
  const id = await stage.begin('Do it');
  const child = await childOf(id);
  await stage.until(child, ({ type }) => type === 'content');
  await stage.control(id, verb);
  await stage.reached(child, 'cancelled');
  if (verb === 'cancel') return;
  await stage.say(id, 'Go on');
  await stage.afterTurns(id, 2);
  expect(stage.model.requests[1]?.body.messages).toMatchObject([
    {},
    {},
    { role: 'tool', content: 'the turn was interrupted' },
    {},
  ]);
});

test('a pause holds it with the assistant, and a resume lets both go on', async () => {
  await open([[call('permission')], 'Done.']);
  const id = await stage.begin('Clean up');
  const child = await childOf(id);
  await stage.reached(child, 'waitingForApproval');
  await stage.control(id, 'pause');
  await stage.reached(id, 'paused');
  await stage.reached(child, 'paused');
  await stage.control(id, 'resume');
  const status = async (): Promise<string | undefined> => (await stage.sessions.get(child))?.status;
  await expect.poll(status, { timeout: 10_000 }).toBe('waitingForApproval');
  await stage.answer(child, 'no');
  await stage.afterTurns(id, 1);
});

test('one that fails, cannot start, or is ended by a person is an error that the model reads', async () => {
  const broken: CatalogEntry = { ...coder, name: 'broken', spec: { name: 'broken', command: '/nowhere/agent' } };
  const calls = [call('exit'), { tool: 'broken', arguments: { prompt: 'x' } }, { tool: 'coder', arguments: {} }];
  await open([calls, 'I see.'], { agents: ['coder', 'broken'], others: () => [coder, broken] });
  const id = await stage.begin('Try');
  await stage.afterTurns(id, 1);
  expect(stage.model.requests[1]?.body.messages).toMatchObject([
    {},
    {},
    { role: 'tool', content: expect.stringContaining('7') },
    { role: 'tool', content: expect.stringContaining('/nowhere/agent') },
    { role: 'tool', content: expect.stringContaining('prompt: is a text') },
  ]);
  const { sessions } = await stage.sessions.list({ parent: id, limit: 10 });
  expect(sessions.map(({ status }) => status)).toEqual(['failed', 'failed']);
});

test('another assistant works in a session of its own; what it uses counts for the budget of the first', async () => {
  const usage = { input: 60, output: 0 };
  const script: Script = ({ body }) => {
    const heard = JSON.stringify(body.messages);
    if (!heard.includes('Ask around')) return [{ text: 'ok' }, { usage }];
    const next = heard.includes('"tool"') ? { text: 'end' } : { tool: 'inner', arguments: { prompt: 'Say ok' } };
    return [next, { usage }];
  };
  await open(script, { agents: ['inner'], others: (own) => [{ ...own, name: 'inner' }] });
  const id = await stage.begin('Ask around', { budget: { tokens: 100 } });
  await stage.reached(id, 'paused');
  expect(stage.model.requests).toHaveLength(2);
  expect(await stage.sessions.get(id)).toMatchObject({ budget: { spent: { tokens: 120 } } });
  await stage.answer(id, 'more');
  await stage.afterTurns(id, 1);
  expect((await stage.sessions.get(id))?.result).toEqual({ text: 'end' });
});

test('assistants that call each other come to an end', async () => {
  const again = [{ tool: 'helper', arguments: { prompt: 'deeper' } }];
  const script: Script = ({ body }) => (JSON.stringify(body.messages).includes('"tool"') ? 'up' : again);
  await open(script, { agents: ['helper'], others: () => [] });
  const id = await stage.begin('deep');
  await stage.afterTurns(id, 1);
  expect(stage.model.requests).toHaveLength(10);
  const told = stage.model.requests.map(({ body }) => JSON.stringify(body.messages));
  expect(told.filter((text) => text.includes('sessions may be 5 deep'))).toHaveLength(1);
});

test('after a restart a call is not made again: the model hears what became of it', async () => {
  const log = memoryEventLog({ now: Date.now });
  const kept = { ...log, close: async () => {} };
  await open([[call('wait')]], { log: kept });
  const id = await stage.begin('Do it');
  const child = await childOf(id);
  await stage.until(child, ({ type }) => type === 'content');
  await stage.close();
  await open(['Well.'], { log: kept });
  await stage.reached(child, 'cancelled');
  await stage.say(id, 'And?');
  await stage.afterTurns(id, 2);
  expect((await stage.sessions.list({ parent: id, limit: 10 })).sessions).toHaveLength(1);
  expect(JSON.stringify(stage.model.requests[0]?.body.messages)).toContain('lost');
  await log.close();
});
