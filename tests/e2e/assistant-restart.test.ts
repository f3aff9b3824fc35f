import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import {
  type ScriptedModelServer,
  type ScriptTurn,
  startScriptedModelServer,
} from '../../packages/models/src/testing/scripted-model-server.ts';
import { type Api, apiOf } from '../support/api.ts';
import { steps, writePuppets } from '../support/puppets.ts';
import { type StartedServer, startServer } from '../support/start-server.ts';

/** Each test starts the server several times. */
const timeout = 180_000;
const everything = createRequire(join(import.meta.dirname, '../../packages/models/package.json')).resolve(
  '@modelcontextprotocol/server-everything/dist/index.js',
);

const manifest = (modelUrl: string): string => `
[connections.scripted]
provider = "openai"
base_url = "${modelUrl}"
api_key_env = "SCRIPTED_KEY"
default_model = "gpt-4o-mini"
[mcp.all]
transport = "stdio"
command = ${JSON.stringify(process.execPath)}
args = [${JSON.stringify(everything)}, "stdio"]
[assistants.helper]
connection = "scripted"
functions = ["ask_user", "run_command"]
agents = ["puppet"]
[assistants.helper.tools]
servers = ["all"]
allow = ["all.get-sum", "all.echo", "ask_user", "run_command", "puppet"]
ask = ["all.echo"]
`;

let folder: string;
let model: ScriptedModelServer;
let server: StartedServer | undefined;
let script: ScriptTurn[];

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'concerto-assistant-restart-'));
  script = [];
  model = await startScriptedModelServer(() => script.shift() ?? [{ error: { status: 500, message: 'no more' } }]);
  await writePuppets(folder, manifest(model.url));
});

afterEach(async () => {
  await server?.kill();
  server = undefined;
  await model.close();
  await rm(folder, { recursive: true, force: true });
});

async function start(): Promise<Api> {
  server = await startServer({ folder, args: ['--store', 'sqlite:store.db'], env: { SCRIPTED_KEY: 'sk-scripted' } });
  return apiOf(server);
}

const approval = { type: 'approval', id: 'a-1', description: 'Delete it?' };
const isTurnEnd = ({ type }: { type: string }): boolean => type === 'turnComplete';

describe.each([
  { how: 'kill -9', end: async () => await server?.kill() },
  { how: 'SIGTERM', end: async () => await server?.stop() },
])('$how of the server while an assistant asks', ({ end }) => {
  test('its approval and its question stay open, again and again, and the answers go on with the very turn', {
    timeout,
  }, async () => {
    const calls = [
      { tool: 'all__get-sum', arguments: { a: 2, b: 40 } },
      { tool: 'run_command', arguments: { command: ['sh', '-c', 'echo ran >> ran.txt; cat ran.txt'] } },
      { tool: 'ask_user', arguments: { question: 'Which colour?', options: ['red', 'blue'] } },
      { tool: 'all__echo', arguments: { message: 'hello' } },
      { tool: 'puppet', arguments: { prompt: steps({ ask: approval }, { tell: 'answer' }) } },
    ];
    script = [[{ text: 'Let me see. ' }, ...calls], 'Done.'];
    let api = await start();
    const { id } = await api.start({ assistant: 'helper', prompt: 'Do it' });
    await api.post(`/api/sessions/${id}/messages`, { content: 'and then this' });
    let open = 0;
    const asks = ({ type }: { type: string }): boolean => type === 'queryConsent' || type === 'waitForChoice';
    const before = await api.until(id, (event) => asks(event) && ++open === 3);
    const wasAsked = before.filter(asks);
    await api.until(id, ({ type }) => type === 'functionResult');
    const child = (await api.until(id, ({ childSession }) => childSession !== undefined)).at(-1).childSession;
    const isThere = async (): Promise<number> => (await api.get(`/api/sessions/${child}`)).status;
    await expect.poll(isThere, { timeout: 20_000 }).toBe(200);
    const permission = (await api.until(child, ({ type }) => type === 'queryConsent')).at(-1).requestId;

    for (const _ of [1, 2]) {
      await end();
      api = await start();
      const { requests } = (await api.get(`/api/sessions/${id}/requests`)).body;
      expect(new Set(requests.map(({ requestId }: { requestId: string }) => requestId))).toEqual(
        new Set(wasAsked.map(({ requestId }) => requestId)),
      );
      expect((await api.get(`/api/sessions/${id}`)).body).toMatchObject({ turn: 1, pending: 1 });
    }
    expect(model.requests).toHaveLength(1);

    script.push('And that.');
    const idOf = (has: string): string => wasAsked.find((event) => JSON.stringify(event).includes(has))?.requestId;
    const answer = (requestId: string, response: unknown) =>
      api.post(`/api/sessions/${id}/requests/${requestId}`, { response });
    expect((await answer(idOf('Which colour?'), 'blue')).status).toBe(200);
    expect((await answer(idOf('ran.txt'), true)).status).toBe(200);
    await end();
    api = await start();
    expect((await answer(idOf('Which colour?'), 'red')).status).toBe(409);
    expect((await answer(idOf('all.echo'), true)).status).toBe(200);
    const allowed = await api.post(`/api/sessions/${child}/requests/${permission}`, { response: true });
    expect(allowed.status).toBe(200);

    let ended = 0;
    const events = await api.until(id, (event) => isTurnEnd(event) && ++ended === 2);
    expect(events.filter(asks)).toHaveLength(3);
    expect(events.map(({ seq }) => seq)).toEqual(events.map((_, index) => index + 1));
    expect(events.filter(({ status }) => status === 'interrupted' || status === 'failed')).toEqual([]);
    // One call, one result each, and the model was asked once for each step.
    expect(model.requests).toHaveLength(3);
    expect(model.requests[1]?.body.messages).toMatchObject([
      { role: 'user', content: 'Do it' },
      {
        role: 'assistant',
        content: 'Let me see. ',
        tool_calls: calls.map(({ tool }) => ({ function: { name: tool } })),
      },
      { role: 'tool', content: expect.stringContaining('42') },
      { role: 'tool', content: expect.stringMatching(/"output":"ran\\n"|lost: it may or may not have been done/) },
      { role: 'tool', content: 'blue' },
      { role: 'tool', content: expect.stringContaining('hello') },
      { role: 'tool', content: expect.stringContaining('"in_reply_to_id":"a-1"') },
    ]);
    expect(await readFile(join(folder, 'ran.txt'), 'utf8').catch(() => '')).toMatch(/^(ran\n)?$/);
    expect((await api.get(`/api/sessions?parent=${id}`)).body.sessions).toHaveLength(1);
    for (const type of ['functionCall', 'functionResult']) {
      const ids = events.flatMap((event) => (event.type === type ? [event.callId] : []));
      expect(ids).toHaveLength(new Set(ids).size);
    }
    const { turn, usage } = (await api.get(`/api/sessions/${id}`)).body;
    expect(turn).toBe(2);
    expect(usage.inputTokens).toBe(
      events.reduce((sum, event) => sum + (event.type === 'usage' ? event.inputTokens : 0), 0),
    );
  });
});
