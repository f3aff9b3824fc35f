import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ok } from '@concerto/base';
import { buildProgram, readManifest } from '@concerto/language';
import { type EventLog, LogError, memoryEventLog } from '@concerto/log';
import { SessionId } from '@concerto/protocol';
import { afterAll, afterEach, expect, test } from 'vitest';
import type { CatalogEntry, RunnerOptions } from '../src/index.ts';
import { ownMachines } from '../src/program/machine/own-machine.ts';
import { openStage, type Stage } from './session-stage.ts';
import { settle } from './virtual-clock.ts';

const stages: Stage[] = [];
afterEach(async () => {
  for (const stage of stages.splice(0)) await stage.close().catch(() => undefined);
});

const directory = mkdtempSync(join(tmpdir(), 'concerto-program-recovery-'));
afterAll(() => rmSync(directory, { recursive: true, force: true }));

/** Writes down what it is prompted with, asks, and says what it was answered. */
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

const manifestText = `[project]
name = "p"
version = "1"
entry = "main.conc"
[connections.local]
provider = "mock"
[agents.worker]
command = ${JSON.stringify(process.execPath)}
args = ["agent.mjs"]
`;

function entry(source: string): CatalogEntry {
  const { manifest } = readManifest(manifestText);
  const { module, diagnostics } = buildProgram({ entry: 'main.conc', readFile: () => source, manifest });
  if (module === undefined) throw new Error(diagnostics.map(({ message }) => message).join('\n'));
  return { kind: 'program', name: 'p', load: () => ok({ module, projectDirectory: directory, mockModels: true }) };
}

function open(log: EventLog, source: string, machines?: RunnerOptions['machines']): Stage {
  const stage = openStage({ agents: [], entries: [entry(source)], log, ...(machines && { machines }) });
  stages.push(stage);
  return stage;
}

const waits = `
async fn main() -> Result<String, String> {
    emit("before", 1);
    let who = await emit("ask", "Who?");
    emit("after", who);
    Ok("\${who}")
}
`;

test('a program that waits goes on with the next owner after a planned stop', async () => {
  const log = memoryEventLog({ now: Date.now });
  const first = open(log, waits);
  const started = await first.start({ program: 'p' });
  if (!started.ok) throw new Error(started.error.message);
  const { id } = started.value;
  const asked = await first.until(id, (event) => event.type === 'waitForInput');
  await first.stop();
  const second = open(log, 'fn main() -> Result<String, String> { Ok("another") }');
  expect((await second.sessions.requests(id))?.requests).toHaveLength(1);
  const target = { session: id, request: String(asked.requestId) };
  expect(await second.sessions.answer(target, { response: 'Ada' }, { actor: 'user', key: undefined })).toEqual({
    ok: true,
  });
  const complete = await second.until(id, (event) => event.type === 'complete' || event.type === 'error');
  expect(complete).toMatchObject({ type: 'complete', result: { outcomes: { parts: [{ text: 'Ada' }] } } });
});

/** Machines in another process: what happens while one begins, or takes a turn, is there before it has. */
function farMachines(meanwhile: () => Promise<void>): NonNullable<RunnerOptions['machines']> {
  return {
    begin: async (start) => {
      const machine = await ownMachines.begin(start);
      await meanwhile();
      const turn: typeof machine.turn = async (given) => {
        const turns = await machine.turn(given);
        await meanwhile();
        return turns;
      };
      return {
        pending: machine.pending,
        isElsewhere: true,
        turn,
        places: () => machine.places(),
        snapshot: () => machine.snapshot(),
        close: () => machine.close(),
      };
    },
  };
}

test.each([1, 2, 3])(
  'stopped as planned while it is taken up, at its step %i, it says nothing again and asks once',
  async (step) => {
    const log = memoryEventLog({ now: Date.now });
    const first = open(log, waits);
    const started = await first.start({ program: 'p' });
    if (!started.ok) throw new Error(started.error.message);
    const { id } = started.value;
    const asked = await first.until(id, (event) => event.type === 'waitForInput');
    await first.stop();
    let steps = 0;
    let tell = (): void => {};
    const isThere = new Promise<void>((resolve) => {
      tell = resolve;
    });
    const second = open(
      log,
      waits,
      farMachines(async () => {
        if (++steps !== step) return;
        tell();
        await settle();
      }),
    );
    await isThere;
    await second.stop();
    const third = open(log, waits);
    const target = { session: id, request: String(asked.requestId) };
    expect(await third.sessions.answer(target, { response: 'Ada' }, { actor: 'user', key: undefined })).toEqual({
      ok: true,
    });
    await third.until(id, (event) => event.type === 'finish');
    const { entries } = await log.read({ session: id, stream: 'events', after: 0, limit: 1_000 });
    const events = entries.map(({ data }): Record<string, unknown> => JSON.parse(data));
    for (const title of ['before', 'after']) expect(events.filter((event) => event.title === title)).toHaveLength(1);
    expect(events.filter(({ type }) => type === 'waitForInput')).toHaveLength(1);
  },
);

/** An agent that is lost with its owner is asked anew, in other words. */
const works = `
agent Worker { connector: worker }
model Architect { provider: local, base: "m" }

fn work(name: String, attempt: Int) -> String {
    let done = listen Worker.execute("\${name}.\${attempt}") {
        "question" => |q| { Architect.execute(q.question).unwrap().text },
    };
    match done {
        Ok(result) => name,
        Err(error) => { emit("lost", error.message); work(name, attempt + 1) },
    }
}

async fn main() -> Result<String, String> {
    let first = work("first", 1);
    let who = await emit("ask", "Who?");
    std::time::sleep(20);
    let second = work("second", 1);
    Ok("\${first} \${who} \${second}")
}
`;

/** A store that a process loses at a moment: from then on nothing it asks is done, and it hears of nothing. */
function mortal(
  log: EventLog,
  appendsLeft: number,
): { readonly log: EventLog; readonly died: Promise<void>; die(): void } {
  let left = appendsLeft;
  let isDead = false;
  let tell = (): void => {};
  const died = new Promise<void>((resolve) => {
    tell = resolve;
  });
  const die = (): void => {
    isDead = true;
    tell();
  };
  const lives = async <T>(work: () => Promise<T>): Promise<T> => {
    if (isDead) throw new LogError('closed', 'the process was killed');
    const done = await work();
    if (isDead) throw new LogError('closed', 'the process was killed');
    return done;
  };
  const wrapped: EventLog = {
    joins: log.joins,
    append: (append) =>
      lives(async () => {
        const appended = await log.append(append);
        if (--left === 0) die();
        return appended;
      }),
    read: (request) => lives(() => log.read(request)),
    head: (session, stream) => lives(() => log.head(session, stream)),
    onGrowth: (listener, session) => log.onGrowth((grown) => (isDead ? undefined : listener(grown)), session),
    onRewind: (listener) => log.onRewind(listener),
    trim: (session, stream, through) => lives(() => log.trim(session, stream, through)),
    putDocument: (write) => lives(() => log.putDocument(write)),
    createDocument: (write) => lives(() => log.createDocument(write)),
    getDocument: (collection, key) => lives(() => log.getDocument(collection, key)),
    listDocuments: (request) => lives(() => log.listDocuments(request)),
    acquireLease: (request) => lives(() => log.acquireLease(request)),
    renewLease: (request) => lives(() => log.renewLease(request)),
    releaseLease: (request) => lives(() => log.releaseLease(request)),
    listSessions: (after, limit) => lives(() => log.listSessions(after, limit)),
    size: () => lives(() => log.size()),
    ping: () => lives(() => log.ping()),
    close: async () => {},
  };
  return { log: wrapped, died, die };
}

async function answerAll(stage: Stage, id: string, signal: AbortSignal): Promise<void> {
  const seen = new Set<string>();
  while (!signal.aborted) {
    for (const { requestId } of (await stage.sessions.requests(id))?.requests ?? []) {
      if (seen.has(requestId)) continue;
      const target = { session: id, request: requestId };
      const answered = await stage.sessions.answer(target, { response: 'Ada' }, { actor: 'user', key: undefined });
      if (answered.ok) seen.add(requestId);
    }
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}

const crashes = Array.from({ length: 10 }, (_, index) => 3 + index * 5);
test.each(crashes)(
  'killed after %i writes it comes to the same end, and no agent hears a prompt twice',
  {
    timeout: 120_000,
  },
  async (writes) => {
    rmSync(join(directory, 'heard'), { force: true });
    let ahead = 0;
    const log = memoryEventLog({ now: () => Date.now() + ahead });
    const doomed = mortal(log, writes);
    const first = open(doomed.log, works);
    const started = await first.start({ program: 'p', id: SessionId.parse('run') }).catch(() => undefined);
    const id = 'run';
    const ended = new AbortController();
    void answerAll(first, id, ended.signal).catch(() => undefined);
    await Promise.race([doomed.died, first.until(id, (event) => event.type === 'finish').catch(() => undefined)]);
    doomed.die();
    // The lease of whoever was killed runs out.
    ahead += 60_000;
    const second = open(log, works);
    if (started === undefined) await second.start({ program: 'p', id: SessionId.parse('run') });
    const answering = answerAll(second, id, ended.signal);
    const end = await second.until(id, (event) => event.type === 'complete' || event.type === 'error');
    ended.abort();
    await answering;
    expect(end).toMatchObject({ result: { outcomes: { parts: [{ text: 'first Ada second' }] } } });
    const heard = readFileSync(join(directory, 'heard'), 'utf8').trim().split('\n');
    expect(new Set(heard).size).toBe(heard.length);
    const { sessions } = await second.sessions.list({ parent: id, limit: 100 });
    for (const child of sessions) expect(child.status).toMatch(/completed|failed|cancelled/);
  },
);
