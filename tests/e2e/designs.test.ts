import { chmod, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { runConcerto } from '../support/run-concerto.ts';

/** Each command is a process of its own, from source. */
const withinMs = 120_000;
const designs = join(import.meta.dirname, 'designs');

type Block = { readonly language: string; readonly text: string };

async function blocksOf(file: string): Promise<Block[]> {
  const text = await readFile(join(designs, file), 'utf8');
  return [...text.matchAll(/^( *)```(\w*)\n([\s\S]*?)^ *```$/gm)].map(([, indent = '', language = '', block = '']) => ({
    language,
    text: block.replaceAll(new RegExp(`^${indent}`, 'gm'), ''),
  }));
}

const blocks = await blocksOf('bidirectional-agent-streaming.md');
const programs = blocks.filter(({ language }) => language === 'concerto').map(({ text }) => text);
const said = blocks.find(({ language }) => language === 'json')?.text ?? '';

let folder: string;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'concerto-designs-'));
  await mkdir(join(folder, 'src'));
  await mkdir(join(folder, 'bin'));
});

afterEach(async () => {
  await rm(folder, { recursive: true, force: true });
});

async function concerto(...args: string[]) {
  const path = [join(folder, 'bin'), process.env.PATH ?? ''].join(delimiter);
  return runConcerto(args, { PATH: path }).ended;
}

async function heardBy(agent: string): Promise<unknown[]> {
  const text = await readFile(join(folder, `${agent}.heard`), 'utf8');
  return text
    .trim()
    .split('\n')
    .map((line): unknown => JSON.parse(line.startsWith('{') ? line : JSON.stringify(line)));
}

/**
 * Says these lines for a prompt, the next part of them when it was answered; acknowledges `init`. What it hears is in
 * a file beside the manifest.
 */
const agentProgram = (name: string, lines: string) => `
import { appendFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
const lines = ${JSON.stringify(lines.trim().split('\n'))};
let next = lines.length;
function go() {
  while (next < lines.length) {
    const line = lines[next++];
    console.log(line);
    const { type } = JSON.parse(line);
    if (type === 'question' || type === 'approval') return;
    if (type === 'result' || type === 'error') next = lines.length;
  }
}
for await (const line of createInterface({ input: process.stdin })) {
  appendFileSync(${JSON.stringify(`${name}.heard`)}, line + '\\n');
  if (line.includes('"init"')) { console.log('{"type":"init_ack"}'); continue; }
  if (!line.includes('"response"')) next = 0;
  go();
}
`;

describe('the programs of bidirectional agent streaming', () => {
  const manifest = `[project]
name = "designs"
version = "0.1.0"
entry = "src/main.conc"
[connections.openai]
provider = "mock"
[connections.anthropic]
provider = "mock"
[agents.claude_code]
transport = "stdio"
command = "node"
args = ["coder.mjs"]
[agents.test_runner]
transport = "stdio"
command = "node"
args = ["tester.mjs"]
`;

  /** What a program uses and an earlier one on the page declares, and then the program as it is printed. */
  async function runPrinted(index: number, more = { before: '', after: '' }) {
    const program = programs[index] ?? '';
    const own = declarations(program);
    const earlier = new Map(programs.slice(0, index).flatMap((text) => [...declarations(text)]));
    const missing = [...earlier].filter(([name]) => !own.has(name)).map(([, text]) => text);
    await writeFile(join(folder, 'Concerto.toml'), manifest);
    await writeFile(join(folder, 'coder.mjs'), agentProgram('coder', said));
    await writeFile(join(folder, 'tester.mjs'), agentProgram('tester', said));
    await writeFile(join(folder, 'src/main.conc'), [...missing, more.before, program, more.after].join('\n'));
    const checked = await concerto('check', '--json', folder);
    expect(JSON.parse(checked.out)).toEqual([]);
    return concerto('run', folder);
  }

  function declarations(text: string): Map<string, string> {
    const found = text.matchAll(/^(?:schema|agent|model|pipeline) (\w+)[\s\S]*?^}|^memory (\w+).*;/gm);
    return new Map([...found].map(([whole, block, store]) => [block ?? store ?? '', whole]));
  }

  const started = '[emit:listen:start] {"agent": ClaudeCode, "listen": $listen_0}\n';
  const completed = '[emit:listen:complete] {"agent": ClaudeCode}\n';
  const unhandled = {
    progress: '[emit:listen:unhandled] {"type": progress, "message": Reading files..., "percent": 10}\n',
    approval: '[emit:listen:unhandled] {"type": approval, "description": Delete 3 files, "risk_level": medium}\n',
  };
  const answer = (to: string, value: unknown) =>
    expect.objectContaining({ type: 'response', in_reply_to: to, value }) as unknown;
  const mock = (prompt: string) => `[mock response to: ${prompt}]`;

  test('are all here', () => {
    expect(programs).toHaveLength(8);
    expect(said.trim().split('\n')).toHaveLength(6);
  });

  test('message schemas and an agent alone are checked, and there is nothing to run', {
    timeout: withinMs,
  }, async () => {
    for (const index of [0, 4]) {
      const { code, err } = await runPrinted(index);
      expect({ code, err }).toMatchObject({ code: 1, err: expect.stringContaining('has nothing to run') as string });
    }
  });

  test('progress, and a question that a model answers', { timeout: withinMs }, async () => {
    const { code, out, err } = await runPrinted(1);
    expect({ code, err }).toEqual({ code: 0, err: '' });
    expect(out).toBe(
      `${started}[emit:agent:progress] AgentProgress {message: Reading files..., percent: 10, stage: None}\n${unhandled.approval}${completed}`,
    );
    expect(await heardBy('coder')).toEqual([
      'Refactor auth module to use JWT',
      answer('question', mock('Answer: Use RS256 or HS256?')),
      expect.objectContaining({ type: 'response', in_reply_to: 'approval' }),
    ]);
  });

  test('specialist routing', { timeout: withinMs }, async () => {
    const { code, out, err } = await runPrinted(2);
    expect({ code, err }).toEqual({ code: 0, err: '' });
    expect(out).toBe(`${started}${unhandled.progress}${completed}`);
    expect(await heardBy('coder')).toEqual([
      'Implement OAuth2 login',
      answer('question', mock('Answer: Use RS256 or HS256?')),
      answer('approval', 'no'),
    ]);
  });

  test('untyped handlers', { timeout: withinMs }, async () => {
    const { code, out, err } = await runPrinted(3);
    expect({ code, err }).toEqual({ code: 0, err: '' });
    expect(out).toBe(
      `${started}[emit:agent:progress] {"message": Reading files..., "percent": 10}\n${unhandled.approval}${completed}`,
    );
  });

  test('`execute` without `listen`', { timeout: withinMs }, async () => {
    const { code, out, err } = await runPrinted(5, { before: '', after: 'emit("result", result);' });
    expect({ code, out, err }).toEqual({ code: 0, out: '[emit:result] Done. 12 files modified.\n', err: '' });
  });

  test('a memory of what was decided', { timeout: withinMs }, async () => {
    const { code, out, err } = await runPrinted(6);
    expect({ code, err }).toEqual({ code: 0, err: '' });
    const question = 'Answer: Use RS256 or HS256?';
    expect(out).toContain(
      `[emit:decisions] [Message {role: user, content: ${question}}, Message {role: assistant, content: ${mock(question)}}]\n`,
    );
  });

  test('`listen` as the stages of a pipeline', { timeout: withinMs }, async () => {
    const { code, out, err } = await runPrinted(7, {
      before: 'agent TestRunner { connector: test_runner, output_format: "json" }',
      after: 'emit("built", BuildAndTest.run("a login"));',
    });
    expect({ code, err }).toEqual({ code: 0, err: '' });
    expect(out).toContain('[emit:pipeline:start] {"name": BuildAndTest, "stages": 2}\n');
    expect(out).toContain('[emit:built] Ok({"text": Done. 12 files modified., "files_changed": 12})\n');
    expect((await heardBy('coder'))[0]).toBe('Implement: a login');
    expect((await heardBy('tester'))[0]).toMatch(/^Test: .*Done\. 12 files modified\./);
  });
});

describe('the snippets of host initialization arguments', async () => {
  const snippets = await blocksOf('host-initialization-arguments.md');
  const [bare = '', full = ''] = snippets.filter(({ language }) => language === 'toml').map(({ text }) => text);
  const of = (language: string) => snippets.find((snippet) => snippet.language === language)?.text ?? '';
  const wire = snippets.find(({ text }) => text.startsWith('-->'))?.text ?? '';
  const sent = [...wire.matchAll(/^--> (.*)$/gm)].map(([, line = '']) => line);
  const received = [...wire.matchAll(/^<-- (.*)$/gm)].map(([, line = '']) => line);
  const project = '[project]\nname = "hosts"\nversion = "0.1.0"\nentry = "src/main.conc"\n';

  /** The programs that the printed manifest starts, as far as it goes: each runs what the test says. */
  async function standIn(command: string, script: string): Promise<void> {
    const path = join(folder, 'bin', command);
    await writeFile(path, `#!/bin/sh\n${script}\n`);
    await chmod(path, 0o755);
  }

  async function writeProject(manifest: string, program: string): Promise<void> {
    await writeFile(join(folder, 'Concerto.toml'), `${project}${manifest}`);
    await writeFile(join(folder, 'src/main.conc'), `${of('concerto')}\n${program}`);
  }

  const prompt = 'emit("result", ClaudeCodeHost.execute("Refactor the auth module"));';

  test('are all here', () => {
    expect(sent).toHaveLength(2);
    expect(received).toHaveLength(3);
    expect(bare).not.toContain('params');
    expect(full).toContain('[hosts.researcher.params]');
  });

  test('the wire: `init` with the params first, `init_ack`, then a typed prompt', { timeout: withinMs }, async () => {
    await writeProject(full, prompt);
    await writeFile(join(folder, 'host.mjs'), agentProgram('host', received.slice(1).join('\n')));
    await standIn('npx', 'echo "$@" > started; exec node host.mjs');
    const { code, out, err } = await concerto('run', folder);
    expect({ code, out }).toEqual({ code: 0, out: '[emit:result] Ok(Done. Refactored 3 files.)\n' });
    expect(err).toContain('[hosts.claude_code_host]');
    expect(await readFile(join(folder, 'started'), 'utf8')).toBe('ts-node hosts/claude-code-host/index.ts\n');
    const [init, ask] = await heardBy('host');
    expect(JSON.stringify(init)).toBe(JSON.stringify(JSON.parse(of('json'))));
    expect(ask).toMatchObject(JSON.parse(sent[1] ?? '') as object);
  });

  test('without params there is no `init`, and the prompt is bare', { timeout: withinMs }, async () => {
    for (const manifest of [bare, `${bare}[hosts.claude_code_host.params]\n`]) {
      await rm(join(folder, 'host.heard'), { force: true });
      await writeProject(manifest, prompt);
      await writeFile(join(folder, 'host.mjs'), agentProgram('host', received.slice(1).join('\n')));
      await standIn('npx', 'exec node host.mjs');
      expect((await concerto('run', folder)).out).toBe('[emit:result] Ok(Done. Refactored 3 files.)\n');
      expect(await heardBy('host')).toEqual(['Refactor the auth module']);
    }
  });

  test('params are in the compiled program, which runs without the manifest', { timeout: withinMs }, async () => {
    await writeProject(full, prompt);
    const compiled = join(folder, 'out.conc-ir');
    expect((await concerto('build', folder, '-o', compiled)).code).toBe(0);
    const module = JSON.parse(await readFile(compiled, 'utf8')) as { agents: { params: unknown }[] };
    expect(module.agents[0]?.params).toEqual((JSON.parse(of('json')) as { params: unknown }).params);
    await rm(join(folder, 'Concerto.toml'));
    await writeFile(join(folder, 'host.mjs'), agentProgram('host', received.slice(1).join('\n')));
    await standIn('npx', 'exec node host.mjs');
    expect((await concerto('run', compiled)).out).toBe('[emit:result] Ok(Done. Refactored 3 files.)\n');
    expect((await heardBy('host'))[0]).toMatchObject({ type: 'init' });
  });

  test('the TypeScript middleware starts Claude Code by its params', { timeout: withinMs }, async () => {
    await writeProject(full.replace('/home/user/my-project', folder), prompt);
    await mkdir(join(folder, 'hosts/claude-code-host'), { recursive: true });
    const before = `import { createInterface } from 'node:readline';
const input = createInterface({ input: process.stdin })[Symbol.asyncIterator]();
const readLine = async () => String((await input.next()).value);
`;
    const after = `
let text = '';
claude.stdout.on('data', (part) => { text += part; });
const ended = new Promise((resolve) => claude.on('close', resolve));
console.log('{"type":"init_ack"}');
await readLine();
await ended;
console.log(JSON.stringify({ type: 'result', text }));
`;
    const main = join(folder, 'hosts/claude-code-host/index.mts');
    await writeFile(main, `${before}${of('typescript')}${after}`);
    const tsx = join(import.meta.dirname, '../../node_modules/tsx/dist/esm/index.mjs');
    await standIn('npx', `exec node --import ${tsx} hosts/claude-code-host/index.mts`);
    await standIn('claude', 'printf "%s in %s" "$*" "$PWD"');
    expect((await concerto('run', folder)).out).toBe(
      `[emit:result] Ok(--output-format stream-json --model opus --allowedTools read,write,bash in ${folder})\n`,
    );
  });

  test('the Python middleware reads its params', { timeout: withinMs }, async () => {
    await writeProject(
      full,
      'host Researcher { connector: "researcher" }\nemit("result", Researcher.execute("Find out"));',
    );
    await mkdir(join(folder, 'hosts/researcher'), { recursive: true });
    const before = 'def OpenAI(base_url): return base_url\n';
    const after = `
print('{"type":"init_ack"}', flush=True)
sys.stdin.readline()
print(json.dumps({"type": "result", "text": model + " at " + client}), flush=True)
`;
    await writeFile(join(folder, 'hosts/researcher/main.py'), `${before}${of('python')}${after}`);
    await standIn('python', 'exec python3 "$@"');
    expect((await concerto('run', folder)).out).toBe('[emit:result] Ok(gpt-4o at https://api.openai.com/v1)\n');
  });

  test('a host that fails to start is an error with what it said', { timeout: withinMs }, async () => {
    await writeProject(full, prompt);
    await standIn('npx', 'echo "no such module: ts-node" >&2; exit 1');
    const { code, out } = await concerto('run', folder);
    expect(code).toBe(0);
    expect(out).toMatch(/^\[emit:result\] Err\(.*\nno such module: ts-node\)$/m);
  });
});
