import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { apiOf } from '../support/api.ts';
import { type StartedServer, startServer } from '../support/start-server.ts';
import { writeManifest } from '../support/test-agents.ts';

const root = join(dirname(fileURLToPath(import.meta.url)), '../..');
let folder: string;
let server: StartedServer;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'concerto-python-'));
  const able = [join(root, 'tests/support/puppet.mjs'), '--can=steer,interrupt,pause,resume,cancel'];
  await writeManifest(
    folder,
    `[agents.able]\ncommand = ${JSON.stringify(process.execPath)}\nargs = ${JSON.stringify(able)}\n` +
      '[connections.offline]\nprovider = "mock"\n[assistants.echo]\nconnection = "offline"\n',
  );
  server = await startServer({ folder, args: ['--store', `sqlite:${join(folder, 'python.db')}`] });
});

afterAll(async () => {
  await server?.stop();
  if (folder !== undefined) await rm(folder, { recursive: true, force: true });
});

function story(name: string, ...args: readonly string[]): ChildProcessWithoutNullStreams {
  return spawn('python3', [join(root, 'tests/support/python-client.py'), server.url, server.token, name, ...args], {
    env: { ...process.env, PYTHONPATH: join(root, 'clients/python'), PYTHONDONTWRITEBYTECODE: '1' },
  });
}

async function lines(name: string, ...args: readonly string[]): Promise<string[]> {
  const child = story(name, ...args);
  let stderr = '';
  child.stderr.on('data', (chunk) => {
    stderr += String(chunk);
  });
  const said: string[] = [];
  for await (const line of createInterface(child.stdout)) said.push(line);
  expect(stderr).toBe('');
  return said;
}

const told = async (name: string, ...args: readonly string[]): Promise<unknown[]> =>
  (await lines(name, ...args)).map((line) => JSON.parse(line));

test('a session is started, followed, answered and ended from Python', async () => {
  const [asked, end] = await told('approval');
  expect(asked).toMatchObject({ asked: { description: expect.any(String) }, open: [expect.any(String)] });
  expect(end).toMatchObject({ status: 'cancelled', types: expect.arrayContaining(['start', 'content', 'finish']) });
});

test('the ten lines of the README do what they say', async () => {
  const said = await lines('readme', join(root, 'clients/python/README.md'));
  expect(JSON.parse(said[0] ?? '')).toEqual({ question: expect.stringContaining('[yes/no]') });
  expect(said.slice(1).join('')).not.toBe('');
});

test('a running turn is steered, and a session is forked', async () => {
  const hanging = JSON.stringify([{ say: { type: 'partial', text: 'on and on' } }, { hang: true }]);
  expect(await told('steer', hanging)).toEqual([
    [hanging, 'prompt'],
    ['in English, please', 'steer'],
  ]);
  expect(await told('fork')).toEqual([{ of: true, said: ['first', 'second'] }]);
});

test('refusals are errors with their code', async () => {
  expect(await told('refusals')).toEqual([
    { code: expect.any(String), status: expect.any(Number) },
    { code: 'no_such_session', status: 404 },
    { code: expect.any(String), status: 401 },
    { code: 'no_such_session', status: 404 },
  ]);
});

test('a server that is killed and comes back costs no event and repeats none', async () => {
  const child = story('follow');
  const seen: [number, string][] = [];
  let id = '';
  for await (const line of createInterface(child.stdout)) {
    const value: unknown = JSON.parse(line);
    if (typeof value === 'string') id = value;
    else if (Array.isArray(value)) seen.push([Number(value[0]), String(value[1])]);
    if (seen.at(-1)?.[1] !== 'turnComplete' || seen.length > 40) continue;
    await server.kill();
    server = await startServer({
      folder,
      args: ['--store', `sqlite:${join(folder, 'python.db')}`, '--port', String(server.port)],
    });
    await apiOf(server).post(`/api/sessions/${id}/cancel`);
  }
  expect(seen.map(([seq]) => seq)).toEqual(seen.map((_, index) => index + 1));
  expect(seen.at(-1)?.[1]).toBe('finish');
}, 60_000);
