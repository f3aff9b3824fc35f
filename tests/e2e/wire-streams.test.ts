import { DurableStream, stream } from '@durable-streams/client';
import { afterAll, describe, expect, test } from 'vitest';
import { startRoomyPuppetServer, steps } from '../support/puppets.ts';

const puppets = await startRoomyPuppetServer();
const { api } = puppets;
afterAll(() => puppets.close());

type Event = { readonly type: string; readonly seq: number };

const headers = { authorization: `Bearer ${api.token}` };
const urlOf = (id: string): string => `${api.url}/api/streams/sessions/${id}`;

describe('Durable Streams', () => {
  test.each(['sse', 'long-poll'] as const)('their client follows a session by %s to its end', async (live) => {
    const gate = puppets.gate();
    const prompt = steps(
      { say: { type: 'partial', text: 'one' } },
      { until: gate.path },
      { say: { type: 'result', text: 'two' } },
    );
    const { id } = await api.start({ agent: 'puppet', prompt, once: true });
    const followed = await stream<Event>({ url: urlOf(id), headers, offset: '-1', live, json: true });
    const seen: Event[] = [];
    followed.subscribeJson(async ({ items }) => {
      seen.push(...items);
      if (items.some(({ type }) => type === 'content')) await gate.open();
    });
    await followed.closed;
    expect(followed.streamClosed).toBe(true);
    const { events } = (await api.get(`/api/sessions/${id}/events?format=json`)).body;
    expect(seen).toEqual(events);
    expect(seen.at(-1)?.type).toBe('finish');
  });

  test('a reader goes on from any offset that it was given; the end is told, also without reading', async () => {
    const { id } = await api.start({ agent: 'puppet', prompt: 'hello', once: true });
    await api.until(id, ({ type }) => type === 'finish');
    const all = await stream<Event>({ url: urlOf(id), headers, offset: '-1', live: false, json: true });
    const events = await all.json();
    expect(all).toMatchObject({ upToDate: true, streamClosed: true });
    const middle = String(events[4]?.seq).padStart(16, '0');
    const rest = await stream<Event>({ url: urlOf(id), headers, offset: middle, live: false, json: true });
    expect(await rest.json()).toEqual(events.slice(5));
    expect(await DurableStream.head({ url: urlOf(id), headers })).toMatchObject({
      exists: true,
      contentType: 'application/json',
      offset: all.offset,
      streamClosed: true,
    });
  });

  test('what cannot be read is refused', async () => {
    const { id } = await api.start({ agent: 'puppet', prompt: 'hello' });
    const path = `/api/streams/sessions/${id}`;
    expect((await api.get(`${path}?offset=12`)).body).toMatchObject({ code: 'bad_offset' });
    expect((await api.get(`${path}?live=sse`)).body).toMatchObject({ code: 'bad_offset' });
    expect((await api.get(`${path}?offset=-1&live=ever`)).body).toMatchObject({ code: 'bad_live' });
    expect((await api.get('/api/streams/sessions/nobody')).status).toBe(404);
    expect((await api.call('PUT', path)).status).toBe(405);
    expect((await fetch(urlOf(id))).status).toBe(401);
  });
});
