import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type ScriptedModelServer, startScriptedModelServer } from '@concerto/models/testing';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Api, apiOf } from '../support/api.ts';
import { steps, writePuppets } from '../support/puppets.ts';
import { runConcerto } from '../support/run-concerto.ts';
import { type StartedServer, startServer } from '../support/start-server.ts';

let model: ScriptedModelServer;
let folder: string;
let server: StartedServer;
let api: Api;

/** It does not say anything until its gate is opened. */
const held = [{ gate: 'open' }, { text: '{"verdict":"deny","reason":"leaves the task"}' }] as const;

beforeAll(async () => {
  model = await startScriptedModelServer(() => held);
  folder = await mkdtemp(join(tmpdir(), 'concerto-answerers-'));
  await writePuppets(
    folder,
    `
[connections.local]
provider = "custom"
base_url = ${JSON.stringify(model.url)}
default_model = "scripted"

[assistants.Architect]
connection = "local"

[[rules]]
tool = "Edit"
decide = "model:Architect"
`,
  );
  await start();
});

afterAll(async () => {
  await server.kill();
  await model.close();
  await rm(folder, { recursive: true, force: true });
});

async function start(): Promise<void> {
  server = await startServer({ folder, args: ['--store', 'sqlite:store.db'] });
  api = apiOf(server);
}

test('a model is asked, everybody sees that, and whoever comes after a crash asks the same one', async () => {
  const ask = { type: 'approval', id: 1, description: 'Change it', tool: 'Edit', paths: ['src/a.ts'] };
  const { id } = await api.start({ agent: 'puppet', prompt: steps({ ask }, { tell: 'answer' }) });
  const routed = (await api.until(id, (event) => event.type === 'requestRouted')).at(-1);
  expect(routed).toMatchObject({ to: 'model:Architect', expiresAt: expect.any(String) });
  const asked = { next: ['person'], since: expect.any(String), expiresAt: expect.any(String) };
  expect((await api.get(`/api/sessions/${id}/requests`)).body.requests).toMatchObject([
    { requestId: routed.requestId, routedTo: 'model:Architect', ...asked },
  ]);
  expect((await api.get(`/api/sessions/${id}`)).body).toMatchObject({
    waiting: { asked: 'model:Architect', ...asked },
    answerers: ['rules', 'person'],
  });
  const listed = await runConcerto(['sessions', 'ls', '--url', server.url, '--token', server.token]).ended;
  expect(listed.out).toContain('asked: model:Architect, then person, until ');
  await expect.poll(() => model.requests.length, { timeout: 20_000 }).toBe(1);
  await server.kill();
  await start();
  await expect.poll(() => model.requests.length, { timeout: 60_000 }).toBe(2);
  model.gate('open').open();
  const events = await api.until(id, (event) => event.type === 'functionResult');
  expect(events.find((event) => event.type === 'requestSettled')).toMatchObject({
    by: 'model:Architect',
    reason: 'leaves the task',
    response: false,
  });
  expect(JSON.parse(events.at(-1).content.parts[0].functionResponse.response.text)).toMatchObject({
    value: 'no',
    reason: 'leaves the task',
  });
}, 180_000);
