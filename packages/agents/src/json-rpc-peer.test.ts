import type { Json, JsonObject } from '@concerto/base';
import { expect, test } from 'vitest';
import { JsonRpcPeer, JsonRpcRefusal, JsonRpcTimeout, type PeerRequest } from './json-rpc-peer.ts';

test('a request is answered by the frame with its id, whatever comes between', async () => {
  const { peer, written } = peerPair();
  const first = peer.request('one', { a: 1 }, 5_000);
  const second = peer.request('two', {}, 5_000);
  expect(written).toEqual([
    { jsonrpc: '2.0', id: 1, method: 'one', params: { a: 1 } },
    { jsonrpc: '2.0', id: 2, method: 'two', params: {} },
  ]);
  peer.receive('{"method":"by the way"}');
  peer.receive('{"jsonrpc":"2.0","id":2,"result":"second"}');
  peer.receive('{"jsonrpc":"2.0","id":1,"result":null}');
  expect(await first).toBeNull();
  expect(await second).toBe('second');
});

test('a refusal keeps its code and data', async () => {
  const { peer } = peerPair();
  const asked = peer.request('session/new', {}, 5_000);
  peer.receive('{"jsonrpc":"2.0","id":1,"error":{"code":-32000,"message":"log in first","data":{"how":"key"}}}');
  const refusal = await asked.catch((cause: unknown) => cause);
  expect(refusal).toBeInstanceOf(JsonRpcRefusal);
  expect(refusal).toMatchObject({
    code: -32000,
    data: { how: 'key' },
    message: 'session/new: log in first (-32000)',
  });
});

test('a request without an answer ends at its deadline, and a late answer is nobody’s', async () => {
  const { peer } = peerPair();
  await expect(peer.request('slow', {}, 1)).rejects.toThrow(JsonRpcTimeout);
  expect(peer.receive('{"id":1,"result":true}')).toEqual({ ok: true, value: undefined });
});

test('their requests are answered once, with their own id, also when it equals one of ours', async () => {
  const { peer, written, requests } = peerPair();
  void peer.request('ours', {}, 5_000).catch(() => undefined);
  peer.receive('{"id":1,"method":"theirs","params":{"x":true}}');
  expect(requests).toEqual([{ id: 1, method: 'theirs', params: { x: true } }]);
  expect(await peer.respond(1, { fine: true })).toBe(true);
  expect(await peer.respond(1, { fine: false })).toBe(false);
  expect(await peer.refuse(1, { code: -32603, message: 'no' })).toBe(false);
  expect(written.slice(1)).toEqual([{ jsonrpc: '2.0', id: 1, result: { fine: true } }]);
  peer.close(new Error('over'));
});

test('frames can leave the version out', async () => {
  const { peer, written } = peerPair({ namesVersion: false });
  await peer.notify('initialized', {});
  expect(written).toEqual([{ method: 'initialized', params: {} }]);
});

test('what is no frame is told, and the conversation goes on', async () => {
  const { peer, notified } = peerPair();
  for (const line of ['hello', '[]', '42', '{}', '{"id":1}', '{"method":7}', '{"id":{},"method":"x"}']) {
    expect(peer.receive(line)).toMatchObject({ ok: false });
  }
  const nested = `{"method":"x","params":${'['.repeat(600)}${']'.repeat(600)}}`;
  expect(peer.receive(nested)).toEqual({ ok: false, error: 'it nests deeper than 500 levels' });
  peer.receive('{"method":"fine","params":[1]}');
  expect(notified).toEqual([['fine', [1]]]);
});

test('when the other side is gone, whoever waits learns why, and so does whoever asks later', async () => {
  const { peer } = peerPair();
  const gone = new Error('it exited');
  const waiting = peer.request('prompt', {});
  peer.close(gone);
  await expect(waiting).rejects.toBe(gone);
  await expect(peer.request('prompt', {})).rejects.toBe(gone);
  await expect(peer.notify('cancel', {})).rejects.toBe(gone);
});

test('a write that fails ends the request it was for', async () => {
  const peer = new JsonRpcPeer({
    namesVersion: true,
    write: () => Promise.reject(new Error('broken pipe')),
    onRequest: () => {},
    onNotification: () => {},
  });
  await expect(peer.request('prompt', {})).rejects.toThrow('broken pipe');
});

function peerPair({ namesVersion = true } = {}) {
  const written: JsonObject[] = [];
  const requests: PeerRequest[] = [];
  const notified: [string, Json][] = [];
  const peer = new JsonRpcPeer({
    namesVersion,
    write: async (line) => {
      written.push(JSON.parse(line));
    },
    onRequest: (request) => requests.push(request),
    onNotification: (method, params) => notified.push([method, params]),
  });
  return { peer, written, requests, notified };
}

test('half a character reaches nobody, who would refuse the frame', async () => {
  const { peer, written } = peerPair();
  await peer.notify('told', { text: 'half \ud83d' });
  expect(written).toEqual([{ jsonrpc: '2.0', method: 'told', params: { text: 'half \ufffd' } }]);
});
