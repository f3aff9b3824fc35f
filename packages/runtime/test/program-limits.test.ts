import { readManifest } from '@concerto/language';
import { afterEach, expect, test } from 'vitest';
import type { CatalogEntry, LoadedProgram } from '../src/index.ts';
import { programEntry } from './program-entry.ts';
import { openStage, type Stage } from './session-stage.ts';

let stage: Stage | undefined;
afterEach(async () => {
  await stage?.close();
  stage = undefined;
});

type Limits = NonNullable<LoadedProgram['limits']>;

/** Says that it is done, whatever it is told. */
const agent = `process.stdin.on('data', () => console.log('{"type":"result","text":"done"}'))`;
const { manifest } = readManifest(`[project]
name = "p"
version = "1"
entry = "main.conc"
[agents.missing]
command = "./not-there"
[agents.worker]
command = ${JSON.stringify(process.execPath)}
args = ["-e", ${JSON.stringify(agent)}]
`);

const program = (name: string, source: string, limits: Limits = {}): CatalogEntry =>
  programEntry(name, source, { manifest, limits });

const loop = 'fn main() {\n    let mut n = 0;\n    while true {\n        n = n + 1;\n    }\n}\n';
const endless = program('endless', loop, { steps: 10_000_000 });
const chatty = program('chatty', 'fn main() {\n    while true { emit("again", "and again"); }\n}\n');
const plain = program('plain', 'fn main() -> Result<String, String> { Ok("plain") }\n');

async function started(name: string): Promise<string> {
  const session = await stage?.start({ program: name });
  if (session?.ok !== true) throw new Error(`${name} was not started`);
  return session.value.id;
}

test('an endless loop ends with an error that names the line, and others go on beside it', {
  timeout: 120_000,
}, async () => {
  stage = openStage({ agents: [], entries: [endless, plain] });
  const forever = await started('endless');
  const beside = await started('plain');
  await stage.until(beside, (event) => event.type === 'complete');
  const error = await stage.until(forever, (event) => event.type === 'error');
  expect(error.message).toMatch(/more than 10000000 steps.*main\.conc:[345]/);
});

test('a program that emits without end is held by the log’s pace, and can be cancelled', {
  timeout: 60_000,
}, async () => {
  stage = openStage({ agents: [], entries: [chatty, plain] });
  const id = await started('chatty');
  await stage.until(id, (event) => event.title === 'again');
  const beside = await started('plain');
  await stage.until(beside, (event) => event.type === 'complete');
  const cancelled = await stage.sessions.control(id, 'cancel', { actor: 'user', key: undefined });
  expect(cancelled.ok).toBe(true);
  await stage.until(id, (event) => event.type === 'finish');
});

test.each<[string, string, Limits, RegExp]>([
  [
    'memory',
    'let mut all = []; while true { all.push(1); }',
    { memory: 4 * 1024 * 1024 },
    /values take more than 4 MiB, its limit `memory` \(main\.conc:\d+\)$/,
  ],
  ['depth', 'deeper(1);', { depth: 100 }, /recursion deeper than 100 calls, the limit `depth`/],
  [
    'stream',
    'while true { emit("again", "and again"); }',
    { stream: 10_000 },
    /said and heard more than 10000 bytes, its limit `stream`/,
  ],
  ['size', 'emit("text", "x".repeat(2_000));', { size: 1_000 }, /a string longer than 1000, the limit `size`/],
  [
    'size',
    'emit("text", "x".repeat(900).replace("x", "yy"));',
    { size: 1_000 },
    /a string longer than 1000, the limit `size`/,
  ],
  [
    'size',
    'let mut all: Array<Any> = [1]; while true { all = all.concat(all); }',
    { size: 1_000 },
    /more than 1000 elements, the limit `size`/,
  ],
  [
    'at_once',
    'let all = await (one(), one(), one());',
    { at_once: 1 },
    /more than 1 things at the same time, the limit `at_once`/,
  ],
  [
    'steps',
    'while true { }',
    { steps: 1_000 },
    /^more than 1000 steps without an effect, its limit `steps`: a loop that never ends \([\w.]+:\d+\)$/,
  ],
])('a program that passes its limit `%s` fails and says so', { timeout: 60_000 }, async (name, body, limits, says) => {
  const source = `fn deeper(n: Int) -> Int { deeper(n + 1) + 1 }\nasync fn one() -> Any { await emit("one", 1) }\nasync fn main() {\n    ${body}\n}\n`;
  stage = openStage({ agents: [], entries: [program(name, source, limits)] });
  const id = await started(name);
  const error = await stage.until(id, (event) => event.type === 'error');
  expect(error.message).toMatch(says);
});

test('no more programs work at once than may; the next one has its turn when one ends', {
  timeout: 60_000,
}, async () => {
  const asks = program('asks', 'async fn main() -> Result<String, String> { Ok(await emit("ask", "Who?")) }\n');
  stage = openStage({ agents: [], entries: [asks, plain], programsMax: 1 });
  const first = await started('asks');
  const { requestId } = await stage.until(first, (event) => event.type === 'waitForInput');
  const second = await started('plain');
  expect(await stage.sessions.get(second)).toMatchObject({ status: 'queued' });
  await stage.sessions.answer(
    { session: first, request: String(requestId) },
    { response: 'Ada' },
    { actor: 'user', key: undefined },
  );
  await stage.until(second, (event) => event.type === 'complete');
});

test('a program that opens more sessions than it may is told so by the call', { timeout: 60_000 }, async () => {
  const source = `agent First { connector: worker }
agent Second { connector: worker }
fn main() -> Result<String, String> {
    let first = First.execute("go").is_ok();
    match Second.execute("go") {
        Ok(_) => Err("it was opened"),
        Err(error) => Ok("\${first}: \${error.message}"),
    }
}
`;
  stage = openStage({ agents: [], entries: [program('parent', source, { children: 1 })] });
  const id = await started('parent');
  const complete = await stage.until(id, (event) => event.type === 'complete' || event.type === 'error');
  expect(complete).toMatchObject({
    result: { outcomes: { parts: [{ text: expect.stringMatching(/^true: .*may open 1 sessions/) }] } },
  });
});

test('others are served beside a program whose arrays grow without end', { timeout: 120_000 }, async () => {
  const body = 'let mut all: Array<Any> = [1]; while true { all = all.concat(all); }';
  const wild = program('wild', `fn main() {\n    ${body}\n}\n`, { memory: 16 * 1024 * 1024 });
  stage = openStage({ agents: [], entries: [wild, plain] });
  const id = await started('wild');
  const beside = await started('plain');
  await stage.until(beside, (event) => event.type === 'complete');
  const error = await stage.until(id, (event) => event.type === 'error');
  expect(error.message).toMatch(/more than/);
});

test('one that opens ten thousand has as many as it may, and others go on beside it', {
  timeout: 240_000,
}, async () => {
  const source = `agent Missing { connector: missing }
fn main() -> Result<String, String> {
    let mut opened = 0;
    let mut refused = 0;
    for _ in 0..10_000 {
        match Missing.execute("go") {
            Ok(_) => {},
            Err(error) => if error.message.contains("may open 1000 sessions") { refused += 1; } else { opened += 1; },
        }
    }
    Ok("\${opened} and \${refused}")
}
`;
  stage = openStage({ agents: [], entries: [program('many', source), plain] });
  const id = await started('many');
  await expect.poll(async () => (await stage?.sessions.get(id))?.children, { timeout: 60_000 }).toBeGreaterThan(100);
  const beside = await started('plain');
  await stage.until(beside, (event) => event.type === 'complete');
  expect(await stage.sessions.get(id)).toMatchObject({ status: 'running' });
  await stage.until(id, (event) => event.type === 'finish');
  expect(await stage.sessions.get(id)).toMatchObject({ children: 1_000, result: { text: '1000 and 9000' } });
});
