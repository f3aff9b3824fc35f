import { concertoClient } from '@concerto/client';
import { expect, test } from 'vitest';
import { problem, sendJson, session, testServer } from './test-server.ts';

const at = '2026-01-01T00:00:00.000Z';
const row = (status: string, seq: number): string =>
  `id: ${seq}\ndata: ${JSON.stringify({ type: 'session', summary: session(status, 1), at, seq })}\n\n`;
const settled = (seq: number): string =>
  `id: ${seq}\ndata: ${JSON.stringify({ type: 'requestSettled', session: 's1', requestId: 'r', outcome: 'answered', at, seq })}\n\n`;
const newer = (seq: number): string => `id: ${seq}\ndata: ${JSON.stringify({ type: 'comet', at, seq })}\n\n`;

test('gives the rows there are, then what changes, and goes on after a break where it was', {
  timeout: 20_000,
}, async () => {
  const answers = [row('running', 4) + row('idle', 4) + newer(5), settled(6)];
  const server = await testServer((request, response) => {
    const next = answers.shift();
    if (request.url?.includes('after=6') === true) return sendJson(response, 409, problem(409, 'cursor_ahead'));
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.end(next ?? row('completed', 1));
  });
  const leave = new AbortController();
  const seen: string[] = [];
  for await (const event of concertoClient({ url: server.url }).watch({ signal: leave.signal })) {
    seen.push(event.type === 'session' ? event.summary.status : event.type);
    if (seen.length === 4) leave.abort();
  }
  expect(seen).toEqual(['running', 'idle', 'requestSettled', 'completed']);
  // The store lost what it had: everything is asked for anew.
  expect(server.seen.map(({ line }) => line)).toEqual([
    'GET /api/events',
    'GET /api/events?after=5',
    'GET /api/events?after=6',
    'GET /api/events',
  ]);
});

test('without rows: says when what there is has to be read, after a gap too, and goes on from a position', async () => {
  const gap = `id: 8\ndata: ${JSON.stringify({ type: 'gap', from: 5, to: 8, at, seq: 8 })}\n\n`;
  const answers = [settled(4), gap, settled(10)];
  const server = await testServer((_, response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.end(answers.shift());
  });
  const leave = new AbortController();
  const heard: unknown[] = [];
  const onAnew = (): void => void heard.push('anew');
  const watch = { signal: leave.signal, after: 3, tree: true, rows: false, onAnew };
  for await (const { seq } of concertoClient({ url: server.url }).watch(watch)) {
    heard.push(seq);
    if (heard.length === 3) leave.abort();
  }
  expect(heard).toEqual([4, 'anew', 10]);
  expect(server.seen.map(({ line }) => line)).toEqual([
    'GET /api/events?tree=true&rows=false&after=3',
    'GET /api/events?tree=true&rows=false&after=4',
    'GET /api/events?tree=true&rows=false',
  ]);
});

test('a refusal is thrown', async () => {
  const server = await testServer((_, response) => sendJson(response, 401, problem(401, 'unauthorized')));
  const watch = concertoClient({ url: server.url }).watch();
  await expect(watch.next()).rejects.toMatchObject({ code: 'unauthorized' });
});
