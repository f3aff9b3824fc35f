import { existsSync, readFileSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { root } from '../support/built-concerto.ts';
import { inTerminal, type TerminalSteps } from '../support/in-terminal.ts';
import { isAlive } from '../support/is-alive.ts';
import { runConcerto } from '../support/run-concerto.ts';

const withinMs = 90_000;
const CTRL_C = '\u0003';
const CTRL_D = '\u0004';

let folder: string;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'concerto-terminal-'));
});

afterEach(async () => {
  await rm(folder, { recursive: true, force: true });
});

/** Its agents as processes of its own, and as sessions: to whoever sits there it is the same. */
const ways: readonly (readonly [string, readonly string[]])[] = [
  ['a run', []],
  ['a run in a store', ['--store', 'memory:']],
];

/** Ctrl-D is read only while the terminal asks. */
const PROMPT = '> ';

describe.each(ways)('a person at the terminal of %s', (_what, flags) => {
  /** `concerto run` of a program in a terminal where somebody waits for a text and then types. */
  async function runInTerminal(program: string, steps: TerminalSteps) {
    await writeFile(join(folder, 'main.conc'), program);
    const concerto = join(root, 'apps/cli/bin/concerto.js');
    const command = [process.execPath, concerto, 'run', ...flags, join(folder, 'main.conc')];
    const { code, shown } = await inTerminal(command, steps, { env: {}, withinMs });
    return { code, emits: shown.split('\r\n').flatMap((line) => /\[emit:.*$/.exec(line) ?? []) };
  }

  test('is asked by `await emit`: text, JSON, and Ctrl-D for no answer', { timeout: withinMs }, async () => {
    const ran = await runInTerminal(
      `async fn main() {
    for n in 0..4 { emit("got", await emit("ask", n)); }
}`,
      [
        [PROMPT, 'yes, do it\r'],
        [PROMPT, '{"a": [1]}\r'],
        [PROMPT, CTRL_D],
        [PROMPT, '{not json\r'],
      ],
    );
    expect(ran).toEqual({
      code: 0,
      emits: [
        '[emit:ask] 0',
        '[emit:got] yes, do it',
        '[emit:ask] 1',
        '[emit:got] {"a": [1]}',
        '[emit:ask] 2',
        '[emit:got] nil',
        '[emit:ask] 3',
        '[emit:got] {not json',
      ],
    });
  });

  test('sees one question at a time', { timeout: withinMs }, async () => {
    const ran = await runInTerminal(
      `async fn ask(n: Int) -> Any { await emit("ask", n) }
async fn main() { let (a, b) = await (ask(1), ask(2)); emit("got", [a, b]); }`,
      [
        ['[emit:ask] 1', 'one\r'],
        ['[emit:ask] 2', 'two\r'],
      ],
    );
    expect(ran).toEqual({ code: 0, emits: ['[emit:ask] 1', '[emit:ask] 2', '[emit:got] [one, two]'] });
  });

  test('ends the program with Ctrl-C while it asks', { timeout: withinMs }, async () => {
    const ran = await runInTerminal('async fn main() { emit("got", await emit("ask", 1)); }', [[PROMPT, CTRL_C]]);
    expect(ran).toEqual({ code: 130, emits: ['[emit:ask] 1'] });
  });

  test('ends an agent and all it started with Ctrl-C while it listens', { timeout: withinMs }, async () => {
    await writeFile(
      join(folder, 'agent.sh'),
      `sleep 1000 & echo "$$ $!" > pids; read -r line; echo '{"type":"progress","message":"working"}'; wait\n`,
    );
    await writeFile(
      join(folder, 'Concerto.toml'),
      '[project]\nname = "t"\nversion = "1"\nentry = "main.conc"\n[agents.worker]\ntransport = "stdio"\ncommand = "sh"\nargs = ["agent.sh"]\n',
    );
    const ran = await runInTerminal(
      `agent Worker { connector: worker }
fn main() {
    let r = listen Worker.execute("go") { "progress" => |p| { emit("progress", p.message); } };
    emit("never", r);
}`,
      [['[emit:progress] working', CTRL_C]],
    );
    expect(ran).toMatchObject({ code: 130, emits: expect.not.arrayContaining([expect.stringContaining('never')]) });
    expect(existsSync(join(folder, 'pids'))).toBe(true);
    const pids = readFileSync(join(folder, 'pids'), 'utf8').trim().split(' ').map(Number);
    expect(pids).toHaveLength(2);
    expect(pids.filter(isAlive)).toEqual([]);
  });
});

describe('an MCP server that does not answer and does not end by itself', () => {
  const deaf = `import { spawn } from 'node:child_process';
import { writeFileSync } from 'node:fs';
for (const signal of ['SIGTERM', 'SIGINT']) process.on(signal, () => {});
writeFileSync('pids', \`\${process.pid} \${spawn('sleep', ['1000']).pid}\`);
setInterval(() => {}, 1000);
`;

  test.each([
    ['while it is asked for its tools', ['--mcp'], 1],
    ['while it is called, by a second Ctrl-C', [], 2],
    ['while it is called in a store, by a second Ctrl-C', ['--store', 'memory:'], 2],
  ])('is ended %s', { timeout: withinMs }, async (_when, flags, times) => {
    await writeFile(join(folder, 'deaf.mjs'), deaf);
    await writeFile(
      join(folder, 'Concerto.toml'),
      '[project]\nname = "t"\nversion = "1"\nentry = "main.conc"\n[mcp.Deaf]\ntransport = "stdio"\ncommand = "node"\nargs = ["deaf.mjs"]\n',
    );
    await writeFile(join(folder, 'main.conc'), 'mcp Deaf {}\nfn main() { emit("a", Deaf.call("x")); }\n');
    const running = runConcerto(['run', ...flags, folder]);
    const pidsFile = join(folder, 'pids');
    await expect.poll(() => existsSync(pidsFile) && readFileSync(pidsFile, 'utf8'), { timeout: 30_000 }).toBeTruthy();
    for (let n = 0; n < times; n++) {
      running.interrupt();
      // Two signals that come together would be one.
      await sleep(100);
    }
    expect(await running.ended).toMatchObject({ code: 130, out: '' });
    const pids = readFileSync(pidsFile, 'utf8').split(' ').map(Number);
    expect(pids.filter(isAlive)).toEqual([]);
  });
});
