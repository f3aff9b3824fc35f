import { rm } from 'node:fs/promises';
import { request } from 'node:http';
import { afterAll, describe, expect, test } from 'vitest';
import { startPuppetServer, startRoomyPuppetServer, steps } from '../support/puppets.ts';
import { rawCall } from '../support/raw-call.ts';

const mebibyte = 1024 * 1024;
const bodyMax = 8 * mebibyte;
const puppets = await startRoomyPuppetServer();
const { api } = puppets;
afterAll(() => puppets.close());

const isFinish = (event: { type: string }): boolean => event.type === 'finish';

const raw = (lines: readonly string[], body?: Uint8Array | string): Promise<string> =>
  rawCall(puppets.server.port, [...lines, `Authorization: Bearer ${api.token}`], body);

const host = (): string => `Host: 127.0.0.1:${puppets.server.port}`;

describe('lengths', () => {
  test.each([
    [100_000, 201],
    [100_001, 422],
  ])('a prompt of %i characters is %i', async (length, status) => {
    expect((await api.post('/api/sessions', { agent: 'puppet', prompt: 'x'.repeat(length) })).status).toBe(status);
  });

  test.each([
    [100_000, 202],
    [100_001, 422],
  ])('a message of %i characters is %i', async (length, status) => {
    const { id } = await api.start({ agent: 'puppet', prompt: 'x' });
    expect((await api.post(`/api/sessions/${id}/messages`, { content: 'x'.repeat(length) })).status).toBe(status);
  });

  test('ids have 1 to 64 of A-Z a-z 0-9 _ -', async () => {
    const session = (id: string) => api.post('/api/sessions', { agent: 'puppet', prompt: 'x', id });
    const longest = 'a'.repeat(64);
    expect((await session(longest)).body.id).toBe(longest);
    expect((await api.get(`/api/sessions/${longest}`)).status).toBe(200);
    for (const id of [`${longest}a`, '', 'a.b', 'a b', 'ä', '../x', 'a/b', '@pool'])
      expect((await session(id)).status).toBe(422);
    const message = (id: string) => api.post(`/api/sessions/${longest}/messages`, { content: 'x', id });
    expect((await message('B'.repeat(64))).status).toBe(202);
    expect((await message('B'.repeat(65))).status).toBe(422);
    const run = (runId: string) => api.post('/api/agent/run', { agent: 'puppet', runId });
    expect((await run('r'.repeat(64))).status).toBe(200);
    expect((await run('r'.repeat(65))).status).toBe(422);
  });

  test('a body of 8 MiB is read, one byte more is 413, whether its length is declared or not', async () => {
    const body = (bytes: number): string => {
      const empty = JSON.stringify({ agent: 'puppet', prompt: 'x', input: '' });
      return JSON.stringify({ agent: 'puppet', prompt: 'x', input: 'i'.repeat(bytes - empty.length) });
    };
    expect((await api.post('/api/sessions', body(bodyMax))).status).toBe(201);
    expect(await api.post('/api/sessions', body(bodyMax + 1))).toMatchObject({
      status: 413,
      body: { code: 'body_too_large' },
    });
    const chunked = async (bytes: number): Promise<number> =>
      await new Promise((resolve, reject) => {
        const call = request(
          `${api.url}/api/sessions`,
          {
            method: 'POST',
            headers: {
              authorization: `Bearer ${api.token}`,
              'content-type': 'application/json',
              'transfer-encoding': 'chunked',
            },
          },
          (response) => {
            response.resume();
            resolve(response.statusCode ?? 0);
          },
        );
        call.on('error', reject);
        call.end(body(bytes));
      });
    expect(await chunked(bodyMax)).toBe(201);
    expect(await chunked(bodyMax + 1)).toBe(413);
  });

  test('a body that is far too large is refused before it has come', async () => {
    const answer = await raw(
      ['POST /api/sessions HTTP/1.1', host(), 'Content-Type: application/json', `Content-Length: ${1024 * mebibyte}`],
      '{"agent":',
    );
    expect(answer).toMatch(/^HTTP\/1\.1 413 /);
    expect(answer).toContain('application/problem+json');
  });

  test('a line of 8 MiB is read; one byte more is a protocol error that names the limit, and other sessions go on', async () => {
    const run = async (bytes: number): Promise<any[]> => {
      const { id } = await api.start({ agent: 'puppet', prompt: steps({ line: bytes }), once: true });
      return await api.until(id, isFinish);
    };
    const fits = await run(8 * mebibyte);
    expect(fits.at(-2).type).toBe('complete');
    const over = await run(8 * mebibyte + 1);
    expect(over.at(-2)).toMatchObject({ type: 'error', message: expect.stringMatching(/8 MiB|8388608|8,388,608/) });
    expect((await run(100)).at(-2).type).toBe('complete');
  }, 60_000);
});

describe('what agents may write', () => {
  const run = async (...list: object[]): Promise<any[]> => {
    const { id } = await api.start({ agent: 'puppet', prompt: steps(...list), once: true });
    return await api.until(id, isFinish);
  };
  const result = (events: readonly any[]): any =>
    events.find((event) => event.type === 'complete')?.result.outcomes.parts[0];

  test('a line that nests too deep is a clear error, and other sessions go on', async () => {
    expect((await run({ deep: 400 })).at(-2).type).toBe('complete');
    const over = await run({ deep: 100_000 });
    expect(over.at(-2)).toMatchObject({ type: 'error', message: expect.stringMatching(/500 levels/) });
    expect((await run({ deep: 1 })).at(-2).type).toBe('complete');
  });

  test('the last line needs no line feed', async () => {
    expect(result(await run({ raw: '{"type":"result","text":"end"}' }, { exit: 0 }))).toEqual({ text: 'end' });
  });

  test('several plain lines are one result', async () => {
    expect(result(await run({ raw: 'one\ntwo\n' }, { raw: 'three' }, { exit: 0 }))).toEqual({
      text: 'one\ntwo\nthree',
    });
    expect(result(await run({ raw: 'one\ntwo\n' }))).toEqual({ text: 'one\ntwo' });
  });

  test('after a typed message a line that is none is a log line', async () => {
    const events = await run(
      { say: { type: 'partial', text: 'x' } },
      { raw: 'plain\n[1]\n{"no":"type"}\n{broken\n"text"\n' },
      { say: { type: 'result', text: 'end' } },
    );
    expect(result(events)).toEqual({ text: 'end' });
    expect(events.filter((event) => event.type === 'subagentAddJson').map((event) => event.title)).toEqual(
      Array(5).fill('log'),
    );
  });

  test('CRLF, a BOM, blank lines, escapes and wide characters', async () => {
    const events = await run(
      { raw: '\ufeff{"type":"partial","text":"\\u00e4 \ud83d\ude00"}\r\n\r\n\n' },
      { say: { type: 'result', text: '\u2028 \u0000 \\' } },
    );
    expect(events.find((event) => event.type === 'content').content.parts).toEqual([{ text: 'ä \u{1f600}' }]);
    expect(result(events)).toEqual({ text: '\u2028 \u0000 \\' });
  });

  test('params: init first, then the prompt; capabilities are listed', async () => {
    const { id } = await api.start({ agent: 'tuned', prompt: 'x' });
    const events = await api.untilStatus(id, 'idle');
    expect(events.find((event) => event.title === 'heard').data.what).toEqual({
      type: 'init',
      params: { colour: 'blue' },
    });
    const { agents } = (await api.get('/api/agents')).body;
    expect(agents.find((agent: any) => agent.name === 'tuned')).toMatchObject({
      kind: 'agent',
      capabilities: ['steer'],
    });
  });
});

test('whatever an agent says can be read again, by a server that has just started too', async () => {
  const args = ['--store', 'sqlite:store.db'];
  const before = await startPuppetServer({ args });
  const words = [
    { type: 'usage', input_tokens: 1, output_tokens: 1, cost_usd: 1e308 },
    { type: 'usage', input_tokens: 1, output_tokens: 1, cost_usd: 1e308 },
    { type: 'approval', description: 'x', call: '' },
    { type: 'approval', description: 'x', tool: 'Bash', command: 'constructor x' },
  ].map((say) => ({ say }));
  const { id } = await before.api.start({ agent: 'puppet', prompt: steps(...words, { hang: true }) });
  let asked = 0;
  await before.api.until(id, ({ type }) => type === 'queryConsent' && ++asked === 2);
  await before.server.kill();
  const after = await startPuppetServer({ args, folder: before.folder });
  const { api: again } = after;
  for (const path of ['/api/sessions', `/api/sessions/${id}`, `/api/sessions/${id}/audit`, '/api/insight', '/metrics'])
    expect({ path, status: (await again.get(path)).status }).toEqual({ path, status: 200 });
  expect((await again.post(`/api/sessions/${id}/cancel`)).status).toBe(202);
  await again.untilStatus(id, 'cancelled');
  await after.close();
  await rm(before.folder, { recursive: true, force: true });
});
