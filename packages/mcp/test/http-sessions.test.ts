import { concertoClient } from '@concerto/client';
import { afterEach, expect, test } from 'vitest';
import { HttpSessions } from '../src/http-sessions.ts';
import { Waits } from '../src/waits.ts';

const sessions = new HttpSessions({ version: '0', waits: new Waits() }, 3);
const caller = { token: 'T', client: concertoClient({ url: 'http://127.0.0.1:1', token: 'T' }) };
afterEach(() => sessions.close());

function call(method: string, params: object, id?: string): Request {
  return new Request('http://127.0.0.1:1/mcp', {
    method: 'POST',
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
    headers: {
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      ...(id === undefined ? {} : { 'mcp-session-id': id, 'mcp-protocol-version': '2025-11-25' }),
    },
  });
}

async function open(): Promise<string> {
  const hello = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'test', version: '1' } };
  const answer = await sessions.answer(call('initialize', hello), caller);
  await answer?.text();
  return answer?.headers.get('mcp-session-id') ?? '';
}

async function statusOf(id: string): Promise<number | undefined> {
  const answer = await sessions.answer(call('tools/list', {}, id), caller);
  await answer?.text();
  return answer?.status;
}

test('the connection that was used longest ago makes room for one too many', async () => {
  const [first, second] = [await open(), await open(), await open()];
  expect(await statusOf(first)).toBe(200);
  await open();
  expect([await statusOf(first), await statusOf(second)]).toEqual([200, 404]);
});

test('what opens nothing and has no connection is left to others', async () => {
  expect(await sessions.answer(call('tools/list', {}), caller)).toBeUndefined();
  const nonsense = new Request('http://127.0.0.1:1/mcp', { method: 'POST', body: '{' });
  expect(await sessions.answer(nonsense, caller)).toBeUndefined();
  expect(await sessions.answer(new Request('http://127.0.0.1:1/mcp'), caller)).toBeUndefined();
});
