import { readdirSync, readFileSync, readlinkSync, statSync, truncateSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { type RedisServer, startRedisServer } from '@concerto/log/testing';
import { createClient } from 'redis';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { type Proxy, startProxy } from '../../packages/log/test/proxy.ts';
import { type Api, apiOf } from '../support/api.ts';
import { startRunner } from '../support/start-runner.ts';
import { type StartedServer, startServer } from '../support/start-server.ts';
import { writeManifest } from '../support/test-agents.ts';

/** Its first turn lasts until somebody opens the gate; the others end at once. */
const gated = `
import { existsSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { readPrompt, send } from ${JSON.stringify(new URL('../vectors/lang/_kit/agents/lib.mjs', import.meta.url).href)};
for (let turn = 1; ; turn++) {
  const { text } = await readPrompt();
  send({ type: 'progress', message: text });
  while (turn === 1 && !existsSync('gate')) await sleep(20);
  send({ type: 'result', text: \`turn \${turn}: \${text}\` });
}
`;

const manifest = `
[templates.hello]
agent = "echo"
prompt = "hello"

[agents.gated]
command = ${JSON.stringify(process.execPath)}
args = ["gated.mjs"]
`;

const cleanUp: (() => unknown)[] = [];
let folder: string;
let redis: RedisServer;
let proxy: Proxy;
let server: StartedServer;
let runnerSaid: () => string;
let api: Api;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'concerto-rewound-'));
  cleanUp.push(() => rm(folder, { recursive: true, force: true }));
  await writeFile(join(folder, 'gated.mjs'), gated);
  await writeManifest(folder, manifest);
  redis = await startRedisServer();
  cleanUp.push(() => redis.dispose());
  proxy = await startProxy(redis.port);
  cleanUp.push(() => proxy.close());
  const store = `redis://127.0.0.1:${proxy.port}`;
  server = await startServer({ folder, args: ['--store', store, '--no-runner'] });
  cleanUp.push(() => server.stop());
  api = apiOf(server);
  const runner = await startRunner(folder, store);
  cleanUp.push(() => runner.kill('SIGKILL'));
  let said = '';
  runner.stderr?.on('data', (chunk: Buffer) => {
    said += chunk.toString();
  });
  runnerSaid = () => said;
}, 120_000);

afterEach(async () => {
  for (const action of cleanUp.splice(0).reverse()) await action();
});

async function command(url: string, ...args: string[]): Promise<void> {
  const client = createClient({ url });
  await client.connect();
  await client.sendCommand(args);
  client.destroy();
}

/** The file to which Redis appends. */
function appendedFile(): string {
  const files = readdirSync(redis.folder, { recursive: true, encoding: 'utf8' });
  return join(redis.folder, files.find((file) => file.endsWith('.incr.aof')) ?? 'appendonly.aof');
}

const shorter = {
  how: 'was restarted with a shorter append-only file',
  keeps: true,
  prepare: () => {
    const { size } = statSync(appendedFile());
    return async () => {
      await redis.kill('SIGKILL');
      truncateSync(appendedFile(), size);
      await redis.start();
    };
  },
};

/** Each gives the way to lose whatever was acknowledged after it was called; `keeps` what was before. */
const losses = [
  {
    how: 'was flushed',
    keeps: false,
    prepare: () => () => command(redis.url, 'FLUSHALL'),
  },
  shorter,
  {
    how: 'failed over to a replica that had nothing',
    keeps: false,
    prepare: () => async () => {
      const replica = await startRedisServer({ settings: ['--replicaof', '127.0.0.1', '1'] });
      cleanUp.push(() => replica.dispose());
      await redis.kill('SIGKILL');
      proxy.lead(replica.port);
      await sleep(500);
      await command(replica.url, 'REPLICAOF', 'NO', 'ONE');
    },
  },
];

const loud = /has less than it acknowledged/g;
const readyz = async (): Promise<number> => (await fetch(`${server.url}/readyz`)).status;

/** Whether the agent of the session that is lost still runs, in this folder. */
function isAtWork(): boolean {
  return readdirSync('/proc').some((pid) => {
    try {
      const isSilent = readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes(join('agents', 'silent.mjs'));
      return isSilent && readlinkSync(`/proc/${pid}/cwd`) === folder;
    } catch {
      return false; // It is gone, or no process.
    }
  });
}

describe.each(losses)('a Redis that $how', ({ keeps, prepare }) => {
  test('is noticed and said once; sessions are as it has them, and all go on', { timeout: 180_000 }, async () => {
    const { id } = await api.start({ agent: 'turns', prompt: 'one' });
    await api.untilStatus(id, 'idle');
    await api.post('/api/tokens', { name: 'ann', role: 'member' });
    const { position } = (await api.get(`/api/sessions/${id}`)).body;
    const lose = prepare();
    await api.post(`/api/sessions/${id}/messages`, { content: 'two' });
    await expect.poll(async () => (await api.get(`/api/sessions/${id}`)).body.position).toBeGreaterThan(position);
    await api.post('/api/tokens', { name: 'bob', role: 'member' });
    const later = await api.start({ agent: 'silent', prompt: 'wait' });
    await api.until(later.id, (event) => event.type === 'functionCall');
    expect(isAtWork()).toBe(true);

    await lose();
    await expect.poll(readyz, { timeout: 60_000 }).toBe(200);
    // Whoever is told that it is ready is told nothing that is gone.
    expect((await api.get(`/api/sessions/${later.id}`)).status).toBe(404);
    const tokens = (await api.get('/api/tokens')).body.tokens.map(({ name }: { name: string }) => name);
    expect(tokens).toEqual(keeps ? ['ann'] : []);

    await expect.poll(async () => (await api.get('/api/templates/hello')).status, { timeout: 60_000 }).toBe(200);
    const other = await api.start({ template: 'hello' });
    await api.untilStatus(other.id, 'idle');
    expect((await api.post(`/api/sessions/${other.id}/cancel`)).status).toBe(202);
    await api.untilStatus(other.id, 'cancelled');
    expect((await api.post('/api/tokens', { name: 'bob', role: 'member' })).status).toBe(201);
    const listed = (await api.get('/api/sessions')).body.sessions.map((session: { id: string }) => session.id);
    expect(new Set(listed)).toEqual(new Set([other.id, ...(keeps ? [id] : [])]));
    await (keeps ? goesOn(id) : isGone(id));
    await expect.poll(isAtWork, { timeout: 60_000 }).toBe(false);
    await expect.poll(runnerSaid).toMatch(loud);
    expect([server.said().match(loud), runnerSaid().match(loud)].map((lines) => lines?.length)).toEqual([1, 1]);
  });
});

test('an agent that was told more than the store knows is ended, and its session says so and can go on', async () => {
  const { id } = await api.start({ agent: 'gated', prompt: 'one' });
  await api.until(id, (event) => event.type === 'functionCallUpdate');
  expect((await api.post(`/api/sessions/${id}/messages`, { content: 'two' })).status).toBe(202);
  const lose = shorter.prepare();
  await writeFile(join(folder, 'gate'), '');
  await expect.poll(() => messages(id)).toEqual(['one delivered', 'two delivered']);
  await expect.poll(() => statusOf(id)).toBe('idle');

  await lose();
  await expect.poll(readyz, { timeout: 60_000 }).toBe(200);
  await expect.poll(() => statusOf(id), { timeout: 60_000 }).toBe('interrupted');
  expect((await api.get(`/api/sessions/${id}`)).body.reason).toMatch(/came back with less than it had been told/);
  expect(await messages(id)).toEqual(['one delivered']);
  expect((await api.post(`/api/sessions/${id}/resume`)).status).toBe(202);
  await expect.poll(() => messages(id), { timeout: 60_000 }).toEqual(['one delivered', 'two delivered']);
  await expect.poll(() => statusOf(id)).toBe('idle');
}, 180_000);

async function isGone(id: string): Promise<void> {
  expect((await api.post(`/api/sessions/${id}/messages`, { content: 'x' })).status).toBe(404);
}

async function goesOn(id: string): Promise<void> {
  expect((await api.post(`/api/sessions/${id}/messages`, { content: 'two again' })).status).toBe(202);
  await expect.poll(() => messages(id), { timeout: 60_000 }).toEqual(['one delivered', 'two again delivered']);
  expect((await api.post(`/api/sessions/${id}/cancel`)).status).toBe(202);
  await api.untilStatus(id, 'cancelled');
}

async function statusOf(id: string): Promise<string> {
  return (await api.get(`/api/sessions/${id}`)).body.status;
}

async function messages(id: string): Promise<string[]> {
  const { history } = (await api.get(`/api/sessions/${id}/messages?all=true`)).body;
  return history.map(({ content, status }: { content: string; status: string }) => `${content} ${status}`);
}
