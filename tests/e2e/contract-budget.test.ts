import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Api } from '../support/api.ts';
import { type PuppetServer, startPuppetServer, steps } from '../support/puppets.ts';

const aMachineUnderLoadMs = 120_000;
const puppet = join(dirname(dirname(fileURLToPath(import.meta.url))), 'support/puppet.mjs');
const able = JSON.stringify([puppet, '--can=steer,interrupt,pause,resume,cancel']);

const manifest = `
[agents.capped]
command = ${JSON.stringify(process.execPath)}
args = ${able}
[agents.capped.budget]
turns = 1
[[agents.capped.rules]]
kind = "budget"
decide = "allow"
reason = "one more each time"
[agents.thrifty]
command = ${JSON.stringify(process.execPath)}
args = ${able}
input_format = "json"
[agents.thrifty.budget]
turns = 1
[agents.worker]
command = ${JSON.stringify(process.execPath)}
args = ${able}
input_format = "json"
[programs.again]
entry = "again.conc"
[programs.twice]
entry = "twice.conc"
[programs.twice.budget]
tokens = 100
`;

const twice = `
agent Worker { connector: worker }
fn main() -> Result<String, String> {
    let steps = std::env::get("CONCERTO_PROMPT").unwrap();
    let first = Worker.execute(steps).unwrap();
    let second = Worker.execute(steps).unwrap();
    Ok("\${first} \${second}")
}
`;

const again = `
agent Capped { connector: thrifty }
fn main() -> Result<String, String> {
    let first = Capped.execute("first").unwrap();
    match Capped.execute("second") {
        Ok(second) => Ok("\${first} \${second}"),
        Err(error) => Ok("\${first}, but \${error.message}"),
    }
}
`;

const used = (tokens: number) => ({ say: { type: 'usage', input_tokens: tokens, output_tokens: 0 } });

let folder: string;
let puppets: PuppetServer;
let api: Api;
const start = (): Promise<PuppetServer> =>
  startPuppetServer({ folder, manifest, args: ['--store', `sqlite:${join(folder, 'budget.db')}`] });

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'concerto-budget-'));
  await writeFile(join(folder, 'twice.conc'), twice);
  await writeFile(join(folder, 'again.conc'), again);
  puppets = await start();
  api = puppets.api;
}, aMachineUnderLoadMs);

afterAll(async () => {
  await puppets?.close();
  await rm(folder, { recursive: true, force: true });
});

const get = async (id: string) => (await api.get(`/api/sessions/${id}`)).body;
const isConsent = (event: any): boolean => event.type === 'queryConsent' && event.consentType === 'budget';

async function answered(id: string, requestId: string, response: unknown) {
  return await api.post(`/api/sessions/${id}/requests/${requestId}`, { response });
}

test('at 80 % it is told, at 100 % the session is truly paused and asks; "more" lets it go on', async () => {
  const gate = puppets.gate();
  const prompt = steps(used(85), used(20), { until: gate.path }, { say: { type: 'result', text: 'done' } });
  const { id } = await api.start({ agent: 'able', prompt, budget: { tokens: 100 } });
  const events = await api.untilStatus(id, 'paused');
  expect(events.filter(({ type }) => type === 'budget')).toMatchObject([
    { level: 'near', what: ['tokens'], spent: { tokens: 85 }, left: { tokens: 15 } },
    { level: 'reached', what: ['tokens'], spent: { tokens: 105 }, left: { tokens: 0 } },
  ]);
  const consent = events.find(isConsent);
  expect(consent.scope).toMatchObject({ what: ['tokens'], limits: { tokens: 100 }, spent: { tokens: 105 } });
  expect(await get(id)).toMatchObject({
    status: 'paused',
    budget: { limits: { tokens: 100 }, spent: { tokens: 105 }, left: { tokens: 0 } },
    waiting: { for: 'approval', requestId: consent.requestId, asked: 'person' },
  });
  const { requests } = (await api.get(`/api/sessions/${id}/requests`)).body;
  expect(requests).toMatchObject([{ requestId: consent.requestId, type: 'queryConsent', routedTo: 'person' }]);
  expect(await answered(id, consent.requestId, 'maybe')).toMatchObject({
    status: 422,
    body: { code: 'invalid_answer' },
  });
  expect(await api.post(`/api/sessions/${id}/resume`)).toMatchObject({ status: 409, body: { code: 'over_budget' } });
  expect((await answered(id, consent.requestId, { more: { tokens: 50 } })).status).toBe(200);
  await gate.open();
  const after = await api.untilStatus(id, 'idle');
  expect(after.find(({ type }) => type === 'requestSettled')).toMatchObject({ by: 'user:owner' });
  expect(await get(id)).toMatchObject({ budget: { limits: { tokens: 150 }, left: { tokens: 45 } } });
});

test('of an agent that tells nothing the tokens are guessed at the end of its turn, and marked', async () => {
  const prompt = steps({ say: { type: 'partial', text: 'x'.repeat(500) } }, { say: { type: 'result', text: 'done' } });
  const { id } = await api.start({ agent: 'able', prompt, budget: { tokens: 100 } });
  const events = await api.until(id, isConsent);
  expect(events.slice(-3)).toMatchObject([{ type: 'usage', isEstimate: true }, { type: 'budget' }, {}]);
  expect(await get(id)).toMatchObject({ budget: { isEstimate: true, left: { tokens: 0 } } });
});

test('a rule for budgets answers, by name; the queue waits until then', async () => {
  const { id } = await api.start({ agent: 'capped', prompt: 'one' });
  await api.post(`/api/sessions/${id}/messages`, { content: 'two' });
  const events = await api.until(
    id,
    (event) => event.type === 'functionResult' && JSON.stringify(event).includes('two'),
  );
  const settled = events.filter(({ type }) => type === 'requestSettled');
  expect(settled[0]).toMatchObject({ by: 'rule:agents.capped.1', reason: 'one more each time', response: 'more' });
  expect(events.findIndex(({ type }) => type === 'requestSettled')).toBeLessThan(
    events.findLastIndex(({ type }) => type === 'start'),
  );
});

test('a program’s budget covers its children, which pause with it', async () => {
  const prompt = steps(used(70), { say: { type: 'result', text: 'ok' } });
  const { id } = await api.start({ program: 'twice', prompt });
  const events = await api.untilStatus(id, 'paused');
  expect(await get(id)).toMatchObject({ budget: { spent: { tokens: 140 } }, children: 1 });
  const consent = events.find(isConsent);
  expect((await answered(id, consent.requestId, 'more')).status).toBe(200);
  await api.untilStatus(id, 'completed');
  expect(await get(id)).toMatchObject({ budget: { limits: { tokens: 200 }, spent: { tokens: 140 } } });
});

test.each([
  ['more', 'did: first did: second'],
  ['stop', 'did: first, but agent Capped was stopped: its budget is used up'],
])('an agent’s own budget counts for a child of a program, beside the program’s: %s', async (response, text) => {
  const { id } = await api.start({ program: 'again', prompt: 'go', budget: { turns: 10 } });
  const { childSession: child } = (await api.until(id, ({ childSession }) => childSession !== undefined)).at(-1);
  const [consent] = (await api.untilStatus(child, 'paused')).filter(isConsent);
  expect(await get(child)).toMatchObject({ budget: { limits: { turns: 1 }, left: { turns: 0 } } });
  await expect.poll(async () => (await get(child)).pending).toBe(1);
  expect((await answered(child, consent.requestId, response)).status).toBe(200);
  await api.untilStatus(id, 'completed');
  expect(await get(id)).toMatchObject({ result: { text }, budget: { limits: { turns: 10 } } });
});

test(
  'it outlives a kill of the server, and "stop" cancels with that reason',
  async () => {
    const { id } = await api.start({ agent: 'able', prompt: steps(used(10), { hang: true }), budget: { tokens: 10 } });
    const [consent] = (await api.untilStatus(id, 'paused')).filter(isConsent);
    await puppets.server.kill();
    puppets = await start();
    api = puppets.api;
    expect((await api.get(`/api/sessions/${id}/requests`)).body.requests).toHaveLength(1);
    expect((await answered(id, consent.requestId, 'stop')).status).toBe(200);
    await api.untilStatus(id, 'cancelled');
    expect(await get(id)).toMatchObject({ status: 'cancelled', reason: 'budget' });
  },
  aMachineUnderLoadMs,
);
