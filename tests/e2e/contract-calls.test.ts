import { once } from 'node:events';
import { connect } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, describe, expect, test } from 'vitest';
import { callWithHost } from '../support/api.ts';
import { startRoomyPuppetServer } from '../support/puppets.ts';
import { rawCall } from '../support/raw-call.ts';

const puppets = await startRoomyPuppetServer('[server]\ninline_tools = "any"');
const { api } = puppets;
afterAll(() => puppets.close());

const raw = (lines: readonly string[], body?: Uint8Array | string): Promise<string> =>
  rawCall(puppets.server.port, [...lines, `Authorization: Bearer ${api.token}`], body);

const host = (): string => `Host: 127.0.0.1:${puppets.server.port}`;

describe('calls', () => {
  test('wrong methods are 405 with Allow, unknown paths 404, both as problems', async () => {
    for (const [method, path, allow] of [
      ['DELETE', '/api/sessions', 'GET'],
      ['PUT', '/api/sessions/x', 'GET'],
      ['GET', '/api/sessions/x/pause', 'POST'],
      ['POST', '/api/pool', 'PUT'],
      ['GET', '/api/agent/run', 'POST'],
      ['POST', '/api/sessions/x/messages/order', 'PUT'],
      ['POST', '/healthz', 'GET'],
    ] as const) {
      const answer = await api.call(method, path);
      expect({ method, path, status: answer.status }).toEqual({ method, path, status: 405 });
      expect(answer.headers.get('allow')).toContain(allow);
      expect(answer.headers.get('content-type')).toBe('application/problem+json');
    }
    for (const path of ['/api', '/api/', '/api/none', '/api/sessions/x/none', '/api/sessions/x/y/z']) {
      const answer = await api.get(path);
      expect({ path, status: answer.status }).toEqual({ path, status: 404 });
      expect(answer.headers.get('content-type')).toBe('application/problem+json');
    }
  });

  test.each([
    ['PUT /api/sessions', 'wrong', 401],
    ['PUT /api/sessions', 'right', 405],
    ['POST /api/none', 'right', 404],
  ] as const)(
    '%s with a %s token and a body that comes slowly is heard out, then answered',
    async (line, word, status) => {
      const token = word === 'right' ? api.token : 'other';
      const pieces = 20;
      const piece = Buffer.alloc(100_000, 'x');
      const socket = connect(puppets.server.port, '127.0.0.1');
      await once(socket, 'connect');
      let text = '';
      let broken: Error | undefined;
      socket.on('error', (error) => {
        broken = error;
      });
      socket.setEncoding('utf8').on('data', (chunk: string) => {
        text += chunk;
      });
      socket.write(
        `${[`${line} HTTP/1.1`, host(), `Authorization: Bearer ${token}`, `Content-Length: ${pieces * piece.length}`, 'Connection: close'].join('\r\n')}\r\n\r\n`,
      );
      for (let sent = 0; sent < pieces; sent++) {
        socket.write(piece);
        await delay(60);
      }
      if (!socket.closed) await once(socket, 'close');
      expect(broken).toBeUndefined();
      expect(text).toMatch(new RegExp(`^HTTP/1.1 ${status} `));
    },
  );

  test('HEAD is GET without a body; OPTIONS names the methods and opens nothing to other sites', async () => {
    const { id } = await api.start({ agent: 'puppet', prompt: 'x' });
    for (const path of ['/healthz', '/api/sessions', `/api/sessions/${id}`, '/api/pool', '/api/openapi.json']) {
      expect(await api.call('HEAD', path)).toMatchObject({ status: 200, body: '' });
    }
    expect((await api.call('HEAD', '/api/sessions/none')).status).toBe(404);
    const options = await api.call('OPTIONS', '/api/sessions');
    expect(options.status).toBe(204);
    expect(options.headers.get('allow')).toContain('POST');
    const foreign = await api.call('OPTIONS', '/api/sessions', undefined, {
      origin: 'http://evil.example',
      'access-control-request-method': 'POST',
    });
    expect(foreign.status).toBe(403);
    expect(foreign.headers.get('access-control-allow-origin')).toBeNull();
  });

  test('percent-encoded paths name the same things; broken escapes name nothing', async () => {
    const { id } = await api.start({ agent: 'puppet', prompt: 'x', id: 'enc-1' });
    expect((await api.get('/api/sessions/enc%2D1')).body.id).toBe(id);
    for (const path of [
      '/api/sessions/%',
      '/api/sessions/%zz',
      '/api/sessions/a%2Fb',
      '/api/sessions/%00',
      '/api/sessions/..%2f..',
    ]) {
      expect({ path, status: (await api.get(path)).status }).toEqual({ path, status: 404 });
    }
  });

  test('a token is needed everywhere but where it is not; bad ones are 401 problems', async () => {
    for (const authorization of ['', 'Bearer', 'Bearer ', 'Basic dTpw', `bearer wrong`, `Bearer ${api.token}x`]) {
      const answer = await api.call('GET', '/api/pool', undefined, { authorization });
      expect({ authorization, status: answer.status, code: answer.body.code }).toEqual({
        authorization,
        status: 401,
        code: 'unauthorized',
      });
      expect(answer.headers.get('www-authenticate')).toContain('Bearer');
    }
    expect((await api.call('GET', '/api/none', undefined, { authorization: '' })).status).toBe(401);
    expect((await api.call('GET', '/api/sessions/x/events', undefined, { authorization: '' })).status).toBe(401);
    expect((await api.call('GET', '/api/pool', undefined, { authorization: `bearer ${api.token}` })).status).toBe(200);
    expect((await fetch(`${api.url}/?token=wrong`, { redirect: 'manual' })).status).toBe(401);
    expect((await fetch(`${api.url}/api/pool`, { headers: { cookie: 'concerto_session=wrong' } })).status).toBe(401);
    for (const open of ['/healthz', '/readyz', '/api/openapi.json'])
      expect((await fetch(api.url + open)).status).toBe(200);
  });

  test('no way of writing a path gets around the token', async () => {
    const bare = (target: string): Promise<string> => rawCall(puppets.server.port, [`GET ${target} HTTP/1.1`, host()]);
    for (const target of [
      '/api/sessions',
      '//api/sessions',
      '/api//sessions',
      '/%61pi/sessions',
      '/api%2Fsessions',
      '/API/sessions',
      '/healthz/../api/sessions',
      '/./api/sessions',
      '/api/sessions/',
      '/api/sessions?token=x',
      '/api/openapi.json/../sessions',
      `http://127.0.0.1:${puppets.server.port}/api/sessions`,
      '/../../../../etc/passwd',
      '/..%2f..%2f..%2fetc/passwd',
    ]) {
      const answer = await bare(target);
      expect({ target, status: /^HTTP\/1\.1 (\d+)/.exec(answer)?.[1] }).toEqual({
        target,
        status: expect.stringMatching(/^4(00|01|04)$/),
      });
      expect(answer).not.toContain('"sessions":[');
    }
  });

  test('Host and Origin', async () => {
    for (const foreign of ['evil.example', 'evil.example:80', '127.0.0.1.evil.example', 'localhost.evil.example']) {
      expect(await callWithHost(api.url, foreign)).toBe(421);
    }
    for (const ours of [`localhost:${puppets.server.port}`, '127.0.0.1', `[::1]:${puppets.server.port}`, 'LOCALHOST']) {
      expect(await callWithHost(api.url, ours)).toBe(200);
    }
    expect(await raw(['GET /healthz HTTP/1.0'])).toMatch(/ 4(00|21) /);
    for (const origin of ['null', 'http://evil.example', 'http://127.0.0.1:1', 'garbage', 'file://']) {
      const answer = await api.call('GET', '/api/pool', undefined, { origin });
      expect({ origin, status: answer.status }).toEqual({ origin, status: 403 });
    }
    expect((await api.call('GET', '/api/pool', undefined, { origin: api.url })).status).toBe(200);
  });

  test.each(['{', '{"agent":"puppet"', 'nonsense', '{"a":1}{"b":2}'])('the body %j is 400', async (body) => {
    const answer = await api.post('/api/sessions', body);
    expect(answer).toMatchObject({
      status: 400,
      body: { code: 'bad_json', status: 400, title: expect.any(String), type: expect.any(String) },
    });
  });

  test('a body that nests too deep is 400, wherever', async () => {
    const nested = (levels: number): string => `${'['.repeat(levels)}${']'.repeat(levels)}`;
    const start = (levels: number) =>
      api.post('/api/sessions', `{"agent":"puppet","prompt":"x","input":${nested(levels)}}`);
    expect((await start(499)).status).toBe(201);
    expect(await start(500)).toMatchObject({ status: 400, body: { code: 'bad_json' } });
    expect(await start(200_000)).toMatchObject({ status: 400, body: { code: 'bad_json' } });
    expect((await api.post('/api/sessions/x/requests/y', `{"response":${nested(100_000)}}`)).status).toBe(400);
  });

  test('a body that is not UTF-8 is 400', async () => {
    const bytes = Buffer.from('{"agent":"puppet","prompt":"\xff\xfe"}', 'latin1');
    const answer = await raw(
      ['POST /api/sessions HTTP/1.1', host(), 'Content-Type: application/json', `Content-Length: ${bytes.length}`],
      bytes,
    );
    expect(answer).toMatch(/^HTTP\/1\.1 400 /);
  });

  test.each([
    [{ agent: 5, prompt: 'x' }, 'agent'],
    [{ agent: 'puppet', prompt: ['x'] }, 'prompt'],
    [{ agent: 'puppet', prompt: 'x', once: 'yes' }, 'once'],
    [{ agent: 'puppet', prompt: 'x', ifFull: 'wait' }, 'ifFull'],
    [{ agent: 'puppet', prompt: 'x', title: 1 }, 'title'],
    [{ agent: 'puppet', prompt: 'x', id: 7 }, 'id'],
    [{ agent: 'puppet', prompt: 'x', promt: 'x' }, 'promt'],
  ])('%j is 422 and names %s', async (body, path) => {
    const answer = await api.post('/api/sessions', body);
    expect(answer).toMatchObject({ status: 422, body: { code: 'invalid_body' } });
    expect(answer.body.errors).toContainEqual({ path, message: expect.any(String) });
  });

  test.each(['[]', 'null', '5', '"x"', 'true', ''])('the body %s is 422', async (body) => {
    expect((await api.post('/api/sessions', body)).status).toBe(422);
  });

  test('starts that name nothing, too much, or what is not there', async () => {
    const start = async (body: object): Promise<string> => {
      const answer = await api.post('/api/sessions', body);
      return `${answer.status} ${answer.body.code}`;
    };
    expect(await start({ prompt: 'x' })).toBe('422 invalid_start');
    expect(await start({ agent: 'puppet', program: 'p', prompt: 'x' })).toBe('422 invalid_start');
    expect(await start({ agent: 'puppet' })).toBe('422 invalid_start');
    expect(await start({ agent: 'pupet', prompt: 'x' })).toBe('422 no_such_agent');
    expect(await start({ program: 'none', prompt: 'x' })).toBe('422 no_such_program');
    expect(await start({ assistant: 'none', prompt: 'x' })).toBe('422 no_such_assistant');
    expect(await start({ template: 'none', prompt: 'x' })).toMatch(/^4\d\d no_such_template$/);
  });

  test('tools: every fault with its path, and nothing is left behind', async () => {
    const start = (tools: unknown) => api.post('/api/sessions', { agent: 'puppet', prompt: 'x', tools, id: 'tools-1' });
    for (const [tools, path] of [
      [{ servers: { git: { transport: 'stdio' } } }, 'servers.git.command'],
      [{ servers: { git: { transport: 'http', url: 'not a url' } } }, 'servers.git.url'],
      [{ servers: { git: { transport: 'stdio', command: 'x', colour: 1 } } }, 'servers.git'],
      [{ server: {} }, 'server'],
      [{ allow: 'all' }, 'allow'],
      [5, ''],
      [[], ''],
      [null, ''],
    ] as const) {
      const answer = await start(tools);
      expect(answer).toMatchObject({ status: 422, body: { code: 'invalid_tools' } });
      const paths = answer.body.errors.map((error: any) => error.path);
      expect(paths.some((found: string) => found.includes(path))).toBe(true);
    }
    expect((await api.get('/api/sessions/tools-1')).status).toBe(404);
    const good = {
      servers: { git: { transport: 'stdio', command: 'git-mcp', args: ['--x'] } },
      allow: ['git/*'],
      deny: ['git/push'],
    };
    expect((await start(good)).status).toBe(201);
  });

  test('a proposed id: the same start is the same session, also twenty at once; another is 409', async () => {
    const body = { agent: 'puppet', prompt: 'x', id: 'same-1', input: { a: 1, b: [2] } };
    const answers = await Promise.all(Array.from({ length: 20 }, () => api.post('/api/sessions', body)));
    expect(new Set(answers.map((answer) => `${answer.status} ${answer.body.id}`))).toEqual(new Set(['201 same-1']));
    expect(
      (await api.post('/api/sessions', { id: 'same-1', input: { b: [2], a: 1 }, prompt: 'x', agent: 'puppet' })).status,
    ).toBe(201);
    for (const other of [
      { ...body, prompt: 'y' },
      { ...body, once: true },
      { ...body, title: 't' },
    ]) {
      expect(await api.post('/api/sessions', other)).toMatchObject({ status: 409, body: { code: 'id_in_use' } });
    }
    const events = await api.untilStatus('same-1', 'idle');
    expect(events.filter((event) => event.type === 'start')).toHaveLength(1);
  });

  test('Idempotency-Key: one session however often and however the body is written; 400 when it is no key', async () => {
    const key = { 'idempotency-key': 'limits-1' };
    const answers = await Promise.all(
      Array.from({ length: 20 }, () => api.post('/api/sessions', { agent: 'puppet', prompt: 'x' }, key)),
    );
    expect(new Set(answers.map((answer) => `${answer.status} ${answer.body.id}`)).size).toBe(1);
    expect((await api.post('/api/sessions', '{ "prompt": "x",\n "agent": "puppet" }', key)).body.id).toBe(
      answers[0]?.body.id,
    );
    expect(await api.post('/api/sessions', { agent: 'puppet', prompt: 'y' }, key)).toMatchObject({
      status: 422,
      body: { code: 'key_reused' },
    });
    // Scoped to the route: the same key elsewhere is another one.
    expect((await api.post('/api/templates', { name: 'k1', agent: 'puppet' }, key)).status).toBe(201);
    expect((await api.post('/api/templates', { name: 'k1', agent: 'puppet' }, key)).status).toBe(201);
    expect((await api.post('/api/agent/run', { agent: 'puppet' }, key)).status).toBe(200);
    expect(
      (await api.post('/api/sessions', { agent: 'puppet', prompt: 'x' }, { 'idempotency-key': 'k'.repeat(10_000) }))
        .status,
    ).toBe(400);
  });

  test('a session without a title has one; Session has the members of the contract', async () => {
    const body = await api.start({ agent: 'puppet', prompt: 'Do this\nand that' });
    expect(body).toMatchObject({
      id: expect.any(String),
      title: 'Do this',
      kind: 'agent',
      agent: 'puppet',
      status: expect.any(String),
      turn: expect.any(Number),
      createdAt: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/),
      updatedAt: expect.stringMatching(/Z$/),
      pending: expect.any(Number),
      usage: expect.any(Object),
      position: expect.any(Number),
    });
    expect((await api.start({ agent: 'puppet', prompt: 'x', title: 'Named' })).title).toBe('Named');
  });
});

describe('the description', () => {
  test('OpenAPI names every call of the contract, with schemas that a validator takes', async () => {
    const document = (await api.get('/api/openapi.json')).body;
    expect(document).toMatchObject({
      openapi: expect.stringMatching(/^3\./),
      info: { title: expect.any(String), version: expect.any(String) },
    });
    const calls = Object.entries(document.paths as Record<string, object>).flatMap(([path, item]) =>
      Object.keys(item).map((method) => `${method} ${path.replaceAll(/\{\w+\}/g, '{}')}`),
    );
    expect(calls).toEqual(
      expect.arrayContaining([
        'post /api/sessions',
        'get /api/sessions',
        'get /api/sessions/{}',
        'get /api/sessions/{}/events',
        'get /api/sessions/{}/messages',
        'post /api/sessions/{}/messages',
        'patch /api/sessions/{}/messages/{}',
        'put /api/sessions/{}/messages/order',
        'delete /api/sessions/{}/messages/{}',
        'post /api/sessions/{}/interrupt',
        'post /api/sessions/{}/pause',
        'post /api/sessions/{}/resume',
        'post /api/sessions/{}/cancel',
        'get /api/sessions/{}/requests',
        'post /api/sessions/{}/requests/{}',
        'get /api/sessions/{}/audit',
        'get /api/pool',
        'put /api/pool',
        'get /api/templates',
        'post /api/templates',
        'get /api/templates/{}',
        'put /api/templates/{}',
        'delete /api/templates/{}',
        'get /api/agents',
        'post /api/agent/run',
        'get /api/agent/{}/events',
        'post /api/agent/{}/input',
        'post /api/agent/{}/abort',
        'get /healthz',
        'get /readyz',
      ]),
    );
    const references = JSON.stringify(document).match(/"\$ref":"([^"]+)"/g) ?? [];
    for (const reference of references) expect(reference).toMatch(/"#\/components\/schemas\/\w+"/);
    for (const [path, item] of Object.entries(document.paths as Record<string, Record<string, any>>)) {
      for (const operation of Object.values(item)) {
        const named = (operation.parameters ?? [])
          .filter((parameter: any) => parameter.in === 'path')
          .map((parameter: any) => parameter.name);
        expect(named).toEqual([...path.matchAll(/\{(\w+)\}/g)].map((match) => match[1]));
        expect(Object.keys(operation.responses).length).toBeGreaterThan(0);
        expect(operation.operationId).toEqual(expect.any(String));
      }
    }
  });
});
