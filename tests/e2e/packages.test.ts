import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { build } from 'esbuild';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { root } from '../support/built-concerto.ts';

const withinMs = 240_000;
/** `npm run test:packages` says on which Node. */
const node = process.env.CONCERTO_TEST_NODE ?? process.execPath;
const libraries = ['base', 'ir', 'protocol', 'signals', 'language', 'language-server', 'client', 'agent-kit'];

let folder: string;
let place: string;
let installing: Ran;
const started: ChildProcess[] = [];

/** Nothing of the clone is on the way: as for somebody who has only what was installed. */
const env = () => ({
  PATH: [dirname(node), join(place, 'node_modules/.bin'), process.env.PATH].join(delimiter),
  HOME: folder,
  XDG_STATE_HOME: join(folder, 'state'),
  NO_COLOR: '1',
  npm_config_registry: process.env.npm_config_registry,
});

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'concerto-packages-'));
  place = join(folder, 'empty');
  await mkdir(place);
  await run(process.execPath, [join(root, 'tools/pack.mjs'), join(folder, 'packed')], root, process.env);
  const tarballs = (await readdir(join(folder, 'packed'))).map((file) => join(folder, 'packed', file));
  await writeFile(join(place, 'package.json'), '{ "private": true, "type": "module" }\n');
  installing = await run(
    'npm',
    ['install', '--prefer-offline', '--no-audit', '--no-fund', ...tarballs],
    place,
    process.env,
  );
}, withinMs);

afterAll(async () => {
  for (const child of started) child.kill('SIGKILL');
  await rm(folder, { recursive: true, force: true });
});

test('19.1 each package has its types, README and LICENSE, and none of our sources', async () => {
  expect(installing).toMatchObject({ code: 0 });
  // A warning about the Node that we say we support would be the first that a newcomer sees.
  expect(installing.all).not.toContain('EBADENGINE');
  for (const name of [...libraries.map((library) => `@concerto/${library}`), 'concerto-agents']) {
    const files = await readdir(join(place, 'node_modules', name), { recursive: true });
    expect(files).toEqual(expect.arrayContaining(['LICENSE', 'README.md', 'package.json', 'dist']));
    expect(files.filter((file) => /(^|[^d])\.tsx?$|\.map$|\.test\./.test(file.replace('.d.ts', '.d')))).toEqual([]);
  }
  const own = await readdir(join(place, 'node_modules/concerto-agents'));
  // Everything of ours and of others is in its own files, with their terms.
  expect(own).not.toContain('node_modules');
  const terms = readFileSync(join(place, 'node_modules/concerto-agents/dist/third-party-licenses.txt'), 'utf8');
  for (const name of ['hono', 'zod', 'pino'])
    expect(terms).toMatch(new RegExp(`^${name} [0-9.]+ \\(MIT\\)\\n\\n\\S`, 'm'));
});

test('19.1 the command makes, checks, tests and runs a program', async () => {
  for (const [words, says] of [
    [['--version'], 'concerto '],
    [['new', 'first'], 'created first'],
    [['check', 'first'], 'no problems'],
    [['test', 'first'], '2 passed'],
    [['run', 'first'], 'Hello, world!'],
  ] as const) {
    const ran = await concerto(words);
    expect(ran).toMatchObject({ code: 0 });
    expect(ran.all).toContain(says);
  }
});

test('19.1 it serves the page, and the client’s README drives a session from there', {
  timeout: withinMs,
}, async () => {
  const served = spawn(node, [command(), 'serve', '--port', '0', '--token', 'from-the-tarballs'], {
    cwd: place,
    env: env(),
  });
  started.push(served);
  const url = await lineOf(served, /^listening on (\S+)/m);
  const page = await fetch(url, { headers: { accept: 'text/html', authorization: 'Bearer from-the-tarballs' } });
  expect(await page.text()).toContain('<div id="root">');
  const given = { ...env(), CONCERTO_URL: url, CONCERTO_TOKEN: 'from-the-tarballs' };
  await writeFile(join(place, 'watch.mjs'), blockOf('packages/client/README.md', 'js'));
  expect(await run(node, ['watch.mjs'], place, given)).toMatchObject({ code: 0, out: 'completed\n' });
});

test('19.1 what the other READMEs show runs, and says what they say', async () => {
  for (const library of ['base', 'ir', 'protocol', 'language', 'language-server']) {
    const text = blockOf(`packages/${library}/README.md`, 'js');
    await writeFile(join(place, `${library}.mjs`), text);
    const ran = await run(node, [`${library}.mjs`], place, env());
    expect(ran).toMatchObject({ code: 0 });
    const said = [...text.matchAll(/console\.log.*\/\/ (.*)$/gm)].map(([, told]) => told);
    expect(ran.out.trim().split('\n')).toEqual(said);
  }
});

test('19.1 the agent of the kit’s README speaks the wire', async () => {
  await mkdir(join(place, 'agent'));
  await writeFile(join(place, 'agent/renamer.mjs'), blockOf('packages/agent-kit/README.md', 'js'));
  await writeFile(join(place, 'agent/Concerto.toml'), blockOf('packages/agent-kit/README.md', 'toml'));
  const ran = await run(node, [command(), 'doctor', 'renamer'], join(place, 'agent'), env());
  expect(ran).toMatchObject({ code: 0 });
});

test('19.1 the types say what the functions take', async () => {
  const source = [
    "import { serveAgent } from '@concerto/agent-kit';",
    "import { concertoClient } from '@concerto/client';",
    "const client = concertoClient({ url: 'http://127.0.0.1:4242' });",
    "export const id: string = (await client.start({ agent: 'demo', prompt: 'go' })).id;",
    '// @ts-expect-error a number is no prompt',
    "await client.start({ agent: 'demo', prompt: 1 });",
    "await serveAgent({ prompt: async ({ text }, turn) => ({ text: `${text}${await turn.ask('Which?')}` }) });",
  ];
  await writeFile(join(place, 'consumer.ts'), source.join('\n'));
  for (const kind of ['nodenext', 'bundler']) {
    const settings = { module: kind === 'bundler' ? 'esnext' : kind, moduleResolution: kind, target: 'es2022' };
    const compilerOptions = { ...settings, strict: true, noEmit: true, skipLibCheck: true, types: [] };
    await writeFile(join(place, 'tsconfig.json'), JSON.stringify({ compilerOptions, files: ['consumer.ts'] }));
    expect(await run(join(root, 'node_modules/.bin/tsc'), [], place, process.env)).toMatchObject({ code: 0, out: '' });
  }
});

test('19.1 the client stays small in a bundle', async () => {
  const contents = "export * from '@concerto/client'";
  const stdin = { contents, resolveDir: place };
  const bundle = await build({ stdin, bundle: true, minify: true, format: 'esm', write: false });
  expect(gzipSync(bundle.outputFiles[0]?.contents ?? '').length).toBeLessThanOrEqual(30_000);
});

type Ran = { readonly code: number | null; readonly out: string; readonly all: string };

function command(): string {
  return join(place, 'node_modules/concerto-agents/bin/concerto.js');
}

function concerto(words: readonly string[]): Promise<Ran> {
  return run(node, [command(), ...words], place, env());
}

async function run(program: string, words: readonly string[], cwd: string, given: NodeJS.ProcessEnv): Promise<Ran> {
  const child = spawn(program, words, { cwd, env: given, stdio: ['ignore', 'pipe', 'pipe'], timeout: withinMs });
  let out = '';
  let all = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    out += text;
    all += text;
  });
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    all += text;
  });
  const [code] = await once(child, 'close');
  return { code, out, all };
}

function lineOf(child: ChildProcess, pattern: RegExp): Promise<string> {
  let said = '';
  return new Promise((resolve, reject) => {
    const hear = (text: string): void => {
      said += text;
      const found = pattern.exec(said)?.[1];
      if (found !== undefined) resolve(found);
    };
    child.stdout?.setEncoding('utf8').on('data', hear);
    child.stderr?.setEncoding('utf8').on('data', hear);
    child.once('close', () => reject(new Error(`the server ended: ${said}`)));
  });
}

function blockOf(file: string, language: string): string {
  const text = readFileSync(join(root, file), 'utf8');
  return new RegExp(`^\`\`\`${language}\\n([\\s\\S]*?)^\`\`\`$`, 'm').exec(text)?.[1] ?? '';
}
