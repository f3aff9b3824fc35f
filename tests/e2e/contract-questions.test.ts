import { afterAll, describe, expect, test } from 'vitest';
import { startRoomyPuppetServer, steps } from '../support/puppets.ts';

const puppets = await startRoomyPuppetServer();
const { api } = puppets;
afterAll(() => puppets.close());

const isFinish = (event: { type: string }): boolean => event.type === 'finish';

describe('questions', () => {
  const question = { type: 'question', id: 'q1', question: 'well?' };
  const asking = steps({ ask: question }, { tell: 'answer' });
  const open = async (agent = 'puppet', prompt = asking): Promise<{ id: string; asked: any; path: string }> => {
    const { id } = await api.start({ agent, prompt, once: true });
    const asked = (await api.until(id, (event) => typeof event.requestId === 'string')).at(-1);
    return { id, asked, path: `/api/sessions/${id}/requests/${asked.requestId}` };
  };
  const told = async (id: string): Promise<any> => {
    const events = await api.until(id, isFinish);
    return JSON.parse(events.find((event) => event.type === 'complete').result.outcomes.parts[0].text);
  };

  test.each([
    [false, false],
    [null, null],
    [0, 0],
    ['', ''],
    [[], []],
    [{ a: [1, null] }, { a: [1, null] }],
    ['text', 'text'],
    [{ input: { role: 'user', parts: [{ text: 'hello' }] } }, 'hello'],
  ])('the answer %j reaches the agent as %j', async (response, value) => {
    const { id, path } = await open();
    expect((await api.post(path, { response })).status).toBe(200);
    expect(await told(id)).toEqual({ type: 'response', in_reply_to: 'question', in_reply_to_id: 'q1', value });
  });

  test.each([
    [{ selected: ['option-2'] }, 'blue'],
    [{ selected: ['option-1', 'option-2'] }, ['red', 'blue']],
    ['green', 'green'],
  ])('the choice %j reaches the agent as %j', async (response, value) => {
    const { id, asked, path } = await open(
      'puppet',
      steps({ ask: { ...question, options: ['red', 'blue'] } }, { tell: 'answer' }),
    );
    expect(asked).toMatchObject({ type: 'waitForChoice', choices: [{ id: 'option-1' }, { id: 'option-2' }] });
    await api.post(path, { response });
    expect((await told(id)).value).toEqual(value);
  });

  test.each([
    [true, 'yes'],
    [false, 'no'],
    ['later', 'later'],
    [null, null],
  ])('the approval %j reaches the agent as %j', async (response, value) => {
    const ask = { ask: { type: 'approval', id: 'a1', description: 'rm', risk_level: 'high', more: 1 } };
    const { id, asked, path } = await open('puppet', steps(ask, { tell: 'answer' }));
    expect(asked).toMatchObject({
      type: 'queryConsent',
      consentType: 'approval',
      scope: { description: 'rm', risk_level: 'high', more: 1 },
    });
    await api.post(path, { response });
    expect(await told(id)).toEqual({ type: 'response', in_reply_to: 'approval', in_reply_to_id: 'a1', value });
  });

  test('twenty answers at once: exactly one counts, the others are refused', async () => {
    const { id, path } = await open();
    const answers = await Promise.all(Array.from({ length: 20 }, (_, index) => api.post(path, { response: index })));
    const accepted = answers.flatMap((answer, index) => (answer.status === 200 ? [index] : []));
    expect(accepted).toHaveLength(1);
    const refused = answers.filter((answer) => answer.status !== 200);
    for (const answer of refused) {
      expect(answer).toMatchObject({ status: 409, body: { code: 'already_answered' } });
    }
    expect((await told(id)).value).toBe(accepted[0]);
    // After the end the first answer still stands.
    expect(await api.post(path, { response: accepted[0] })).toMatchObject({
      status: 409,
      body: { code: 'already_answered' },
    });
  });

  test('the same answer with the same key is 200 again, also when both come at once, and also after the end', async () => {
    const { id, path } = await open();
    const key = { 'idempotency-key': 'my answer' };
    const answers = await Promise.all(Array.from({ length: 10 }, () => api.post(path, { response: 'one' }, key)));
    expect(answers.map((answer) => answer.status)).toEqual(answers.map(() => 200));
    await api.until(id, isFinish);
    expect((await api.post(path, { response: 'one' }, key)).status).toBe(200);
    expect(await api.post(path, { response: 'two' }, key)).toMatchObject({ status: 422, body: { code: 'key_reused' } });
  });

  test('who follows sees what was answered', async () => {
    const { id } = await api.start({
      agent: 'puppet',
      prompt: steps({ ask: { type: 'question', id: 'q', question: 'Which?' } }, { tell: 'answer' }),
    });
    const asked = (await api.until(id, (event) => event.type === 'waitForInput')).at(-1);
    await api.post(`/api/sessions/${id}/requests/${asked.requestId}`, { response: { any: [1] } });
    const settled = (await api.until(id, (event) => event.type === 'requestSettled')).at(-1);
    expect(settled).toMatchObject({ outcome: 'answered', by: 'user:owner', response: { any: [1] } });
  });

  test('an event with a question can be answered the moment it is seen', async () => {
    for (let i = 0; i < 5; i++) {
      const { path } = await open();
      expect((await api.post(path, { response: i })).status).toBe(200);
    }
  });

  test('several questions are open at once and may be answered in any order', async () => {
    const ask = (id: string) => ({ say: { type: 'question', id, question: id } });
    const { id } = await api.start({
      agent: 'puppet',
      prompt: steps(
        ask('a'),
        ask('b'),
        { say: { type: 'approval', id: 'c', description: 'c' } },
        { collect: 3 },
        { tell: 'answers' },
      ),
      once: true,
    });
    const events = await api.until(id, (event) => event.type === 'queryConsent');
    const ids = events.flatMap((event) => event.requestId ?? []);
    const requests = (await api.get(`/api/sessions/${id}/requests`)).body.requests;
    expect(requests.map((request: any) => request.requestId)).toEqual(ids);
    expect(requests[0]).toEqual({
      requestId: ids[0],
      type: 'waitForInput',
      event: expect.objectContaining({ type: 'waitForInput', requestId: ids[0] }),
      since: expect.any(String),
      routedTo: 'person',
      next: [],
    });
    for (const [index, rid] of [...ids.entries()].reverse()) {
      expect((await api.post(`/api/sessions/${id}/requests/${rid}`, { response: `answer ${index}` })).status).toBe(200);
    }
    const done = await api.until(id, isFinish);
    const answers = JSON.parse(done.find((event) => event.type === 'complete').result.outcomes.parts[0].text);
    expect(answers.map((answer: any) => [answer.in_reply_to_id, answer.value])).toEqual([
      ['c', 'answer 2'],
      ['b', 'answer 1'],
      ['a', 'answer 0'],
    ]);
  });

  test('of more than a hundred questions at once the last is not taken, and the agent hears why', async () => {
    const asks = Array.from({ length: 101 }, (_, n) => ({ say: { type: 'question', id: `q${n}`, question: `q${n}` } }));
    const gate = puppets.gate();
    const { id } = await api.start({
      agent: 'puppet',
      prompt: steps(...asks, { collect: 1 }, { until: gate.path }, { tell: 'answers' }),
      once: true,
    });
    const count = async (): Promise<number> => (await api.get(`/api/sessions/${id}/requests`)).body.requests.length;
    await expect.poll(count, { timeout: 20_000 }).toBe(100);
    await gate.open();
    const done = await api.until(id, isFinish);
    const [refused] = JSON.parse(done.find((event) => event.type === 'complete').result.outcomes.parts[0].text);
    expect(refused).toMatchObject({ in_reply_to_id: 'q100', error: expect.stringContaining('100 questions are open') });
    expect(done.filter((event) => event.type === 'waitForInput')).toHaveLength(100);
  });

  test('a question that is still open when the result comes is withdrawn', async () => {
    const { id } = await api.start({
      agent: 'puppet',
      prompt: steps({ say: question }, { say: { type: 'result', text: 'never mind' } }),
    });
    const events = await api.untilStatus(id, 'idle');
    const { requestId } = events.find((event) => event.type === 'waitForInput');
    expect(events).toContainEqual(expect.objectContaining({ type: 'requestSettled', requestId, outcome: 'withdrawn' }));
    expect((await api.get(`/api/sessions/${id}/requests`)).body).toEqual({ requests: [] });
    expect(await api.post(`/api/sessions/${id}/requests/${requestId}`, { response: 1 })).toMatchObject({
      status: 409,
      body: { code: 'withdrawn', reason: expect.any(String) },
    });
  });

  test('bad answers: no body, no response, unknown request, unknown session', async () => {
    const { id, path } = await open();
    expect((await api.post(path)).status).toBe(422);
    expect((await api.post(path, {})).status).toBe(422);
    expect((await api.post(path, { answer: 1 })).status).toBe(422);
    expect((await api.post(path, '{')).status).toBe(400);
    expect((await api.post(`/api/sessions/${id}/requests/x`, { response: 1 })).body.code).toBe('no_such_request');
    expect((await api.post('/api/sessions/none/requests/x', { response: 1 })).status).toBe(404);
    expect((await api.get('/api/sessions/none/requests')).status).toBe(404);
    await api.post(`/api/sessions/${id}/cancel`);
    await api.until(id, isFinish);
    expect(await api.post(path, { response: 1 })).toMatchObject({ status: 409, body: { code: 'withdrawn' } });
  });
});
