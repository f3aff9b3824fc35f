import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync, statSync } from 'node:fs';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { concertoCommand } from '../support/concerto-command.ts';
import { inTerminal } from '../support/in-terminal.ts';

const withinMs = 90_000;
type Ran = { readonly code: number | null; readonly out: string; readonly err: string };

let home: string;
let project: string;
let children: ChildProcess[];

beforeEach(async () => {
  home = await mkdtemp(join(tmpdir(), 'concerto-home-'));
  project = join(home, 'work', 'project');
  await mkdir(project, { recursive: true });
  children = [];
});

afterEach(async () => {
  for (const child of children) child.kill('SIGKILL');
  await rm(home, { recursive: true, force: true });
});

function begin(args: readonly string[], env: Readonly<Record<string, string>> = {}, cwd = project) {
  const child = spawn(process.execPath, [...concertoCommand, ...args], {
    cwd,
    env: { PATH: process.env.PATH ?? '', HOME: home, NO_COLOR: '1', ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
    timeout: withinMs,
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
  return { child, ended: once(child, 'close').then(([code]): Ran => ({ code, out, err })), out: () => out };
}

const run = async (...args: Parameters<typeof begin>): Promise<Ran> => await begin(...args).ended;

async function serving(args: readonly string[] = [], env?: Readonly<Record<string, string>>) {
  const begun = begin(['serve', '--port', '0', ...args], env);
  while (!begun.out().includes('open http')) {
    const ended = await Promise.race([begun.ended, once(begun.child.stdout, 'data')]);
    if ('code' in ended) throw new Error(`serve ended: ${ended.err}`);
  }
  const url = /listening on (http:\S+)/.exec(begun.out())?.[1] ?? '';
  return { ...begun, url, entrance: /open (http:\S+)/.exec(begun.out())?.[1] ?? '' };
}

const manifest = (...lines: readonly string[]): Promise<void> =>
  writeFile(join(project, 'Concerto.toml'), `[agents.a]\ncommand = "cat"\n${lines.join('\n')}\n`);

/** As `git clone` leaves it. */
async function makeClone(): Promise<void> {
  await mkdir(join(project, '.git'));
  await writeFile(
    join(project, '.git/config'),
    '[core]\n\tbare = false\n[remote "origin"]\n\turl = https://x.example/y\n',
  );
}

describe('what a server keeps', { timeout: withinMs }, () => {
  test('is in the user’s state folder, for that user alone; the project has no secret', async () => {
    const { entrance } = await serving();
    const state = join(home, '.local/state/concerto');
    const [name = ''] = readdirSync(join(state, 'projects'));
    expect(name).toMatch(/^project-[0-9a-f]{16}$/);
    for (const folder of [state, join(state, 'projects'), join(state, 'projects', name)]) {
      expect(statSync(folder).mode & 0o777).toBe(0o700);
    }
    for (const file of ['token', 'server.json']) {
      expect(statSync(join(state, 'projects', name, file)).mode & 0o777).toBe(0o600);
    }
    expect(readdirSync(join(project, '.concerto')).filter((file) => /token|url/.test(file))).toEqual([]);
    expect(existsSync(join(project, '.concerto/.gitignore'))).toBe(true);
    const { out } = await run(['token']);
    expect(entrance).toContain(`token=${out.trim()}`);
    expect((await run(['token', '--url'])).out.trim()).toBe(entrance);
  });

  test('is found from the folder and from those in it, while the server runs', async () => {
    const { child, ended } = await serving(['--store', 'memory:']);
    await mkdir(join(project, 'src/deep'), { recursive: true });
    expect(await run(['sessions', 'ls'], {}, join(project, 'src/deep'))).toMatchObject({ code: 0 });
    child.kill('SIGTERM');
    await ended;
    expect((await run(['sessions', 'ls'])).err).toContain('no server answers');
  });

  test('a token goes to the server that it was made for and to nobody else', async () => {
    const { url } = await serving(['--store', 'memory:']);
    const heard: (string | undefined)[] = [];
    const stranger = createServer((request, response) => {
      heard.push(request.headers.authorization);
      response.writeHead(401).end();
    }).listen(0, '127.0.0.1');
    await once(stranger, 'listening');
    const address = stranger.address();
    const theirs = `http://127.0.0.1:${typeof address === 'object' ? address?.port : 0}`;
    await run(['sessions', 'ls', '--url', theirs]);
    // As a clone would plant it.
    await mkdir(join(project, '.concerto'), { recursive: true });
    await writeFile(join(project, '.concerto/url'), `${theirs}\n`);
    await writeFile(join(project, '.concerto/token'), 'a-token-of-a-stranger-1234567890\n');
    expect(await run(['sessions', 'ls'])).toMatchObject({ code: 0 });
    expect(await run(['sessions', 'ls', '--url', url])).toMatchObject({ code: 0 });
    expect(await run(['sessions', 'ls'], { CONCERTO_TOKEN: 'secret-of-mine-1234567890' })).toMatchObject({ code: 1 });
    stranger.close();
    expect(heard).toEqual([undefined]);
  });

  test('`concerto token` says when the server has another one', async () => {
    await serving(['--store', 'memory:', '--token', 'one-of-my-own-choice']);
    expect(await run(['token'])).toMatchObject({ code: 1, out: '', err: expect.stringContaining('of its own') });
  });
});

describe('a folder that came from elsewhere', { timeout: withinMs }, () => {
  test('is refused until it is trusted, once', async () => {
    await manifest();
    await makeClone();
    const refused = await run(['serve', '--port', '0', '--store', 'memory:']);
    expect(refused).toMatchObject({ code: 1, err: expect.stringContaining('concerto trust') });
    expect(await run(['doctor', '--store', 'memory:', '--port', '0'])).toMatchObject({ code: 1 });
    expect(await run(['trust'])).toMatchObject({ code: 0 });
    const { child, ended } = await serving(['--store', 'memory:']);
    child.kill('SIGTERM');
    expect((await ended).code).toBe(0);
    expect(await run(['trust', '--forget'])).toMatchObject({ code: 0 });
    expect(await run(['serve', '--port', '0', '--store', 'memory:'])).toMatchObject({ code: 1 });
    const trusted = await serving(['--store', 'memory:', '--trust']);
    trusted.child.kill('SIGTERM');
    await trusted.ended;
  });

  test('is asked about at a terminal', async () => {
    await manifest();
    const command = [process.execPath, ...concertoCommand, 'serve', '--port', '0', '--store', 'memory:'];
    const asked = async (keys: string) => {
      const steps = [
        ['Do you trust', keys],
        ['open http', '\u0003'],
      ] as const;
      return await inTerminal(command, steps, { cwd: project, env: { HOME: home } });
    };
    expect(await asked('n\r')).toMatchObject({ code: 1, shown: expect.stringContaining('cat') });
    // Ctrl-C is a no, on a line of its own.
    expect(await asked('\u0003')).toMatchObject({
      code: 1,
      shown: expect.stringMatching(/\nerror: the folder is not/),
    });
    expect(await asked('y\r')).toMatchObject({ code: 0, shown: expect.stringContaining('listening on') });
    expect((await run(['doctor', '--store', 'memory:', '--port', '0', '--no-prompt'])).err).not.toContain('trust');
  });

  test('`doctor` asks with the whole commands too, MCP servers among them', async () => {
    const agent = '[agents.a]\ncommand = "cat"\nargs = ["-u"]\n';
    await writeFile(
      join(project, 'Concerto.toml'),
      `${agent}[mcp.m]\ntransport = "stdio"\ncommand = "sh"\nargs = ["-c", "exit"]\n`,
    );
    const command = [process.execPath, ...concertoCommand, 'doctor', '--store', 'memory:', '--port', '0'];
    const { code, shown } = await inTerminal(command, [['Do you trust', 'n\r']], { cwd: project, env: { HOME: home } });
    expect({ code, shown }).toEqual({ code: 1, shown: expect.stringMatching(/It names:\s+cat -u\s+sh -c exit\s/) });
  });

  test('a store that came with it is not used', async () => {
    await mkdir(join(project, '.concerto'));
    await writeFile(join(project, '.concerto/concerto.db'), '');
    expect(await run(['serve', '--port', '0'])).toMatchObject({ code: 1, err: expect.stringContaining('strangers') });
    const { child, ended } = await serving(['--trust']);
    child.kill('SIGTERM');
    await ended;
  });

  test('its manifest opens this machine to nobody', async () => {
    await manifest('[server]', 'host = "0.0.0.0"');
    expect(await run(['serve', '--port', '0', '--store', 'memory:'])).toMatchObject({
      code: 1,
      err: expect.stringContaining('--host 0.0.0.0'),
    });
  });

  test('its manifest makes no secret of what everybody knows', async () => {
    await manifest('[server]', 'token_env = "HOME"');
    expect(await run(['serve', '--port', '0', '--store', 'memory:'])).toMatchObject({
      code: 1,
      err: expect.stringContaining('HOME, which is no secret'),
    });
  });

  test('a token that can be guessed is not for other machines, and warned of on this one', async () => {
    const short = ['--store', 'memory:', '--token', 'short'];
    expect(await run(['serve', '--port', '0', '--host', '0.0.0.0', ...short])).toMatchObject({
      code: 2,
      err: expect.stringContaining('can be guessed'),
    });
    const { child, ended } = await serving(short);
    child.kill('SIGTERM');
    expect((await ended).err).toContain('can be guessed');
  });
});
