import { setTimeout as sleep } from 'node:timers/promises';
import { readManifest } from '@concerto/language';
import { memoryEventLog } from '@concerto/log';
import { SessionRecord } from '@concerto/protocol';
import { afterEach, expect, test } from 'vitest';
import type { CatalogEntry } from '../src/index.ts';
import { programEntry } from './program-entry.ts';
import { openStage, type Stage } from './session-stage.ts';
import { VirtualClock } from './virtual-clock.ts';

const hour = 60 * 60 * 1_000;

const user = { actor: 'user', key: undefined };
let stage: Stage;
afterEach(async () => {
  await stage.close();
});

async function started(name: string): Promise<string> {
  const session = await stage.start({ program: name });
  if (!session.ok) throw new Error(session.error.message);
  return session.value.id;
}

async function records(session: string): Promise<readonly SessionRecord[]> {
  const { entries } = await stage.log.read({ session, stream: 'domain', after: 0, limit: 1_000 });
  return entries.map(({ data }) => SessionRecord.parse(JSON.parse(data)));
}

async function rests(session: string): Promise<void> {
  const isPutAway = async (): Promise<boolean> => {
    const last = (await records(session)).at(-1);
    return last?.type === 'released' && last.rests !== undefined;
  };
  await expect.poll(isPutAway, { timeout: 30_000, interval: 50 }).toBe(true);
}

const asks = programEntry(
  'asks',
  `async fn main() -> Result<String, String> {
    emit("progress", "before");
    let first = await emit("ask", "Who?");
    emit("progress", "between");
    let second = await emit("ask", "And?");
    Ok("\${first} \${second}")
}
`,
);

test('a program that waits for a person is put away, is seen to wait, and goes on with the answer', {
  timeout: 120_000,
}, async () => {
  stage = openStage({ agents: [], entries: [asks] });
  const id = await started('asks');
  const first = await stage.until(id, (event) => event.type === 'waitForInput');
  await rests(id);
  expect(await stage.sessions.get(id)).toMatchObject({ status: 'waitingForInput' });
  const request = String(first.requestId);
  expect(await stage.sessions.answer({ session: id, request }, { response: 'Ada' }, user)).toMatchObject({ ok: true });
  const second = await stage.until(id, (event) => event.type === 'waitForInput' && event.requestId !== request);
  await rests(id);
  const again = { session: id, request: String(second.requestId) };
  expect(await stage.sessions.answer(again, { response: 'Bob' }, user)).toMatchObject({ ok: true });
  expect(await stage.until(id, (event) => event.type === 'complete')).toMatchObject({
    result: { outcomes: { parts: [{ text: 'Ada Bob' }] } },
  });
  const { entries } = await stage.log.read({ session: id, stream: 'events', after: 0, limit: 1_000 });
  // What it said before it was put away is not said again.
  for (const word of ['before', 'between']) {
    expect(entries.filter(({ data }) => data.includes(`"title":"progress","data":{"message":"${word}"}`))).toHaveLength(
      1,
    );
  }
});

test('one that sleeps is put away and wakes in time, under another owner too; one that rests can be paused and cancelled', {
  timeout: 120_000,
}, async () => {
  const sleeps = programEntry(
    'sleeps',
    'fn main() -> Result<String, String> { std::time::sleep(9000); Ok("slept") }\n',
  );
  const log = memoryEventLog({ now: Date.now });
  stage = openStage({ agents: [], entries: [sleeps, asks], log });
  const [sleeper, asker] = [await started('sleeps'), await started('asks')];
  await rests(sleeper);
  await rests(asker);
  expect(await stage.sessions.get(sleeper)).toMatchObject({ status: 'running' });
  await stage.stop();
  stage = openStage({ agents: [], entries: [sleeps, asks], log });
  expect((await stage.sessions.control(asker, 'pause', user)).ok).toBe(true);
  await expect.poll(async () => (await stage.sessions.get(asker))?.status, { timeout: 30_000 }).toBe('paused');
  expect((await stage.sessions.control(asker, 'cancel', user)).ok).toBe(true);
  await expect.poll(async () => (await stage.sessions.get(asker))?.status, { timeout: 30_000 }).toBe('cancelled');
  await stage.until(sleeper, (event) => event.type === 'complete');
  const done = (await records(sleeper)).find(({ type }) => type === 'ended');
  const begun = (await records(sleeper))[0];
  expect((done?.at ?? 0) - (begun?.at ?? 0)).toBeGreaterThanOrEqual(9_000);
});

/** Asks a person in each turn, and says what it was answered. */
const asking = `
const say = (message) => console.log(JSON.stringify(message));
require('node:readline').createInterface({ input: process.stdin }).on('line', (line) => {
  const message = JSON.parse(line);
  if (message.type === 'prompt') say({ type: 'question', id: 'q', question: message.text });
  if (message.type === 'response') say({ type: 'result', text: message.value });
});
`;

const args = ['-e', asking];
const { manifest } = readManifest(
  `[agents.asks]\ncommand = ${JSON.stringify(process.execPath)}\nargs = ${JSON.stringify(args)}\ninput_format = "json"\n`,
);

function conducts(): CatalogEntry {
  const source = `agent Worker { connector: asks }
fn main() -> Result<String, AgentError> {
    emit("progress", "before");
    let one = Worker.execute("first?")?;
    let two = Worker.execute("second?")?;
    Ok("\${one} \${two}")
}`;
  return programEntry('conducts', source, { manifest });
}

async function childOf(program: string): Promise<string> {
  return String((await stage.until(program, ({ childSession }) => childSession !== undefined)).childSession);
}

async function answer(session: string, question: string, response: string): Promise<void> {
  const isIt = (event: Record<string, unknown>): boolean =>
    event.type === 'waitForInput' && JSON.stringify(event).includes(`"${question}"`);
  const request = String((await stage.until(session, isIt)).requestId);
  const given = await stage.sessions.answer({ session, request }, { response }, user);
  if (!given.ok) throw new Error(given.error.message);
}

test('a program whose agent waits for a person is put away too, and brought back by the answer', {
  timeout: 120_000,
}, async () => {
  stage = openStage({ agents: [], entries: [conducts()] });
  const id = await started('conducts');
  const child = await childOf(id);
  await rests(id);
  expect((await records(id)).at(-1)).toMatchObject({ rests: { on: [child] } });
  expect(await stage.sessions.get(id)).toMatchObject({ status: 'running' });
  expect(await stage.sessions.get(child)).toMatchObject({ status: 'waitingForInput' });
  await answer(child, 'first?', 'Ada');
  await stage.until(child, (event) => JSON.stringify(event).includes('second?'));
  await rests(id);
  await answer(child, 'second?', 'Bob');
  await stage.until(id, (event) => event.type === 'complete');
  expect((await stage.sessions.get(id))?.result).toMatchObject({ text: 'Ada Bob' });
  const { entries } = await stage.log.read({ session: id, stream: 'events', after: 0, limit: 1_000 });
  expect(entries.filter(({ data }) => data.includes('"message":"before"'))).toHaveLength(1);
});

test('one that rests on its agent is found by the next server, whatever became of the agent meanwhile', {
  timeout: 120_000,
}, async () => {
  const log = memoryEventLog({ now: Date.now });
  stage = openStage({ agents: [], entries: [conducts()], log });
  const id = await started('conducts');
  const child = await childOf(id);
  await rests(id);
  // Its agent ends with the server that started it, and its session with it; nobody owns the program.
  await stage.stop();
  expect((await records(id)).at(-1)).toMatchObject({ type: 'released', rests: { on: [child] } });
  stage = openStage({ agents: [], entries: [conducts()], log });
  await stage.until(id, (event) => event.type === 'finish');
  expect(await stage.sessions.get(id)).toMatchObject({ status: 'failed' });
});

test('one that rests on its agent and is interrupted is over, and its agent is ended', {
  timeout: 120_000,
}, async () => {
  stage = openStage({ agents: [], entries: [conducts()] });
  const id = await started('conducts');
  const child = await childOf(id);
  await rests(id);
  const asked = await stage.sessions.control(id, 'interrupt', user);
  expect(asked.ok).toBe(true);
  expect(await stage.sessions.get(id)).toMatchObject({ status: 'interrupted' });
  expect((await stage.until(id, ({ type }) => type === 'turnComplete')).outcome).toBe('interrupted');
  await stage.until(child, (event) => event.type === 'finish');
  expect(await stage.sessions.get(child)).toMatchObject({ status: 'cancelled' });
});

test('one that rests on its agent is paused with it, and goes on with it', { timeout: 120_000 }, async () => {
  stage = openStage({ agents: [], entries: [conducts()] });
  const id = await started('conducts');
  const child = await childOf(id);
  await rests(id);
  expect(await stage.sessions.control(id, 'pause', user)).toMatchObject({ ok: true, value: { status: 'paused' } });
  await expect.poll(async () => (await stage.sessions.get(child))?.status, { timeout: 30_000 }).toBe('paused');
  // Kept, as in any session that is paused.
  await answer(child, 'first?', 'Ada');
  expect(await stage.sessions.get(child)).toMatchObject({ status: 'paused' });
  expect(await stage.sessions.control(id, 'resume', user)).toMatchObject({ ok: true });
  await answer(child, 'second?', 'Bob');
  await stage.until(id, (event) => event.type === 'complete');
  expect((await stage.sessions.get(id))?.result).toMatchObject({ text: 'Ada Bob' });
});

/** Asks, and is ended by signals: it hears nothing. */
const deaf = `
console.log(JSON.stringify({ type: 'question', id: 'q', question: 'first?' }));
setInterval(() => {}, 1_000);
`;

test.each([
  ['while its server runs', true],
  ['while no server runs', false],
])('one that rests hears who cancelled its agent %s', { timeout: 120_000 }, async (_when, runs) => {
  const source = `agent Worker { connector: asks }
async fn main() -> Result<String, String> {
    let done = listen Worker.execute("first?") {
        "question" => |q: Question| { await emit("ask", q.question) },
    };
    match done { Ok(r) => Ok(r.text), Err(e) => Ok("\${e.kind}: \${e.message}") }
}`;
  const declared = readManifest(
    `[agents.asks]\ncommand = ${JSON.stringify(process.execPath)}\nargs = ${JSON.stringify(['-e', deaf])}\n`,
  );
  const entries = [programEntry('hears', source, declared)];
  const log = memoryEventLog({ now: Date.now });
  stage = openStage({ agents: [], entries, log });
  const id = await started('hears');
  const child = await childOf(id);
  await rests(id);
  if (!runs) await stage.stop();
  expect((await stage.sessions.control(child, 'cancel', user)).ok).toBe(true);
  if (!runs) stage = openStage({ agents: [], entries, log });
  await stage.until(id, (event) => event.type === 'finish');
  expect((await stage.sessions.get(id))?.result).toEqual({ text: 'cancelled: agent Worker was cancelled by user' });
  const isResult = (event: Record<string, unknown>): boolean =>
    event.type === 'functionResult' && JSON.stringify(event).includes('was cancelled by user');
  expect(await stage.until(id, isResult)).toMatchObject({ outcome: 'cancelled' });
});

test('an agent that somebody has paused alone stays so, whoever takes its program up or resumes it', {
  timeout: 120_000,
}, async () => {
  const source = `agent Worker { connector: asks }
async fn main() -> Result<String, AgentError> {
    let one = Worker.execute("first?")?;
    let who = await emit("ask", "Who?");
    let two = Worker.execute("second?")?;
    Ok("\${one} \${who} \${two}")
}`;
  const pauses = programEntry('pauses', source, { manifest });
  const log = memoryEventLog({ now: Date.now });
  stage = openStage({ agents: [], entries: [pauses], log });
  const id = await started('pauses');
  const child = await childOf(id);
  await answer(child, 'first?', 'Ada');
  await rests(id);
  expect((await stage.sessions.control(child, 'pause', user)).ok).toBe(true);
  expect((await stage.sessions.control(id, 'pause', user)).ok).toBe(true);
  expect((await stage.sessions.control(id, 'resume', user)).ok).toBe(true);
  expect(await stage.sessions.get(child)).toMatchObject({ status: 'paused' });
  await stage.stop();
  stage = openStage({ agents: [], entries: [pauses], log });
  await answer(id, 'Who?', 'Bob');
  await stage.until(id, ({ type, args }) => type === 'functionCall' && JSON.stringify(args).includes('second?'));
  await expect.poll(async () => (await stage.sessions.get(child))?.pending, { timeout: 30_000 }).toBe(1);
  expect(await stage.sessions.get(child)).toMatchObject({ status: 'paused' });
  expect((await stage.sessions.control(child, 'resume', user)).ok).toBe(true);
  await answer(child, 'second?', 'Cy');
  await stage.until(id, (event) => event.type === 'complete');
});

type Passing = (isThere: () => Promise<boolean>) => Promise<void>;

/** A clock in hand: while somebody is at work time passes slowly, or leases and deadlines would run out before anything is done. */
function passing(clock: VirtualClock, stepMs: () => Promise<number>): Passing {
  return async (isThere) => {
    for (let step = 0; step < 2_000 && !(await isThere()); step++) {
      clock.pass(await stepMs());
      await sleep(5);
    }
    expect(await isThere()).toBe(true);
  };
}

test('a week passes while it sleeps and waits, and it goes on where it was', { timeout: 120_000 }, async () => {
  const source = `async fn main() -> Result<String, String> {
    sleep("3d");
    let who = await emit("ask", "Who?");
    sleep("4d");
    Ok("\${who}")
}`;
  const clock = new VirtualClock();
  const log = memoryEventLog({ now: () => clock.now() });
  stage = openStage({ agents: [], entries: [programEntry('patient', source)], log, clock });
  const began = clock.now();
  const id = await started('patient');
  const until = passing(clock, async () => ((await records(id)).at(-1)?.type === 'released' ? hour : 500));
  await until(async () => ((await stage.sessions.requests(id))?.requests.length ?? 0) > 0);
  await until(async () => (await records(id)).at(-1)?.type === 'released');
  clock.pass(24 * hour);
  const request = (await stage.sessions.requests(id))?.requests[0]?.requestId ?? '';
  expect((await stage.sessions.answer({ session: id, request }, { response: 'Ada' }, user)).ok).toBe(true);
  await until(async () => (await stage.sessions.get(id))?.status === 'completed');
  expect((await stage.sessions.get(id))?.result).toMatchObject({ text: 'Ada' });
  expect(clock.now() - began).toBeGreaterThanOrEqual(8 * 24 * hour);
});

test('every and now go on under another owner, at their times, and each round is once', {
  timeout: 120_000,
}, async () => {
  const source = `fn main() -> Result<String, String> {
    let began = now();
    let rounds = every("1d", |n| { emit("progress", "round \${n}"); n < 3 });
    Ok("\${rounds} rounds in \${(now() - began) / 86400000} days")
}`;
  const clock = new VirtualClock();
  const log = memoryEventLog({ now: () => clock.now() });
  const entries = [programEntry('daily', source)];
  stage = openStage({ agents: [], entries, log, clock });
  const id = await started('daily');
  const until = passing(clock, async () => ((await records(id)).at(-1)?.type === 'released' ? hour : 500));
  const rounds = async (): Promise<readonly string[]> => {
    const { entries: events } = await log.read({ session: id, stream: 'events', after: 0, limit: 1_000 });
    return events.flatMap(({ data }) => /"title":"progress","data":\{"message":"(round \d)"/.exec(data)?.[1] ?? []);
  };
  for (const round of [1, 2]) {
    await until(async () => (await rounds()).includes(`round ${round}`));
    await stage.stop();
    stage = openStage({ agents: [], entries, log, clock });
  }
  await until(async () => (await stage.sessions.get(id))?.status === 'completed');
  expect((await stage.sessions.get(id))?.result).toMatchObject({ text: '4 rounds in 3 days' });
  expect(await rounds()).toEqual(['round 0', 'round 1', 'round 2', 'round 3']);
});

test('a week passes while its agent waits for a person', { timeout: 120_000 }, async () => {
  const clock = new VirtualClock();
  const log = memoryEventLog({ now: () => clock.now() });
  stage = openStage({ agents: [], entries: [conducts()], log, clock });
  const id = await started('conducts');
  const until = passing(clock, async () => 500);
  await until(async () => ((await stage.sessions.get(id))?.children ?? 0) > 0);
  const child = await childOf(id);
  for (const [question, response] of [
    ['first?', 'Ada'],
    ['second?', 'Bob'],
  ] as const) {
    await until(async () => JSON.stringify((await stage.sessions.requests(child))?.requests).includes(question));
    await until(async () => (await records(id)).at(-1)?.type === 'released');
    for (let passed = 0; passed < 7 * 24; passed++) {
      clock.pass(hour);
      await sleep(2);
    }
    expect(await stage.sessions.get(child)).toMatchObject({ status: 'waitingForInput' });
    // Its agent waits for a person, and it for its agent: there is no runner that it would want.
    expect((await stage.sessions.get(id))?.waiting).toBeUndefined();
    await answer(child, question, response);
  }
  await until(async () => (await stage.sessions.get(id))?.status === 'completed');
  expect((await stage.sessions.get(id))?.result).toMatchObject({ text: 'Ada Bob' });
});

test('a no is a no for a program, which may compare it, whatever reason was given', async () => {
  const source = `async fn main() -> Result<String, String> {
    let said = await emit("approve", {"description": "Delete the branch"});
    Ok("\${said}")
}`;
  stage = openStage({ agents: [], entries: [programEntry('careful', source)] });
  const id = await started('careful');
  const { requestId } = await stage.until(id, (event) => event.type === 'queryConsent');
  const no = { response: false, reason: 'it is not merged' };
  expect((await stage.sessions.answer({ session: id, request: String(requestId) }, no, user)).ok).toBe(true);
  expect(await stage.until(id, (event) => event.type === 'complete')).toMatchObject({
    result: { outcomes: { parts: [{ text: 'no' }] } },
  });
});

/** Asks a person what its agent asks; the call may take less time than passes before it is put away. */
const forwarding = (limit: string): string => `agent Worker { connector: asks, ${limit} }
async fn main() -> Result<String, AgentError> {
    listen Worker.execute("Which?") {
        "question" => |q| { await emit("ask", "It asks: \${q.question}") },
    }
}`;
const forwards = programEntry('forwards', forwarding('timeout: 2'), { manifest });

/** How its agent was answered, with who did. */
async function answersTo(child: string): Promise<readonly unknown[]> {
  return (await records(child)).flatMap((record) => (record.type === 'request-answered' ? [record.actor] : []));
}

test('a handler that asks a person: the program is put away, the call keeps its time, and a week later it goes on', {
  timeout: 120_000,
}, async () => {
  const clock = new VirtualClock();
  const log = memoryEventLog({ now: () => clock.now() });
  stage = openStage({ agents: [], entries: [forwards], log, clock });
  const id = await started('forwards');
  // The agent is a real one, and its call has two seconds: they pass slowly while it is at work.
  const asks = async (): Promise<boolean> => ((await stage.sessions.requests(id))?.requests.length ?? 0) > 0;
  const until = passing(clock, async () => ((await asks()) ? 500 : 1));
  await until(async () => (await records(id)).at(-1)?.type === 'released');
  const child = await childOf(id);
  expect((await records(id)).at(-1)).toMatchObject({ rests: { on: [child] } });
  for (let passed = 0; passed < 7 * 24; passed++) {
    clock.pass(hour);
    await sleep(2);
  }
  await answer(id, 'It asks: Which?', 'the left one');
  await until(async () => (await stage.sessions.get(id))?.status === 'completed');
  expect((await stage.sessions.get(id))?.result).toMatchObject({ text: 'the left one' });
  expect(await answersTo(child)).toHaveLength(1);
});

test('somebody is quicker than its handler, which rests: it is brought back, and what it had asked is withdrawn', {
  timeout: 120_000,
}, async () => {
  stage = openStage({ agents: [], entries: [forwards] });
  const id = await started('forwards');
  await rests(id);
  const child = await childOf(id);
  await answer(child, 'Which?', 'the right one');
  await stage.until(id, (event) => event.type === 'complete');
  expect((await stage.sessions.get(id))?.result).toMatchObject({ text: 'the right one' });
  expect((await stage.sessions.requests(id))?.requests).toEqual([]);
  expect(await answersTo(child)).toEqual(['user']);
});

test('one whose handler asks a person is found by the next server while it rests', { timeout: 120_000 }, async () => {
  const log = memoryEventLog({ now: Date.now });
  stage = openStage({ agents: [], entries: [forwards], log });
  const id = await started('forwards');
  await rests(id);
  await stage.stop();
  stage = openStage({ agents: [], entries: [forwards], log });
  await stage.until(id, (event) => event.type === 'finish');
  // Its agent had no keeper and is lost with the server that started it.
  expect(await stage.sessions.get(id)).toMatchObject({ status: 'failed' });
});

test('a handler whose reply has a time of its own is not put away, and that time counts', {
  timeout: 120_000,
}, async () => {
  // Longer than it would take until it is put away.
  const limited = programEntry('limited', forwarding('reply_timeout: 5'), { manifest });
  stage = openStage({ agents: [], entries: [limited] });
  const id = await started('limited');
  await stage.until(id, (event) => event.type === 'finish');
  expect((await records(id)).filter(({ type }) => type === 'released')).toEqual([]);
  expect(await stage.sessions.get(id)).toMatchObject({
    status: 'failed',
    error: { message: expect.stringContaining('within 5 s') },
  });
});
