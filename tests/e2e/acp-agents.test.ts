import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Api, apiOf } from '../support/api.ts';
import { type StartedServer, startServer } from '../support/start-server.ts';

const root = dirname(dirname(dirname(fileURLToPath(import.meta.url))));
const scripted = join(root, 'packages/agents/test/agents/acp.mjs');
/** The example of the protocol's authors. */
const example = join(dirname(createRequire(import.meta.url).resolve('acp-example-agent')), 'examples/agent.js');

let folder: string;
let server: StartedServer;
let api: Api;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'concerto-acp-'));
  const agent = (name: string, ...args: string[]): string =>
    `[agents.${name}]\nprotocol = "acp"\ncommand = ${JSON.stringify(process.execPath)}\nargs = ${JSON.stringify(args)}\n`;
  const manifest = [
    '[server]\ninline_tools = "any"',
    agent('scripted', scripted, 'resume'),
    agent('steered', scripted, 'steering'),
    agent('silent', scripted, 'dies'),
    agent('example', example),
  ];
  await writeFile(join(folder, 'Concerto.toml'), manifest.join('\n'));
  server = await startServer({ folder, env: { TOOLS_TOKEN: 'very-secret-token' } });
  api = apiOf(server);
});

afterAll(async () => {
  await server?.stop();
  await rm(folder, { recursive: true, force: true });
});

const isFinish = (event: { type: string }): boolean => event.type === 'finish';
const isQuestion = (event: { requestId?: string; type: string }): boolean =>
  typeof event.requestId === 'string' && event.type !== 'requestSettled';
const textsOf = (events: readonly any[]): string[] =>
  events.filter(({ type }) => type === 'content').map(({ content }) => content.parts[0].text);

async function answer(id: string, requestId: string, response: unknown): Promise<void> {
  expect((await api.post(`/api/sessions/${id}/requests/${requestId}`, { response })).status).toBe(200);
}

describe('a session with an agent of protocol "acp"', () => {
  test('the list of agents says which protocol it speaks, and once it has run what it can do', async () => {
    const { id } = await api.start({ agent: 'steered', prompt: 'hello', once: true });
    await api.until(id, isFinish);
    const { agents } = (await api.get('/api/agents')).body;
    expect(agents.find(({ name }: { name: string }) => name === 'steered')).toMatchObject({
      protocol: 'acp',
      capabilities: expect.arrayContaining(['interrupt', 'cancel', 'steer']),
    });
  });

  test('one turn from its start to its finish', async () => {
    const { id } = await api.start({ agent: 'scripted', prompt: 'tools', once: true });
    const events = await api.until(id, isFinish);
    const types = events.map(({ type }) => type).filter((type) => !['status', 'message'].includes(type));
    expect(types).toEqual([
      'start',
      'functionCall',
      'agentInfo',
      'subagentAddJson',
      'content',
      'thought',
      'functionCall',
      'functionCallUpdate',
      'functionResult',
      'functionCall',
      'plan',
      'content',
      'functionResult',
      'subagentFinish',
      'functionResult',
      'content',
      'turnComplete',
      'complete',
      'finish',
    ]);
    expect(events.at(-2)).toMatchObject({ result: { success: true, outcomes: { parts: [{ text: 'After.' }] } } });
  });

  test.each([
    [true, 'once'],
    [false, 'not'],
    ['ever', 'ever'],
  ])('a permission that is answered with %j takes the option %s', async (response, optionId) => {
    const { id } = await api.start({ agent: 'scripted', prompt: 'permission', once: true });
    const asked = (await api.until(id, isQuestion)).at(-1);
    expect(asked).toMatchObject({
      type: 'queryConsent',
      consentType: 'approval',
      scope: {
        description: '`rm -r build`',
        risk_level: 'high',
        options: [{ id: 'once', name: 'Allow once' }, { id: 'ever' }, { id: 'not' }],
      },
    });
    expect((await api.get(`/api/sessions/${id}`)).body).toMatchObject({ status: 'waitingForApproval' });
    await answer(id, asked.requestId, response);
    const events = await api.until(id, isFinish);
    expect(textsOf(events).at(-1)).toBe(JSON.stringify({ outcome: 'selected', optionId }));
  });

  test('a form is asked field by field, several choices among them', async () => {
    const { id } = await api.start({ agent: 'scripted', prompt: 'form', once: true });
    const responses = [
      { input: { parts: [{ text: 'Ada' }] } },
      '36',
      { selected: ['option-1'] },
      { selected: ['option-1', 'option-3'] },
    ];
    const kinds: string[] = [];
    let seen = 0;
    for (const response of responses) {
      const asked = (await api.until(id, (event) => isQuestion(event) && event.seq > seen)).at(-1);
      seen = asked.seq;
      kinds.push(`${asked.type} ${asked.selectionMode ?? ''}`.trim());
      await answer(id, asked.requestId, response);
    }
    expect(kinds).toEqual(['waitForInput', 'waitForInput', 'waitForChoice single', 'waitForChoice multiple']);
    const events = await api.until(id, isFinish);
    expect(JSON.parse(textsOf(events).at(-1) ?? '')).toEqual({
      action: 'accept',
      content: { name: 'Ada', age: 36, sure: true, colours: ['red', 'blue'] },
    });
  });

  test('an interrupt in an open permission: withdrawn, stopped, and the next message goes on', async () => {
    const { id } = await api.start({ agent: 'scripted', prompt: 'permission, then wait' });
    const asked = (await api.until(id, isQuestion)).at(-1);
    expect((await api.post(`/api/sessions/${id}/interrupt`)).status).toBe(202);
    const events = await api.untilStatus(id, 'interrupted');
    expect(events).toContainEqual(
      expect.objectContaining({ type: 'requestSettled', requestId: asked.requestId, outcome: 'withdrawn' }),
    );
    expect(events.at(-1)).not.toMatchObject({ reason: 'forced' });
    await api.post(`/api/sessions/${id}/messages`, { content: 'hello' });
    const after = await api.until(id, ({ type, seq }) => type === 'turnComplete' && seq > events.length);
    expect(textsOf(after).at(-1)).toBe('Hello there.');
    await api.post(`/api/sessions/${id}/cancel`);
    await api.until(id, isFinish);
  });

  test('an immediate message steers the turn where the agent announces it', async () => {
    const { id } = await api.start({ agent: 'steered', prompt: 'wait for steering', once: true });
    await api.until(id, ({ type }) => type === 'content');
    await api.post(`/api/sessions/${id}/messages`, { content: 'in English', priority: 'immediate' });
    const events = await api.until(id, isFinish);
    expect(textsOf(events).at(-1)).toContain('Steered: in English');
    expect(events.filter(({ type }) => type === 'turnComplete')).toHaveLength(1);
  });

  test('one that does not stop is stopped by force, and goes on with the next message', async () => {
    const { id } = await api.start({ agent: 'scripted', prompt: 'deaf' });
    await api.until(id, ({ type }) => type === 'content');
    await api.post(`/api/sessions/${id}/interrupt`);
    const before = await api.untilStatus(id, 'interrupted');
    await api.post(`/api/sessions/${id}/messages`, { content: 'opened' });
    const after = await api.until(id, ({ type, seq }) => type === 'turnComplete' && seq > before.length);
    expect(JSON.parse(textsOf(after).at(-1) ?? '')).toMatchObject({ how: 'resume' });
    await api.post(`/api/sessions/${id}/cancel`);
    await api.until(id, isFinish);
  });

  test('cancel ends a turn that waits', async () => {
    const { id } = await api.start({ agent: 'scripted', prompt: 'wait' });
    await api.until(id, ({ type }) => type === 'content');
    await api.post(`/api/sessions/${id}/cancel`);
    const events = await api.until(id, isFinish);
    expect(events.at(-2)).toMatchObject({ type: 'error', message: 'cancelled' });
    expect((await api.get(`/api/sessions/${id}`)).body).toMatchObject({ status: 'cancelled' });
  });

  test('a process that is lost is followed by one that goes on with the same conversation', async () => {
    const { id } = await api.start({ agent: 'scripted', prompt: 'exit' });
    const before = await api.untilStatus(id, 'interrupted');
    await api.post(`/api/sessions/${id}/messages`, { content: 'opened' });
    const after = await api.until(id, ({ type, seq }) => type === 'turnComplete' && seq > before.length);
    expect(JSON.parse(textsOf(after).at(-1) ?? '')).toMatchObject({ how: 'resume', sessionId: 'conversation-1' });
    await api.post(`/api/sessions/${id}/cancel`);
    await api.until(id, isFinish);
  });

  test('tools reach it in the protocol’s own form, and a secret is in no event', async () => {
    const servers = {
      web: { transport: 'http', url: 'https://tools.example/mcp', headers: { Authorization: { env: 'TOOLS_TOKEN' } } },
    };
    const { id } = await api.start({ agent: 'scripted', prompt: 'tools?', tools: { servers, deny: ['Bash'] } });
    const greeted = await api.until(id, ({ type }) => type === 'turnComplete');
    expect(textsOf(greeted).at(-1)).toBe('tools?');
    expect(JSON.stringify(greeted)).not.toContain('very-secret-token');
    await api.post(`/api/sessions/${id}/messages`, { content: 'permission' });
    const refused = await api.until(id, ({ type, seq }) => type === 'turnComplete' && seq > greeted.length);
    expect(refused.filter(isQuestion)).toEqual([]);
    expect(textsOf(refused).at(-1)).toBe('{"outcome":"selected","optionId":"not"}');
    await api.post(`/api/sessions/${id}/cancel`);
    await api.until(id, isFinish);
  });

  test('one that cannot start says why', async () => {
    const { id } = await api.start({ agent: 'silent', prompt: 'hello', once: true });
    const events = await api.until(id, isFinish);
    expect(events.find(({ type }) => type === 'error').message).toContain('ended with code 7');
  });
});

describe('the example agent of the protocol’s authors', () => {
  test.each([
    [true, "Perfect! I've successfully updated the configuration."],
    [false, 'I understand you prefer not to make that change.'],
  ])('a turn with a permission that is answered with %j', { timeout: 60_000 }, async (response, text) => {
    const { id } = await api.start({ agent: 'example', prompt: 'Improve the configuration', once: true });
    const asked = (await api.until(id, isQuestion)).at(-1);
    expect(asked.scope).toMatchObject({
      description: expect.stringContaining('Modifying critical configuration file'),
    });
    await answer(id, asked.requestId, response);
    const events = await api.until(id, isFinish);
    expect(textsOf(events).at(-1)).toContain(text);
    const calls = events.filter(({ type, callId }) => type === 'functionCall' && callId.includes('call_'));
    const results = events.filter(({ type, callId }) => type === 'functionResult' && callId.includes('call_'));
    expect(results.map(({ callId }) => callId)).toEqual(calls.map(({ callId }) => callId));
  });
});
