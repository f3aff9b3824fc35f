import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Api, apiOf, callWithHost } from '../support/api.ts';
import { type StartedServer, startServer } from '../support/start-server.ts';
import { writeManifest } from '../support/test-agents.ts';

let folder: string;
let server: StartedServer;
let api: Api;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'concerto-http-'));
  await writeManifest(folder);
  server = await startServer({ folder });
  api = apiOf(server);
});

afterAll(async () => {
  await server?.stop();
  await rm(folder, { recursive: true, force: true });
});

describe('who may call', () => {
  test('a call without a token, or with a wrong one, is 401; health and the API description need none', async () => {
    const bare = (path: string) => fetch(server.url + path);
    expect((await bare('/api/sessions')).status).toBe(401);
    expect((await api.call('GET', '/api/sessions', undefined, { authorization: 'Bearer wrong' })).status).toBe(401);
    expect((await bare('/healthz')).status).toBe(200);
    expect((await bare('/readyz')).status).toBe(200);
    const openapi = await bare('/api/openapi.json');
    expect(openapi.status).toBe(200);
    expect(await openapi.json()).toMatchObject({ openapi: '3.1.0', paths: { '/api/sessions': {} } });
  });

  test('a foreign Host is 421, a foreign Origin 403', async () => {
    expect(await callWithHost(server.url, 'evil.example')).toBe(421);
    const answer = await api.call('GET', '/api/pool', undefined, { origin: 'http://evil.example' });
    expect(answer).toMatchObject({ status: 403, body: { code: 'foreign_origin' } });
    expect((await api.call('GET', '/api/pool', undefined, { origin: server.url })).status).toBe(200);
  });

  test('opening /?token=T sets a strict cookie that opens the API', async () => {
    const opened = await fetch(server.entrance, { redirect: 'manual' });
    expect(opened.status).toBe(302);
    expect(opened.headers.get('location')).toBe('/');
    const cookie = opened.headers.get('set-cookie') ?? '';
    expect(cookie).toMatch(/HttpOnly/);
    expect(cookie).toMatch(/SameSite=Strict/);
    expect(cookie).toMatch(/Path=\//);
    const withCookie = await fetch(`${server.url}/api/pool`, { headers: { cookie: cookie.split(';')[0] ?? '' } });
    expect(withCookie.status).toBe(200);
  });
});

describe('bad input', () => {
  test.each([
    ['malformed JSON', '{bad', 400, 'bad_json'],
    ['a wrong type', { agent: 5, prompt: 'x' }, 422, 'invalid_body'],
    ['an unknown key', { agent: 'echo', prompt: 'x', colour: 'red' }, 422, 'invalid_body'],
    ['no target', { prompt: 'x' }, 422, 'invalid_start'],
    ['two targets', { agent: 'echo', program: 'p', prompt: 'x' }, 422, 'invalid_start'],
    ['an unknown agent', { agent: 'ecko', prompt: 'x' }, 422, 'no_such_agent'],
    ['an empty prompt', { agent: 'echo', prompt: '' }, 422, 'invalid_body'],
    ['a bad id', { agent: 'echo', prompt: 'x', id: 'a/b' }, 422, 'invalid_body'],
    [
      'tools that are no configuration',
      { agent: 'echo', prompt: 'x', tools: { servers: { a: { transport: 'stdio' } } } },
      422,
      'invalid_tools',
    ],
  ])('%s', async (_what, body, status, code) => {
    const answer = await api.post('/api/sessions', body);
    expect(answer).toMatchObject({ status, body: { status, code } });
    expect(answer.headers.get('content-type')).toBe('application/problem+json');
  });

  test('a wrong type names its path; a near miss is suggested', async () => {
    expect((await api.post('/api/sessions', { agent: 5 })).body.errors).toContainEqual(
      expect.objectContaining({ path: 'agent' }),
    );
    expect((await api.post('/api/sessions', { agent: 'ecko', prompt: 'x' })).body.detail).toContain(
      'did you mean "echo"?',
    );
  });

  test('a body over 8 MiB is 413, declared or not', async () => {
    const big = JSON.stringify({ agent: 'echo', prompt: 'x'.repeat(8_500_000) });
    expect((await api.post('/api/sessions', big)).status).toBe(413);
  });

  test('unknown things are 404', async () => {
    for (const path of [
      '/api/sessions/nope',
      '/api/sessions/nope/events',
      '/api/sessions/nope/messages',
      '/api/sessions/nope/audit',
      '/api/nope',
      '/api/templates/nope',
    ]) {
      expect({ path, status: (await api.get(path)).status }).toEqual({ path, status: 404 });
    }
    const { id } = await api.start({ agent: 'echo', prompt: 'x' });
    expect(await api.post(`/api/sessions/${id}/requests/nope`, { response: 1 })).toMatchObject({
      status: 404,
      body: { code: 'no_such_request' },
    });
    expect(await api.call('DELETE', `/api/sessions/${id}/messages/nope`)).toMatchObject({
      status: 404,
      body: { code: 'no_such_message' },
    });
  });

  test.each([
    ['missing', 'error', /no-such-program-anywhere/],
    ['exits-at-once', 'error', /ended with|exited/],
    // What is no message is what the agent had to say.
    ['garbage', 'complete', /./],
  ])('an agent that is %s gives one clear end, and other sessions go on', async (agent, end, said) => {
    const { id } = await api.start({ agent, prompt: 'x', once: true });
    const events = await api.until(id, (event) => event.type === 'finish');
    const last = events.at(-2);
    expect(last.type).toBe(end);
    expect(JSON.stringify(last)).toMatch(said);
    const other = await api.start({ agent: 'echo', prompt: 'still here', once: true });
    const others = await api.until(other.id, (event) => event.type === 'finish');
    expect(others.map((event) => event.type)).toContain('complete');
  });
});

describe('events', () => {
  test('a stream replays from a cursor, then ends after finish; seq is the SSE id', async () => {
    const { id } = await api.start({ agent: 'echo', prompt: 'hello', once: true });
    const all = await api.until(id, (event) => event.type === 'finish');
    expect(all.map((event) => event.seq)).toEqual(all.map((_, index) => index + 1));
    const rest = await api.eventsUntil(`/api/sessions/${id}/events?after=3`, () => false);
    expect(rest).toEqual(all.slice(3));
    const page = await api.get(`/api/sessions/${id}/events?format=json&after=2&limit=4`);
    expect(page.body).toEqual({ events: all.slice(2, 6), position: 6, more: true });
    expect((await api.get(`/api/sessions/${id}`)).body.position).toBe(all.length);
  });

  test('frames are `id: N`, `data: {json}`, a blank line, and a ping comes first', async () => {
    const { id } = await api.start({ agent: 'echo', prompt: 'hello', once: true });
    await api.until(id, (event) => event.type === 'finish');
    const text = (await api.call('GET', `/api/sessions/${id}/events`)).body as string;
    expect(text.startsWith(': ping\n\nid: 1\ndata: {"type"')).toBe(true);
    expect(text.endsWith('}\n\n')).toBe(true);
  });

  test.each([
    ['after=x', 400, 'bad_cursor'],
    ['after=-1', 400, 'bad_cursor'],
    ['after=99999', 409, 'cursor_ahead'],
  ])('?%s is %i', async (query, status, code) => {
    const { id } = await api.start({ agent: 'echo', prompt: 'hello' });
    expect(await api.get(`/api/sessions/${id}/events?${query}`)).toMatchObject({ status, body: { code } });
  });

  test('`after` wins over Last-Event-ID', async () => {
    const { id } = await api.start({ agent: 'echo', prompt: 'hello', once: true });
    const all = await api.until(id, (event) => event.type === 'finish');
    const byHeader = await api.call('GET', `/api/sessions/${id}/events`, undefined, {
      'last-event-id': String(all.length - 1),
    });
    expect(byHeader.body).toContain(`id: ${all.length}\n`);
    expect(byHeader.body).not.toContain('id: 1\n');
    const both = await api.call('GET', `/api/sessions/${id}/events?after=0`, undefined, {
      'last-event-id': String(all.length),
    });
    expect(both.body).toContain('id: 1\n');
  });

  test('an agent that floods its stdout is read to the end, in order', async () => {
    const { id } = await api.start({ agent: 'floods-stdout', prompt: 'go', once: true });
    const events = await api.until(id, (event) => event.type === 'finish');
    expect(events.map((event) => event.seq)).toEqual(events.map((_, index) => index + 1));
    expect(events.length).toBeGreaterThan(100_000);
  }, 120_000);
});

describe('requests', () => {
  test('a question with options becomes a choice; the agent gets the option; a second answer is refused', async () => {
    const { id } = await api.start({ agent: 'ask', prompt: 'paint', once: true });
    const asked = (await api.until(id, (event) => event.type === 'waitForChoice')).at(-1);
    expect((await api.get(`/api/sessions/${id}`)).body).toMatchObject({
      status: 'waitingForInput',
      waiting: { for: 'input', requestId: asked.requestId },
    });
    expect((await api.get(`/api/sessions/${id}/requests`)).body.requests).toEqual([
      expect.objectContaining({ requestId: asked.requestId, type: 'waitForChoice' }),
    ]);
    const path = `/api/sessions/${id}/requests/${asked.requestId}`;
    expect(await api.post(path, {})).toMatchObject({ status: 422 });
    const key = { 'idempotency-key': 'answer-1' };
    expect((await api.post(path, { response: { selected: [asked.choices[1].id] } }, key)).status).toBe(200);
    expect((await api.post(path, { response: { selected: [asked.choices[1].id] } }, key)).status).toBe(200);
    expect(await api.post(path, { response: { selected: [asked.choices[0].id] } })).toMatchObject({
      status: 409,
      body: { code: 'already_answered' },
    });
    const done = await api.until(id, (event) => event.type === 'finish');
    expect(done.find((event) => event.type === 'complete').result.outcomes.parts).toEqual([{ text: 'painted blue' }]);
  });

  test.each([
    [true, 'deleted'],
    [false, 'kept'],
  ])('an approval answered %s', async (response, text) => {
    const { id } = await api.start({ agent: 'approve', prompt: 'clean', once: true });
    const asked = (await api.until(id, (event) => event.type === 'queryConsent')).at(-1);
    expect(asked).toMatchObject({
      consentType: 'approval',
      scope: { description: 'Delete 3 files', risk_level: 'medium' },
    });
    expect((await api.get(`/api/sessions/${id}`)).body.status).toBe('waitingForApproval');
    await api.post(`/api/sessions/${id}/requests/${asked.requestId}`, { response });
    const done = await api.until(id, (event) => event.type === 'finish');
    expect(done.find((event) => event.type === 'complete').result.outcomes.parts).toEqual([{ text }]);
  });

  test('an interrupt withdraws the question; a late answer says so', async () => {
    const { id } = await api.start({ agent: 'ask', prompt: 'paint' });
    const asked = (await api.until(id, (event) => event.type === 'waitForChoice')).at(-1);
    expect((await api.post(`/api/sessions/${id}/interrupt`)).status).toBe(202);
    await api.untilStatus(id, 'interrupted');
    expect(await api.post(`/api/sessions/${id}/requests/${asked.requestId}`, { response: 1 })).toMatchObject({
      status: 409,
      body: { code: 'withdrawn' },
    });
    expect((await api.get(`/api/sessions/${id}/requests`)).body).toEqual({ requests: [] });
  });
});

describe('the run wire', () => {
  test('run, events (the 21 only), input, abort', async () => {
    const run = await api.post('/api/agent/run', {
      agent: 'ask',
      objective: 'paint',
      kind: 'ignored',
      runId: 'my-run',
    });
    expect(run).toMatchObject({ status: 200, body: { run_id: 'my-run', runId: 'my-run' } });
    const asked = await api.eventsUntil('/api/agent/my-run/events', (event) => event.type === 'waitForChoice');
    expect(asked.map((event) => event.type)).toEqual(['start', 'functionCall', 'waitForChoice']);
    const input = (body: object) => api.post('/api/agent/my-run/input', body);
    expect((await input({ request_id: 'nope', response: 1 })).status).toBe(404);
    expect((await input({ response: 1 })).status).toBe(422);
    expect(await input({ requestId: asked.at(-1).requestId, response: false })).toMatchObject({
      status: 200,
      body: { ok: true },
    });
    const all = await api.eventsUntil('/api/agent/my-run/events', () => false);
    expect(all.at(-1).type).toBe('finish');
    expect(all.at(-2).type).toBe('complete');
    expect(await api.post('/api/agent/my-run/abort')).toMatchObject({ status: 200, body: { ok: true } });
    expect((await api.post('/api/agent/nope/abort')).status).toBe(404);
  });

  test('abort ends a run with error, then finish', async () => {
    const { runId } = (await api.post('/api/agent/run', { agent: 'silent', objective: { parts: [{ text: 'wait' }] } }))
      .body;
    await api.eventsUntil(`/api/agent/${runId}/events`, (event) => event.type === 'functionCall');
    expect((await api.post(`/api/agent/${runId}/abort`)).status).toBe(200);
    const all = await api.eventsUntil(`/api/agent/${runId}/events`, () => false);
    expect(all.slice(-2)).toMatchObject([{ type: 'error', message: 'cancelled' }, { type: 'finish' }]);
    expect((await api.post(`/api/agent/${runId}/abort`)).status).toBe(200);
  });
});

describe('repeats', () => {
  test('an Idempotency-Key is one wish, scoped to its route', async () => {
    const key = { 'idempotency-key': 'start-1' };
    const body = { agent: 'echo', prompt: 'once only' };
    const first = await api.post('/api/sessions', body, key);
    const second = await api.post('/api/sessions', body, key);
    expect(second).toMatchObject({ status: 201, body: { id: first.body.id } });
    expect(await api.post('/api/sessions', { ...body, prompt: 'other' }, key)).toMatchObject({
      status: 422,
      body: { code: 'key_reused' },
    });
    expect((await api.post(`/api/sessions/${first.body.id}/messages`, { content: 'm' }, key)).status).toBe(202);
  });

  test('a refusal is not kept: the key can be used again', async () => {
    const key = { 'idempotency-key': 'start-2' };
    expect((await api.post('/api/sessions', { agent: 'nope', prompt: 'x' }, key)).status).toBe(422);
    expect((await api.post('/api/sessions', { agent: 'echo', prompt: 'x' }, key)).status).toBe(201);
  });

  test('a proposed id is taken once; the same start again is the same session', async () => {
    const body = { agent: 'echo', prompt: 'x', id: 'mine-1' };
    expect((await api.post('/api/sessions', body)).status).toBe(201);
    expect((await api.post('/api/sessions', body)).status).toBe(201);
    expect(await api.post('/api/sessions', { ...body, prompt: 'y' })).toMatchObject({
      status: 409,
      body: { code: 'id_in_use' },
    });
  });
});

describe('pool, templates, agents, list', () => {
  test('a template starts a session by name', async () => {
    const template = { name: 'greet', agent: 'echo', prompt: 'hello from a template' };
    expect((await api.post('/api/templates', template)).status).toBe(201);
    expect((await api.post('/api/templates', template)).status).toBe(409);
    expect((await api.get('/api/templates')).body.templates).toContainEqual(template);
    const { id } = await api.start({ template: 'greet', once: true });
    const events = await api.until(id, (event) => event.type === 'finish');
    expect(events.find((event) => event.type === 'complete').result.outcomes.parts).toEqual([
      { text: 'echo: hello from a template' },
    ]);
    expect((await api.call('PUT', '/api/templates/greet', { ...template, prompt: 'changed' })).status).toBe(200);
    expect((await api.call('DELETE', '/api/templates/greet')).status).toBe(204);
    expect((await api.get('/api/templates/greet')).status).toBe(404);
  });

  test('agents are listed with what they announced', async () => {
    const { id } = await api.start({ agent: 'slow', prompt: 'work' });
    await api.until(id, (event) => event.type === 'functionCallUpdate');
    const agents = (await api.get('/api/agents')).body.agents as { name: string; capabilities: string[] }[];
    expect(agents.find(({ name }) => name === 'slow')?.capabilities).toContain('pause');
    await api.post(`/api/sessions/${id}/cancel`);
    await api.untilStatus(id, 'cancelled');
  });

  test('the list pages newest first and filters by status', async () => {
    const page = (await api.get('/api/sessions?limit=2')).body;
    expect(page.sessions).toHaveLength(2);
    const next = (await api.get(`/api/sessions?limit=2&cursor=${encodeURIComponent(page.nextCursor)}`)).body;
    expect(next.sessions[0].id).not.toBe(page.sessions[0].id);
    expect(page.sessions[0].createdAt >= next.sessions[0].createdAt).toBe(true);
    const cancelled = (await api.get('/api/sessions?status=cancelled')).body.sessions as { status: string }[];
    expect(new Set(cancelled.map(({ status }) => status))).toEqual(new Set(['cancelled']));
    expect((await api.get('/api/sessions?status=nope')).status).toBe(400);
    expect((await api.get('/api/sessions?cursor=nope')).status).toBe(400);
  });
});
