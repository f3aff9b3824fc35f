import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { hostname, networkInterfaces, tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Api, apiOf, callWithHost } from '../support/api.ts';
import { concertoCommand } from '../support/concerto-command.ts';
import { type PuppetServer, startPuppetServer, steps, writePuppets } from '../support/puppets.ts';

const aMachineUnderLoadMs = 120_000;
let folder: string;
let puppets: PuppetServer;
let api: Api;
const children: ChildProcess[] = [];

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'concerto-cli-'));
  puppets = await startPuppetServer();
  api = puppets.api;
  await api.call('PUT', '/api/pool', { max: 200 });
});

afterAll(async () => {
  for (const child of children) child.kill('SIGKILL');
  await puppets?.close();
  await rm(folder, { recursive: true, force: true });
});

type Ran = { readonly code: number | null; readonly out: string; readonly err: string };
type How = { readonly cwd?: string; readonly env?: Readonly<Record<string, string>> };

function begin(
  args: readonly string[],
  { cwd = folder, env = {} }: How = {},
): { child: ChildProcess; ended: Promise<Ran>; out: () => string } {
  const child = spawn(process.execPath, [...concertoCommand, ...args], {
    cwd,
    env: { PATH: process.env.PATH ?? '', XDG_STATE_HOME: process.env.XDG_STATE_HOME ?? '', NO_COLOR: '1', ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
    timeout: aMachineUnderLoadMs,
    killSignal: 'SIGKILL',
  });
  children.push(child);
  let out = '';
  let err = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    out += text;
  });
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    err += text;
  });
  const ended = once(child, 'close').then(([code]): Ran => ({ code, out, err }));
  return { child, ended, out: () => out };
}

const run = async (args: readonly string[], how?: How): Promise<Ran> => await begin(args, how).ended;

async function serving(
  args: readonly string[],
  how?: How,
): Promise<{ url: string; child: ChildProcess; ended: Promise<Ran>; out: () => string }> {
  const { child, ended, out } = begin(['serve', ...args], how);
  const gone = ended.then(({ err }) => Promise.reject(new Error(`serve ended: ${err}`)));
  gone.catch(() => undefined);
  const listening = async (): Promise<string> => {
    for (;;) {
      const url = /^listening on (http:\/\/\S+)$/m.exec(out())?.[1];
      if (url !== undefined) return url;
      if (child.stdout === null) throw new Error('no stdout');
      await once(child.stdout, 'data');
    }
  };
  return { url: await Promise.race([listening(), gone]), child, ended, out };
}

const sessions = (...args: string[]): Promise<Ran> =>
  run(['sessions', ...args, '--url', api.url, '--token', api.token]);

describe.concurrent('serve is refused', { timeout: aMachineUnderLoadMs }, () => {
  test('bad usage: exit 2', async () => {
    expect(await run(['serve', '--port', 'x'])).toMatchObject({
      code: 2,
      out: '',
      err: expect.stringMatching(/not a port/),
    });
  });

  test.each([
    ['is not there', undefined, /none\.toml/],
    ['is no TOML', '[agents', /error/i],
    ['has an unknown key', '[agents.a]\ncomand = "x"\n', /comand[\s\S]*command/],
    ['has a wrong type', '[pool]\nmax_sessions = "many"\n', /max_sessions/],
  ])('a manifest that %s: exit 1', async (what, text, said) => {
    const file = text === undefined ? 'none.toml' : `${what.replaceAll(/\W/g, '-')}.toml`;
    if (text !== undefined) await writeFile(join(folder, file), text);
    const { code, out, err } = await run(['serve', '--config', file, '--port', '0', '--store', 'memory:']);
    expect({ code, out }).toEqual({ code: 1, out: '' });
    expect(err).toMatch(said);
  });

  test('a port in use: exit 1, and it says so', async () => {
    const taken = createServer().listen(0, '127.0.0.1');
    await once(taken, 'listening');
    const address = taken.address();
    const port = typeof address === 'object' ? String(address?.port) : '';
    const { code, err } = await run(['serve', '--port', port, '--store', 'memory:', '--token', 't']);
    taken.close();
    expect(code).toBe(1);
    expect(err).toContain(port);
  });
});

describe.concurrent('serve', { timeout: aMachineUnderLoadMs }, () => {
  test('without a manifest and without flags: the demo agents, a token of its own, a store in the folder', async () => {
    const cwd = await mkdtemp(join(folder, 'plain-'));
    const { url, child, ended, out } = await serving(['--port', '0'], { cwd });
    const token = (await run(['token'], { cwd })).out.trim();
    expect(token).toMatch(/^[\w-]{32}$/);
    expect(existsSync(join(cwd, '.concerto/token'))).toBe(false);
    expect(out()).toContain(`${url}/?token=${token}`);
    const own = apiOf({ url, token });
    const { agents } = (await own.get('/api/agents')).body;
    expect(agents.map((agent: any) => agent.name)).toEqual(expect.arrayContaining(['demo', 'echo', 'flaky', 'slow']));
    expect((await own.get('/api/pool')).body).toMatchObject({ active: 0, max: 20 });
    expect(existsSync(join(cwd, '.concerto/concerto.db'))).toBe(true);
    const { id } = await own.start({ agent: 'echo', prompt: 'hello', once: true });
    expect((await own.until(id, (event) => event.type === 'finish')).at(-2).type).toBe('complete');
    child.kill('SIGTERM');
    expect((await ended).code).toBe(0);
  });

  test('PORT, CONCERTO_STORE and CONCERTO_TOKEN stand in for flags; --config names another manifest', async () => {
    const cwd = await mkdtemp(join(folder, 'env-'));
    await writeFile(join(cwd, 'Other.toml'), '[hosts.old]\ncommand = "true"\n[pool]\nmax_sessions = 3\n');
    const env = { PORT: '0', CONCERTO_STORE: 'sqlite:mine.db', CONCERTO_TOKEN: 'from-env' };
    const { url, child, ended } = await serving(['--config', 'Other.toml'], { cwd, env });
    const own = apiOf({ url, token: 'from-env' });
    expect((await own.get('/api/agents')).body.agents).toMatchObject([
      { name: 'old', kind: 'agent', capabilities: [] },
    ]);
    expect((await own.get('/api/pool')).body).toMatchObject({ max: 3 });
    expect(existsSync(join(cwd, 'mine.db'))).toBe(true);
    child.kill('SIGTERM');
    expect((await ended).code).toBe(0);
  });

  test('[server] of the manifest is used where neither a flag nor a variable says otherwise', async () => {
    const cwd = await mkdtemp(join(folder, 'table-'));
    const table = [
      '[server]',
      'port = 0',
      'store = "sqlite:kept/here.db"',
      'token_env = "MY_TOKEN"',
      'allowed_hosts = ["concerto.example"]',
      'allowed_origins = ["https://console.example"]',
    ];
    await writeFile(join(cwd, 'Concerto.toml'), `${table.join('\n')}\n`);
    const manifest = ['--config', join(cwd, 'Concerto.toml')];
    const { url, child, ended } = await serving(manifest, { env: { MY_TOKEN: 'mine' } });
    const pool = async (headers: Record<string, string>): Promise<number> =>
      (await fetch(`${url}/api/pool`, { headers: { authorization: 'Bearer mine', ...headers } })).status;
    expect(await pool({})).toBe(200);
    expect(await pool({ origin: 'https://console.example' })).toBe(200);
    expect(await pool({ origin: 'https://other.example' })).toBe(403);
    expect(await callWithHost(url, 'concerto.example')).toBe(200);
    expect(existsSync(join(cwd, 'kept/here.db'))).toBe(true);
    child.kill('SIGTERM');
    expect((await ended).code).toBe(0);
    const without = await begin(['serve', ...manifest]).ended;
    expect(without).toMatchObject({ code: 1, err: expect.stringContaining('MY_TOKEN') });
  });

  test('--no-auth asks for no token, but still for our Host and Origin; a flag wins over its variable', async () => {
    const { url, child, ended } = await serving(['--no-auth', '--port', '0', '--store', 'memory:'], {
      env: { PORT: 'x', CONCERTO_STORE: 'nope:' },
    });
    expect((await fetch(`${url}/api/pool`)).status).toBe(200);
    expect((await fetch(`${url}/api/pool`, { headers: { origin: 'http://evil.example' } })).status).toBe(403);
    child.kill('SIGINT');
    expect((await ended).code).toBe(0);
  });

  test('on all addresses: the machine answers to its own names, with a token, and to no other', async () => {
    const { url, child, ended } = await serving([
      '--host',
      '0.0.0.0',
      '--port',
      '0',
      '--store',
      'memory:',
      '--token',
      'a-token-that-is-long',
    ]);
    const port = new URL(url).port;
    const names = Object.values(networkInterfaces()).flatMap((entries) =>
      (entries ?? []).flatMap(({ address, family }) => (family === 'IPv4' ? [address] : [])),
    );
    for (const name of [hostname(), ...names]) {
      expect(await callWithHost(`http://127.0.0.1:${port}`, `${name}:${port}`)).toBe(200);
    }
    expect(await callWithHost(`http://127.0.0.1:${port}`, 'evil.example')).toBe(421);
    expect((await fetch(`http://127.0.0.1:${port}/api/pool`)).status).toBe(401);
    child.kill('SIGTERM');
    expect((await ended).code).toBe(0);
  });

  test('SIGTERM: new work is 503 with Retry-After while sessions are handed over, then exit 0', async ({ expect }) => {
    const cwd = await mkdtemp(join(folder, 'stop-'));
    await writePuppets(cwd);
    const { url, child, ended } = await serving(['--port', '0', '--store', 'memory:', '--token', 't'], { cwd });
    const own = apiOf({ url, token: 't' });
    // It ignores the polite ways to end, so that there is time to ask.
    const { id } = await own.start({
      agent: 'deaf-cancel',
      prompt: steps({ say: { type: 'log', message: 'at work' } }, { hang: true }),
    });
    await own.until(id, (event) => event.type === 'subagentAddJson');
    child.kill('SIGTERM');
    const calls: [string, object][] = [
      ['/api/sessions', { agent: 'puppet', prompt: 'x' }],
      [`/api/sessions/${id}/messages`, { content: 'x' }],
      ['/api/agent/run', { agent: 'puppet' }],
    ];
    await expect.poll(async () => (await own.post(...(calls[0] ?? ['', {}]))).status, { timeout: 10_000 }).toBe(503);
    for (const [path, body] of calls) {
      const answer = await own.post(path, body);
      expect(answer).toMatchObject({ status: 503, body: { code: 'stopping' } });
      expect(Number(answer.headers.get('retry-after'))).toBeGreaterThan(0);
    }
    expect((await own.get(`/api/sessions/${id}`)).status).toBe(200);
    expect((await ended).code).toBe(0);
  });
});

describe.concurrent('sessions', { timeout: aMachineUnderLoadMs }, () => {
  test('start prints the id; show, ls and queue know it; --json is the API’s JSON', async () => {
    const { code, out } = await sessions('start', 'puppet', 'hello', '--title', 'From the terminal');
    expect(code).toBe(0);
    const id = out.trim();
    expect(id).toMatch(/^[A-Za-z0-9_-]{1,64}$/);
    await api.untilStatus(id, 'idle');
    const [show, showJson, ls, lsJson, queue] = await Promise.all([
      sessions('show', id),
      sessions('show', id, '--json'),
      sessions('ls', '--status', 'idle'),
      sessions('ls', '--json'),
      sessions('queue', id, '--all', '--json'),
    ]);
    expect(show).toMatchObject({ code: 0, out: expect.stringContaining('From the terminal') });
    expect(JSON.parse(showJson.out)).toMatchObject({ id, title: 'From the terminal', status: 'idle' });
    expect(ls.out).toContain(id);
    expect(JSON.parse(lsJson.out).sessions.map((session: any) => session.id)).toContain(id);
    expect(JSON.parse(queue.out).history).toMatchObject([{ content: 'hello', status: 'delivered' }]);
  });

  test('send, steer, interrupt, pause, resume, cancel', async () => {
    const { id } = await api.start({
      agent: 'able',
      prompt: steps({ say: { type: 'log', message: 'at work' } }, { hang: true }),
    });
    await api.until(id, (event) => event.type === 'subagentAddJson');
    expect((await sessions('send', id, 'later')).code).toBe(0);
    expect((await sessions('steer', id, 'now', '--json')).out).toContain('"priority": "immediate"');
    await api.until(id, (event) => event.type === 'subagentAddJson' && event.data.what?.type === 'steer');
    expect(await sessions('pause', id)).toMatchObject({ code: 0, out: expect.stringMatching(/^paus(ing|ed)\n$/) });
    await api.untilStatus(id, 'paused');
    expect((await sessions('resume', id)).code).toBe(0);
    await api.until(id, (event) => event.type === 'status' && event.previous === 'resuming');
    expect(JSON.parse((await sessions('interrupt', id, '--json')).out)).toMatchObject({
      requestId: expect.any(String),
    });
    await api.untilStatus(id, 'interrupted');
    expect((await sessions('cancel', id)).code).toBe(0);
    await api.untilStatus(id, 'cancelled');
    expect(await sessions('pause', id)).toMatchObject({ code: 1, out: '', err: expect.stringContaining('cancelled') });
    expect(await sessions('send', id, 'x')).toMatchObject({ code: 1, err: expect.stringContaining('cancelled') });
  });

  test('queue, edit, reorder, promote, unsend, audit of one message; each says what it takes', async () => {
    const { id } = await api.start({
      agent: 'puppet',
      prompt: steps({ say: { type: 'log', message: 'at work' } }, { hang: true }),
    });
    await api.until(id, (event) => event.type === 'subagentAddJson');
    for (const name of ['a', 'b', 'c']) await api.post(`/api/sessions/${id}/messages`, { content: name, id: name });
    expect((await sessions('edit', id, 'a', 'other words')).out).toBe('a pending\n');
    expect((await sessions('reorder', id, 'c', 'b', 'a')).out).toMatch(/c .*\n.*b .*\n.*other words/);
    expect((await sessions('promote', id, 'a', '--json')).out).toContain('"priority": "immediate"');
    expect((await sessions('unsend', id, 'b')).out).toBe('b cancelled\n');
    const list = JSON.parse((await sessions('queue', id, '--json')).out);
    expect(list.pending.map((message: any) => message.id)).toEqual(['a', 'c']);
    const history = JSON.parse((await sessions('audit', id, 'a', '--json')).out);
    expect(history.map((entry: any) => entry.what)).toEqual([
      'message-enqueued',
      'message-edited',
      'messages-reordered',
      'message-promoted',
    ]);
    const refusals = await Promise.all([
      sessions('audit', id, 'none'),
      sessions('resend', id, 'a'),
      sessions('reorder', id, 'none'),
      run(['pool', '--url', 'http://127.0.0.1:9', '--token', 't']),
    ]);
    for (const { code, out, err } of refusals)
      expect({ code, out, err }).toEqual({ code: 1, out: '', err: expect.stringMatching(/^error: \S/) });
    expect(await run(['sessions', 'reorder', '--help'])).toMatchObject({
      code: 0,
      out: expect.stringContaining('usage: concerto sessions reorder ID MESSAGE...'),
    });
  });

  test('answer: the oldest question, or the one that is named', async () => {
    const { id } = await api.start({
      agent: 'puppet',
      prompt: steps(
        { say: { type: 'question', id: 'one', question: 'Which?', options: ['red', 'blue'] } },
        { say: { type: 'approval', id: 'two', description: 'rm' } },
        { collect: 2 },
        { tell: 'answers' },
      ),
      once: true,
    });
    const second = (await api.until(id, (event) => event.type === 'queryConsent')).at(-1);
    expect((await sessions('answer', id, 'yes', '--request', second.requestId)).code).toBe(0);
    expect((await sessions('answer', id, '2')).code).toBe(0);
    const ended = (await api.until(id, (event) => event.type === 'complete')).at(-1);
    expect(JSON.parse(ended.result.outcomes.parts[0].text).map((answer: any) => answer.value)).toEqual(['yes', 'blue']);
    expect(await sessions('answer', id, 'x')).toMatchObject({ code: 1, err: 'error: nothing waits for an answer\n' });
  });

  test('attach follows to the end: 0 when it went well, 1 when it failed; --json is one event a line', async () => {
    const good = await api.start({ agent: 'puppet', prompt: 'x', once: true });
    const bad = await api.start({
      agent: 'puppet',
      prompt: steps({ say: { type: 'error', message: 'no luck' } }),
      once: true,
    });
    const [well, badly, json] = await Promise.all([
      sessions('attach', good.id),
      sessions('attach', bad.id),
      sessions('attach', good.id, '--json'),
    ]);
    expect(well).toMatchObject({ code: 0, out: expect.stringContaining('did: x') });
    expect(badly).toMatchObject({ code: 1, out: expect.stringContaining('no luck') });
    expect(
      json.out
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line)),
    ).toEqual(await api.until(good.id, () => false));
  });

  test('what the server refuses, or no server at all: exit 1 and one line of why', async () => {
    const results = await Promise.all([
      sessions('show', 'nobody'),
      sessions('start', 'pupet', 'x'),
      run(['sessions', 'ls', '--url', api.url, '--token', 'wrong']),
      run(['sessions', 'ls', '--url', 'http://127.0.0.1:9', '--token', 't']),
    ]);
    for (const { code, out, err } of results) {
      expect({ code, out }).toEqual({ code: 1, out: '' });
      expect(err).toMatch(/^error: \S/);
    }
    expect(results[1]?.err).toContain('puppet');
    expect(results[3]?.err).toContain('concerto serve');
  });
});
