import { once } from 'node:events';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { createAdaptorServer } from '@hono/node-server';
import { afterEach, expect, test } from 'vitest';
import { callApp, token } from './called-app.ts';

const closing: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).toReversed()) await close();
});

type Said = { readonly status: number; readonly head: string; readonly body: string };

/** A server with its socket, and one connection to it on which calls follow each other. */
async function connected() {
  const called = callApp();
  closing.push(called.close);
  const server = createAdaptorServer({ fetch: called.app.fetch });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- it listens on a port
  const { port } = server.address() as AddressInfo;
  const socket = connect(port, '127.0.0.1').setNoDelay(true).setEncoding('utf8');
  await once(socket, 'connect');
  closing.push(async () => {
    socket.destroy();
    server.close();
    await once(server, 'close');
  });
  return { called, server, socket };
}

async function answer(socket: Socket): Promise<Said> {
  let heard = '';
  for (;;) {
    const [chunk] = await once(socket, 'data');
    heard += String(chunk);
    const end = heard.indexOf('\r\n\r\n');
    const length = Number(/^content-length: (\d+)/im.exec(heard)?.[1] ?? 0);
    if (end < 0 || Buffer.byteLength(heard.slice(end + 4)) < length) continue;
    return { status: Number(heard.slice(9, 12)), head: heard.slice(0, end), body: heard.slice(end + 4) };
  }
}

function head(path: string, headers: Readonly<Record<string, string | number>>, bearer = token): string {
  const lines = Object.entries({ host: '127.0.0.1', authorization: `Bearer ${bearer}`, ...headers });
  return `POST ${path} HTTP/1.1\r\n${lines.map(([name, value]) => `${name}: ${value}\r\n`).join('')}\r\n`;
}

const wish = JSON.stringify({ agent: 'echo', prompt: 'Grüße', ifFull: 'queue' });
const length = Buffer.byteLength(wish);

test.each([
  ['with its head', [head('/api/sessions', { 'content-length': length }) + wish]],
  ['after its head', [head('/api/sessions', { 'content-length': length }), wish]],
  [
    'in two pieces, the first with its head',
    [head('/api/sessions', { 'content-length': length }) + wish.slice(0, 9), wish.slice(9)],
  ],
  [
    'in chunks',
    [`${head('/api/sessions', { 'transfer-encoding': 'chunked' })}${length.toString(16)}\r\n${wish}\r\n0\r\n\r\n`],
  ],
  [
    'with a mark before it that says how it is written',
    [`${head('/api/sessions', { 'content-length': length + 3 })}\uFEFF${wish}`],
  ],
])('a body that comes %s is read, and the next call is heard', async (_how, pieces) => {
  const { server, socket } = await connected();
  for (let calls = 0; calls < 2; calls++) {
    const said = answer(socket);
    const headIsThere = once(server, 'request');
    for (const piece of pieces) {
      socket.write(piece);
      await headIsThere;
    }
    expect(await said).toMatchObject({ status: 201, body: expect.stringContaining('"id"') });
  }
});

test('a body that is refused leaves the connection to the next call', async () => {
  const { socket } = await connected();
  const send = async (body: Buffer): Promise<Said> => {
    socket.write(Buffer.concat([Buffer.from(head('/api/sessions', { 'content-length': body.length })), body]));
    return await answer(socket);
  };
  const code = async (body: Buffer): Promise<unknown> => JSON.parse((await send(body)).body).code;
  expect(await code(Buffer.from([0x22, 0xff, 0xfe, 0x22]))).toBe('bad_json');
  expect(await code(Buffer.from('{"agent":'))).toBe('bad_json');
  expect(await code(Buffer.from('{}'))).toBe('invalid_start');
  expect(await code(Buffer.from('[]'))).toBe('invalid_body');
  expect(await code(Buffer.from(`${'['.repeat(2_000)}${']'.repeat(2_000)}`))).toBe('bad_json');
  expect((await send(Buffer.from(wish))).status).toBe(201);
});

test('a call that is refused before its body was looked at leaves the connection to the next one', async () => {
  const { socket } = await connected();
  for (const [bearer, status] of [
    ['wrong', 401],
    [token, 201],
  ] as const) {
    socket.write(head('/api/sessions', { 'content-length': length }, bearer) + wish);
    expect((await answer(socket)).status).toBe(status);
  }
});

test('a token that is revoked is refused on the connection that it opened', async () => {
  const { called, socket } = await connected();
  const added = await called.context.people.add({ name: 'mia', role: 'member' }, 'owner');
  if (!added.ok) throw new Error(added.error.message);
  const post = async (): Promise<number> => {
    socket.write(head('/api/sessions', { 'content-length': length }, added.value.token) + wish);
    return (await answer(socket)).status;
  };
  expect(await post()).toBe(201);
  await called.context.people.revoke('mia', 'owner');
  expect(await post()).toBe(401);
});

test('every answer has the id of its call, a repeat and a refusal too', async () => {
  const { socket } = await connected();
  const call = async (key: string, body: string): Promise<Said> => {
    const headers = { 'content-length': body.length, 'idempotency-key': key, 'x-request-id': `call.${key}` };
    socket.write(head('/api/sessions', headers) + body);
    return await answer(socket);
  };
  const plain = JSON.stringify({ agent: 'echo', prompt: 'x' });
  const first = await call('a', plain);
  const again = await call('a', plain);
  expect(again.body).toBe(first.body);
  expect((await call('b', '{}')).head).toMatch(/^x-request-id: call\.b$/m);
  for (const { head: said } of [first, again]) expect(said.match(/^x-request-id: call\.a$/gm)).toHaveLength(1);
});

test.each(['/api/events', '/api/sessions/ID/events', '/v1beta1/sessions/ID'])(
  'a stream has the id of its call: %s',
  async (path) => {
    const { called, socket } = await connected();
    const started = await called.ask('/api/sessions', { method: 'POST', body: wish });
    const { id } = JSON.parse(await started.text());
    socket.write(head(path.replace('ID', id), { 'x-request-id': 'call.s' }).replace('POST', 'GET'));
    expect(await answer(socket)).toMatchObject({
      status: 200,
      head: expect.stringMatching(/^x-request-id: call\.s$/m),
    });
  },
);
