import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type RedisServer, startRedisServer } from '@concerto/log/testing';
import { createClient, RESP_TYPES } from 'redis';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Api, apiOf } from '../support/api.ts';
import { startRunner } from '../support/start-runner.ts';
import { type StartedServer, startServer } from '../support/start-server.ts';
import { writeManifest } from '../support/test-agents.ts';

let folder: string;
let redis: RedisServer;
let server: StartedServer;
let api: Api;
let endRunner: () => void = () => {};

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'concerto-rewound-'));
  await writeManifest(folder);
  redis = await startRedisServer();
  server = await startServer({ folder, args: ['--store', redis.url, '--no-runner'] });
  api = apiOf(server);
  const runner = await startRunner(folder, redis.url);
  endRunner = () => runner.kill('SIGKILL');
});

afterAll(async () => {
  endRunner();
  await server?.stop();
  await redis?.dispose();
  if (folder !== undefined) await rm(folder, { recursive: true, force: true });
});

/** Everything that Redis holds now; the way to put it back in place of whatever it holds then. */
async function backup(): Promise<() => Promise<void>> {
  const client = createClient({
    url: redis.url,
    commandOptions: { typeMapping: { [RESP_TYPES.BLOB_STRING]: Buffer } },
  });
  await client.connect();
  const keys = await client.keys('*');
  const dumps = await Promise.all(keys.map(async (key) => ({ key, value: await client.dump(key) })));
  return async () => {
    const multi = client.multi().flushAll();
    for (const { key, value } of dumps) multi.restore(key, 0, value);
    await multi.exec();
    client.destroy();
  };
}

test('a Redis restored from an older copy: sessions are settled as it has them, and work goes on', async () => {
  const { id } = await api.start({ agent: 'turns', prompt: 'one' });
  await api.untilStatus(id, 'idle');
  const restore = await backup();
  const { position } = (await api.get(`/api/sessions/${id}`)).body;
  for (const content of ['two', 'three']) {
    await api.post(`/api/sessions/${id}/messages`, { content });
    await expect.poll(async () => (await api.get(`/api/sessions/${id}`)).body.pending).toBe(0);
  }
  const later = await api.start({ agent: 'silent', prompt: 'wait' });
  await api.until(later.id, (event) => event.type === 'functionCall');
  await restore();

  const other = await api.start({ agent: 'echo', prompt: 'after' });
  await api.untilStatus(other.id, 'idle');
  expect((await api.get(`/api/sessions/${later.id}`)).status).toBe(404);
  expect((await api.get(`/api/sessions/${id}`)).body.position).toBeGreaterThanOrEqual(position);
  const sent = await api.post(`/api/sessions/${id}/messages`, { content: 'two again' });
  expect(sent.status).toBe(202);
  await expect
    .poll(async () => (await api.get(`/api/sessions/${id}/messages?all=true`)).body.history.map(contentAndStatus), {
      timeout: 20_000,
    })
    .toEqual(['one delivered', 'two again delivered']);
  expect((await api.post(`/api/sessions/${id}/cancel`)).status).toBe(202);
  await api.untilStatus(id, 'cancelled');
}, 90_000);

test('a Redis that was flushed: nothing is wedged', async () => {
  const { id } = await api.start({ agent: 'silent', prompt: 'wait' });
  await api.until(id, (event) => event.type === 'functionCall');
  const client = createClient({ url: redis.url });
  await client.connect();
  await client.flushAll();
  client.destroy();
  const other = await api.start({ agent: 'echo', prompt: 'after' });
  await api.untilStatus(other.id, 'idle');
  expect((await api.get(`/api/sessions/${id}`)).status).toBe(404);
  expect((await api.get('/api/sessions')).body.sessions.map((session: { id: string }) => session.id)).toEqual([
    other.id,
  ]);
}, 60_000);

function contentAndStatus(message: { content: string; status: string }): string {
  return `${message.content} ${message.status}`;
}
