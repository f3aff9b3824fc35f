import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { startRedisServer } from '@concerto/log/testing';
import { type ScriptedModelServer, startScriptedModelServer } from '@concerto/models/testing';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { type Api, apiOf } from '../support/api.ts';
import { startRunner } from '../support/start-runner.ts';
import { type StartedServer, startServer } from '../support/start-server.ts';

/** Each test starts the server several times, from source. */
const aMachineUnderLoadMs = 180_000;

/** Writes down what it is prompted with, takes a moment, and says so. */
const agent = `
import { appendFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
createInterface({ input: process.stdin }).on('line', (line) => {
  appendFileSync('heard', line + '\\n');
  console.log(JSON.stringify({ type: 'progress', message: 'on it' }));
  setTimeout(() => console.log(JSON.stringify({ type: 'result', text: 'did ' + line })), 60);
});
`;

/** Two agents, a model, a person and a sleep. An agent that is lost with its server is asked anew, in other words. */
const program = `
agent Left { connector: worker }
agent Right { connector: worker }
model Architect { provider: main, base: "m" }

fn left(attempt: Int) -> String {
    match Left.execute("left.\${attempt}") {
        Ok(text) => text,
        Err(error) => { emit("lost", error.message); left(attempt + 1) },
    }
}

fn right(attempt: Int) -> String {
    match Right.execute("right.\${attempt}") {
        Ok(text) => text,
        Err(error) => { emit("lost", error.message); right(attempt + 1) },
    }
}

async fn main() -> Result<String, String> {
    let plan = Architect.execute("plan").unwrap().text;
    emit("planned", plan);
    let done = left(1);
    emit("left", done);
    let who = await emit("ask", "Who?");
    std::time::sleep(150);
    let also = right(1);
    emit("right", also);
    let end = Architect.execute("end").unwrap().text;
    Ok("\${plan}, \${who}, \${end}")
}
`;

let folder: string;
let model: ScriptedModelServer;
let server: StartedServer | undefined;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'concerto-program-recovery-'));
  model = await startScriptedModelServer((_request, index) => `answer ${index + 1}`);
  await writeFile(
    join(folder, 'Concerto.toml'),
    `[connections.main]
provider = "openai"
api_key_env = "MODEL_KEY"
base_url = "${model.url}"
[agents.worker]
command = "${process.execPath}"
args = ["agent.mjs"]
[programs.long]
entry = "main.conc"
`,
  );
  await writeFile(join(folder, 'main.conc'), program);
  await writeFile(join(folder, 'agent.mjs'), agent);
});

afterEach(async () => {
  await server?.stop();
  server = undefined;
  await model.close();
  await rm(folder, { recursive: true, force: true });
});

async function start(): Promise<Api> {
  server = await startServer({ folder, args: ['--store', 'sqlite:store.db'], env: { MODEL_KEY: 'k' } });
  return apiOf(server);
}

async function heard(): Promise<string[]> {
  return (await readFile(join(folder, 'heard'), 'utf8')).trim().split('\n');
}

test.each([
  ['kill -9', (running: StartedServer) => running.kill()],
  ['a planned stop', (running: StartedServer) => running.stop()],
])(
  'a program that waits for a person survives %s, and a change of its source',
  {
    timeout: aMachineUnderLoadMs,
  },
  async (_how, end) => {
    const before = await start();
    const { id } = await before.start({ program: 'long' });
    const asked = (await before.until(id, (event) => event.type === 'waitForInput')).at(-1);
    const { version } = (await before.get(`/api/sessions/${id}`)).body;
    if (server !== undefined) await end(server);
    await writeFile(join(folder, 'main.conc'), 'fn main() -> Result<String, String> { Ok("another") }\n');

    const after = await start();
    expect((await after.get(`/api/sessions/${id}/requests`)).body.requests).toMatchObject([
      { requestId: asked.requestId },
    ]);
    const answered = await after.post(`/api/sessions/${id}/requests/${asked.requestId}`, { response: 'Ada' });
    expect(answered).toMatchObject({ status: 200 });
    const events = await after.until(id, (event) => event.type === 'finish');
    expect(events.find((event) => event.type === 'complete').result.outcomes.parts).toEqual([
      { text: 'answer 1, Ada, answer 2' },
    ]);
    expect(model.requests).toHaveLength(2);
    expect(await heard()).toEqual(['left.1', 'right.1']);
    expect(events.filter((event) => event.type === 'waitForInput')).toHaveLength(1);
    expect(events.filter((event) => event.title === 'planned')).toHaveLength(1);
    expect((await after.get(`/api/sessions/${id}`)).body.version).toBe(version);
    const next = await after.start({ program: 'long' });
    await after.untilStatus(next.id, 'completed');
  },
);

test('killed at any place, again and again, it comes to the same end, and nothing is asked twice', {
  timeout: aMachineUnderLoadMs,
}, async () => {
  let api = await start();
  const { id } = await api.start({ program: 'long' });
  for (const ms of [40, 90, 160, 260, 15]) {
    await delay(ms);
    await server?.kill();
    api = await start();
  }
  const asked = (await api.until(id, (event) => event.type === 'waitForInput')).at(-1);
  await api.post(`/api/sessions/${id}/requests/${asked.requestId}`, { response: 'Ada' });
  for (const ms of [30, 120, 200]) {
    await delay(ms);
    await server?.kill();
    api = await start();
  }
  const events = await api.until(id, (event) => event.type === 'finish');
  const result = events.find((event) => event.type === 'complete')?.result.outcomes.parts[0].text;
  // A model may be asked again for an answer that never came; one that came is kept.
  expect(result).toMatch(/^answer \d+, Ada, answer \d+$/);
  const prompts = await heard();
  expect(new Set(prompts).size).toBe(prompts.length);
  for (const title of ['planned', 'left', 'right']) {
    expect(events.filter((event) => event.title === title).length).toBeLessThanOrEqual(1);
  }
  const { sessions } = (await api.get(`/api/sessions?parent=${id}&limit=200`)).body;
  for (const child of sessions) expect(['completed', 'failed', 'cancelled']).toContain(child.status);
});

test('on Redis a program goes on with another runner when its own was killed, wherever its agents are', {
  timeout: aMachineUnderLoadMs,
}, async () => {
  const redis = await startRedisServer();
  const env = { MODEL_KEY: 'k' };
  server = await startServer({ folder, args: ['--store', redis.url, '--no-runner'], env });
  const api = apiOf(server);
  const first = await startRunner(folder, redis.url, { ...env, XDG_STATE_HOME: join(folder, 'one') });
  const runners = [first];
  try {
    const { id } = await api.start({ program: 'long' });
    const asked = (await api.until(id, (event) => event.type === 'waitForInput')).at(-1);
    first.kill('SIGKILL');
    runners.push(await startRunner(folder, redis.url, { ...env, XDG_STATE_HOME: join(folder, 'two') }));
    const path = `/api/sessions/${id}/requests/${asked.requestId}`;
    await expect.poll(async () => (await api.post(path, { response: 'Ada' })).status, { timeout: 60_000 }).toBe(200);
    const events = await api.until(id, (event) => event.type === 'finish');
    expect(events.find((event) => event.type === 'complete').result.outcomes.parts).toEqual([
      { text: 'answer 1, Ada, answer 2' },
    ]);
    expect(model.requests).toHaveLength(2);
    expect(await heard()).toEqual(['left.1', 'right.1']);
  } finally {
    for (const runner of runners) runner.kill('SIGKILL');
    await server.stop();
    server = undefined;
    await redis.stop();
  }
});
