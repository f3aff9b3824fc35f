import { mkdtemp, rm, writeFile } from 'node:fs/promises';
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

/** What it has counted it still knows after a crash. */
const guard = `
@supervisor
fn guard(session: Session) {
    let mut asked = 0;
    listen session {
        "approval" => |_a| {
            asked = asked + 1;
            if asked == 2 { "no, \${asked} is enough" } else { "yes" }
        },
    };
}
`;

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

[programs.guard]
entry = "guard.conc"

[[rules]]
tool = "Edit"
decide = "model:Architect"
`,
  );
  await writeFile(join(folder, 'guard.conc'), guard);
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

test('a supervisor answers, goes on after a crash, and can be taken away', async () => {
  const ask = (id: number) => ({ type: 'approval', id, description: 'Run it', tool: 'Deploy' });
  const prompt = steps({ ask: ask(1) }, { ask: ask(2) }, { tell: 'answer' });
  const { id } = await api.start({ agent: 'puppet', prompt, supervisor: 'guard' });
  const first = (await api.until(id, (event) => event.type === 'functionResult')).at(-1);
  expect(JSON.parse(first.content.parts[0].functionResponse.response.text)).toMatchObject({
    value: 'no',
    reason: '2 is enough',
  });
  const settled = (await api.until(id, (event) => event.type === 'requestSettled')).at(-1);
  expect(settled).toMatchObject({ by: 'supervisor:guard', because: { session: expect.any(String) } });
  const own = (await api.get(`/api/sessions/${settled.because.session}`)).body;
  expect(own).toMatchObject({ kind: 'program', parent: id, supervises: id, status: 'running' });
  await server.kill();
  await start();
  await api.post(`/api/sessions/${id}/messages`, { content: steps({ ask: ask(3) }, { tell: 'answer' }) });
  let results = 0;
  const events = await api.until(id, (event) => event.type === 'functionResult' && ++results === 2);
  // The third, not again the first.
  expect(events.at(-1).content.parts[0].functionResponse.response.text).toContain('"yes"');
  expect((await api.get(`/api/sessions?parent=${id}`)).body.sessions).toHaveLength(1);
  const at = ['--url', server.url, '--token', server.token];
  expect((await runConcerto(['sessions', 'supervise', id, 'gaurd', ...at]).ended).code).toBe(1);
  const taken = await runConcerto(['sessions', 'supervise', id, 'none', ...at]).ended;
  expect(taken.out).toContain('nobody supervises it');
  await expect
    .poll(async () => (await api.get(`/api/sessions/${own.id}`)).body.status, { timeout: 20_000 })
    .toBe('cancelled');
}, 180_000);
