import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { copyStore, openEventLog, type Store, type StoreRecord } from '@concerto/log';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Api, apiOf } from '../support/api.ts';
import { steps, writePuppets } from '../support/puppets.ts';
import { type StartedServer, startServer } from '../support/start-server.ts';

const timeout = 180_000;
const programs = `
[project]
name = "p"
version = "1"
entry = "src/asks.conc"
[programs.asks]
entry = "src/asks.conc"
[programs.works]
entry = "src/works.conc"
[agents.asker]
command = ${JSON.stringify(process.execPath)}
args = ["asker.mjs"]
[templates.hello]
agent = "puppet"
prompt = "hello"
[notify]
command = { command = "true" }
`;
const asks = 'async fn main() -> Result<String, String> { let who = await emit("ask", "Who?"); Ok("${who}!") }\n';
const works = `agent Worker { connector: asker }
async fn main() -> Result<String, String> {
    let done = listen Worker.execute("go") {
        "question" => |q| { await emit("ask", q.question) },
    };
    match done { Ok(result) => Ok(result.text), Err(error) => Err(error.message) }
}
`;

/** Asks, and says what it was answered. */
const asker = `import { createInterface } from 'node:readline';
const say = (message) => console.log(JSON.stringify(message));
createInterface({ input: process.stdin }).on('line', (line) => {
  if (line.startsWith('{')) say({ type: 'result', text: String(JSON.parse(line).value) });
  else say({ type: 'question', id: 'q', question: 'May it?' });
});
`;

let folder: string;
let store: string;
let server: StartedServer;
let api: Api;

const start = async (): Promise<void> => {
  server = await startServer({ folder, args: ['--store', `sqlite:${store}`, '--trust'] });
  api = apiOf(server);
};

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'concerto-newer-'));
  store = join(folder, 'store.db');
  await writePuppets(folder, programs);
  await mkdir(join(folder, 'src'));
  await writeFile(join(folder, 'src/asks.conc'), asks);
  await writeFile(join(folder, 'src/works.conc'), works);
  await writeFile(join(folder, 'asker.mjs'), asker);
  await start();
}, timeout);

afterAll(async () => {
  await server?.kill();
  await rm(folder, { recursive: true, force: true });
});

/** What a newer version may have written: the same, with one field more in everything. */
function newer(record: StoreRecord): StoreRecord {
  if (record.kind === 'entry') return { ...record, data: withMore(record.data) };
  return record.kind === 'document' ? { ...record, value: withMore(record.value) } : record;
}

function withMore(text: string): string {
  const value: unknown = JSON.parse(text);
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return text;
  // Before the others: what an event ends with is its place.
  return JSON.stringify({ fromTheFuture: { much: ['better'] }, ...value });
}

async function rewriteStore(): Promise<void> {
  const made = join(folder, 'newer.db');
  const [from, to] = await Promise.all([store, made].map((path) => openEventLog(`sqlite:${path}`, { now: Date.now })));
  if (from === undefined || to === undefined) throw new Error('both are open');
  const source: Store = {
    ...from,
    dump: async function* () {
      for await (const batch of from.dump()) yield batch.map(newer);
    },
  };
  await copyStore(source, to, { now: Date.now });
  await Promise.all([from.close(), to.close()]);
  for (const end of ['', '-wal', '-shm']) {
    await rm(`${store}${end}`, { force: true });
    if (existsSync(`${made}${end}`)) await rename(`${made}${end}`, `${store}${end}`);
  }
}

async function asked(id: string): Promise<string> {
  return (await api.until(id, (event) => event.type === 'waitForInput')).at(-1).requestId;
}

async function answered(id: string, request: string, response: string): Promise<string> {
  const given = await api.post(`/api/sessions/${id}/requests/${request}`, { response });
  expect(given.status).toBe(200);
  const events = await api.until(id, (event) => event.type === 'complete' || event.type === 'turnComplete');
  return JSON.stringify(events.slice(-4));
}

test('one unknown field in everything that is stored closes nothing to this version, and stays', {
  timeout,
}, async () => {
  const question = { type: 'question', id: 'q', question: 'Which?' };
  const [talks, waits, works, rests] = await Promise.all([
    api.start({ agent: 'able', prompt: 'x', id: 'talks' }),
    api.start({ agent: 'puppet', prompt: steps({ ask: question }, { tell: 'answer' }) }),
    api.start({ program: 'works' }),
    api.start({ program: 'asks' }),
  ]);
  await api.untilStatus(talks.id, 'idle');
  const requests = [await asked(waits.id), await asked(works.id), await asked(rests.id)] as const;
  const repeated = { content: 'once', id: 'm1' };
  const key = { 'idempotency-key': 'k1' };
  expect((await api.post('/api/sessions/talks/messages', repeated, key)).status).toBe(202);
  const { token } = (await api.post('/api/tokens', { name: 'ann', role: 'member' })).body;
  const rules = [
    { id: 'one', decide: 'allow', tool: 'Bash' },
    { id: 'two', decide: 'deny', tool: 'Read' },
  ];
  expect((await api.call('PUT', '/api/rules', { rules, version: 0 })).status).toBe(200);
  const blob = await api.call('POST', '/api/blobs', 'bytes', { 'content-type': 'text/plain' });
  await api.call('PUT', '/api/pool', { max: 9 });
  await server.stop();
  await rewriteStore();
  await start();

  const listed = (await api.get('/api/sessions')).body.sessions;
  expect(listed).toHaveLength(4);
  for (const { id } of listed) {
    for (const path of ['', '/audit', '/messages?all=true', '/events?format=json', '/requests'])
      expect([path, (await api.get(`/api/sessions/${id}${path}`)).status]).toEqual([path, 200]);
  }
  expect(await answered(waits.id, requests[0], 'red')).toContain('red');
  expect(await answered(works.id, requests[1], 'yes')).toContain('yes');
  expect(await answered(rests.id, requests[2], 'Ada')).toContain('Ada!');
  const again = await api.post('/api/sessions/talks/messages', repeated, key);
  expect(again).toMatchObject({ status: 202, body: { id: 'm1' } });
  expect((await apiOf({ url: api.url, token }).get('/api/me')).body).toEqual({ name: 'ann', role: 'member' });
  expect((await api.post('/api/tokens', { name: 'bob', role: 'observer' })).status).toBe(201);
  expect((await api.get(`/api/blobs/${blob.body.handle}`)).body).toBe('bytes');
  expect((await api.get('/api/pool')).body.max).toBe(9);
  expect((await api.get('/api/templates')).body.templates).toHaveLength(1);
  for (const path of ['/api/insight?days=30', '/metrics', '/api/graph', '/api/agents', '/api/kept'])
    expect([path, (await api.get(path)).status]).toEqual([path, 200]);
  expect(server.said()).not.toMatch(/failed|could not/);
});
