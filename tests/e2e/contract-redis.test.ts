import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { type RedisServer, startRedisServer } from '@concerto/log/testing';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Api } from '../support/api.ts';
import { type PuppetServer, startPuppetServer, steps } from '../support/puppets.ts';

let redis: RedisServer;
let puppets: PuppetServer;
let api: Api;

beforeAll(async () => {
  redis = await startRedisServer();
  puppets = await startPuppetServer({ args: ['--store', redis.url] });
  api = puppets.api;
});

afterAll(async () => {
  await puppets?.close();
  await redis?.dispose();
});

const isFinish = (event: { type: string }): boolean => event.type === 'finish';
const hang = steps({ say: { type: 'log', message: 'at work' } }, { hang: true });

type StreamEntry = { readonly id: string; readonly type: string; readonly data: any };

/** What another program sees: the plain client, the plain command. */
async function xrange(key: string): Promise<StreamEntry[]> {
  const { stdout } = await promisify(execFile)(
    'redis-cli',
    ['-p', String(redis.port), '--json', 'XRANGE', key, '-', '+'],
    {
      maxBuffer: 64 * 1024 * 1024,
    },
  );
  return (JSON.parse(stdout) as [string, string[] | Record<string, string>][]).map(([id, fields]) => {
    const pairs = Array.isArray(fields) ? Object.fromEntries(pairsOf(fields)) : fields;
    expect(Object.keys(pairs).toSorted()).toEqual(expect.arrayContaining(['data', 'type']));
    return { id, type: pairs.type ?? '', data: JSON.parse(pairs.data ?? 'null') };
  });
}

function pairsOf(fields: readonly string[]): [string, string][] {
  return fields.flatMap((name, index) => (index % 2 === 0 ? [[name, fields[index + 1] ?? '']] : []));
}

const eventsOf = (id: string) => xrange(`concerto:{${id}}:events`);
const commandsOf = (id: string) => xrange(`concerto:{${id}}:commands`);
const acks = (entries: readonly StreamEntry[]): StreamEntry[] => entries.filter((entry) => entry.type.endsWith('_ack'));

async function working(agent = 'able'): Promise<string> {
  const { id } = await api.start({ agent, prompt: hang });
  await api.until(id, (event) => event.type === 'subagentAddJson' && event.title === 'log');
  return id;
}

describe('on Redis', () => {
  test('the events stream is what SSE shows, with type and data; acks stand in it and take no position', async () => {
    const { id } = await api.start({ agent: 'puppet', prompt: 'x', once: true });
    const events = await api.until(id, isFinish);
    const entries = await eventsOf(id);
    const shown = entries.filter((entry) => !entry.type.endsWith('_ack'));
    expect(shown.map((entry) => entry.data)).toEqual(events);
    expect(shown.map((entry) => entry.type)).toEqual(events.map((event) => event.type));
    expect(events.map((event) => event.seq)).toEqual(events.map((_, index) => index + 1));
    const [ack] = acks(entries);
    const prompt = (await api.get(`/api/sessions/${id}/messages?all=true`)).body.history[0];
    expect(ack).toMatchObject({
      type: 'message_ack',
      data: { requestId: prompt.id, epoch: expect.any(Number), how: 'prompt' },
    });
    expect((await commandsOf(id)).map((entry) => entry.type)).toEqual(expect.arrayContaining(['start', 'deliver']));
  });

  test('an answer that the agent has is acknowledged, once, with its request', async () => {
    const { id } = await api.start({
      agent: 'puppet',
      prompt: steps({ ask: { type: 'question', question: 'Why?' } }, { tell: 'answer' }),
    });
    const asked = (await api.until(id, (event) => event.type === 'waitForInput')).at(-1);
    expect((await api.post(`/api/sessions/${id}/requests/${asked.requestId}`, { response: 'so' })).status).toBe(200);
    await api.untilStatus(id, 'idle');
    const given = acks(await eventsOf(id)).filter((entry) => entry.type === 'answer_ack');
    expect(given).toMatchObject([{ data: { requestId: asked.requestId, epoch: expect.any(Number) } }]);
  });

  test.each([
    ['interrupt', 'interrupt_ack', 'interrupted'],
    ['pause', 'pause_ack', 'paused'],
    ['cancel', 'stop_ack', 'cancelled'],
  ])('%s is acknowledged by %s with its request id and epoch', async (verb, type, status) => {
    const id = await working();
    const { requestId } = (await api.post(`/api/sessions/${id}/${verb}`)).body;
    await api.untilStatus(id, status);
    expect(acks(await eventsOf(id)).at(-1)).toMatchObject({ type, data: { requestId, epoch: expect.any(Number) } });
    const all = await eventsOf(id);
    const confirmed = all.findIndex((entry) => entry.type === type);
    expect(all.findIndex((entry) => entry.type === 'status' && entry.data.status === status)).toBeGreaterThan(
      confirmed,
    );
    expect((await commandsOf(id)).findLast((entry) => entry.type === verb)?.data).toMatchObject({ requestId });
  });

  test('resume is acknowledged, and so is what needed no agent', async () => {
    const id = await working();
    await api.post(`/api/sessions/${id}/pause`);
    await api.untilStatus(id, 'paused');
    const { requestId } = (await api.post(`/api/sessions/${id}/resume`)).body;
    await api.until(id, (event) => event.type === 'status' && event.previous === 'resuming');
    expect(acks(await eventsOf(id)).at(-1)).toMatchObject({ type: 'resume_ack', data: { requestId } });

    const idle = await api.start({ agent: 'puppet', prompt: 'x' });
    await api.untilStatus(idle.id, 'idle');
    const paused = (await api.post(`/api/sessions/${idle.id}/pause`)).body;
    const resumed = (await api.post(`/api/sessions/${idle.id}/resume`)).body;
    expect(acks(await eventsOf(idle.id)).slice(-2)).toMatchObject([
      { type: 'pause_ack', data: { requestId: paused.requestId } },
      { type: 'resume_ack', data: { requestId: resumed.requestId } },
    ]);
  });

  test('a steered message is acknowledged as such', async () => {
    const id = await working();
    await api.post(`/api/sessions/${id}/messages`, { content: 'now', priority: 'immediate', id: 'steer-1' });
    await api.until(
      id,
      (event) => event.type === 'message' && event.message.status === 'delivered' && event.message.id === 'steer-1',
    );
    expect(acks(await eventsOf(id)).at(-1)).toMatchObject({
      type: 'message_ack',
      data: { requestId: 'steer-1', how: 'steer' },
    });
  });

  test('what was trimmed is a gap, on the stream and on a page', async () => {
    const { id } = await api.start({
      agent: 'puppet',
      prompt: steps({ many: 50 }, { say: { type: 'result', text: 'x' } }),
      once: true,
    });
    const all = await api.until(id, isFinish);
    const entries = await eventsOf(id);
    const kept = entries.find((entry) => entry.data.seq === 31);
    await promisify(execFile)('redis-cli', [
      '-p',
      String(redis.port),
      'XTRIM',
      `concerto:{${id}}:events`,
      'MINID',
      kept?.id ?? '',
    ]);
    const rest = await api.until(id, isFinish);
    expect(rest[0]).toMatchObject({ type: 'gap', from: 1, to: 30 });
    expect(rest.slice(1)).toEqual(all.slice(30));
    const page = (await api.get(`/api/sessions/${id}/events?format=json&after=10`)).body;
    expect(page.events[0]).toMatchObject({ type: 'gap', from: 11, to: 30 });
    expect(page.events.slice(1)).toEqual(all.slice(30));
    expect(page).toMatchObject({ position: all.length, more: false });
  });

  test('two servers on one store: start at one, follow and answer at the other', { timeout: 90_000 }, async () => {
    const other = await startPuppetServer({ args: ['--store', redis.url, '--no-runner'] });
    try {
      const { id } = await other.api.start({
        agent: 'puppet',
        prompt: steps({ ask: { type: 'question', question: 'well?' } }, { tell: 'answer' }),
        once: true,
      });
      const there = other.api.until(id, isFinish);
      const asked = (await api.until(id, (event) => event.type === 'waitForInput')).at(-1);
      const path = `/api/sessions/${id}/requests/${asked.requestId}`;
      const answers = await Promise.all(
        Array.from({ length: 10 }, (_, index) => (index % 2 === 0 ? api : other.api).post(path, { response: index })),
      );
      expect(answers.filter((answer) => answer.status === 200)).toHaveLength(1);
      expect(answers.filter((answer) => answer.status === 409)).toHaveLength(9);
      expect(await there).toEqual(await api.until(id, isFinish));
      // One wish, one session, whichever server hears it.
      const key = { 'idempotency-key': 'both' };
      const starts = await Promise.all(
        Array.from({ length: 10 }, (_, index) =>
          (index % 2 === 0 ? api : other.api).post('/api/sessions', { agent: 'puppet', prompt: 'x' }, key),
        ),
      );
      expect(new Set(starts.map((answer) => `${answer.status} ${answer.body.id}`)).size).toBe(1);
    } finally {
      await other.close();
    }
  });

  test('Redis goes away and comes back: calls say 503 meanwhile, and nothing acknowledged is lost', {
    timeout: 90_000,
  }, async () => {
    const { id } = await api.start({ agent: 'puppet', prompt: 'x' });
    await api.untilStatus(id, 'idle');
    await redis.kill('SIGKILL');
    const refused = await api.post(`/api/sessions/${id}/messages`, { content: 'lost', id: 'while-away' });
    expect(refused.status).toBe(503);
    expect(refused.headers.get('content-type')).toBe('application/problem+json');
    expect((await fetch(`${api.url}/healthz`)).status).toBe(200);
    expect((await fetch(`${api.url}/readyz`)).status).toBe(503);
    await redis.start();
    await expect.poll(async () => (await fetch(`${api.url}/readyz`)).status, { timeout: 30_000 }).toBe(200);
    expect((await api.get(`/api/sessions/${id}`)).body.status).toMatch(/idle|interrupted/);
    await api.post(`/api/sessions/${id}/messages`, { content: 'back' });
    await api.until(id, (event) => event.type === 'content' && event.content.parts[0].text === 'did: back');
  });
});
