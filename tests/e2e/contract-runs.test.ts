import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { apiOf } from '../support/api.ts';
import { startPuppetServer, startRoomyPuppetServer, steps } from '../support/puppets.ts';

const puppets = await startRoomyPuppetServer();
const { api } = puppets;
afterAll(() => puppets.close());

const the21 = new Set(
  'start thought functionCall functionCallUpdate functionResult subagentAddJson subagentError subagentFinish content turnComplete sendRequest waitForInput waitForChoice readGraph inspectNode applyEdits queryConsent graphEdit complete error finish'.split(
    ' ',
  ),
);
const types = (events: readonly { type: string }[]): string[] => events.map((event) => event.type);
const run = async (body: object): Promise<string> => {
  const answer = await api.post('/api/agent/run', body);
  expect(answer.status).toBe(200);
  return answer.body.runId;
};
const events = (id: string, fits: (event: any) => boolean = () => false) =>
  api.eventsUntil(`/api/agent/${id}/events`, fits);

describe('starting', () => {
  test('both spellings of the id; unknown keys are ignored; without a body a run begins too', async () => {
    for (const body of [
      { agent: 'puppet', objective: 'x', scenario: 'echo', kind: 'content', segments: [], flags: { a: 1 } },
      {},
      undefined,
    ]) {
      const answer = await api.post('/api/agent/run', body);
      expect(answer.status).toBe(200);
      expect(answer.body).toEqual({ run_id: answer.body.runId, runId: expect.stringMatching(/^[A-Za-z0-9_-]{1,64}$/) });
    }
  });

  test('the objective may be a string or content, and start carries it', async () => {
    const text = await events(await run({ agent: 'puppet', objective: 'say hello' }));
    expect(text[0]).toMatchObject({ type: 'start', objective: { parts: [{ text: 'say hello' }] } });
    expect(text.find((event) => event.type === 'complete').result).toMatchObject({
      success: true,
      outcomes: { parts: [{ text: 'did: say hello' }] },
    });
    const objective = { role: 'user', parts: [{ text: 'look at this' }, { json: { n: 1 } }] };
    const content = await events(await run({ agent: 'puppet', objective }));
    expect(content[0]).toMatchObject({ type: 'start', objective });
    expect(content.find((event) => event.type === 'complete').result.outcomes.parts).toEqual([
      { text: 'did: look at this\n{"n":1}' },
    ]);
    // What it cannot take is not left out in silence.
    const picture = { role: 'user', parts: [{ inlineData: { mimeType: 'image/png', data: 'aGk=' } }] };
    expect(await api.post('/api/agent/run', { agent: 'puppet', objective: picture })).toMatchObject({
      status: 422,
      body: { code: 'part_not_taken', takes: ['text'] },
    });
  });

  test('a proposed runId; the same run again is the same run, another is 409', async () => {
    expect(await run({ agent: 'puppet', objective: 'x', runId: 'run-1' })).toBe('run-1');
    expect(await run({ agent: 'puppet', objective: 'x', runId: 'run-1' })).toBe('run-1');
    expect(await api.post('/api/agent/run', { agent: 'puppet', objective: 'y', runId: 'run-1' })).toMatchObject({
      status: 409,
      body: { code: 'id_in_use' },
    });
    expect(await api.post('/api/agent/run', { agent: 'none' })).toMatchObject({ status: 422 });
    expect(await api.post('/api/agent/run', { agent: 'puppet', objective: 5 })).toMatchObject({ status: 422 });
    expect(await api.post('/api/agent/run', '{')).toMatchObject({ status: 400 });
  });

  test('a run is a session that ends with its first result', async () => {
    const id = await run({ agent: 'puppet', objective: 'x' });
    await events(id);
    expect((await api.get(`/api/sessions/${id}`)).body).toMatchObject({ id, status: 'completed', once: true });
  });
});

describe('events', () => {
  test('only the 21, complete then finish, and the stream ends', async () => {
    const id = await run({
      agent: 'puppet',
      objective: steps(
        { say: { type: 'progress', message: 'm' } },
        { say: { type: 'odd' } },
        { say: { type: 'result', text: 'x' } },
      ),
    });
    const all = await events(id);
    for (const type of types(all)) expect(the21.has(type)).toBe(true);
    expect(types(all.slice(-2))).toEqual(['complete', 'finish']);
    const seqs = all.map((event) => event.seq);
    expect(seqs).toEqual(seqs.toSorted((a, b) => a - b));
    expect(new Set(seqs).size).toBe(seqs.length);
  });

  test('the cursors are those of the session: after, Last-Event-ID, pages', async () => {
    const id = await run({ agent: 'puppet', objective: 'x' });
    const all = await events(id);
    for (const { seq } of all) {
      const rest = all.filter((event) => event.seq > seq);
      expect(await api.eventsUntil(`/api/agent/${id}/events?after=${seq}`, () => false)).toEqual(rest);
      const byHeader = await api.call('GET', `/api/agent/${id}/events`, undefined, { 'last-event-id': String(seq) });
      expect(byHeader.body.match(/^id: \d+$/gm) ?? []).toEqual(rest.map((event) => `id: ${event.seq}`));
    }
    const page = (await api.get(`/api/agent/${id}/events?format=json`)).body;
    expect(page).toMatchObject({ events: all, position: all.at(-1)?.seq, more: false });
    expect(await api.get(`/api/agent/${id}/events?after=x`)).toMatchObject({
      status: 400,
      body: { code: 'bad_cursor' },
    });
    expect(await api.get(`/api/agent/${id}/events?after=99999`)).toMatchObject({
      status: 409,
      body: { code: 'cursor_ahead' },
    });
    expect((await api.get('/api/agent/none/events')).status).toBe(404);
  });

  test('what happened before the first reader came is there', async () => {
    const id = await run({ agent: 'puppet', objective: 'x' });
    await api.untilStatus(id, 'completed');
    expect(types(await events(id)).slice(0, 2)).toEqual(['start', 'functionCall']);
  });

  test('a failure is error, then finish', async () => {
    const all = await events(
      await run({ agent: 'puppet', objective: steps({ say: { type: 'error', message: 'no luck' } }) }),
    );
    expect(all.slice(-2)).toMatchObject([{ type: 'error', message: 'no luck' }, { type: 'finish' }]);
    expect(types(all)).toContain('subagentError');
    expect(types(all)).not.toContain('complete');
  });
});

describe('input', () => {
  const asking = steps({ ask: { type: 'approval', id: 'a', description: 'rm' } }, { tell: 'answer' });
  const open = async (): Promise<{ id: string; requestId: string }> => {
    const id = await run({ agent: 'puppet', objective: asking });
    return { id, requestId: (await events(id, (event) => event.type === 'queryConsent')).at(-1).requestId };
  };

  test.each(['request_id', 'requestId'])('%s, and a bare false', async (name) => {
    const { id, requestId } = await open();
    const answer = await api.post(`/api/agent/${id}/input`, { [name]: requestId, response: false });
    expect(answer).toMatchObject({ status: 200, body: { ok: true } });
    const all = await events(id);
    expect(all.find((event) => event.type === 'complete').result.outcomes.parts[0].text).toContain('"value":"no"');
  });

  test('a client that has no answer posts none, and the run goes on with null', async () => {
    const { id, requestId } = await open();
    expect((await api.post(`/api/agent/${id}/input`, { request_id: requestId })).status).toBe(200);
    const all = await events(id);
    expect(all.find((event) => event.type === 'complete').result.outcomes.parts[0].text).toContain('"value":null');
  });

  test('twenty at once: one counts', async () => {
    const { id, requestId } = await open();
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, index) =>
        api.post(`/api/agent/${id}/input`, { request_id: requestId, response: index }),
      ),
    );
    expect(answers.filter((answer) => answer.status === 200)).toHaveLength(1);
    expect(answers.filter((answer) => answer.status === 409)).toHaveLength(19);
  });

  test('404 for an unknown run and an unknown request, 422 without an id, 409 after the end', async () => {
    const { id, requestId } = await open();
    expect((await api.post('/api/agent/none/input', { request_id: requestId, response: 1 })).status).toBe(404);
    expect((await api.post(`/api/agent/${id}/input`, { request_id: 'none', response: 1 })).status).toBe(404);
    expect((await api.post(`/api/agent/${id}/input`, { response: 1 })).status).toBe(422);
    expect((await api.post(`/api/agent/${id}/input`)).status).toBe(422);
    await api.post(`/api/agent/${id}/abort`);
    await events(id);
    expect(await api.post(`/api/agent/${id}/input`, { request_id: requestId, response: true })).toMatchObject({
      status: 409,
      body: { code: 'withdrawn' },
    });
  });
});

describe('abort', () => {
  test('ends with error then finish, wakes every reader, and can be repeated at any time', async () => {
    const id = await run({ agent: 'puppet', objective: steps({ ask: { type: 'question', question: 'well?' } }) });
    await events(id, (event) => event.type === 'waitForInput');
    const readers = [events(id), events(id)];
    for (const answer of await Promise.all([1, 2, 3].map(() => api.post(`/api/agent/${id}/abort`)))) {
      expect(answer).toMatchObject({ status: 200, body: { ok: true } });
    }
    for (const seen of await Promise.all(readers)) {
      expect(seen.slice(-2)).toMatchObject([{ type: 'error', message: 'cancelled' }, { type: 'finish' }]);
      expect(types(seen).filter((type) => type === 'finish')).toHaveLength(1);
    }
    expect((await api.post(`/api/agent/${id}/abort`)).status).toBe(200);
    const key = { 'idempotency-key': 'abort' };
    expect((await api.post(`/api/agent/${id}/abort`, undefined, key)).status).toBe(200);
    expect((await api.post(`/api/agent/${id}/abort`, undefined, key)).status).toBe(200);
    expect((await api.post('/api/agent/none/abort')).status).toBe(404);
  });

  test('after the end it changes nothing', async () => {
    const id = await run({ agent: 'puppet', objective: 'x' });
    const before = await events(id);
    expect((await api.post(`/api/agent/${id}/abort`)).status).toBe(200);
    expect(await events(id)).toEqual(before);
    expect((await api.get(`/api/sessions/${id}`)).body.status).toBe('completed');
  });
});

describe('across a restart', () => {
  test('keys, answers, events and cursors outlive the server on SQLite', { timeout: 120_000 }, async () => {
    const folder = await mkdtemp(join(tmpdir(), 'concerto-contract-runs-'));
    const args = ['--store', 'sqlite:runs.db'];
    let own = await startPuppetServer({ folder, args });
    try {
      const key = { 'idempotency-key': 'one' };
      const first = await own.api.post('/api/sessions', { agent: 'puppet', prompt: 'x' }, key);
      const message = await own.api.post(`/api/sessions/${first.body.id}/messages`, { content: 'm' }, key);
      const before = await own.api.until(
        first.body.id,
        (event) => event.type === 'content' && event.content.parts[0].text === 'did: m',
      );
      const run = (await own.api.post('/api/agent/run', { agent: 'puppet', objective: 'x' }, key)).body;
      const ran = await own.api.eventsUntil(`/api/agent/${run.runId}/events`, () => false);
      await own.server.kill();

      own = await startPuppetServer({ folder, args });
      const again = apiOf(own.server);
      expect(await again.post('/api/sessions', { agent: 'puppet', prompt: 'x' }, key)).toMatchObject({
        status: 201,
        body: { id: first.body.id },
      });
      expect((await again.post('/api/sessions', { agent: 'puppet', prompt: 'y' }, key)).body.code).toBe('key_reused');
      expect((await again.post(`/api/sessions/${first.body.id}/messages`, { content: 'm' }, key)).body.id).toBe(
        message.body.id,
      );
      expect((await again.post('/api/agent/run', { agent: 'puppet', objective: 'x' }, key)).body).toEqual(run);
      expect(await again.eventsUntil(`/api/agent/${run.runId}/events`, () => false)).toEqual(ran);
      const page = (await again.get(`/api/sessions/${first.body.id}/events?format=json&limit=${before.length}`)).body;
      expect(page.events).toEqual(before);
      const history = (await again.get(`/api/sessions/${first.body.id}/messages?all=true`)).body.history;
      expect(history.filter((entry: any) => entry.content === 'm')).toHaveLength(1);
    } finally {
      await own.close();
      await rm(folder, { recursive: true, force: true });
    }
  });
});
