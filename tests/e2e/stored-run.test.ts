import { existsSync } from 'node:fs';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { backupStore, openEventLog, streamNames } from '@concerto/log';
import { startRedisServer } from '@concerto/log/testing';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { type Api, apiOf } from '../support/api.ts';
import { isAlive } from '../support/is-alive.ts';
import { type ConcertoRun, runConcerto } from '../support/run-concerto.ts';
import { type StartedServer, startServer } from '../support/start-server.ts';

/** Each test starts the command several times, some from source. */
const aMachineUnderLoadMs = 180_000;
const store = 'sqlite:store.db';

/** Writes down what it is prompted with, asks, and says what it was answered. */
const agent = `
import { appendFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
appendFileSync('pids', process.pid + '\\n');
createInterface({ input: process.stdin }).on('line', (line) => {
  if (line.startsWith('{')) return console.log(JSON.stringify({ type: 'result', text: JSON.parse(line).value }));
  appendFileSync('heard', line + '\\n');
  console.log(JSON.stringify({ type: 'question', id: line, question: line + '?' }));
});
`;

/** Asks whether it may read, then whether it may run something, and says what it was told. */
const twoApprovals = `
import { createInterface } from 'node:readline';
const said = [];
const approval = (tool) => console.log(JSON.stringify({ type: 'approval', id: tool, description: tool, tool }));
createInterface({ input: process.stdin }).on('line', (line) => {
  if (!line.startsWith('{')) return approval('Read');
  const { in_reply_to_id: id, value, reason, error } = JSON.parse(line);
  said.push([id, value, reason ?? error]);
  if (said.length === 1) return approval('Bash');
  console.log(JSON.stringify({ type: 'result', text: JSON.stringify(said) }));
});
`;

/** Its own name is in no manifest: what a server knows of it is what it finds in the store. */
const program = `
agent Worker { connector: worker }

fn work(task: String) -> String {
    let done = listen Worker.execute(task) {
        "question" => |q| { "yes to \${q.question}" },
    };
    match done {
        Ok(result) => result.text,
        Err(error) => error.message,
    }
}

async fn main() -> Result<String, String> {
    println("begun with", [1, 2.5]);
    emit("first", work("first"));
    let who = await emit("ask", "Who?");
    emit("second", work("second for \${who}"));
    Err("that was \${who}")
}
`;

const manifest = `[project]
name = "p"
version = "0.1.0"
entry = "main.conc"
[agents.worker]
command = ${JSON.stringify(process.execPath)}
args = ["agent.mjs"]
input_format = "text"
`;

const shown = `begun with [1, 2.5]
[emit:listen:start] {"agent": Worker, "listen": $listen_0}
[emit:listen:complete] {"agent": Worker}
[emit:first] yes to first?
[emit:ask] Who?
[emit:listen:start] {"agent": Worker, "listen": $listen_0}
[emit:listen:complete] {"agent": Worker}
[emit:second] yes to second for Ada?
`;

let folder: string;
let server: StartedServer | undefined;
const running: ConcertoRun[] = [];

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'concerto-stored-run-'));
  await writeFile(join(folder, 'Concerto.toml'), manifest);
  await writeFile(join(folder, 'main.conc'), program);
  await writeFile(join(folder, 'agent.mjs'), agent);
});

afterEach(async () => {
  for (const run of running.splice(0)) run.kill();
  await server?.stop();
  server = undefined;
  await rm(folder, { recursive: true, force: true });
});

/** `concerto run` in the folder, with its standard input open. */
function run(...args: readonly string[]): ConcertoRun {
  const started = runConcerto(['run', ...args], {}, folder, 'pipe');
  running.push(started);
  return started;
}

async function untilSaid(started: ConcertoRun, text: string): Promise<void> {
  await expect.poll(() => started.said(), { timeout: 60_000 }).toContain(text);
}

let copies = 0;

/** Until it has asked that, and it is on record: what is shown before it is, is said again by the next. */
async function untilAsked(started: ConcertoRun, session: string, text: string): Promise<void> {
  await untilSaid(started, text);
  const types = async (): Promise<string[]> => {
    copies += 1;
    const copy = join(folder, `copy-${copies}.db`);
    await backupStore(`sqlite:${join(folder, 'store.db')}`, copy);
    const log = await openEventLog(`sqlite:${copy}`, { now: Date.now });
    const { entries } = await log.read({ session, stream: 'events', after: 0, limit: 1_000 });
    await log.close();
    return entries.map(({ type }) => type);
  };
  await expect.poll(types, { timeout: 60_000 }).toContain('waitForInput');
}

async function serve(url = store): Promise<Api> {
  server = await startServer({ folder, args: ['--store', url, '--trust'] });
  return apiOf(server);
}

async function lines(file: string): Promise<string[]> {
  return (await readFile(join(folder, file), 'utf8')).trim().split('\n');
}

async function openRequests(api: Api, id: string): Promise<any[]> {
  const read = async (): Promise<any[]> => (await api.get(`/api/sessions/${id}/requests`)).body.requests;
  await expect.poll(read, { timeout: 60_000 }).not.toHaveLength(0);
  return await read();
}

async function events(api: Api, id: string): Promise<any[]> {
  return (await api.get(`/api/sessions/${id}/events?format=json&limit=1000`)).body.events;
}

test('what it says is what a run without a store says; a server shows it afterwards, with all that its agent said', {
  timeout: aMachineUnderLoadMs,
}, async () => {
  const plain = run('--input', '-');
  plain.type('"Ada"\n');
  const without = await plain.ended;
  expect(without).toEqual({ code: 1, out: shown, err: 'error: that was Ada\n' });

  const stored = run('--input', '-', '--store', store);
  stored.type('"Ada"\n');
  const { err, ...ended } = await stored.ended;
  expect(ended).toEqual({ code: 1, out: shown });
  const [where, ...rest] = err.split('\n');
  expect(rest.join('\n')).toBe(without.err);
  const id = /^session (s_\S+) in sqlite:store\.db;/.exec(where ?? '')?.[1];
  expect(id).toBeDefined();

  const api = await serve();
  expect((await api.get('/api/sessions')).body.sessions).toMatchObject([
    { id, kind: 'program', agent: 'main', status: 'failed', error: { message: 'that was Ada' }, children: 1 },
  ]);
  const own = await events(api, id ?? '');
  expect(own.find((event) => event.type === 'waitForInput').prompt.parts).toEqual([{ text: 'Who?' }]);
  expect(own.find((event) => event.type === 'requestSettled')).toMatchObject({ by: 'user:owner', response: 'Ada' });
  const [child] = (await api.get(`/api/sessions?parent=${id}`)).body.sessions;
  expect(child).toMatchObject({ agent: 'Worker', status: 'completed', turn: 2 });
  const said = await events(api, child.id);
  expect(said.filter((event) => event.type === 'requestSettled')).toMatchObject([
    { by: `program:${id}`, response: 'yes to first?' },
    { by: `program:${id}`, response: 'yes to second for Ada?' },
  ]);
  const address = ['--url', api.url, '--token', api.token];
  const told = await runConcerto(['sessions', 'show', id ?? '', ...address], {}, folder).ended;
  expect(told.out).toContain(child.id);
});

test('without a store its agents are sessions too: rules have their say, and it can look at them', {
  timeout: aMachineUnderLoadMs,
}, async () => {
  await writeFile(
    join(folder, 'Concerto.toml'),
    `${manifest}[[agents.worker.rules]]\ntool = "Read"\ndecide = "allow"\n[[agents.worker.rules]]\ntool = "Bash"\ndecide = "deny"\nreason = "not from here"\n`,
  );
  await writeFile(join(folder, 'agent.mjs'), twoApprovals);
  await writeFile(
    join(folder, 'main.conc'),
    `agent Worker { connector: worker }
fn main() {
    emit("said", Worker.execute("x"));
    emit("used", Worker.session().usage());
}
`,
  );
  const said = '[emit:said] Ok([["Read","yes",null],["Bash","no","not from here"]])\n';
  const used = '[emit:used] {"input_tokens": 1, "output_tokens": 0}\n';
  expect(await run().ended).toEqual({ code: 0, out: said + used, err: '' });
});

test('what a call without handlers is asked waits for a supervisor, and is unhandled where that passes', {
  timeout: aMachineUnderLoadMs,
}, async () => {
  await writeFile(
    join(folder, 'Concerto.toml'),
    `${manifest}supervisor = "guard"\n[programs.guard]\nentry = "guard.conc"\n`,
  );
  await writeFile(
    join(folder, 'guard.conc'),
    `@supervisor
fn guard(session: Session) {
    listen session {
        "approval" => |a: Approval| { if a.tool == "Read" { "yes" } else { nil } },
    };
}
`,
  );
  await writeFile(join(folder, 'agent.mjs'), twoApprovals);
  await writeFile(
    join(folder, 'main.conc'),
    'agent Worker { connector: worker }\nfn main() { emit("said", Worker.execute("x")); }\n',
  );
  const said = '[emit:said] Ok([["Read","yes",null],["Bash",null,"unhandled"]])\n';
  expect(await run().ended).toEqual({ code: 0, out: said, err: '' });
});

test('two questions under one name are each unhandled', { timeout: aMachineUnderLoadMs }, async () => {
  await writeFile(
    join(folder, 'agent.mjs'),
    `import { createInterface } from 'node:readline';
const said = [];
createInterface({ input: process.stdin }).on('line', (line) => {
  const ask = () => console.log(JSON.stringify({ type: 'question', id: 'q', question: 'Go on?' }));
  if (!line.startsWith('{')) return [ask(), ask()];
  said.push(JSON.parse(line).error);
  if (said.length === 2) console.log(JSON.stringify({ type: 'result', text: said.join(', ') }));
});
`,
  );
  await writeFile(
    join(folder, 'main.conc'),
    'agent Worker { connector: worker, timeout: 20 }\nfn main() { emit("said", Worker.execute("x")); }\n',
  );
  expect(await run().ended).toEqual({ code: 0, out: '[emit:said] Ok(unhandled, unhandled)\n', err: '' });
});

test('an agent that says more than its program takes waits, instead of our memory growing', {
  timeout: aMachineUnderLoadMs,
}, async () => {
  const many = 400_000;
  await writeFile(
    join(folder, 'agent.mjs'),
    `import { writeFileSync } from 'node:fs';
const line = JSON.stringify({ type: 'progress', message: 'x'.repeat(100) }) + '\\n';
let said = 0;
const more = () => {
  for (; said < ${many}; said++) if (!process.stdout.write(line)) return process.stdout.once('drain', more);
  process.stdout.write(JSON.stringify({ type: 'result', text: String(said) }) + '\\n');
};
process.stdin.once('data', more);
process.stdin.on('end', () => process.exit());
setInterval(() => writeFileSync('said', String(said)), 50);
`,
  );
  await writeFile(
    join(folder, 'main.conc'),
    `agent Worker { connector: worker, timeout: 600 }
async fn main() {
    let mut asked = false;
    listen Worker.execute("x") {
        "progress" => |p| { if !asked { asked = true; emit("answer", await emit("go", "on?")); } },
    };
}
`,
  );
  const started = run('--input', '-', '--quiet');
  const saidNow = async (): Promise<string> => await readFile(join(folder, 'said'), 'utf8').catch(() => '0');
  const changes = async (): Promise<boolean> => {
    const before = await saidNow();
    await new Promise((resolve) => setTimeout(resolve, 1_500));
    return before === '0' || before !== (await saidNow());
  };
  await expect.poll(changes, { timeout: 60_000 }).toBe(false);
  expect(Number(await saidNow())).toBeLessThan(many / 4);
  started.type('true\n');
  expect(await started.ended).toMatchObject({ code: 0 });
});

test('killed while it asks, it goes on with its own code: each prompt was given once, and nothing is said twice', {
  timeout: aMachineUnderLoadMs,
}, async () => {
  const flags = ['--input', '-', '--store', store, '--session', 'nightly'];
  const first = run(...flags);
  await untilAsked(first, 'nightly', '[emit:ask] Who?');
  first.kill();
  const { out: before } = await first.ended;
  await writeFile(join(folder, 'main.conc'), 'fn main() { emit("another", 1); }\n');

  const second = run(...flags);
  second.type('"Ada"\n');
  const ended = await second.ended;
  expect(ended.code).toBe(1);
  // What was asked is asked again; whatever else the first has said stays said.
  expect(before + ended.out.replace('[emit:ask] Who?\n', '')).toBe(shown);
  expect(ended.err).toMatch(/^session nightly in sqlite:store\.db goes on;/);
  expect(ended.err).toContain('error: that was Ada\n');
  expect(await lines('heard')).toEqual(['first', 'second for Ada']);

  expect(await run(...flags).ended).toEqual({
    code: 1,
    out: '',
    err: 'session nightly is over: failed, that was Ada\n',
  });
});

test('each question has its line of the input, also for a run that goes on', {
  timeout: aMachineUnderLoadMs,
}, async () => {
  await writeFile(
    join(folder, 'main.conc'),
    'async fn main() { for n in 0..3 { emit("got", [n, await emit("ask", n)]); } }\n',
  );
  const flags = ['--store', store, '--session', 'asks', '--input'];
  const first = run(...flags, '-');
  first.type('"a"\n');
  await untilSaid(first, '[emit:ask] 1');
  first.kill();
  await first.ended;
  await writeFile(join(folder, 'answers'), '"a"\n"b"\n"c"\n');
  const { code, out } = await run(...flags, 'answers').ended;
  expect(code).toBe(0);
  expect(out).toMatch(/\[emit:ask\] 1\n\[emit:got\] \[1, b\]\n\[emit:ask\] 2\n\[emit:got\] \[2, c\]\n$/);
});

test('killed while it asks, a server that knows nothing of the program goes on with it', {
  timeout: aMachineUnderLoadMs,
}, async () => {
  const first = run('--input', '-', '--store', store, '--session', 'left');
  await untilAsked(first, 'left', '[emit:ask] Who?');
  first.kill();
  await first.ended;
  await writeFile(join(folder, 'main.conc'), 'fn main() { emit("another", 1); }\n');

  const api = await serve();
  const { requests } = (await api.get('/api/sessions/left/requests')).body;
  await api.post(`/api/sessions/left/requests/${requests[0].requestId}`, { response: 'Ada' });
  await api.untilStatus('left', 'failed');
  expect((await api.get('/api/sessions/left')).body).toMatchObject({ error: { message: 'that was Ada' } });
  expect(await lines('heard')).toEqual(['first', 'second for Ada']);
});

test('killed while its agent works: the agent ends with it, and its call is an error of the run that goes on', {
  timeout: aMachineUnderLoadMs,
}, async () => {
  await writeFile(
    join(folder, 'main.conc'),
    program.replace('"yes to ${q.question}"', 'await emit("help", q.question)').replace('fn work', 'async fn work'),
  );
  const flags = ['--input', '-', '--store', store, '--session', 'halfway'];
  const first = run(...flags);
  await untilAsked(first, 'halfway', '[emit:help] first?');
  first.kill();
  await first.ended;
  const second = run(...flags);
  // The first is for what the agent had asked, and comes too late.
  second.type('"yes"\n"Ada"\n"so"\n');
  const { out } = await second.ended;
  expect(out).toMatch(/^\[emit:first\] agent exited without result/m);
  expect(out).toContain('[emit:help] second for Ada?\n');
  expect(out).toContain('[emit:second] so\n');
  expect(await lines('heard')).toEqual(['first', 'second for Ada']);
  expect((await lines('pids')).map(Number).filter(isAlive)).toEqual([]);
});

test('Ctrl-C cancels it, its agents first, and nothing is left', { timeout: aMachineUnderLoadMs }, async () => {
  await writeFile(
    join(folder, 'agent.mjs'),
    `import { spawn } from 'node:child_process';
import { writeFileSync } from 'node:fs';
writeFileSync('pids', process.pid + '\\n' + spawn('sleep', ['1000']).pid + '\\n');
console.log(JSON.stringify({ type: 'progress', message: 'on it' }));
setInterval(() => {}, 1000);
`,
  );
  const started = run('--store', store, '--session', 'ended');
  await expect.poll(() => existsSync(join(folder, 'pids')), { timeout: 60_000 }).toBe(true);
  await untilSaid(started, 'listen:start');
  started.interrupt();
  expect(await started.ended).toMatchObject({ code: 130 });
  expect((await lines('pids')).map(Number).filter(isAlive)).toEqual([]);
  const api = await serve();
  expect((await api.get('/api/sessions/ended')).body).toMatchObject({ status: 'cancelled' });
  expect((await api.get('/api/sessions?parent=ended')).body.sessions).toMatchObject([{ status: 'cancelled' }]);
});

test('Ctrl-C says which agent it waits for that was asked to end and does not', {
  timeout: aMachineUnderLoadMs,
}, async () => {
  await writeFile(
    join(folder, 'agent.mjs'),
    `console.log(JSON.stringify({ type: 'init_ack', capabilities: ['cancel'] }));
process.stdin.on('data', () => console.log(JSON.stringify({ type: 'progress', message: 'on it' })));
`,
  );
  const started = run('--verbose');
  await untilSaid(started, 'on it');
  started.interrupt();
  const ended = await started.ended;
  expect(ended).toMatchObject({ code: 130 });
  expect(ended.err).toMatch(/waiting for Worker, which has \d+ s to end \(Ctrl-C again does not wait\)\n/);
});

test('another session of the store is left as it is, with its agent at work', {
  timeout: aMachineUnderLoadMs,
}, async () => {
  const before = await serve();
  const { id } = await before.start({ agent: 'worker', prompt: 'asks and waits' });
  await before.untilStatus(id, 'waitingForInput');
  await server?.stop();
  const written = await headsOf(id);

  // Long enough for a runner to look through what there is, several times.
  await writeFile(join(folder, 'slow.conc'), 'fn main() { std::time::sleep(3000); emit("slept", 1); }\n');
  expect(await run('slow.conc', '--store', store).ended).toMatchObject({ code: 0, out: '[emit:slept] 1\n' });
  expect(await headsOf(id)).toEqual(written);

  const after = await serve();
  const { requests } = (await after.get(`/api/sessions/${id}/requests`)).body;
  await after.post(`/api/sessions/${id}/requests/${requests[0].requestId}`, { response: 'go on' });
  await after.untilStatus(id, 'idle');
  expect(await lines('pids')).toHaveLength(1);
});

/** How much there is in each of its streams. */
async function headsOf(session: string): Promise<readonly number[]> {
  const log = await openEventLog(`sqlite:${join(folder, 'store.db')}`, { now: Date.now });
  const heads = await Promise.all(streamNames.map((stream) => log.head(session, stream)));
  await log.close();
  return heads;
}

test('in a store that it shares it owns what it began, and whoever is quicker answers for it', {
  timeout: aMachineUnderLoadMs,
}, async () => {
  const redis = await startRedisServer();
  try {
    const api = await serve(redis.url);
    const started = run('--input', '-', '--store', redis.url, '--session', 'shared');
    await untilSaid(started, '[emit:ask] Who?');
    const requests = await openRequests(api, 'shared');
    const path = `/api/sessions/shared/requests/${requests[0].requestId}`;
    expect(await api.post(path, { response: 'Ada' })).toMatchObject({ status: 200 });
    expect(await started.ended).toMatchObject({ code: 1, out: shown });
    const [child] = (await api.get('/api/sessions?parent=shared')).body.sessions;
    const runners = new Set<string>();
    for (const id of ['shared', child.id]) {
      const { entries } = (await api.get(`/api/sessions/${id}/audit?limit=1000`)).body;
      for (const { actor } of entries) if (actor.startsWith('runner:')) runners.add(actor);
    }
    expect(runners.size).toBe(1);
    expect([...runners][0]).not.toContain(`-${server?.pid}-`);
  } finally {
    await server?.stop();
    server = undefined;
    await redis.stop();
  }
});

test('killed in a store that it shares, it goes on with whoever is there: a server, or the next run', {
  timeout: aMachineUnderLoadMs,
}, async () => {
  const redis = await startRedisServer();
  try {
    const flags = ['--input', '-', '--store', redis.url, '--session', 'shared'];
    const first = run(...flags);
    await untilSaid(first, '[emit:ask] Who?');
    first.kill();
    await first.ended;
    // It waits until the one that was killed cannot have it any more.
    const second = run(...flags);
    await untilSaid(second, '[emit:ask] Who?');
    second.kill();
    await second.ended;
    const api = await serve(redis.url);
    const requests = await openRequests(api, 'shared');
    const path = `/api/sessions/shared/requests/${requests[0].requestId}`;
    await expect.poll(async () => (await api.post(path, { response: 'Ada' })).status, { timeout: 60_000 }).toBe(200);
    await api.untilStatus('shared', 'failed');
    expect(await lines('heard')).toEqual(['first', 'second for Ada']);
  } finally {
    await server?.stop();
    server = undefined;
    await redis.stop();
  }
});

test('a budget that is used up stops it where nobody is there to give more', {
  timeout: aMachineUnderLoadMs,
}, async () => {
  const limited = `${manifest}[programs.main]\nentry = "main.conc"\n[programs.main.budget]\nturns = 1\n`;
  await writeFile(join(folder, 'Concerto.toml'), limited);
  const ended = await run('--input', '-', '--store', store, '--session', 'dear').ended;
  expect(ended).toMatchObject({ code: 1, err: expect.stringContaining('The budget is used up: 1 of 1 turns.') });
  expect(ended.err).toContain('error: session dear is over: cancelled\n');
});

test('a budget of an agent counts for the sessions that a program opens of it', {
  timeout: aMachineUnderLoadMs,
}, async () => {
  await writeFile(join(folder, 'Concerto.toml'), `${manifest}[agents.worker.budget]\nturns = 1\n`);
  const started = run('--input', '-');
  started.type('"Ada"\n');
  const ended = await started.ended;
  expect(ended).toMatchObject({ code: 1, out: expect.stringContaining('[emit:first] yes to first?\n') });
  expect(ended.out).toContain('[emit:second] agent Worker was stopped: its budget is used up\n');
  expect(ended.err).toContain('Worker: The budget is used up: 1 of 1 turns. More, or stop?\n');
});

describe('told what is wrong', () => {
  test.each([
    [
      'with a journal',
      ['--store', 'memory:', '--journal', 'j'],
      '--journal is for a run without --store: the store is the journal',
    ],
    ['with a replay', ['--store', 'memory:', '--replay', 'j'], '--replay is for a run without --store'],
    ['a session and no store', ['--session', 'x'], '--session is the name of a session in a store: give --store'],
    ['no session’s id', ['--store', 'memory:', '--session', 'a b'], '"a b" cannot be the id of a session'],
    ['no store’s name', ['--store', 'mysql:x'], 'there is no store of kind `mysql:`'],
  ])('%s', { timeout: aMachineUnderLoadMs }, async (_what, flags, said) => {
    expect(await run(...flags).ended).toMatchObject({ code: 2, out: '', err: expect.stringContaining(said) });
  });

  test('a store that a server has, and a session that is no program’s', { timeout: aMachineUnderLoadMs }, async () => {
    const api = await serve();
    const { id } = await api.start({ agent: 'worker', prompt: 'x' });
    const refused = await run('--store', store).ended;
    expect(refused).toMatchObject({ code: 1, out: '' });
    expect(refused.err).toContain(`in use by the process ${server?.pid}`);
    expect(refused.err).toContain('`concerto sessions start --program NAME`');
    await server?.stop();
    const wrong = await run('--store', store, '--session', id).ended;
    expect(wrong).toMatchObject({ code: 2, err: expect.stringContaining(`session ${id} is that of the agent worker`) });
  });
});
