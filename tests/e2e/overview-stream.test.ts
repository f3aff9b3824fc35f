import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { OverviewEvent } from '@concerto/protocol';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Api, apiOf } from '../support/api.ts';
import { type StartedServer, startServer } from '../support/start-server.ts';
import { writeManifest } from '../support/test-agents.ts';

let folder: string;
let server: StartedServer;
let api: Api;
const start = async (): Promise<void> => {
  server = await startServer({ folder, args: ['--store', `sqlite:${join(folder, 'overview.db')}`] });
  api = apiOf(server);
};

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'concerto-overview-'));
  await writeManifest(folder);
  await start();
});

afterAll(async () => {
  await server?.stop();
  if (folder !== undefined) await rm(folder, { recursive: true, force: true });
});

const isRow = (id: string, status: string) => (event: any) =>
  event.type === 'session' && event.summary.id === id && event.summary.status === status;

test('a watcher of everything gets the rows that are there, then what changes, each as its shape says', async () => {
  const { id: first } = await api.start({ agent: 'echo', prompt: 'one' });
  await api.untilStatus(first, 'idle');
  const watching = api.eventsUntil('/api/events', (event: any) => event.type === 'requestSettled');
  const { id } = await api.start({ agent: 'ask', prompt: 'two' });
  const asked = await api.until(id, (event) => event.type === 'waitForInput' || event.type === 'waitForChoice');
  const { requestId } = asked.at(-1) as unknown as { requestId: string };
  await api.post(`/api/sessions/${id}/requests/${requestId}`, { response: 'blue' });
  const events = await watching;
  for (const { seq: _, at: __, ...event } of events) OverviewEvent.parse(event);
  expect(events[0]).toMatchObject({ type: 'session', summary: { id: first, status: 'idle' } });
  expect(events.filter((event: any) => event.type === 'request')).toEqual([
    expect.objectContaining({ session: id, requestId, request: expect.objectContaining({ requestId }) }),
  ]);
  expect(events.at(-1)).toMatchObject({ type: 'requestSettled', session: id, requestId, outcome: 'answered' });
});

test('the numbering survives a kill of the server; who comes back gets what came after, and what was left untold', async () => {
  const { id } = await api.start({ agent: 'turns', prompt: 'wait' });
  const before = await api.eventsUntil('/api/events', isRow(id, 'idle'));
  const cursor = before.at(-1)?.seq ?? 0;
  await server.kill();
  await start();
  await api.post(`/api/sessions/${id}/cancel`);
  const after = await api.eventsUntil(`/api/events?after=${cursor}`, isRow(id, 'cancelled'));
  expect(after.map((event) => event.seq)).toEqual(after.map((_, index) => cursor + index + 1));
  expect((await api.get('/api/events?after=1000000')).status).toBe(409);
  expect((await api.get('/api/events?after=x')).status).toBe(400);
});

test('what an agent said at length is whole in its session, and begun in lists', async () => {
  const long = 'x'.repeat(90_000);
  const { id } = await api.start({ agent: 'echo', prompt: long });
  await api.untilStatus(id, 'idle');
  const { body: whole } = await api.get(`/api/sessions/${id}`);
  expect(JSON.stringify(whole.result)).toContain(long);
  const { body: listed } = await api.get('/api/sessions?limit=50');
  const row = listed.sessions.find((session: any) => session.id === id);
  expect(row).toMatchObject({ status: 'idle', result: { text: expect.stringMatching(/x{1000,}…$/) } });
  expect(JSON.stringify(row).length).toBeLessThan(10_000);
  const events = await api.eventsUntil('/api/events', isRow(id, 'idle'));
  expect(JSON.stringify(events.at(-1)).length).toBeLessThan(10_000);
});
