import { readFileSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { type RedisServer, startRedisServer } from '@concerto/log/testing';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { type Api, apiOf } from '../support/api.ts';
import { otherVersion } from '../support/concerto-command.ts';
import { steps, writePuppets } from '../support/puppets.ts';
import { type StartedServer, type StartOptions, startServer } from '../support/start-server.ts';

/** Each test starts the server at least twice, from source. */
const aMachineUnderLoadMs = 120_000;
const puppet = join(import.meta.dirname, '../support/puppet.mjs');
/** How long the server is away while its agent talks. 600000 by hand: then it says more than a keeper holds, and waits. */
const awayMs = Number(process.env.CONCERTO_AWAY_MS ?? 5_000);

let folder: string;
let server: StartedServer | undefined;
/** Others that want the same store. */
let rivals: StartedServer[] = [];
let redis: RedisServer | undefined;

const trace = (): string => join(folder, 'trace');
const gate = (): string => join(folder, 'gate');

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'concerto-outlive-'));
  await writeManifest();
});

async function writeManifest(more = ''): Promise<void> {
  const table = (name: string, ...flags: string[]): string =>
    `[agents.${name}]\ncommand = ${JSON.stringify(process.execPath)}\nargs = ${JSON.stringify([puppet, `--trace=${trace()}`, ...flags])}\n`;
  const dozing = table('dozing', `--dozes=${gate()}`);
  await writePuppets(folder, [table('traced'), dozing, more].join('\n'));
}

afterEach(async () => {
  for (const one of [server, ...rivals]) await one?.kill();
  server = undefined;
  rivals = [];
  await redis?.dispose();
  redis = undefined;
  await rm(folder, { recursive: true, force: true });
});

async function start(options: StartOptions = {}): Promise<Api> {
  server = await startServer({ folder, args: ['--store', 'sqlite:store.db'], ...options });
  return apiOf(server);
}

/** What the agent read and wrote, by its own word. */
function lines(way: '<' | '>'): readonly Record<string, unknown>[] {
  return readFileSync(trace(), 'utf8')
    .split('\n')
    .flatMap((line) => (line.startsWith(`${way} `) ? [JSON.parse(line.slice(2))] : []));
}

type Said = {
  readonly type: string;
  readonly seq: number;
  readonly status?: string;
  readonly content?: { parts: { text: string }[] };
};

const isTurnEnd = ({ type }: { type: string }): boolean => type === 'turnComplete';
const question = { type: 'question', id: 'q-1', question: 'Which colour?' };
const approval = { type: 'approval', id: 'a-1', description: 'Delete it?', risk_level: 'high' };
const done = { say: { type: 'result', text: 'done' } };
const costs = (usd: number) => ({
  say: { type: 'usage', input_tokens: 100, output_tokens: 10, cost_usd: usd, model: 'm' },
});

/**
 * Line by line: what it says it said is what the log has, and what it was told is what the log told it; what it says it
 * cost is what the session cost, and each prompt was one turn.
 */
async function expectAgreement(api: Api, id: string, events: readonly Said[]): Promise<void> {
  const said = lines('>').flatMap(({ type, text }) => (type === 'partial' || type === 'result' ? [text] : []));
  const heard = events.flatMap(({ type, content }) => (type === 'content' ? [content?.parts[0]?.text] : []));
  expect(heard).toEqual(said);
  expect(events.map(({ seq }) => seq)).toEqual(events.map((_, index) => index + 1));
  expect(events.filter(({ status }) => status === 'interrupted' || status === 'failed')).toEqual([]);
  const { pending, history } = (await api.get(`/api/sessions/${id}/messages?all=true`)).body;
  expect(pending).toEqual([]);
  const told = lines('<').flatMap(({ type, id: message }) => (type === 'prompt' ? [message] : []));
  expect(history.map((message: { id: string; status: string }) => [message.id, message.status])).toEqual(
    told.map((message) => [message, 'delivered']),
  );
  const used = lines('>').filter(({ type }) => type === 'usage');
  const { usage, turn } = (await api.get(`/api/sessions/${id}`)).body;
  expect(turn).toBe(told.length);
  const usd = used.reduce((sum, { cost_usd }) => sum + Number(cost_usd), 0);
  expect([usage?.costMicroUsd ?? 0, usage?.inputTokens ?? 0]).toEqual([Math.round(usd * 1e6), used.length * 100]);
}

/** As a power cut would, or in good order. */
const ends = [
  { how: 'kill -9', end: async () => await server?.kill() },
  { how: 'SIGTERM', end: async () => await server?.stop() },
];

describe.each(ends)('$how of the server', ({ end }) => {
  test('in mid-turn with three messages queued: it goes on, nothing is lost and nothing twice', {
    timeout: aMachineUnderLoadMs,
  }, async () => {
    const before = await start();
    const prompt = steps(costs(0.25), { many: 300, every: 3 }, { until: gate() }, { many: 50 }, costs(0.5), done);
    const { id } = await before.start({ agent: 'traced', prompt });
    for (const content of ['one', 'two', 'three']) await before.post(`/api/sessions/${id}/messages`, { content });
    await before.until(id, ({ type }) => type === 'content');
    await end();
    await writeFile(gate(), '');
    const after = await start();
    let ended = 0;
    const events = await after.until(id, (event) => isTurnEnd(event) && ++ended === 4);
    expect(lines('<').map(({ text }) => text)).toEqual([prompt, 'one', 'two', 'three']);
    await after.untilStatus(id, 'idle');
    await expectAgreement(after, id, events);
  });

  test('with an open question and an open approval: both can be answered, once', {
    timeout: aMachineUnderLoadMs,
  }, async () => {
    const before = await start();
    const asks = [{ say: question }, { say: approval }, { collect: 2 }];
    const { id } = await before.start({ agent: 'traced', prompt: steps(costs(0.25), ...asks, { tell: 'answers' }) });
    const asked = await before.until(id, ({ type }) => type === 'queryConsent');
    const [colour, consent] = asked.filter(({ requestId }) => requestId !== undefined);
    await end();
    const after = await start();
    expect((await after.get(`/api/sessions/${id}`)).body.status).toMatch(/^waitingFor/);
    const answer = (requestId: string, response: unknown) =>
      after.post(`/api/sessions/${id}/requests/${requestId}`, { response });
    expect((await answer(colour.requestId, 'red')).status).toBe(200);
    expect((await answer(consent.requestId, true)).status).toBe(200);
    expect((await answer(consent.requestId, false)).status).toBe(409);
    const events = await after.until(id, isTurnEnd);
    expect(lines('<').slice(1)).toMatchObject([
      { in_reply_to_id: 'q-1', value: 'red' },
      { in_reply_to_id: 'a-1', value: 'yes' },
    ]);
    expect(events.filter(({ type }) => type === 'waitForInput' || type === 'queryConsent')).toHaveLength(2);
    await expectAgreement(after, id, events);
  });

  test('while a person is asked its time stands still, with the next owner too', {
    timeout: aMachineUnderLoadMs,
  }, async () => {
    const limited = ['quiet', 'hasty']; // One may say nothing for a second, one may take a second.
    const before = await start();
    const asking = steps({ ask: question }, done);
    const asked = await Promise.all(limited.map(async (agent) => (await before.start({ agent, prompt: asking })).id));
    for (const id of asked) await before.untilStatus(id, 'waitingForInput');
    await end();
    const after = await start();
    // Others that ask nobody run out of their time meanwhile.
    for (const agent of limited) {
      const { id } = await after.start({ agent, prompt: steps({ hang: true }) });
      await after.until(id, isTurnEnd);
    }
    for (const id of asked) expect((await after.get(`/api/sessions/${id}`)).body.status).toBe('waitingForInput');
  });

  test('while it is away the agent goes on to its end, which is all there afterwards', {
    timeout: aMachineUnderLoadMs,
  }, async () => {
    const before = await start();
    const prompt = steps({ until: gate() }, { many: 3_000, bytes: 200 }, costs(0.5), done);
    const { id } = await before.start({ agent: 'traced', prompt });
    await before.until(id, ({ type }) => type === 'functionCall');
    await end();
    await writeFile(gate(), '');
    await expect.poll(() => lines('>').at(-1), { timeout: 20_000 }).toEqual(done.say);
    const after = await start();
    await expectAgreement(after, id, await after.until(id, isTurnEnd));
  });

  test('in the middle of a tool, and the next server is of another version: one call, one result', {
    timeout: aMachineUnderLoadMs,
  }, async () => {
    const before = await start();
    const call = { type: 'tool_call', id: 't1', name: 'Bash', input: { command: 'make' } };
    const result = { type: 'tool_result', id: 't1', output: 'made' };
    const prompt = steps({ many: 3 }, { say: call }, { until: gate() }, { say: result }, { many: 3 }, done);
    const { id } = await before.start({ agent: 'traced', prompt });
    await before.until(id, ({ type, callId }) => type === 'functionCall' && callId === 't1');
    await end();
    const after = await start({ command: otherVersion });
    await writeFile(gate(), '');
    const events = await after.until(id, isTurnEnd);
    for (const type of ['functionCall', 'functionResult']) {
      expect(events.filter((event) => event.type === type && event.callId === 't1')).toHaveLength(1);
    }
    await expectAgreement(after, id, events);
  });

  test('while a message is being written: the agent gets all of it, once', {
    timeout: aMachineUnderLoadMs,
  }, async () => {
    const before = await start();
    // More than a pipe holds, to an agent that does not read yet.
    const prompt = steps({ padding: '\u20ac'.repeat(95_000) }, done);
    const { id } = await before.start({ agent: 'dozing', prompt });
    const isBeingWritten = async (): Promise<unknown> =>
      (await before.get(`/api/sessions/${id}/messages`)).body.pending[0]?.inFlight;
    await expect.poll(isBeingWritten, { timeout: 20_000 }).toBe(true);
    await before.post(`/api/sessions/${id}/messages`, { content: 'and this' });
    await end();
    const after = await start();
    await writeFile(gate(), '');
    let ended = 0;
    const events = await after.until(id, (event) => isTurnEnd(event) && ++ended === 2);
    expect(lines('<')).toMatchObject([
      { type: 'prompt', text: prompt },
      { type: 'prompt', text: 'and this' },
    ]);
    await expectAgreement(after, id, events);
  });
});

test('away for longer than agents are kept: it is ended, what it said is there, and the reason says so', {
  timeout: aMachineUnderLoadMs,
}, async () => {
  await writeManifest('[server]\nkeep_agents = "3s"\n');
  const before = await start();
  const { id } = await before.start({ agent: 'traced', prompt: steps({ many: 50 }, { hang: true }) });
  await before.until(id, ({ type }) => type === 'content');
  await expect.poll(() => lines('>').length, { timeout: 20_000 }).toBe(50);
  const keeper: { pid: number } = JSON.parse(readFileSync(join(folder, 'keeper/keeper.json'), 'utf8'));
  await server?.kill();
  const children = (): string => readFileSync(`/proc/${keeper.pid}/task/${keeper.pid}/children`, 'utf8').trim();
  await expect.poll(children, { timeout: 30_000 }).toBe('');
  const after = await start();
  const events = await after.untilStatus(id, 'interrupted');
  expect(events.at(-1).reason).toContain('was ended: no server took it up within 3 seconds (`keep_agents`)');
  expect(events.filter(({ type }) => type === 'content')).toHaveLength(50);
});

test.each(ends)(
  'away for long ($how) while it talks: what it said is all there, once, and nothing else is different',
  {
    timeout: awayMs + 3 * aMachineUnderLoadMs,
  },
  async ({ end }) => {
    const before = await start();
    const talk = { talks: gate(), bytes: 1_000, pauseMs: 3 };
    const { id } = await before.start({ agent: 'traced', prompt: steps(costs(0.25), talk, costs(0.5), done) });
    await before.until(id, ({ type }) => type === 'content');
    await end();
    await sleep(awayMs);
    const after = await start();
    await writeFile(gate(), '');
    const events = await after.until(id, isTurnEnd, 2 * aMachineUnderLoadMs);
    await expectAgreement(after, id, events);
  },
);

describe('servers that fight for one store', () => {
  const prompt = () =>
    steps(costs(0.25), { many: 20 }, { ask: question }, { talks: gate() }, costs(0.5), { tell: 'answer' });

  async function answered(api: Api, id: string): Promise<void> {
    const asked = (await api.until(id, ({ type }) => type === 'waitForInput')).at(-1);
    const path = `/api/sessions/${id}/requests/${asked.requestId}`;
    expect((await api.post(path, { response: 'red' })).status).toBe(200);
    expect((await api.post(path, { response: 'blue' })).status).toBe(409);
  }

  test('on SQLite one of them has it, the others are told, and the agent notices nothing', {
    timeout: 2 * aMachineUnderLoadMs,
  }, async () => {
    const before = await start();
    const one = () => startServer({ folder, args: ['--store', 'sqlite:store.db'] });
    const { id } = await before.start({ agent: 'traced', prompt: prompt() });
    await before.until(id, ({ type }) => type === 'waitForInput');
    await expect(one()).rejects.toThrow(/in use/);
    // Nor while the first does not answer.
    server?.signal('SIGSTOP');
    await expect(one()).rejects.toThrow(/in use/);
    server?.signal('SIGCONT');
    const race = async (): Promise<Api> => {
      await server?.kill();
      const tried = await Promise.allSettled([one(), one(), one()]);
      rivals = tried.flatMap((result) => (result.status === 'fulfilled' ? [result.value] : []));
      expect(rivals).toHaveLength(1);
      [server] = rivals;
      if (server === undefined) throw new Error('nobody got the store');
      return apiOf(server);
    };
    await answered(await race(), id);
    const after = await race();
    await writeFile(gate(), '');
    const events = await after.until(id, isTurnEnd);
    expect(events.filter(({ type }) => type === 'waitForInput')).toHaveLength(1);
    await expectAgreement(after, id, events);
  });

  test('on Redis one that slept and wakes is fenced, both ways, and the agent notices nothing', {
    timeout: 2 * aMachineUnderLoadMs,
  }, async () => {
    redis = await startRedisServer();
    const args = ['--store', redis.url];
    const before = await start({ args });
    const { id } = await before.start({ agent: 'traced', prompt: prompt() });
    await before.until(id, ({ type }) => type === 'waitForInput');
    const rival = await startServer({ folder, args });
    rivals = [rival];
    const other = apiOf(rival);
    // Longer than its lease: the other takes the agent up, which talks on.
    server?.signal('SIGSTOP');
    await answered(other, id);
    const heard = (await other.until(id, ({ type, requestId }) => type === 'requestSettled' && requestId !== undefined))
      .length;
    await other.until(id, ({ type, seq }) => type === 'content' && seq > heard + 20);
    server?.signal('SIGCONT');
    const late = (await other.until(id, ({ type, seq }) => type === 'content' && seq > heard + 100)).length;
    rival.signal('SIGSTOP');
    await before.until(id, ({ type, seq }) => type === 'content' && seq > late + 300);
    rival.signal('SIGCONT');
    await writeFile(gate(), '');
    const events = await before.until(id, isTurnEnd);
    expect(await other.until(id, isTurnEnd)).toEqual(events);
    expect(events.filter(({ type }) => type === 'waitForInput')).toHaveLength(1);
    await expectAgreement(before, id, events);
  });
});
