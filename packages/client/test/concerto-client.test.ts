import { concertoClient } from '@concerto/client';
import { describe, expect, test } from 'vitest';
import { problem, sendJson, session, testServer } from './test-server.ts';

const message = {
  id: 'm1',
  content: 'x',
  priority: 'queued',
  status: 'pending',
  source: 'user',
  createdAt: '2026-01-01T00:00:00.000Z',
};
const accepted = { status: 'pausing', requestId: 'r1' };
const insight = {
  days: [],
  agents: [],
  models: [],
  waits: { answers: 0, medianMs: 0, longMs: 0, longestMs: 0 },
  answeredBy: [],
  failures: [],
  read: 0,
};
const pool = { active: 1, max: 20, waiting: 0 };
const template = { name: 'fix', agent: 'demo', prompt: 'fix it' };

type Client = ReturnType<typeof concertoClient>;

describe('each call', () => {
  test.each<[string, unknown, unknown, (client: Client) => Promise<unknown>]>([
    [
      'POST /api/sessions',
      { agent: 'demo', prompt: 'go' },
      session('starting', 0),
      (client) => client.start({ agent: 'demo', prompt: 'go' }),
    ],
    [
      'GET /api/sessions?status=idle&limit=5',
      undefined,
      { sessions: [session('idle', 3)], nextCursor: 'n' },
      (client) => client.list({ status: 'idle', limit: 5 }),
    ],
    ['GET /api/sessions/a%2Fb', undefined, session('idle', 3), (client) => client.get('a/b')],
    [
      'GET /api/sessions/s1/events?after=2&format=json',
      undefined,
      { events: [], position: 2, more: false },
      (client) => client.events('s1', { after: 2 }),
    ],
    ['GET /api/sessions/s1/requests', undefined, { requests: [] }, (client) => client.requests('s1')],
    ['POST /api/sessions/s1/messages', { content: 'x' }, message, (client) => client.send('s1', { content: 'x' })],
    [
      'POST /api/sessions/s1/messages',
      { content: 'x', priority: 'immediate' },
      message,
      (client) => client.steer('s1', 'x'),
    ],
    [
      'GET /api/sessions/s1/messages?all=true',
      undefined,
      { pending: [message], history: [], version: 2 },
      (client) => client.messages('s1', { all: true }),
    ],
    ['PATCH /api/sessions/s1/messages/m1', { content: 'y' }, message, (client) => client.editMessage('s1', 'm1', 'y')],
    [
      'PATCH /api/sessions/s1/messages/m1',
      { priority: 'immediate' },
      message,
      (client) => client.promoteMessage('s1', 'm1'),
    ],
    [
      'PATCH /api/sessions/s1/messages/m1',
      { uncertain: 'drop' },
      message,
      (client) => client.settleMessage('s1', 'm1', 'drop'),
    ],
    ['DELETE /api/sessions/s1/messages/m1', undefined, message, (client) => client.cancelMessage('s1', 'm1')],
    ['POST /api/sessions/s1/interrupt', undefined, accepted, (client) => client.interrupt('s1')],
    ['POST /api/sessions/s1/pause', undefined, accepted, (client) => client.pause('s1')],
    ['POST /api/sessions/s1/resume', undefined, accepted, (client) => client.resume('s1')],
    ['POST /api/sessions/s1/cancel', undefined, accepted, (client) => client.cancel('s1')],
    [
      'GET /api/sessions/s1/audit',
      undefined,
      { entries: [], position: 0, more: false },
      (client) => client.audit('s1'),
    ],
    ['GET /api/agents', undefined, { agents: [] }, (client) => client.agents()],
    ['GET /api/insight?days=7', undefined, insight, (client) => client.insight({ days: 7 })],
    ['GET /api/pool', undefined, pool, (client) => client.pool()],
    ['PUT /api/pool', { max: 20 }, pool, (client) => client.configurePool(20)],
    ['GET /api/templates', undefined, { templates: [template] }, (client) => client.templates()],
    ['GET /api/templates/fix', undefined, template, (client) => client.template('fix')],
    ['POST /api/templates', template, template, (client) => client.createTemplate(template)],
    ['PUT /api/templates/fix', template, template, (client) => client.putTemplate(template)],
  ])('%s', async (line, body, answer, call) => {
    const server = await testServer((_request, response) => sendJson(response, 200, answer));
    expect(await call(concertoClient({ url: server.url, token: 'sesame' }))).toEqual(answer);
    const [seen] = server.seen;
    expect(seen?.line).toBe(line);
    expect(seen?.body === '' ? undefined : JSON.parse(seen?.body ?? '')).toEqual(body);
    expect(seen?.headers.authorization).toBe('Bearer sesame');
    expect(seen?.headers['idempotency-key'] !== undefined).toBe(!line.startsWith('GET'));
  });

  test('those whose answer says nothing', async () => {
    const server = await testServer((_, response) => void response.writeHead(204).end());
    const client = concertoClient({ url: `${server.url}/` });
    await client.answer('s1', 'r1', false);
    await client.orderMessages('s1', { ids: ['b', 'a'], version: 3 });
    await client.deleteTemplate('fix');
    expect(server.seen.map(({ line, body }) => `${line} ${body}`)).toEqual([
      'POST /api/sessions/s1/requests/r1 {"response":false}',
      'PUT /api/sessions/s1/messages/order {"ids":["b","a"],"version":3}',
      'DELETE /api/templates/fix ',
    ]);
  });
});

describe('a refusal', () => {
  test('is an error with the whole problem', async () => {
    const server = await testServer((_, response) =>
      sendJson(response, 409, problem(409, 'pool_full', { active: 20, max: 20 })),
    );
    await expect(concertoClient({ url: server.url }).start({ agent: 'demo' })).rejects.toMatchObject({
      name: 'ClientError',
      status: 409,
      code: 'pool_full',
      message: 'because pool_full',
      problem: { active: 20, max: 20 },
    });
    expect(server.seen).toHaveLength(1);
  });

  test.each([
    [500, '<html>oops</html>', 'bad_answer', /answered 500 .*without saying why/],
    [200, 'not json', 'bad_answer', /not JSON/],
    [200, '{"id":1}', 'bad_answer', /not what this version expects/],
  ])('that is no problem document is told as well: %d %j', async (status, body, code, text) => {
    const server = await testServer((_, response) => void response.writeHead(status).end(body));
    await expect(concertoClient({ url: server.url }).get('s1')).rejects.toMatchObject({
      code,
      message: expect.stringMatching(text),
    });
  });
});

describe('a broken network', () => {
  test('is tried again with the same key, so that the wish is granted once', async () => {
    let calls = 0;
    const server = await testServer((request, response) => {
      calls++;
      if (calls === 1) return void request.socket.destroy();
      if (calls === 2) return sendJson(response, 503, problem(503, 'stopping'));
      sendJson(response, 201, session('starting', 0));
    });
    await concertoClient({ url: server.url }).start({ agent: 'demo' });
    const keys = server.seen.map(({ headers }) => headers['idempotency-key']);
    expect(keys).toHaveLength(3);
    expect(new Set(keys).size).toBe(1);
  });

  test('takes the key it is given', async () => {
    const server = await testServer((_, response) => sendJson(response, 201, session('starting', 0)));
    await concertoClient({ url: server.url }).start({ agent: 'demo' }, { idempotencyKey: 'mine' });
    expect(server.seen[0]?.headers['idempotency-key']).toBe('mine');
  });

  test('is an error in the end, and can be given up before', async () => {
    const client = concertoClient({ url: 'http://127.0.0.1:1' });
    await expect(client.get('s1')).rejects.toMatchObject({
      code: 'unreachable',
      message: expect.stringContaining('cannot be reached'),
    });
    const giveUp = new AbortController();
    const waiting = client.get('s1', { signal: giveUp.signal });
    giveUp.abort();
    await expect(waiting).rejects.toMatchObject({ name: 'AbortError' });
  });
});
