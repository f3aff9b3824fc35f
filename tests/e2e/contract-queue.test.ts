import { afterAll, describe, expect, test } from 'vitest';
import { startRoomyPuppetServer, steps } from '../support/puppets.ts';

const puppets = await startRoomyPuppetServer();
const { api } = puppets;
afterAll(() => puppets.close());

const isFinish = (event: { type: string }): boolean => event.type === 'finish';

/** A session in the middle of its first turn, which ends when told. */
async function busy(agent = 'puppet'): Promise<{ id: string; path: string; finish: () => Promise<void> }> {
  const gate = puppets.gate();
  const prompt = steps(
    { say: { type: 'log', message: 'at work' } },
    { until: gate.path },
    { say: { type: 'result', text: 'first' } },
  );
  const { id } = await api.start({ agent, prompt });
  await api.until(id, (event) => event.type === 'subagentAddJson' && event.title === 'log');
  return { id, path: `/api/sessions/${id}/messages`, finish: () => gate.open() };
}

const list = async (path: string): Promise<any> => (await api.get(path)).body;
const pendingIds = async (path: string): Promise<string[]> =>
  (await list(path)).pending.map((message: any) => message.id);
const send = (path: string, id: string, priority?: string) =>
  api.post(path, { content: `say ${id}`, id, ...(priority === undefined ? {} : { priority }) });
/** What the agent came to, not the turns that were cut. */
const isResult = (event: any): boolean => event.type === 'functionResult' && (event.outcome ?? 'ok') === 'ok';
const results = (events: readonly any[]): string[] =>
  events.filter(isResult).map((event) => event.content.parts[0].functionResponse.response.text);
const untilResults = (id: string, count: number) => {
  let seen = 0;
  return api.until(id, (event) => isResult(event) && ++seen === count);
};

describe('sending', () => {
  test('202 with the message; it is pending, and an event says so', async () => {
    const { id, path, finish } = await busy();
    const sent = await api.post(path, { content: 'hello' });
    expect(sent).toMatchObject({
      status: 202,
      body: {
        id: expect.stringMatching(/^[A-Za-z0-9_-]{1,64}$/),
        content: 'hello',
        priority: 'queued',
        status: 'pending',
        source: 'user',
        createdAt: expect.any(String),
      },
    });
    expect(await list(path)).toEqual({ pending: [sent.body], version: expect.any(Number) });
    await api.until(
      id,
      (event) => event.type === 'message' && event.message.id === sent.body.id && event.message.status === 'pending',
    );
    expect((await api.get(`/api/sessions/${id}`)).body.pending).toBe(1);
    await finish();
    const delivered = await api.until(
      id,
      (event) => event.type === 'message' && event.message.id === sent.body.id && event.message.status === 'delivered',
    );
    expect(delivered.at(-1).message).toMatchObject({ deliveredAt: expect.any(String) });
  });

  test('one queued message a turn, in order; immediate ones first', async () => {
    const { id, path, finish } = await busy();
    for (const name of ['a', 'b', 'c']) await send(path, name);
    for (const name of ['x', 'y']) await send(path, name, 'immediate');
    expect(await pendingIds(path)).toEqual(['x', 'y', 'a', 'b', 'c']);
    await finish();
    const events = await untilResults(id, 6);
    expect(results(events)).toEqual(['first', ...['x', 'y', 'a', 'b', 'c'].map((name) => `did: say ${name}`)]);
    await api.until(id, (event) => event.type === 'status' && event.status === 'idle');
    const { pending, history, version } = await list(`${path}?all=true`);
    expect(pending).toEqual([]);
    expect(version).toEqual(expect.any(Number));
    // The first prompt is in the history, as delivered.
    expect(history.map((message: any) => [message.id, message.status]).slice(1)).toEqual(
      ['x', 'y', 'a', 'b', 'c'].map((name) => [name, 'delivered']),
    );
    expect(history[0]).toMatchObject({ status: 'delivered', content: expect.stringContaining('at work') });
  });

  test('what has left the queue, and the audit, come in pages that join', async () => {
    const { id, path, finish } = await busy();
    for (const name of ['a', 'b', 'c', 'd', 'e']) await send(path, name);
    await finish();
    await untilResults(id, 6);
    await api.until(id, (event) => event.type === 'status' && event.status === 'idle');
    const paged = async (address: string, of: string): Promise<any[]> => {
      const all: any[] = [];
      for (let after = 0, more = true; more; ) {
        const page = (await api.get(`${address}${address.includes('?') ? '&' : '?'}limit=2&after=${after}`)).body;
        expect(page[of].length).toBe(page.more ? 2 : Math.max(1, page[of].length));
        expect(page.position).toBe(after + page[of].length);
        all.push(...page[of]);
        ({ position: after, more } = page);
      }
      return all;
    };
    const { history } = await list(`${path}?all=true`);
    expect(history).toHaveLength(6);
    expect(await paged(`${path}?all=true`, 'history')).toEqual(history);
    const { entries } = (await api.get(`/api/sessions/${id}/audit`)).body;
    expect(entries.length).toBeGreaterThan(12);
    expect(await paged(`/api/sessions/${id}/audit`, 'entries')).toEqual(entries);
  });

  test('immediate into the running turn of an agent that can be steered', async () => {
    const { id, path, finish } = await busy('able');
    await send(path, 'later');
    expect((await send(path, 'now', 'immediate')).status).toBe(202);
    const heard = (await api.until(id, (event) => event.type === 'subagentAddJson' && event.title === 'heard')).at(-1);
    expect(heard.data.what).toEqual({ type: 'steer', id: 'now', text: 'say now' });
    const told = await api.until(
      id,
      (event) => event.type === 'message' && event.message.id === 'now' && event.message.status === 'delivered',
    );
    expect(told.at(-1).message).toMatchObject({ how: 'steer' });
    expect(await pendingIds(path)).toEqual(['later']);
    await finish();
    await untilResults(id, 2);
  });

  test('the same id again: the same content is the same message, other content is 409', async () => {
    const { path } = await busy();
    const first = await send(path, 'mine');
    expect((await send(path, 'mine')).body).toEqual(first.body);
    expect(await pendingIds(path)).toEqual(['mine']);
    expect(await api.post(path, { content: 'other', id: 'mine' })).toMatchObject({
      status: 409,
      body: { code: 'id_in_use' },
    });
  });

  test('the same key: one message, however many at once', async () => {
    const { path } = await busy();
    const key = { 'idempotency-key': 'k' };
    const answers = await Promise.all(Array.from({ length: 20 }, () => api.post(path, { content: 'once' }, key)));
    expect(new Set(answers.map((answer) => `${answer.status} ${answer.body.id}`)).size).toBe(1);
    expect(await pendingIds(path)).toHaveLength(1);
    expect(await api.post(path, { content: 'twice' }, key)).toMatchObject({
      status: 422,
      body: { code: 'key_reused' },
    });
  });

  test('100 may be pending; the next is 409 queue_full; taking one back makes room', async () => {
    const { path } = await busy();
    for (let i = 0; i < 100; i += 20) {
      const answers = await Promise.all(Array.from({ length: 20 }, (_, index) => send(path, `m${i + index}`)));
      expect(answers.map((answer) => answer.status)).toEqual(answers.map(() => 202));
    }
    expect(await send(path, 'over')).toMatchObject({ status: 409, body: { code: 'queue_full' } });
    expect(await send(path, 'over', 'immediate')).toMatchObject({ status: 409, body: { code: 'queue_full' } });
    expect((await api.call('DELETE', `${path}/m50`)).status).toBe(200);
    expect((await send(path, 'over')).status).toBe(202);
  });

  test('bad messages are 422 with the path', async () => {
    const { path } = await busy();
    for (const [body, at] of [
      [{}, 'content'],
      [{ content: '' }, 'content'],
      [{ content: 5 }, 'content'],
      [{ content: 'x', priority: 'urgent' }, 'priority'],
      [{ content: 'x', id: 'a b' }, 'id'],
      [{ content: 'x', colour: 'red' }, 'colour'],
    ] as const) {
      const answer = await api.post(path, body);
      expect(answer).toMatchObject({ status: 422, body: { code: 'invalid_body' } });
      expect(answer.body.errors.map((error: any) => error.path)).toContain(at);
    }
    expect((await api.post(path)).status).toBe(422);
    expect((await api.post(path, '[]')).status).toBe(422);
    expect((await api.post(path, 'null')).status).toBe(422);
    expect((await api.get('/api/sessions/none/messages')).status).toBe(404);
    expect((await api.post('/api/sessions/none/messages', { content: 'x' })).status).toBe(404);
  });
});

describe('changing', () => {
  test('edit: the agent gets the new text', async () => {
    const { id, path, finish } = await busy();
    await send(path, 'a');
    expect(await api.call('PATCH', `${path}/a`, { content: 'edited' })).toMatchObject({
      status: 200,
      body: { id: 'a', content: 'edited', status: 'pending' },
    });
    await finish();
    expect(results(await untilResults(id, 2)).at(-1)).toBe('did: edited');
    await api.untilStatus(id, 'idle');
    for (const change of [{ content: 'late' }, { priority: 'immediate' }]) {
      expect(await api.call('PATCH', `${path}/a`, change)).toMatchObject({
        status: 409,
        body: { code: 'already_delivered' },
      });
    }
    expect(await api.call('DELETE', `${path}/a`)).toMatchObject({ status: 409, body: { code: 'already_delivered' } });
  });

  test('promote: to the tail of the immediate lane; twice is 409 already_immediate', async () => {
    const { path } = await busy();
    for (const name of ['a', 'b', 'c']) await send(path, name);
    await send(path, 'x', 'immediate');
    expect(await api.call('PATCH', `${path}/c`, { priority: 'immediate' })).toMatchObject({
      status: 200,
      body: { id: 'c', priority: 'immediate' },
    });
    await send(path, 'y', 'immediate');
    await api.call('PATCH', `${path}/a`, { priority: 'immediate' });
    expect(await pendingIds(path)).toEqual(['x', 'c', 'y', 'a', 'b']);
    expect(await api.call('PATCH', `${path}/c`, { priority: 'immediate' })).toMatchObject({
      status: 409,
      body: { code: 'already_immediate' },
    });
  });

  test('take back: 200 with status cancelled, twice is 200; a change after it is 409 cancelled', async () => {
    const { id, path, finish } = await busy();
    await send(path, 'a');
    await send(path, 'b');
    for (let i = 0; i < 2; i++) {
      expect(await api.call('DELETE', `${path}/a`)).toMatchObject({
        status: 200,
        body: { id: 'a', status: 'cancelled' },
      });
    }
    expect(await api.call('PATCH', `${path}/a`, { content: 'x' })).toMatchObject({
      status: 409,
      body: { code: 'cancelled' },
    });
    expect(await api.call('PATCH', `${path}/a`, { priority: 'immediate' })).toMatchObject({
      status: 409,
      body: { code: 'cancelled' },
    });
    expect(await pendingIds(path)).toEqual(['b']);
    await finish();
    const events = await untilResults(id, 2);
    expect(results(events)).toEqual(['first', 'did: say b']);
    expect(events).toContainEqual(
      expect.objectContaining({ type: 'message', message: expect.objectContaining({ id: 'a', status: 'cancelled' }) }),
    );
  });

  test('reorder: by ids and version; a stale version or another set is 409 stale_order', async () => {
    const { id, path, finish } = await busy();
    for (const name of ['a', 'b', 'c']) await send(path, name);
    const { version } = await list(path);
    const order = (ids: readonly string[], at: number) => api.call('PUT', `${path}/order`, { ids, version: at });
    expect((await order(['c', 'a', 'b'], version)).status).toBe(200);
    expect(await pendingIds(path)).toEqual(['c', 'a', 'b']);
    expect(await order(['a', 'b', 'c'], version)).toMatchObject({ status: 409, body: { code: 'stale_order' } });
    const now = (await list(path)).version;
    expect(now).not.toBe(version);
    for (const ids of [['a', 'b'], ['a', 'b', 'b'], ['a', 'b', 'z'], []]) {
      expect(await order(ids, now)).toMatchObject({ status: 409, body: { code: 'stale_order' } });
    }
    expect((await api.call('PUT', `${path}/order`, { ids: 'a', version: now })).status).toBe(422);
    expect((await api.call('PUT', `${path}/order`, { ids: ['a'] })).status).toBe(422);
    await finish();
    expect(results(await untilResults(id, 4)).slice(1)).toEqual(['did: say c', 'did: say a', 'did: say b']);
  });

  test('who only follows events knows the order and the next version', async () => {
    const gate = puppets.gate();
    const { id } = await api.start({ agent: 'puppet', prompt: steps({ until: gate.path }) });
    await api.until(id, (event) => event.type === 'functionCall');
    for (const name of ['a', 'b', 'c']) await api.post(`/api/sessions/${id}/messages`, { content: name, id: name });
    const sent = (await api.until(id, (event) => event.type === 'message' && event.message.id === 'c')).at(-1);
    const order = `/api/sessions/${id}/messages/order`;
    expect((await api.call('PUT', order, { ids: ['c', 'a', 'b'], version: sent.version })).status).toBe(200);
    const moved = (await api.until(id, (event) => event.type === 'message' && event.order !== undefined)).at(-1);
    expect(moved.order).toEqual(['c', 'a', 'b']);
    expect((await api.call('PUT', order, { ids: ['a', 'b', 'c'], version: moved.version })).status).toBe(200);
  });

  test('a change with a key can be repeated; the key belongs to its body', async () => {
    const gate = puppets.gate();
    const { id } = await api.start({ agent: 'puppet', prompt: steps({ until: gate.path }) });
    await api.until(id, (event) => event.type === 'functionCall');
    for (const name of ['a', 'b']) await api.post(`/api/sessions/${id}/messages`, { content: name, id: name });
    const { version } = (await api.get(`/api/sessions/${id}/messages`)).body;
    const calls = [
      ['PUT', 'order', { ids: ['b', 'a'], version }],
      ['PATCH', 'a', { content: 'other' }],
      ['PATCH', 'a', { priority: 'immediate' }],
      ['DELETE', 'b', undefined],
    ] as const;
    for (const [index, [method, path, body]] of calls.entries()) {
      const call = (sent: unknown) =>
        api.call(method, `/api/sessions/${id}/messages/${path}`, sent, { 'idempotency-key': `key-${index}` });
      const first = await call(body);
      expect({ method, path, status: first.status }).toEqual({ method, path, status: 200 });
      expect((await call(body)).body).toEqual(first.body);
      expect((await call(method === 'PUT' ? { ids: [], version } : { content: 'third' })).body.code).toBe('key_reused');
    }
  });

  test('two reorders at once with one version: one wins', async () => {
    const { path } = await busy();
    for (const name of ['a', 'b', 'c']) await send(path, name);
    const { version } = await list(path);
    const answers = await Promise.all(
      [
        ['c', 'b', 'a'],
        ['b', 'a', 'c'],
        ['c', 'a', 'b'],
      ].map((ids) => api.call('PUT', `${path}/order`, { ids, version })),
    );
    expect(answers.map((answer) => answer.status).toSorted((a, b) => a - b)).toEqual([200, 409, 409]);
  });

  test('bad changes: 422 with the path, 404 for what is not there', async () => {
    const { path } = await busy();
    await send(path, 'a');
    for (const [body, at] of [
      [{ content: 5 }, 'content'],
      [{ content: '' }, 'content'],
      [{ content: 'x'.repeat(100_001) }, 'content'],
    ] as const) {
      const answer = await api.call('PATCH', `${path}/a`, body);
      expect(answer.status).toBe(422);
      expect(answer.body.errors.map((error: any) => error.path)).toContain(at);
    }
    for (const body of [{}, { priority: 'queued' }, { content: 'x', priority: 'immediate' }, { id: 'b' }]) {
      expect((await api.call('PATCH', `${path}/a`, body)).status).toBe(422);
    }
    for (const [method, body] of [
      ['PATCH', { content: 'x' }],
      ['DELETE', undefined],
    ] as const) {
      expect(await api.call(method, `${path}/none`, body)).toMatchObject({
        status: 404,
        body: { code: 'no_such_message' },
      });
    }
  });
});

describe('in flight', () => {
  test('what is being handed over can be neither changed nor taken back', async () => {
    // More than the pipe takes, for an agent that does not read.
    const { id } = await api.start({ agent: 'asleep', prompt: '\u4e2d'.repeat(100_000) });
    const path = `/api/sessions/${id}/messages`;
    await expect.poll(async () => (await list(path)).pending[0]?.inFlight, { timeout: 20_000 }).toBe(true);
    const [message] = (await list(path)).pending;
    expect(message).toMatchObject({ status: 'pending', inFlight: true });
    for (const [method, body] of [
      ['PATCH', { content: 'x' }],
      ['PATCH', { priority: 'immediate' }],
      ['DELETE', undefined],
    ] as const) {
      expect(await api.call(method, `${path}/${message.id}`, body)).toMatchObject({
        status: 409,
        body: { code: 'in_flight' },
      });
    }
    expect((await api.post(`/api/sessions/${id}/cancel`)).status).toBe(202);
    await api.until(id, isFinish);
  });
});

describe('at the end and in between', () => {
  test('what was pending when the session ended is cancelled with a reason; then it is closed', async () => {
    const { id, path } = await busy();
    await send(path, 'a');
    await api.post(`/api/sessions/${id}/cancel`);
    const events = await api.until(id, isFinish);
    expect(events).toContainEqual(
      expect.objectContaining({
        type: 'message',
        message: expect.objectContaining({ id: 'a', status: 'cancelled', reason: expect.any(String) }),
      }),
    );
    expect(await list(path)).toMatchObject({ pending: [] });
    expect((await list(`${path}?all=true`)).history).toContainEqual(
      expect.objectContaining({ id: 'a', status: 'cancelled', reason: expect.any(String) }),
    );
    expect(await send(path, 'b')).toMatchObject({ status: 409, body: { code: 'session_closed' } });
    expect((await api.call('DELETE', `${path}/a`)).status).toBe(200);
  });

  test('with once the first result ends it, whatever waits', async () => {
    const gate = puppets.gate();
    const { id } = await api.start({
      agent: 'puppet',
      prompt: steps({ until: gate.path }, { say: { type: 'result', text: 'x' } }),
      once: true,
    });
    const path = `/api/sessions/${id}/messages`;
    await send(path, 'a');
    await gate.open();
    const events = await api.until(id, isFinish);
    expect(events.slice(-3)).toMatchObject([
      { type: 'status', status: 'completed' },
      { type: 'complete' },
      { type: 'finish' },
    ]);
    expect((await list(`${path}?all=true`)).history.at(-1)).toMatchObject({ id: 'a', status: 'cancelled' });
  });

  test.each([
    [
      'a message',
      (id: string): Promise<unknown> => send(`/api/sessions/${id}/messages`, 'go'),
      ['did: say kept', 'did: say go'],
    ],
    ['resume', (id: string): Promise<unknown> => api.post(`/api/sessions/${id}/resume`), ['did: say kept']],
  ] as const)('an interrupt parks the queue until %s', async (_what, goOn, expected) => {
    const { id, path } = await busy('able');
    await send(path, 'kept');
    await api.post(`/api/sessions/${id}/interrupt`);
    await api.untilStatus(id, 'interrupted');
    expect(await list(path)).toMatchObject({ pending: [{ id: 'kept', status: 'pending' }] });
    await goOn(id);
    expect(results(await untilResults(id, expected.length))).toEqual(expected);
  });

  test('a message waits while a question is open', async () => {
    const { id } = await api.start({
      agent: 'puppet',
      prompt: steps({ ask: { type: 'question', question: 'well?' } }, { tell: 'answer' }),
    });
    const asked = (await api.until(id, (event) => event.type === 'waitForInput')).at(-1);
    const path = `/api/sessions/${id}/messages`;
    await send(path, 'a');
    await send(path, 'b', 'immediate');
    expect(await pendingIds(path)).toEqual(['b', 'a']);
    await api.post(`/api/sessions/${id}/requests/${asked.requestId}`, { response: 'now' });
    expect(results(await untilResults(id, 3)).slice(1)).toEqual(['did: say b', 'did: say a']);
  });
});
