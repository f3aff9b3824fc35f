import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { afterEach, describe, expect, test } from 'vitest';
import { openApiDocument } from '../src/openapi.ts';
import { type CalledApp, callApp, token } from './called-app.ts';

const opened: CalledApp[] = [];
const open = (...options: Parameters<typeof callApp>): CalledApp => {
  const app = callApp(...options);
  opened.push(app);
  return app;
};
afterEach(async () => {
  for (const app of opened.splice(0)) await app.close();
});

const cookieOf = (response: Response): string => (response.headers.get('set-cookie') ?? '').split(';')[0] ?? '';

describe('the token in an address', () => {
  test.each([
    ['/?token=T', '/'],
    ['/sessions/s1?token=T', '/sessions/s1'],
    ['/sessions/s1?tab=audit&token=T', '/sessions/s1?tab=audit'],
    ['//evil.example/?token=T', '/evil.example/'],
    ['/%5C%5Cevil.example?token=T', '/%5C%5Cevil.example'],
  ])('%s lands on %s, signed in', async (path, place) => {
    const { call } = open();
    const response = await call(`http://127.0.0.1:4242${path.replace('token=T', `token=${token}`)}`);
    expect(response.status).toBe(302);
    expect(response.headers.get('location')).toBe(place);
    expect((await call('/api/pool', { headers: { cookie: cookieOf(response) } })).status).toBe(200);
  });

  test('a wrong one is a page that says what to do', async () => {
    const response = await open().call('/sessions/s1?token=wrong');
    expect(response.status).toBe(401);
    expect(response.headers.get('content-type')).toMatch(/text\/html/);
    const page = await response.text();
    expect(page).toContain('not the one of this server');
    expect(page).toContain('concerto token');
  });

  test('none at all is a page that asks for it', async () => {
    const response = await open().call('/');
    expect(response.status).toBe(401);
    expect(await response.text()).toContain('name="token"');
  });
});

describe('the cookie', () => {
  const signedIn = async (app: CalledApp): Promise<string> => cookieOf(await app.call(`/?token=${token}`));

  test('has the name of its instance, and is good nowhere else', async () => {
    const first = open();
    const second = open({ instance: 'two' });
    const cookies = [await signedIn(first), await signedIn(second)];
    expect(cookies[0]?.split('=')[0]).not.toBe(cookies[1]?.split('=')[0]);
    const both = { headers: { cookie: cookies.join('; ') } };
    expect((await first.call('/api/pool', both)).status).toBe(200);
    expect((await second.call('/api/pool', both)).status).toBe(200);
    const renamed = `${cookies[1]?.split('=')[0]}=${cookies[0]?.split('=')[1]}`;
    expect((await second.call('/api/pool', { headers: { cookie: renamed } })).status).toBe(401);
  });

  test.each([
    ['same-site', 401],
    ['cross-site', 401],
    ['same-origin', 200],
    ['none', 200],
  ])('sent by a browser for a %s page: %i', async (site, status) => {
    const app = open();
    const headers = { cookie: await signedIn(app), 'sec-fetch-site': site, 'sec-fetch-mode': 'no-cors' };
    expect((await app.call('/api/pool', { headers })).status).toBe(status);
  });

  test('behind TLS it is bound to the host', async () => {
    const app = open({ guard: { hosts: ['console.example.org'], origins: ['https://console.example.org'] } });
    const host = 'console.example.org';
    const response = await app.call(`/?token=${token}`, { headers: { host } });
    expect(response.headers.get('set-cookie')).toMatch(/^__Host-concerto_\w+=.*; Path=\/; HttpOnly; Secure/);
    expect((await app.call('/api/pool', { headers: { host, cookie: cookieOf(response) } })).status).toBe(200);
  });
});

test('guessing tokens becomes slow, and whoever has the right one does not notice', async () => {
  const { ask, call } = open();
  const guess = async (n: number) =>
    (await call('/api/pool', { headers: { authorization: `Bearer wrong-${n}` } })).status;
  const statuses = [];
  for (let n = 0; n < 120; n += 1) statuses.push(await guess(n));
  expect(statuses.slice(0, 100).every((status) => status === 401)).toBe(true);
  expect(statuses.at(-1)).toBe(429);
  expect((await call('/?token=wrong')).status).toBe(429);
  expect((await ask('/api/pool')).status).toBe(200);
  expect((await call('/api/pool')).status).toBe(401);
});

describe('who calls', () => {
  test.each([
    ['evil.example', undefined, 421],
    ['127.0.0.1:4242', 'http://127.0.0.1:3000', 403],
    ['127.0.0.1:4242', 'http://evil.example:4242', 403],
    ['127.0.0.1:4242', 'null', 403],
    ['127.0.0.1:4242', 'http://127.0.0.1:4242', 200],
    ['mine.localhost:4242', 'http://mine.localhost:4242', 200],
    ['localhost.evil.example', undefined, 421],
  ])('host %s, origin %s: %i', async (host, origin, status) => {
    const headers = { host, ...(origin === undefined ? {} : { origin }) };
    expect((await open().ask('/api/pool', { headers })).status).toBe(status);
  });
});

describe('calls that are no part of the API', () => {
  test('/metrics is for Prometheus, and needs the token', async () => {
    const { ask, call } = open();
    expect((await call('/metrics')).status).toBe(401);
    const response = await ask('/metrics');
    expect(response.headers.get('content-type')).toMatch(/^text\/plain; version=0\.0\.4/);
    const text = await response.text();
    expect(text).toMatch(/^concerto_pool_max 1$/m);
    expect(text).toMatch(/^concerto_sessions\{status="running"\} 0$/m);
    expect(text).toMatch(/^concerto_request_oldest_seconds 0$/m);
    expect(text).toMatch(/^concerto_queue_oldest_seconds 0$/m);
    expect(text).toMatch(/^concerto_fanout_seconds_count 0$/m);
    expect(text).toMatch(/^concerto_http_responses_total\{class="4xx"\} 1$/m);
  });

  test('/metrics has what waits and for how long; a session without a place asks nobody', async () => {
    const { ask } = open();
    const before = Date.now();
    for (const id of ['s1', 's2']) {
      const body = { id, agent: 'echo', prompt: 'hi', ifFull: 'queue' };
      expect((await ask('/api/sessions', { method: 'POST', body })).status).toBe(201);
    }
    const figure = async (name: string) => {
      const text = await (await ask('/metrics')).text();
      return Number(new RegExp(`^${name} (.*)$`, 'm').exec(text)?.[1]);
    };
    expect(await figure('concerto_messages_pending')).toBe(2);
    expect(await figure('concerto_requests_waiting')).toBe(0);
    await expect.poll(() => figure('concerto_queue_oldest_seconds')).toBeGreaterThan(0);
    expect(await figure('concerto_queue_oldest_seconds')).toBeLessThanOrEqual((Date.now() - before) / 1000);
  });

  test('the schema of manifests is there for whoever asks, made once', async () => {
    let made = 0;
    const { call } = open({ manifestSchema: () => ({ made: ++made }) });
    for (let asked = 0; asked < 3; asked++) {
      const response = await call('/api/schema/manifest');
      expect(response.status).toBe(200);
      expect(await response.json()).toEqual({ made: 1 });
    }
  });

  test('/readyz says no once the server is stopping', async () => {
    const { call, context } = open();
    expect((await call('/readyz')).status).toBe(200);
    context.sessions.stopTaking();
    expect(await (await call('/readyz')).json()).toMatchObject({ status: 503, code: 'stopping' });
    expect((await call('/healthz')).status).toBe(200);
  });

  test('the description is made once and is the same for all: to ask for it takes a part of what making it does', async () => {
    const { call } = open();
    const ask = async (): Promise<string> => await (await call('/api/openapi.json')).text();
    const took = async (work: () => unknown): Promise<number> => {
      const began = performance.now();
      for (let n = 0; n < 10; n++) await work();
      return performance.now() - began;
    };
    const first = await ask();
    expect(await ask()).toBe(first);
    expect((await call('/api/openapi.json')).headers.get('content-type')).toBe('application/json');
    const making = await took(() => JSON.stringify(openApiDocument('1.2.3')));
    expect(await took(ask)).toBeLessThan(making / 2);
  });

  test('an unknown call is 404, a known path with another method 405', async () => {
    const { ask } = open();
    expect(await (await ask('/api/nothing')).json()).toMatchObject({ status: 404, code: 'no_such_call' });
    const refused = await ask('/api/pool', { method: 'DELETE' });
    expect(refused.headers.get('allow')).toBe('GET, PUT, HEAD');
    expect(refused.status).toBe(405);
  });
});

describe('the page', () => {
  test('its own addresses are the page, compressed where the browser can; a missing file is none', async () => {
    const webRoot = await mkdtemp(join(tmpdir(), 'concerto-page-'));
    await mkdir(join(webRoot, 'assets'));
    await writeFile(join(webRoot, 'index.html'), '<h1>page</h1>');
    await writeFile(join(webRoot, 'assets/a.js'), 'run()');
    try {
      const { ask } = open({ webRoot });
      expect(await (await ask('/sessions/s1')).text()).toBe('<h1>page</h1>');
      const script = await ask('/assets/a.js', { headers: { 'accept-encoding': 'gzip, br' } });
      expect(script.headers.get('content-encoding')).toBe('gzip');
      expect(gunzipSync(await script.arrayBuffer()).toString()).toBe('run()');
      expect(await (await ask('/assets/gone.js')).json()).toMatchObject({ status: 404, code: 'no_such_file' });
      expect((await ask('/..%2f..%2fetc%2fpasswd')).status).toBe(404);
    } finally {
      await rm(webRoot, { recursive: true, force: true });
    }
  });
});

describe('runs', () => {
  const json = { 'content-type': 'application/json' };
  const post = (app: CalledApp, body: unknown) => app.ask('/api/agent/run', { method: 'POST', headers: json, body });

  test.each(['runId', 'run_id'])('their id may be proposed as %s', async (name) => {
    const app = open();
    const response = await post(app, { agent: 'echo', objective: 'x', [name]: 'mine' });
    expect(await response.json()).toEqual({ run_id: 'mine', runId: 'mine' });
  });

  test('but not two of them', async () => {
    const response = await post(open(), { agent: 'echo', objective: 'x', runId: 'a', run_id: 'b' });
    expect(await response.json()).toMatchObject({ status: 422, code: 'invalid_body' });
  });

  test.each([undefined, 'null', '{}'])('the body %s says nothing, and nothing is no error of its own', async (body) => {
    const said = await (await post(open(), body)).json();
    expect(said).toEqual(await (await post(open(), '{}')).json());
  });

  test('a body that is too deep or no JSON is refused', async () => {
    const app = open();
    expect(await (await post(app, `${'['.repeat(2000)}${']'.repeat(2000)}`)).json()).toMatchObject({ status: 400 });
    expect(await (await post(app, '{"a')).json()).toMatchObject({ status: 400, code: 'bad_json' });
    expect(app.complaints).toEqual([]);
  });

  test('a start that finds no room is seen at the pool', async () => {
    const app = open();
    expect((await post(app, { agent: 'echo', objective: 'x', runId: 'first' })).status).toBe(200);
    expect(await (await post(app, { agent: 'echo', objective: 'x', runId: 'late' })).json()).toMatchObject({
      status: 409,
      code: 'pool_full',
    });
    expect(await (await app.ask('/api/pool')).json()).toMatchObject({
      capacityReached: { sessionId: 'late', outcome: 'refused', at: expect.stringMatching(/^\d{4}-/) },
    });
  });
});

test('an Idempotency-Key does a thing once, and refuses another body', async () => {
  const { ask } = open();
  const start = (title: string) =>
    ask('/api/sessions', {
      method: 'POST',
      headers: { 'idempotency-key': 'k' },
      body: { agent: 'echo', prompt: 'x', title },
    });
  const first: unknown = await (await start('a')).json();
  expect(await (await start('a')).json()).toEqual(first);
  expect(await (await start('b')).json()).toMatchObject({ status: 422, code: 'key_reused' });
});

describe('MCP servers that a caller brings along', () => {
  const stdio = { a: { command: 'sh', args: ['-c', 'id'] } };
  const http = { a: { url: 'https://tools.example/mcp', headers: { authorization: { env: 'HOME' } } } };
  const plain = { a: { url: 'https://tools.example/mcp' } };
  const cloud = { a: { url: 'http://169.254.169.254/latest' } };

  test.each([
    ['by default', { mode: 'off' }, plain, 422],
    ['a command where URLs are allowed', { mode: 'http' }, stdio, 422],
    ['a URL where they are', { mode: 'http' }, plain, 201],
    ['a URL with a variable that is not listed', { mode: 'http' }, http, 422],
    ['a URL with one that is', { mode: 'http', variables: ['HOME'] }, http, 201],
    ['a host that is not listed', { mode: 'any', hosts: ['*.other.example'] }, plain, 422],
    ['a host that is', { mode: 'any', hosts: ['*.example'] }, plain, 201],
    ['where clouds keep credentials', { mode: 'any' }, cloud, 422],
    ['a command that is not listed', { mode: 'any', commands: ['npx'] }, stdio, 422],
    ['a command where all are allowed', { mode: 'any' }, stdio, 201],
  ] as const)('%s', async (_what, inlineTools, servers, status) => {
    const { ask } = open({ inlineTools });
    const body = { agent: 'echo', prompt: 'x', tools: { servers } };
    const started = await ask('/api/sessions', { method: 'POST', body });
    expect(started.status).toBe(status);
    const kept = await ask('/api/templates', {
      method: 'POST',
      body: { name: 't', agent: 'echo', tools: { servers } },
    });
    expect(kept.status).toBe(status);
    const put = await ask('/api/templates/u', { method: 'PUT', body: { agent: 'echo', tools: { servers } } });
    expect(put.status).toBe(status === 201 ? 200 : 422);
  });

  test('lists of tools alone are nobody’s danger; what is no configuration is told as before', async () => {
    const { ask } = open();
    const start = (tools: object) =>
      ask('/api/sessions', { method: 'POST', body: { agent: 'echo', prompt: 'x', tools } });
    expect((await start({ deny: ['Bash'] })).status).toBe(201);
    const refused: unknown = await (await start({ servers: { a: { transport: 'stdio' } } })).json();
    expect(refused).toMatchObject({ code: 'invalid_tools', errors: [{ path: expect.stringContaining('servers.a') }] });
  });
});

describe('the operator’s log of calls', () => {
  test('has each call with its id and session, and neither token nor query', async () => {
    const { ask, call, calls } = open();
    const found = await ask('/api/sessions?limit=1', { headers: { 'x-request-id': 'from-the-proxy' } });
    expect(found.headers.get('x-request-id')).toBe('from-the-proxy');
    const missing = await ask('/api/sessions/s_none', { headers: { 'x-request-id': 'two\u00a0lines' } });
    expect(missing.status).toBe(404);
    await call(`/?token=${token}`);
    expect(calls).toMatchObject([
      { request: 'from-the-proxy', method: 'GET', path: '/api/sessions', status: 200 },
      { request: missing.headers.get('x-request-id'), status: 404, session: 's_none' },
      { path: '/', status: 302 },
    ]);
    expect(missing.headers.get('x-request-id')).toMatch(/^[0-9a-f-]{36}$/);
    expect(JSON.stringify(calls)).not.toContain(token);
  });
});

test('all routes are one expression: what keeps hono from making it makes every call slower', async () => {
  const { app, ask } = open();
  expect((await ask('/api/pool')).status).toBe(200);
  expect(app.router.name).toBe('SmartRouter + RegExpRouter');
});

describe('a token is the server’s own', () => {
  test.each([
    ['as it is', token, 404],
    ['with more behind it', `${token}x`, 401],
    ['with nothing visible behind it', `${token}%00`, 401],
    ['without its end', token.slice(0, -1), 401],
    ['with another end', `${token.slice(0, -1)}x`, 401],
    ['much longer', token.repeat(100), 401],
  ])('%s: %s → %i', async (_how, offered, status) => {
    const origin = 'https://console.example.org';
    const { call } = open({ guard: { origins: [origin] } });
    // The one place where whoever calls may write any character. There is no such session.
    const response = await call(`/api/sessions/none/events?token=${offered}`, { headers: { origin } });
    expect(response.status).toBe(status);
  });

  test('one that is longer than most is compared to its end', async () => {
    const long = `${'long'.repeat(400)}1`;
    const { call } = open({ guard: { token: long } });
    const pool = async (offered: string): Promise<number> =>
      (await call('/api/pool', { headers: { authorization: `Bearer ${offered}` } })).status;
    expect(await pool(long)).toBe(200);
    expect(await pool(`${long.slice(0, -1)}2`)).toBe(401);
    expect(await pool(long.slice(0, 512))).toBe(401);
  });
});
