import type { ChildProcess } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type RedisServer, startRedisServer } from '@concerto/log/testing';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Api, apiOf } from '../support/api.ts';
import { startRunner } from '../support/start-runner.ts';
import { type StartedServer, startServer } from '../support/start-server.ts';
import { writeManifest } from '../support/test-agents.ts';

let folder: string;
let redis: RedisServer;
let server: StartedServer;
let api: Api;
const runners: ChildProcess[] = [];

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'concerto-runners-'));
  await writeManifest(folder);
  redis = await startRedisServer();
  server = await startServer({ folder, args: ['--store', redis.url, '--no-runner'] });
  api = apiOf(server);
});

afterAll(async () => {
  for (const runner of runners) runner.kill('SIGKILL');
  await server?.stop();
  await redis?.stop();
  if (folder !== undefined) await rm(folder, { recursive: true, force: true });
});

/** A machine is whose keeper a runner finds. */
async function another(machine = 'one'): Promise<ChildProcess> {
  const runner = await startRunner(folder, redis.url, { XDG_STATE_HOME: join(folder, machine) });
  runners.push(runner);
  return runner;
}

test('a session waits for a runner; kill -9 of its runner moves it to another, and nothing is lost or repeated', async () => {
  const { id } = await api.start({ agent: 'turns', prompt: 'one' });
  expect((await api.get(`/api/sessions/${id}`)).body).toMatchObject({ status: 'queued', waiting: { for: 'runner' } });
  const first = await another();
  await api.untilStatus(id, 'idle');
  first.kill('SIGKILL');
  await another();
  await api.post(`/api/sessions/${id}/messages`, { content: 'two' });
  await api.until(id, (event) => event.type === 'status' && event.status === 'idle' && event.seq > 14);
  const history = (await api.get(`/api/sessions/${id}/messages?all=true`)).body.history as {
    content: string;
    status: string;
  }[];
  expect(history.map(({ content, status }) => [content, status])).toEqual([
    ['one', 'delivered'],
    ['two', 'delivered'],
  ]);
}, 90_000);

test('a runner that was asleep and wakes up is fenced: the session belongs to the other one', async () => {
  for (const runner of runners.splice(0)) runner.kill('SIGKILL');
  const sleeper = await another();
  const { id } = await api.start({ agent: 'silent', prompt: 'wait' });
  await api.until(id, (event) => event.type === 'functionCall');
  sleeper.kill('SIGSTOP');
  await another('two');
  const events = await api.untilStatus(id, 'interrupted');
  sleeper.kill('SIGCONT');
  await api.post(`/api/sessions/${id}/cancel`);
  const all = await api.until(id, (event) => event.type === 'finish');
  expect(all.slice(0, events.length)).toEqual(events);
  expect(all.map((event) => event.seq)).toEqual(all.map((_, index) => index + 1));
}, 90_000);

test('an answer within the lease of a runner that was killed is refused, or the agent has it; another is confirmed on the stream', async () => {
  for (const runner of runners.splice(0)) runner.kill('SIGKILL');
  const doomed = await another();
  const ask = async () => {
    const { id } = await api.start({ agent: 'ask', prompt: 'paint' });
    const asked = (await api.until(id, (event) => event.type === 'waitForChoice')).at(-1);
    return { id, path: `/api/sessions/${id}/requests/${asked.requestId}`, requestId: asked.requestId as string };
  };
  const well = await ask();
  expect((await api.post(well.path, { response: 'red' })).status).toBe(200);
  await api.untilStatus(well.id, 'idle');
  const { entries } = (await api.get(`/api/sessions/${well.id}/audit`)).body;
  expect(entries).toContainEqual(
    expect.objectContaining({ what: 'request-answered', deliveredAt: expect.any(String) }),
  );

  const lost = await ask();
  doomed.kill('SIGKILL');
  const answering = api.post(lost.path, { response: 'red' });
  await another('two');
  expect(await answering).toMatchObject({ status: 409, body: { code: 'withdrawn' } });
  const settled = (await api.untilStatus(lost.id, 'interrupted')).filter((event) => event.type === 'requestSettled');
  expect(settled).toMatchObject([{ requestId: lost.requestId, outcome: 'withdrawn' }]);
}, 90_000);

test('a runner that comes back to its machine takes up the agents that it left there', async () => {
  for (const runner of runners.splice(0)) runner.kill('SIGKILL');
  const first = await another('three');
  const { id } = await api.start({ agent: 'ask', prompt: 'paint' });
  const asked = (await api.until(id, (event) => event.type === 'waitForChoice')).at(-1);
  first.kill('SIGKILL');
  const answering = api.post(`/api/sessions/${id}/requests/${asked.requestId}`, { response: 'red' });
  await another('three');
  expect((await answering).status).toBe(200);
  const events = await api.untilStatus(id, 'idle');
  expect(events.filter((event) => event.type === 'waitForChoice')).toHaveLength(1);
  expect(events.filter((event) => event.status === 'interrupted')).toEqual([]);
  expect(events.map((event) => event.seq)).toEqual(events.map((_, index) => index + 1));
}, 90_000);
