import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { afterAll, describe, expect, test } from 'vitest';
import { startRoomyPuppetServer, steps } from '../support/puppets.ts';

const puppets = await startRoomyPuppetServer();
const { api } = puppets;
afterAll(() => puppets.close());

const base = '/v1beta1/sessions';
type Seen = { readonly name: string; readonly id: number | undefined; readonly data: Record<string, unknown> };

/** As their client does: the whole stream until it is closed. */
async function read(id: string, after?: number): Promise<readonly Seen[]> {
  const query = after === undefined ? '' : `&after=${after}`;
  const response = await fetch(`${api.url}${base}/${id}?alt=sse${query}`, {
    headers: { authorization: `Bearer ${api.token}` },
  });
  expect(response.status).toBe(200);
  const frames = (await response.text()).split('\n\n').filter((frame) => frame.includes('data: '));
  return frames.map((frame) => {
    const field = (name: string): string | undefined => new RegExp(`^${name}: (.*)$`, 'm').exec(frame)?.[1];
    const id = field('id');
    return {
      name: field('event') ?? '',
      id: id === undefined ? undefined : Number(id),
      data: JSON.parse(field('data') ?? '{}'),
    };
  });
}

const keyOf = ({ data }: Seen): string => Object.keys(data)[0] ?? '';
const eventsOf = (seen: readonly Seen[]): readonly Seen[] => seen.filter(({ name }) => name === 'event');

async function begin(prompt: string): Promise<string> {
  const { status, body } = await api.post(`${base}/new?agent=puppet`, { segments: [{ text: { text: prompt } }] });
  expect(status).toBe(200);
  return body.sessionId;
}

describe('the sessions wire of seed 001’s project', () => {
  test('a stream ends where somebody is asked, goes on after the answer, and ends with the result', async () => {
    const id = await begin(
      steps({ ask: { type: 'question', id: 'q1', question: 'Left?' } }, { say: { type: 'result', text: 'went' } }),
    );
    const first = await read(id);
    expect(first[0]).toMatchObject({ name: 'start', data: { sessionId: id } });
    expect(first.at(-1)).toMatchObject({ name: 'done', data: {} });
    const asked = eventsOf(first);
    expect(asked.map((event) => event.id)).toEqual(asked.map((_, index) => index));
    expect(asked.some((event) => keyOf(event) === 'waitForInput')).toBe(true);
    const suspended = await api.get(`${base}/${id}/status`);
    expect(suspended.body).toMatchObject({ sessionId: id, status: 'suspended' });
    const input = { role: 'user', parts: [{ text: 'yes' }] };
    // Nothing is no answer.
    expect(await api.post(`${base}/${id}:resume`, { accessToken: 'x' })).toMatchObject({ status: 422 });
    expect(await api.post(`${base}/${id}:resume`, { input })).toMatchObject({ status: 200, body: { ok: true } });
    const rest = eventsOf(await read(id, asked.length - 1));
    expect(rest[0]?.id).toBe(asked.length);
    expect(rest.map(keyOf).at(-1)).toBe('complete');
    const whole = eventsOf(await read(id));
    expect(whole.map((event) => event.id)).toEqual(whole.map((_, index) => index));
    expect(whole.map(keyOf)).not.toContain('waitForInput');
    const over = await api.get(`${base}/${id}/status`);
    expect(over.body).toEqual({ sessionId: id, status: 'completed', eventCount: whole.length });
  });

  test('whoever comes back says the last number as a client of server-sent events does, and hears nothing twice', async () => {
    const id = await begin(steps({ say: { type: 'result', text: 'said' } }));
    const whole = eventsOf(await read(id));
    const headers = { authorization: `Bearer ${api.token}`, 'last-event-id': String(whole.length - 2) };
    const again = await fetch(`${api.url}${base}/${id}`, { headers });
    expect((await again.text()).match(/^id: \d+$/gm)).toEqual([`id: ${whole.length - 1}`]);
    expect((await api.get(`${base}/${id}?after=${whole.length}`)).body).toMatchObject({
      status: 409,
      code: 'cursor_ahead',
      position: whole.length - 1,
    });
    expect(await read(id, whole.length - 1)).toMatchObject([{ name: 'start' }, { name: 'done' }]);
  });

  test('a key is for one wish: what is to begin is a part of it, and stands in the query', async () => {
    const wish = { segments: [{ text: { text: steps({ say: { type: 'result', text: 'said' } }) } }] };
    const begun = async (query: string) => {
      const headers = {
        authorization: `Bearer ${api.token}`,
        'content-type': 'application/json',
        'idempotency-key': 'k',
      };
      const said = await fetch(`${api.url}${base}/new${query}`, {
        method: 'POST',
        headers,
        body: JSON.stringify(wish),
      });
      return await said.json();
    };
    const first = await begun('?agent=puppet');
    expect(await begun('?agent=puppet')).toEqual(first);
    expect(await begun('?agent=nobody')).toMatchObject({ status: 422, code: 'key_reused' });
  });

  test('HEAD does not wait for the end of the stream', async () => {
    const gate = puppets.gate();
    const id = await begin(steps({ until: gate.path }, { say: { type: 'result', text: 'done' } }));
    const { hostname, port } = new URL(api.url);
    const socket = connect(Number(port), hostname);
    const credentials = `Host: ${hostname}\r\nAuthorization: Bearer ${api.token}\r\n\r\n`;
    socket.end(`HEAD ${base}/${id} HTTP/1.1\r\n${credentials}GET /healthz HTTP/1.1\r\n${credentials}`);
    // Before the session goes on: the next answer of the connection comes after the stream's.
    expect((await text(socket)).match(/^HTTP\/1.1 200/gm)).toHaveLength(2);
    await gate.open();
  });

  test('what cannot be done is refused', async () => {
    const gate = puppets.gate();
    const id = await begin(steps({ until: gate.path }, { say: { type: 'result', text: 'done' } }));
    expect((await api.post(`${base}/${id}:resume`, { input: {} })).body).toMatchObject({
      status: 409,
      code: 'not_suspended',
    });
    expect((await api.post(`${base}/new`, {})).status).toBe(422);
    expect((await api.get(`${base}/nobody`)).status).toBe(404);
    expect((await api.get(`${base}/nobody/status`)).status).toBe(404);
    expect((await api.post(`${base}/nobody:resume`, {})).body).toMatchObject({
      code: 'no_such_session',
      detail: 'there is no session "nobody"',
    });
    expect((await api.get(`${base}/${id}?after=x`)).status).toBe(400);
    expect((await api.post(`${base}/${id}:fly`, {})).status).toBe(405);
    expect((await fetch(`${api.url}${base}/${id}`)).status).toBe(401);
    expect((await api.post(`${base}/${id}:cancel`, {})).body).toEqual({ sessionId: id, status: 'cancelled' });
    await api.untilStatus(id, 'cancelled');
    expect((await api.post(`${base}/${id}:cancel`, {})).status).toBe(409);
    await gate.open();
  });
});
