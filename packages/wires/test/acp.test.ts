import { type Client, ClientSideConnection, ndJsonStream, type SessionNotification } from 'acp-example-agent';
import { describe, expect, test } from 'vitest';
import { diffsOf } from '../src/acp/acp-fold.ts';
import { AcpFold, permissionOf } from '../src/index.ts';
import { recordedLogs } from './recorded-logs.ts';

/** Their connection over what we say, as text; what does not fit their schema does not arrive. */
async function hear(updates: readonly object[]): Promise<readonly SessionNotification['update'][]> {
  const heard: SessionNotification['update'][] = [];
  const client: Client = {
    sessionUpdate: async ({ update }) => void heard.push(update),
    requestPermission: () => Promise.reject(new Error('nobody asks')),
  };
  const pipe = new TransformStream<Uint8Array, Uint8Array>();
  const connection = new ClientSideConnection(() => client, ndJsonStream(new WritableStream(), pipe.readable));
  const writer = pipe.writable.getWriter();
  for (const update of updates) {
    const frame = { jsonrpc: '2.0', method: 'session/update', params: { sessionId: 's', update } };
    await writer.write(new TextEncoder().encode(`${JSON.stringify(frame)}\n`));
  }
  await writer.close();
  await connection.closed;
  return heard;
}

describe.each(recordedLogs)('ACP: $name', ({ events }) => {
  test('every update fits their schema, and the text is all there', async () => {
    const fold = new AcpFold();
    const all = events.map((event) => fold.take(event));
    const updates = all.flatMap((each) => each.updates);
    const heard = await hear(updates);
    expect(heard).toHaveLength(updates.length);
    const said = all.flatMap(({ told }) => told.flatMap((each) => (each.tell === 'text' ? [each.delta] : [])));
    const chunks = heard.flatMap((update) =>
      update.sessionUpdate === 'agent_message_chunk' && update.content.type === 'text' ? [update.content.text] : [],
    );
    expect(chunks.join('')).toBe(said.join(''));
    const calls = all.flatMap(({ told }) => told.filter(({ tell }) => tell === 'call-result'));
    const ended = heard.filter((update) => update.sessionUpdate === 'tool_call_update' && update.status !== undefined);
    expect(ended).toHaveLength(calls.length);
  });
});

test('what was said with files is told with them; of what cannot be shown, in words what it is', async () => {
  const fold = new AcpFold();
  const at = '2026-01-01T00:00:00.000Z';
  const stored = { storedData: { handle: 'b_1', mimeType: 'image/png', contentLength: 2_000_000, title: 'big.png' } };
  const parts = [
    { text: 'Look' },
    { inlineData: { mimeType: 'image/png', data: 'AAAA' } },
    { inlineData: { mimeType: 'audio/wav', data: 'AAAA' } },
    { fileData: { mimeType: 'text/html', fileUri: 'https://example.com/a' } },
    stored,
    { json: { files: 3 } },
  ];
  const start = { type: 'start', objective: { role: 'user', parts }, at, seq: 1 } as const;
  const answer = {
    type: 'content',
    content: { role: 'model', parts: parts.slice(1) },
    messageId: 'm',
    at,
    seq: 2,
  } as const;
  const heard = await hear([...fold.take(start).updates, ...fold.take(answer).updates]);
  const files = [
    { type: 'image', mimeType: 'image/png', data: 'AAAA' },
    { type: 'audio', mimeType: 'audio/wav', data: 'AAAA' },
    { type: 'resource_link', uri: 'https://example.com/a', name: 'https://example.com/a', mimeType: 'text/html' },
    { type: 'text', text: '[picture, 2.0 MB, big.png]' },
    { type: 'text', text: '{"files":3}' },
  ];
  const told = heard.map((update) => ('content' in update ? [update.sessionUpdate, update.content] : []));
  expect(told).toEqual([
    ...[{ type: 'text', text: 'Look' }, ...files].map((content) => ['user_message_chunk', content]),
    ...files.map((content) => ['agent_message_chunk', content]),
  ]);
});

test('a patch is told hunk by hunk, before and after', () => {
  const patch = '--- a\n+++ b\n@@ -1,2 +1,2 @@\n one\n-two\n+2\n@@ -9,1 +9,2 @@\n nine\n+ten\n';
  const diff = { type: 'diff', path: 'a' };
  expect(diffsOf({ path: 'a', kind: 'edit', patch, added: 2, removed: 1 })).toEqual([
    { ...diff, oldText: 'one\ntwo', newText: 'one\n2' },
    { ...diff, oldText: 'nine', newText: 'nine\nten' },
  ]);
  expect(diffsOf({ path: 'a', kind: 'create', patch: '@@ -0,0 +1,1 @@\n+new\n', added: 1, removed: 0 })).toEqual([
    { ...diff, oldText: null, newText: 'new' },
  ]);
});

test('a permission that is about no call says itself what it is for', () => {
  const scope = { description: 'Clean up', command: 'rm -r build' };
  const event = { type: 'queryConsent', requestId: 'r', consentType: 'approval', graphUrl: '', scope } as const;
  expect(permissionOf(event, undefined)?.toolCall).toMatchObject({
    title: 'Clean up',
    content: [{ type: 'content', content: { type: 'text', text: '- command: rm -r build\n' } }],
  });
});
