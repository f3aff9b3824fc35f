import type { ChildProcess } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type RedisServer, startRedisServer } from '@concerto/log/testing';
import { afterAll, beforeAll, expect, test } from 'vitest';
import {
  type ScriptedModelServer,
  startScriptedModelServer,
} from '../../packages/models/src/testing/scripted-model-server.ts';
import { type Api, apiOf } from '../support/api.ts';
import { startRunner } from '../support/start-runner.ts';
import { type StartedServer, startServer } from '../support/start-server.ts';

const runners: ChildProcess[] = [];
let folder: string;
let redis: RedisServer;
let model: ScriptedModelServer;
let server: StartedServer;
let api: Api;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'concerto-assistant-runners-'));
  model = await startScriptedModelServer([[{ text: 'Half of ' }, { hang: true }], 'the other half.']);
  await writeFile(
    join(folder, 'Concerto.toml'),
    `[connections.far]
provider = "openai"
base_url = "${model.url}"
api_key_env = "A_KEY_OF_RUNNERS_ONLY"
default_model = "gpt-4o-mini"
[assistants.helper]
connection = "far"
`,
  );
  redis = await startRedisServer();
  server = await startServer({ folder, args: ['--store', redis.url, '--no-runner'] });
  api = apiOf(server);
});

afterAll(async () => {
  for (const runner of runners) runner.kill('SIGKILL');
  await server?.stop();
  await model?.close();
  await redis?.stop();
  if (folder !== undefined) await rm(folder, { recursive: true, force: true });
});

async function another(): Promise<ChildProcess> {
  const runner = await startRunner(folder, redis.url, { A_KEY_OF_RUNNERS_ONLY: 'sk-of-runners' });
  runners.push(runner);
  return runner;
}

test('only a runner needs the key; when it is killed, the next one goes on with the conversation', {
  timeout: 90_000,
}, async () => {
  const { id } = await api.start({ assistant: 'helper', prompt: 'Tell me' });
  expect((await api.get(`/api/sessions/${id}`)).body).toMatchObject({ status: 'queued', waiting: { for: 'runner' } });
  const first = await another();
  await api.until(id, (event) => event.type === 'content');
  first.kill('SIGKILL');
  await another();
  await api.untilStatus(id, 'interrupted');
  await api.post(`/api/sessions/${id}/messages`, { content: 'Go on' });
  // Not the end of the turn that was lost with the first runner.
  await api.until(id, (event) => event.type === 'turnComplete' && event.outcome === 'done');
  expect((await api.get(`/api/sessions/${id}`)).body.result).toEqual({ text: 'the other half.' });
  expect(model.requests[1]?.body.messages).toMatchObject([
    { role: 'user', content: 'Tell me' },
    { role: 'assistant', content: expect.stringContaining('Half') },
    { role: 'user', content: 'Go on' },
  ]);
  expect(model.requests[1]?.headers.authorization).toBe('Bearer sk-of-runners');
});
