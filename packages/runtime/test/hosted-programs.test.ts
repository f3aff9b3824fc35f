import { spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buildProgram, readManifest } from '@concerto/language';
import { HostedMachines } from '@concerto/runtime/hosted';
import { afterAll, afterEach, expect, test } from 'vitest';
import type { CatalogEntry, LoadedProgram } from '../src/index.ts';
import { programEntry } from './program-entry.ts';
import { openStage, type Stage } from './session-stage.ts';

const directory = mkdtempSync(join(tmpdir(), 'concerto-hosted-'));
const flags = ['--import', createRequire(import.meta.url).resolve('tsx'), '--conditions=@concerto/source'];
/** All programs of a test share one process. */
const machines = new HostedMachines({ hosts: 1, heapMiB: 192, flags });
let stage: Stage | undefined;
afterEach(async () => {
  await stage?.close();
  stage = undefined;
});
afterAll(() => {
  machines.close();
  rmSync(directory, { recursive: true, force: true });
});

/** Writes down what it is prompted with, says a lot, asks, and says what it was answered. */
writeFileSync(
  join(directory, 'agent.mjs'),
  `import { appendFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
createInterface({ input: process.stdin }).on('line', (line) => {
  if (line.startsWith('{')) return console.log(JSON.stringify({ type: 'result', text: JSON.parse(line).value }));
  appendFileSync('heard', line + '\\n');
  for (let percent = 1; percent <= 1000; percent++) console.log(JSON.stringify({ type: 'progress', percent }));
  console.log(JSON.stringify({ type: 'question', id: line, question: line }));
});
`,
);
const { manifest } = readManifest(`[project]
name = "p"
version = "1"
entry = "main.conc"
[agents.worker]
command = ${JSON.stringify(process.execPath)}
args = ["agent.mjs"]
`);

type Limits = NonNullable<LoadedProgram['limits']>;

const program = (name: string, source: string, limits: Limits = {}): CatalogEntry =>
  programEntry(name, source, { manifest, limits, directory });

function open(...entries: readonly CatalogEntry[]): Stage {
  stage = openStage({ agents: [], entries, machines });
  return stage;
}

async function started(on: Stage, name: string): Promise<string> {
  const session = await on.start({ program: name });
  if (!session.ok) throw new Error(session.error.message);
  return session.value.id;
}

async function answer(on: Stage, session: string, response: string): Promise<void> {
  const { requestId } = await on.until(session, (event) => event.type === 'waitForInput');
  const target = { session, request: String(requestId) };
  expect(await on.sessions.answer(target, { response }, { actor: 'user', key: undefined })).toEqual({ ok: true });
}

/** How long this thread, which serves everybody, was held at most. */
function watchLoop(): () => number {
  let last = performance.now();
  let longest = 0;
  const timer = setInterval(() => {
    longest = Math.max(longest, performance.now() - last);
    last = performance.now();
  }, 10);
  return () => {
    clearInterval(timer);
    return Math.max(longest, performance.now() - last);
  };
}

const asks = program(
  'asks',
  'async fn main() -> Result<String, String> { let who = await emit("ask", "Who?"); Ok("${who}!") }\n',
);
const sliceMs = 1_500;

/** Each would hold whoever runs it for longer than it may. */
test.each([
  ['sorts', 'let all = (0..1000000).to_array(); while true { all.reverse().sort(); }'],
  ['joins', 'let all = (0..1000000).to_array(); while true { all.join(", ").split(", "); }'],
  ['says too much at once', 'emit("text", "x".repeat(9000000));'],
  ['loops', 'let mut n = 0; while true { n += 1; }'],
])(
  'a program that %s ends with the error of its limit, and nobody else waits for it',
  { timeout: 120_000 },
  async (name, body) => {
    const wild = program(name, `fn main() {\n    ${body}\n}\n`, { slice: sliceMs, steps: 10_000_000 });
    const on = open(wild, asks);
    const beside = await started(on, 'asks');
    const held = watchLoop();
    const offender = await started(on, name);
    const began = performance.now();
    await answer(on, beside, 'Ada');
    const error = await on.until(offender, (event) => event.type === 'error');
    const tookMs = performance.now() - began;
    expect(String(error.message)).toMatch(/limit `slice`|more than 10000000 steps|more than 8 MiB at once/);
    expect(await on.until(beside, (event) => event.type === 'complete')).toMatchObject({
      result: { outcomes: { parts: [{ text: 'Ada!' }] } },
    });
    expect(held()).toBeLessThan(Math.max(sliceMs, tookMs) / 2);
  },
);

const works = program(
  'works',
  `agent Worker { connector: worker }
async fn main() -> Result<String, String> {
    let mut heard = 0;
    let done = listen Worker.execute("go") {
        "progress" => |p| { heard += p.percent; },
        "question" => |q| { await emit("ask", "May it?") },
    };
    match done { Ok(result) => Ok("\${heard} \${result.text}"), Err(error) => Err(error.message) }
}
`,
);

test.each<[string, string, Limits, RegExp]>([
  [
    'too long',
    'let all = (0..1000000).to_array(); while true { all.join("").split(""); }',
    { slice: 500 },
    /limit `slice`/,
  ],
  ['too much', 'let all = "x".repeat(33000000).split("");', { memory: 50 * 2 ** 20 }, /more memory than its process/],
])(
  'a program whose process is ended because another did %s goes on where it was, and does nothing twice',
  {
    timeout: 120_000,
  },
  async (name, body, limits, says) => {
    rmSync(join(directory, 'heard'), { force: true });
    const on = open(program(name, `fn main() {\n    ${body}\n}\n`, limits), works);
    const beside = await started(on, 'works');
    const { requestId } = await on.until(beside, (event) => event.type === 'waitForInput');
    const offender = await started(on, name);
    const error = await on.until(offender, (event) => event.type === 'error');
    expect(String(error.message)).toMatch(says);
    const target = { session: beside, request: String(requestId) };
    await on.sessions.answer(target, { response: 'yes' }, { actor: 'user', key: undefined });
    const end = await on.until(beside, (event) => event.type === 'complete' || event.type === 'error');
    expect(end).toMatchObject({ result: { outcomes: { parts: [{ text: '500500 yes' }] } } });
    expect(readFileSync(join(directory, 'heard'), 'utf8')).toBe('go\n');
  },
);

test('what a program says in one go comes whole and in its order', { timeout: 60_000 }, async () => {
  const body = 'let text = "x".repeat(1000); for n in 0..5000 { emit("n", "${n} ${text}"); }';
  const on = open(program('says', `fn main() {\n    ${body}\n}\n`));
  const id = await started(on, 'says');
  await on.until(id, (event) => event.type === 'finish');
  const { entries } = await on.log.read({ session: id, stream: 'events', after: 0, limit: 10_000 });
  const said = entries.flatMap(({ data }) => /"value":"(\d+) x/.exec(data)?.[1] ?? []);
  expect(said).toEqual(Array.from({ length: 5_000 }, (_, n) => String(n)));
});

test.runIf(process.platform === 'linux')(
  'nothing is left of a process whose server was killed, whatever it computes',
  { timeout: 60_000 },
  async () => {
    const hosted = new URL('../src/hosted.ts', import.meta.url).href;
    const { module } = buildProgram({
      entry: 'main.conc',
      readFile: () => 'fn main() { let all = (0..1000000).to_array(); while true { all.join(", "); } }',
    });
    const script = join(directory, 'server.mts');
    writeFileSync(
      script,
      `import { HostedMachines } from ${JSON.stringify(hosted)};
const machine = await new HostedMachines({ hosts: 1 }).begin({ entry: 'main', module: ${JSON.stringify(module)}, sliceMs: 60_000 });
setTimeout(() => console.log('computes'), 500);
await machine.turn({ inputs: [], steps: 100_000 });
`,
    );
    const server = spawn(process.execPath, [...flags, script], { stdio: ['ignore', 'pipe', 'inherit'] });
    await new Promise((resolve) => server.stdout.once('data', resolve));
    const children = readFileSync(`/proc/${server.pid}/task/${server.pid}/children`, 'utf8').trim().split(' ');
    expect(children).not.toEqual(['']);
    server.kill('SIGKILL');
    await expect.poll(() => children.filter((pid) => existsSync(`/proc/${pid}`)), { timeout: 20_000 }).toEqual([]);
  },
);
