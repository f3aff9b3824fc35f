import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ok } from '@concerto/base';
import { buildProgram, readManifest } from '@concerto/language';
import { type EventLog, memoryEventLog } from '@concerto/log';
import { afterAll, afterEach, expect, test } from 'vitest';
import type { LoadedProgram } from '../src/index.ts';
import { openStage, type Stage } from './session-stage.ts';

const stages: Stage[] = [];
afterEach(async () => {
  for (const stage of stages.splice(0)) await stage.close().catch(() => undefined);
});
const directory = mkdtempSync(join(tmpdir(), 'concerto-program-marks-'));
afterAll(() => rmSync(directory, { recursive: true, force: true }));

writeFileSync(
  join(directory, 'agent.mjs'),
  `import { appendFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
createInterface({ input: process.stdin }).on('line', (line) => {
  if (line.startsWith('{')) return console.log(JSON.stringify({ type: 'result', text: JSON.parse(line).value }));
  appendFileSync('heard', line + '\\n');
  console.log(JSON.stringify({ type: 'question', id: line, question: line }));
});
`,
);

/** Says more than a mark is made for, and stands within the handler of an agent's question when it is left. */
const source = `
agent Worker { connector: worker }
async fn ask(what: String) -> String {
    let done = listen Worker.execute(what) { "question" => |q| { await emit("ask", q.question) } };
    match done { Ok(result) => result.text, Err(_) => "lost" }
}
async fn main() -> Result<String, String> {
    let first = ask("first");
    let line = "x".repeat(4000);
    for n in 0..400 { emit("progress", line); }
    let second = ask("second");
    let third = ask("third");
    Ok("\${first} \${second} \${third}")
}
`;

/** Says next to nothing, and computes more than anybody would do again. */
const computing = `
async fn main() -> Result<String, String> {
    let mut turns = 0;
    while turns < 101000000 { turns += 1; }
    let who = await emit("ask", "Who?");
    Ok("\${who} \${turns}")
}
`;

function open(log: EventLog, text = source, limits: LoadedProgram['limits'] = {}): Stage {
  const { manifest } = readManifest(`[project]
name = "p"
version = "1"
entry = "main.conc"
[agents.worker]
command = ${JSON.stringify(process.execPath)}
args = ["agent.mjs"]
`);
  const { module, diagnostics } = buildProgram({ entry: 'main.conc', readFile: () => text, manifest });
  if (module === undefined) throw new Error(diagnostics.map(({ message }) => message).join('\n'));
  const load = () => ok({ module, projectDirectory: directory, limits });
  const stage = openStage({ agents: [], entries: [{ kind: 'program', name: 'p', load }], log });
  stages.push(stage);
  return stage;
}

/** Sees from where the journals are read. */
function watched(log: EventLog, session: string): { readonly log: EventLog; readonly starts: number[] } {
  const starts: number[] = [];
  return {
    starts,
    log: {
      ...log,
      read: async (request) => {
        if (request.stream === 'journal' && request.session === session) starts.push(request.after);
        return await log.read(request);
      },
    },
  };
}

/** Answers the question of that call, when it is asked. */
async function answer(stage: Stage, id: string, call: string, response: string): Promise<void> {
  const asked = async (): Promise<string | undefined> => {
    const { requests = [] } = (await stage.sessions.requests(id)) ?? {};
    return requests.find((request) => JSON.stringify(request).includes(call))?.requestId;
  };
  await expect.poll(asked, { timeout: 20_000 }).toBeDefined();
  const target = { session: id, request: String(await asked()) };
  expect(await stage.sessions.answer(target, { response }, { actor: 'user', key: undefined })).toEqual({ ok: true });
}

async function untilMarked(log: EventLog, id: string): Promise<void> {
  await expect.poll(async () => await log.getDocument('journal-marks', id), { timeout: 20_000 }).toBeDefined();
}

async function leaveMarked(log: EventLog): Promise<string> {
  rmSync(join(directory, 'heard'), { force: true });
  const first = open(log);
  const started = await first.start({ program: 'p' });
  if (!started.ok) throw new Error(started.error.message);
  const { id } = started.value;
  await answer(first, id, 'first', 'one');
  await untilMarked(log, id);
  await expect.poll(async () => (await first.sessions.requests(id))?.requests.length, { timeout: 20_000 }).toBe(1);
  await first.stop();
  return id;
}

async function finish(log: EventLog, id: string): Promise<void> {
  const second = open(log);
  // The agent is lost with its runner, here where no keeper holds it: the call that was open when it was marked ends.
  await answer(second, id, 'second', 'two');
  await answer(second, id, 'third', 'three');
  const end = await second.until(id, (event) => event.type === 'complete' || event.type === 'error');
  expect(end).toMatchObject({ result: { outcomes: { parts: [{ text: 'one lost three' }] } } });
  expect(readFileSync(join(directory, 'heard'), 'utf8')).toBe('first\nsecond\nthird\n');
}

test('a long program goes on from its last mark: what came before is not read', async () => {
  const log = memoryEventLog({ now: Date.now });
  const id = await leaveMarked(log);
  const { log: seen, starts } = watched(log, id);
  await finish(seen, id);
  expect(Math.min(...starts)).toBeGreaterThan(400);
  // It is over: nobody will go on with it.
  await expect.poll(async () => await log.getDocument('journal-marks', id)).toBeUndefined();
}, 60_000);

test('a mark that another version of the machine had made costs the whole way, not the run', async () => {
  const log = memoryEventLog({ now: Date.now });
  const id = await leaveMarked(log);
  const kept = await log.getDocument('journal-marks', id);
  const value = String(kept?.value).replace('\\"version\\":2', '\\"version\\":1');
  expect(value).not.toBe(kept?.value);
  await log.putDocument({ collection: 'journal-marks', key: id, value });
  const { log: seen, starts } = watched(log, id);
  await finish(seen, id);
  expect(Math.min(...starts)).toBe(0);
}, 60_000);

test('what was computed is not computed again, however little was said meanwhile', async () => {
  const log = memoryEventLog({ now: Date.now });
  const limits = { steps: 200_000_000 };
  const first = open(log, computing, limits);
  const started = await first.start({ program: 'p' });
  if (!started.ok) throw new Error(started.error.message);
  const { id } = started.value;
  await first.until(id, (event) => event.type === 'waitForInput');
  expect(await log.getDocument('journal-marks', id)).toBeDefined();
  await first.stop();
  const second = open(log, computing, limits);
  await answer(second, id, 'Who', 'Ada');
  const end = await second.until(id, (event) => event.type === 'complete' || event.type === 'error');
  expect(end).toMatchObject({ result: { outcomes: { parts: [{ text: 'Ada 101000000' }] } } });
}, 120_000);
