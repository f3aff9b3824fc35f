import { createRequire } from 'node:module';
import { join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { type AssistantStage, openAssistantStage } from './assistant-stage.ts';

const everythingPath = createRequire(join(import.meta.dirname, '../../models/package.json')).resolve(
  '@modelcontextprotocol/server-everything/dist/index.js',
);
const node = { transport: 'stdio', command: process.execPath };
const everything = { ...node, args: [everythingPath, 'stdio'] };
const asking = { ...node, args: [join(import.meta.dirname, 'agents/asking-server.mjs')] };
let stage: AssistantStage;

afterEach(() => stage.close());

async function begin(tool: string, servers: Record<string, unknown>): Promise<string> {
  stage = await openAssistantStage([[{ tool, arguments: {} }], 'So be it.'], { servers });
  return await stage.begin('Ask them');
}

async function told(id: string): Promise<string> {
  await stage.afterTurns(id, 1);
  const messages = stage.model.requests[1]?.body.messages;
  return String(Object(Array.isArray(messages) ? messages[2] : undefined).content);
}

/** The question that is open once it asks for this. */
async function asks(id: string, about: string): Promise<Record<string, unknown>> {
  return await stage.until(
    id,
    ({ type, prompt }) => String(type).startsWith('waitFor') && JSON.stringify(prompt).includes(about),
  );
}

test('a form is a question for each field; what does not fit is asked for again, what may be is left out', async () => {
  const id = await begin('all__trigger-elicitation-request', { all: everything });
  const first = await asks(id, 'Your full, legal name');
  expect(first).toMatchObject({ type: 'waitForInput', callId: expect.stringContaining('call') });
  expect(JSON.stringify(first.prompt)).toContain('all asks (1 of 13)');
  await stage.answer(id, 'Ada');
  const second = await asks(id, 'Agree to the terms');
  expect(second).toMatchObject({ type: 'waitForChoice', choices: [{}, {}, {}, {}] });
  await stage.answer(id, { selected: ['option-1'] });
  await asks(id, 'Favorite first line');
  await stage.answer(id, 'skip');
  await asks(id, 'Your email address');
  await stage.answer(id, 'nowhere');
  await asks(id, 'Please answer with something else');
  await stage.answer(id, 'ada@example.com');
  for (const about of ['Portfolio', 'date of birth', 'favorite integer', 'Favorite number', 'favorite friend']) {
    await asks(id, about);
    await stage.answer(id, 'skip');
  }
  await asks(id, 'favorite instruments');
  await stage.answer(id, { selected: ['option-1', 'option-2'] });
  for (const about of ['favorite hero', 'types of fish', 'type of pet']) {
    await asks(id, about);
    await stage.answer(id, 'skip');
  }
  const result = await told(id);
  for (const given of ['Name: Ada', 'Agreed to terms: true', 'Email: ada@example.com', 'Favorite Integer: 42', 'Piano'])
    expect(result).toContain(given);
  const requests = (await stage.events(id)).filter(({ type }) => String(type).startsWith('waitFor'));
  const settled = (await stage.events(id)).filter(({ type }) => type === 'requestSettled');
  expect(settled).toHaveLength(requests.length);
});

test.each([
  ['in one go', { which: 'that' }, '{"action":"accept","content":{"which":"that"}}'],
  ['in the words of the protocol', { action: 'accept', content: { which: 'it' } }, '"content":{"which":"it"}'],
  ['with a no', 'decline', '{"action":"decline"}'],
  ['by leaving', { action: 'cancel' }, '{"action":"cancel"}'],
])('a form can be answered %s', async (_how, answer, heard) => {
  const id = await begin('own__patient', { own: asking });
  await asks(id, 'Which?');
  await stage.answer(id, { witch: 'that' });
  await asks(id, 'Please answer with which: an answer is required');
  await stage.answer(id, answer);
  expect(await told(id)).toContain(heard);
});

test('a form without fields is a consent', async () => {
  const id = await begin('own__sure', { own: asking });
  const asked = await stage.until(id, ({ type }) => type === 'queryConsent');
  expect(asked).toMatchObject({ scope: { description: 'Delete all of it?', server: 'own' } });
  await stage.answer(id, false);
  expect(await told(id)).toBe('{"action":"decline"}');
});

test('what the server does not wait for any more is withdrawn', async () => {
  const id = await begin('own__hasty', { own: asking });
  await asks(id, 'Quick');
  expect(await told(id)).toContain('nobody');
  expect(await stage.sessions.requests(id)).toEqual({ requests: [] });
});

test('an interrupt ends the question and the call', async () => {
  const id = await begin('own__sure', { own: asking });
  await stage.until(id, ({ type }) => type === 'queryConsent');
  await stage.control(id, 'interrupt');
  await stage.reached(id, 'interrupted');
  expect(await stage.sessions.requests(id)).toEqual({ requests: [] });
});
