import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import {
  type ScriptedModelServer,
  type ScriptTurn,
  startScriptedModelServer,
} from '../../packages/models/src/testing/scripted-model-server.ts';
import { type Api, apiOf } from '../support/api.ts';
import { runConcerto } from '../support/run-concerto.ts';
import { type StartedServer, startServer } from '../support/start-server.ts';

/** Some tests start the server twice, from source. */
const aMachineUnderLoadMs = 120_000;
const everything = createRequire(join(import.meta.dirname, '../../packages/models/package.json')).resolve(
  '@modelcontextprotocol/server-everything/dist/index.js',
);
const root = join(import.meta.dirname, '../..');
const key = 'sk-assistants-0123456789';

function manifest(modelUrl: string): string {
  const node = JSON.stringify(process.execPath);
  return `
[server]
inline_tools = "any"
[connections.scripted]
provider = "openai"
base_url = "${modelUrl}"
api_key_env = "SCRIPTED_KEY"
default_model = "gpt-4o-mini"
[connections.keyless]
provider = "anthropic"
api_key_env = "A_KEY_THAT_IS_NOT_SET"
default_model = "claude-haiku-4-5"
[mcp.all]
transport = "stdio"
command = ${node}
args = [${JSON.stringify(everything)}, "stdio"]
[mcp.stubborn]
transport = "stdio"
command = ${node}
args = [${JSON.stringify(join(import.meta.dirname, '../support/stubborn-mcp.mjs'))}]
[assistants.helper]
description = "Adds numbers"
connection = "scripted"
system = "You add numbers."
functions = ["ask_user"]
[assistants.helper.tools]
servers = ["all"]
allow = ["all.get-sum", "all.echo", "ask_user"]
ask = ["all.echo"]
[assistants.talker]
connection = "scripted"
mode = "signals"
[assistants.holder]
connection = "scripted"
tools = ["stubborn"]
[agents.waiter]
command = ${node}
args = [${JSON.stringify(join(root, 'packages/agents/test/agents/ndjson.mjs'))}]
[assistants.chief]
connection = "scripted"
agents = ["waiter"]
[assistants.keyless]
connection = "keyless"
[assistants.slip]
connection = "scripted"
functions = ["ask_usr"]
[templates.adder]
assistant = "helper"
prompt = "Add 1 and 2"
tools = { deny = ["all.echo"] }
`;
}

let folder: string;
let model: ScriptedModelServer;
let server: StartedServer;
let api: Api;
let script: ScriptTurn[];
/** Should a test fail before it has seen it go. */
let stubborn: number | undefined;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'concerto-assistants-'));
  model = await startScriptedModelServer(() => script.shift() ?? [{ error: { status: 500, message: 'no more' } }]);
  await writeFile(join(folder, 'Concerto.toml'), manifest(model.url));
  await serve();
});

beforeEach(() => {
  script = [];
});

afterAll(async () => {
  if (stubborn !== undefined && isAlive(stubborn)) process.kill(stubborn, 'SIGKILL');
  await server?.stop();
  await model?.close();
  await rm(folder, { recursive: true, force: true });
});

async function serve(): Promise<void> {
  server = await startServer({ folder, args: ['--store', 'sqlite:store.db'], env: { SCRIPTED_KEY: key } });
  api = apiOf(server);
}

const sum = { tool: 'all__get-sum', arguments: { a: 2, b: 40 } };

test('an assistant works like any session: it is listed, calls a real tool, asks for leave, and tells what it cost', async () => {
  const listed = await api.get('/api/agents');
  expect(listed.body.agents).toContainEqual(
    expect.objectContaining({ name: 'helper', kind: 'assistant', description: 'Adds numbers' }),
  );
  script = [[{ text: 'Adding. ' }, sum], [{ tool: 'all__echo', arguments: { message: 'hi' } }], 'It is 42.'];
  const asked = model.requests.length;
  const { id, kind, agent } = await api.start({ assistant: 'helper', prompt: 'Add 2 and 40' });
  expect({ kind, agent }).toEqual({ kind: 'assistant', agent: 'helper' });
  const consent = (await api.until(id, (event) => event.type === 'queryConsent')).at(-1);
  expect(consent.scope).toMatchObject({ tool: 'all.echo', args: { message: 'hi' } });
  await api.post(`/api/sessions/${id}/requests/${consent.requestId}`, { response: false });
  const events = await api.until(id, (event) => event.type === 'turnComplete');
  expect(events.map((event) => event.type).filter((type) => type.startsWith('function'))).toEqual([
    'functionCall',
    'functionCall',
    'functionResult',
    'functionCall',
    'functionResult',
    'functionResult',
  ]);
  expect(events.find((event) => event.type === 'usage')).toMatchObject({ inputTokens: 100, outputTokens: 20 });
  expect((await api.get(`/api/sessions/${id}`)).body).toMatchObject({
    result: { text: 'It is 42.' },
    usage: { inputTokens: 300, outputTokens: 60 },
    capabilities: expect.arrayContaining(['steer', 'pause', 'resume', 'interrupt', 'cancel']),
  });
  const tools: any = model.requests[asked]?.body.tools;
  expect(tools.map((tool: any) => tool.function.name).toSorted()).toEqual(['all__echo', 'all__get-sum', 'ask_user']);
  const messages: any = model.requests[asked + 2]?.body.messages;
  expect(messages.at(-1)).toMatchObject({ role: 'tool', content: expect.stringContaining('did not allow') });
  expect(JSON.stringify([events, (await api.get(`/api/sessions/${id}/audit`)).body])).not.toContain(key);
});

test('a session is forked from the terminal and over HTTP, once for a key, and outlives its source', async () => {
  script = ['One.', 'Deux.'];
  const started = await api.post('/api/sessions', { assistant: 'talker', prompt: 'Say one' });
  const { id } = started.body;
  await api.untilStatus(id, 'idle');
  const env = { CONCERTO_URL: server.url, CONCERTO_TOKEN: server.token };
  const forked = await runConcerto(['sessions', 'fork', id, 'In French', '--json'], env).ended;
  const fork = JSON.parse(forked.out);
  expect(fork).toMatchObject({ forkOf: { session: id }, title: 'Fork of Say one' });
  let turns = 0;
  await api.until(fork.id, ({ type }) => type === 'turnComplete' && ++turns === 2);
  expect(JSON.stringify(model.requests.at(-1)?.body.messages)).toMatch(/Say one.*One\..*In French/);
  const keyed = { 'idempotency-key': 'fork-1' };
  const twice = [
    await api.post(`/api/sessions/${id}/fork`, {}, keyed),
    await api.post(`/api/sessions/${id}/fork`, {}, keyed),
  ];
  expect(twice.map(({ status }) => status)).toEqual([201, 201]);
  expect(twice[0]?.body.id).toBe(twice[1]?.body.id);
  expect(await api.post(`/api/sessions/${id}/fork`, { at: 1 })).toMatchObject({
    status: 422,
    body: { code: 'cannot_fork' },
  });
  const wrong = await runConcerto(['sessions', 'fork', id, '--at', 'x'], env).ended;
  expect([wrong.code, wrong.err]).toEqual([2, expect.stringContaining('--at is the number of an event')]);
});

test('a run shows what its model was asked to who wants it, wherever they begin to read, and to nobody else', async () => {
  script = [[{ text: 'Adding. ' }, sum], 'It is 42.'];
  const asked = model.requests.length;
  const { runId } = (await api.post('/api/agent/run', { assistant: 'helper', objective: 'Add them' })).body;
  const events = (query: string) =>
    api.eventsUntil(`/api/agent/${runId}/events${query}`, (event) => event.type === 'finish');
  const all = await events('?include=requests');
  const requests = all.filter((event) => event.type === 'sendRequest');
  expect(requests).toHaveLength(2);
  expect(requests[1]).toMatchObject({
    body: {
      contents: [
        { role: 'user', parts: [{ text: 'Add them' }] },
        { role: 'model', parts: [{ text: 'Adding. ' }, { functionCall: { name: 'all.get-sum' } }] },
        { role: 'user', parts: [{ functionResponse: { name: 'all.get-sum' } }] },
      ],
    },
  });
  expect(model.requests[asked + 1]?.body.messages).toHaveLength(4);
  const plain = await events('');
  expect(all.filter((event) => event.type !== 'sendRequest')).toEqual(plain);
  const [, second] = requests;
  const rest = await events(`?include=requests&after=${second.seq - 1}`);
  expect(rest[0]).toEqual(second);
  expect((await api.get(`/api/agent/${runId}/events?include=everything`)).status).toBe(422);
  const page = await api.get(`/api/agent/${runId}/events?include=requests&format=json`);
  expect(page.body.events).toEqual(all);
});

test('a template and a run start one too, and a terminal', async () => {
  script = [[sum], 'Three.', '§THINK: A run.\n§RESPOND: Ran.\n§END:', 'Typed.'];
  const { id } = await api.start({ template: 'adder' });
  await api.until(id, (event) => event.type === 'turnComplete');
  expect((await api.get(`/api/sessions/${id}`)).body).toMatchObject({ kind: 'assistant', result: { text: 'Three.' } });

  const run = await api.post('/api/agent/run', { assistant: 'talker', objective: 'Run' });
  const ran = await api.eventsUntil(`/api/agent/${run.body.run_id}/events`, (event) => event.type === 'finish');
  expect(ran.map((event) => event.type)).toEqual([
    'start',
    'functionCall',
    'thought',
    'content',
    'subagentFinish',
    'functionResult',
    'content',
    'turnComplete',
    'complete',
    'finish',
  ]);

  const line = ['sessions', 'start', '--assistant', 'helper', 'Type', '--url', server.url, '--token', server.token];
  const typed = await runConcerto(line).ended;
  expect(typed).toMatchObject({ code: 0, err: '' });
  await api.until(typed.out.trim(), (event) => event.type === 'turnComplete');
});

test.each([
  ['keyless', 'A_KEY_THAT_IS_NOT_SET'],
  ['slip', 'did you mean "ask_user"'],
])('%s cannot start, says why, and takes no slot', async (assistant, why) => {
  const refused = await api.post('/api/sessions', { assistant, prompt: 'Hello' });
  expect(refused).toMatchObject({ status: 422, body: { code: 'assistant_not_ready' } });
  expect(refused.body.detail ?? refused.body.title).toContain(why);
  expect((await api.get('/api/sessions?limit=100')).body.sessions.map((one: any) => one.agent)).not.toContain(
    assistant,
  );
});

test('with --mock no key is needed', async () => {
  const mocked = await startServer({ args: ['--mock', '--config', join(folder, 'Concerto.toml')] });
  try {
    const there = apiOf(mocked);
    const { id } = await there.start({ assistant: 'keyless', prompt: 'Hello', once: true });
    const events = await there.until(id, (event) => event.type === 'finish');
    expect(events.find((event) => event.type === 'complete').result.outcomes.parts).toEqual([
      { text: '[mock response to: Hello]' },
    ]);
  } finally {
    await mocked.stop();
  }
});

test('a session’s server that cannot be started is named, keeps the prompt and gives the slot back', async () => {
  const { active } = (await api.get('/api/pool')).body;
  const tools = { servers: { gone: { command: 'no-such-server-anywhere' } }, allow: ['gone.*'] };
  const { id } = await api.start({ assistant: 'talker', prompt: 'Hello', tools });
  expect((await api.untilStatus(id, 'interrupted')).at(-1).reason).toContain('MCP server "gone"');
  expect((await api.get(`/api/sessions/${id}`)).body).toMatchObject({ pending: 1 });
  await expect.poll(async () => (await api.get('/api/pool')).body.active).toBe(active);
});

test('after kill -9 the conversation goes on, and no server of the dead one is left', {
  timeout: aMachineUnderLoadMs,
}, async () => {
  script = [
    [{ text: 'Looking. ' }, { tool: 'stubborn__pid', arguments: {} }],
    [{ text: 'Half of ' }, { hang: true }],
  ];
  const { id } = await api.start({ assistant: 'holder', prompt: 'Who holds?' });
  const seen = await api.until(id, (event) => event.type === 'content' && event.content.parts[0].text.includes('of'));
  const told = seen.find((event) => event.type === 'functionResult').content.parts[0].functionResponse.response.result;
  const pid = Number(String(told).replace('pid ', ''));
  stubborn = pid;
  expect(isAlive(pid)).toBe(true);
  await server.kill();
  expect(isAlive(pid)).toBe(true);

  await serve();
  await api.untilStatus(id, 'interrupted');
  await expect.poll(() => isAlive(pid), { timeout: 10_000 }).toBe(false);
  script = ['the other half.'];
  const asked = model.requests.length;
  await api.post(`/api/sessions/${id}/messages`, { content: 'Go on' });
  await api.until(id, (event) => event.type === 'turnComplete' && event.outcome === 'done');
  expect(model.requests[asked]?.body.messages).toMatchObject([
    { role: 'user', content: 'Who holds?' },
    { role: 'assistant', content: 'Looking. ', tool_calls: [{ function: { name: 'stubborn__pid' } }] },
    { role: 'tool', content: `pid ${pid}` },
    { role: 'assistant', content: 'Half of ' },
    { role: 'user', content: 'Go on' },
  ]);
});

test('after kill -9 an agent that worked for an assistant is ended, and not called again', {
  timeout: aMachineUnderLoadMs,
}, async () => {
  script = [[{ tool: 'waiter', arguments: { prompt: 'wait' } }]];
  const { id } = await api.start({ assistant: 'chief', prompt: 'Let it work' });
  const called = (await api.until(id, (event) => event.childSession !== undefined)).at(-1);
  const child = called.childSession;
  const isThere = async (): Promise<number> => (await api.get(`/api/sessions/${child}`)).status;
  await expect.poll(isThere, { timeout: 10_000 }).toBe(200);
  await api.until(child, (event) => event.type === 'content');
  await server.kill();
  await serve();
  await api.untilStatus(id, 'interrupted');
  await api.untilStatus(child, 'cancelled');
  script = ['I see.'];
  const asked = model.requests.length;
  await api.post(`/api/sessions/${id}/messages`, { content: 'And?' });
  const events = await api.until(id, (event) => event.type === 'turnComplete' && event.outcome === 'done');
  expect(model.requests[asked]?.body.messages).toMatchObject([
    { role: 'user' },
    { role: 'assistant', tool_calls: [{ function: { name: 'waiter' } }] },
    { role: 'tool', content: expect.stringContaining('lost, with what it had done so far') },
    { role: 'user', content: 'And?' },
  ]);
  const results = events.filter(({ type, callId }) => type === 'functionResult' && callId === called.callId);
  expect(results).toHaveLength(1);
  expect((await api.get(`/api/sessions?parent=${id}`)).body.sessions).toHaveLength(1);
});

test('the example works as its README says, offline', { timeout: aMachineUnderLoadMs }, async () => {
  const example = await startServer({ args: ['--config', join(root, 'examples/assistant/Concerto.toml')] });
  try {
    const there = apiOf(example);
    const write = '/call Notes.write {"title": "today", "text": "tune the piano"}';
    const { id } = await there.start({ assistant: 'secretary', prompt: write });
    const asked = (await there.until(id, (event) => event.type === 'queryConsent')).at(-1);
    await there.post(`/api/sessions/${id}/requests/${asked.requestId}`, { response: true });
    await there.until(id, (event) => event.type === 'turnComplete');
    expect((await there.get(`/api/sessions/${id}`)).body.result).toEqual({ text: '[mock response to: kept "today"]' });

    const shopping = await there.start({ template: 'shopping' });
    const read = await there.until(shopping.id, (event) => event.type === 'turnComplete');
    expect(read.findLast((event) => event.type === 'content').content.parts).toEqual([
      { text: '[mock response to: apples, bread]' },
    ]);
  } finally {
    await example.stop();
  }
});

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}
