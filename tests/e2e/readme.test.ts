import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { root } from '../support/built-concerto.ts';

const withinMs = 120_000;
const readme = readFileSync(join(root, 'README.md'), 'utf8');

type Block = { readonly language: string; readonly text: string; readonly before: string };

/** Every block of the steps, in order, with the words before it. */
const blocks = [...readme.matchAll(/([^\n]*)\n+```(\w+)\n([\s\S]*?)^```$/gm)].map(
  ([, before = '', language = '', text = '']): Block => ({ before, language, text }),
);
const shell = blocks.filter(({ language }) => language === 'sh');
/** What is to be written to a file, which the words before it name. */
const files = blocks
  .filter(({ language }) => language !== 'sh')
  .map(({ before, text }) => ({ name: [...before.matchAll(/`([\w-]+\.\w+)`/g)].at(-1)?.[1] ?? before, text }));

/** As in the clone, where `npx concerto` is the one that was built. */
const env = {
  ...process.env,
  PATH: [join(root, 'node_modules/.bin'), process.env.PATH].join(delimiter),
  PORT: undefined,
  CONCERTO_URL: undefined,
  CONCERTO_TOKEN: undefined,
  NO_COLOR: '1',
};

const commandsOf = (block: Block | undefined): readonly string[] =>
  (block?.text ?? '').split('\n').flatMap((line) => {
    const command = line.replace(/\s+#.*$/, '').replaceAll('npx concerto', 'concerto');
    return command.trim() === '' ? [] : [command];
  });

type Ran = { readonly command: string; readonly code: number | null; readonly out: string; readonly err: string };

/** `typed`: somebody sits at a terminal, waits for a text and then types. */
async function run(command: string, cwd: string, typed?: readonly (readonly [string, string])[]): Promise<Ran> {
  const words =
    typed === undefined
      ? ['sh', '-c', command]
      : ['python3', join(root, 'tests/support/terminal.py'), JSON.stringify(typed), 'sh', '-c', command];
  const [program = '', ...args] = words;
  const child = spawn(program, args, { cwd, env, stdio: ['ignore', 'pipe', 'pipe'], timeout: withinMs });
  let out = '';
  let err = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    out += text;
  });
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    err += text;
  });
  const [code] = await once(child, 'close');
  return { command, code, out, err };
}

async function serve(cwd: string): Promise<{ readonly child: ChildProcess; readonly url: string }> {
  const child = spawn(process.execPath, [join(root, 'apps/cli/bin/concerto.js'), 'serve', '--port', '0'], {
    cwd,
    env,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  servers.push(child);
  let said = '';
  for await (const chunk of child.stdout) {
    said += String(chunk);
    if (said.includes('open http')) break;
  }
  return { child, url: /listening on (\S+)/.exec(said)?.[1] ?? '' };
}

let folder: string;
const servers: ChildProcess[] = [];

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'concerto-readme-'));
});
afterAll(async () => {
  for (const server of servers) server.kill('SIGKILL');
  await rm(folder, { recursive: true, force: true });
});

/** In the order of the page: each step goes on from the one before. */
describe('the README, step by step', { timeout: withinMs }, () => {
  test('has the blocks that are run here, and no other', () => {
    expect(shell.map((block) => commandsOf(block)[0])).toEqual([
      'npm start',
      'concerto sessions offers',
      'concerto doctor reviewer',
      'concerto run supervise.conc',
      'CONCERTO_TOKEN=$(concerto token) node watch.mjs',
    ]);
    expect(files.map(({ name }) => name)).toEqual(['reviewer.py', 'Concerto.toml', 'supervise.conc', 'watch.mjs']);
    const { scripts } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
    for (const command of commandsOf(shell[0])) expect(scripts).toHaveProperty(command.replace('npm ', ''));
  });

  test('2: the same from a terminal', async () => {
    const cwd = join(folder, 'demo');
    await mkdir(cwd);
    const { child: server } = await serve(cwd);
    const answers = [
      ['your choice', '1\r'],
      ['approve?', 'y\r'],
      ['type the next message', '\u0003'],
    ] as const;
    let id = 'none';
    for (const line of commandsOf(shell[1])) {
      const command = line.replaceAll(/\bID\b/g, id);
      const ran = await run(command, cwd, command.includes('--attach') ? answers : undefined);
      expect(ran, `${ran.out}${ran.err}`).toMatchObject({ code: 0 });
      if (command.includes('start slow')) id = ran.out.trim();
    }
    server.kill('SIGTERM');
    await once(server, 'exit');
  });

  test('3 to 5: an agent, a program and code of one’s own', async () => {
    const cwd = join(folder, 'own');
    await mkdir(cwd);
    await symlink(join(root, 'node_modules'), join(cwd, 'node_modules'));
    for (const { name, text } of files) await writeFile(join(cwd, name), text);
    const started = await serve(cwd);
    let said = '';
    for (const block of shell.slice(2)) {
      for (const line of commandsOf(block)) {
        const ran = await run(line.replace('node watch', `CONCERTO_URL=${started.url} node watch`), cwd);
        expect(ran, `${ran.out}${ran.err}`).toMatchObject({ code: 0 });
        said += ran.out;
        if (line.includes('start reviewer')) await run('sleep 2', cwd);
      }
    }
    expect(said).toContain('[emit:review] Looks good.');
    const shown = await run('concerto sessions show last', cwd);
    expect(shown.out).toContain('Looks good.');
  });
});
