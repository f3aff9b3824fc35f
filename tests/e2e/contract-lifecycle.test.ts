import { afterAll, assert, describe, expect, test } from 'vitest';
import { startRoomyPuppetServer, steps } from '../support/puppets.ts';

const puppets = await startRoomyPuppetServer();
const { api } = puppets;
afterAll(() => puppets.close());

const hang = steps({ say: { type: 'log', message: 'at work' } }, { hang: true });
const isFinish = (event: { type: string }): boolean => event.type === 'finish';
const statuses = (events: readonly any[]): string[] =>
  events.flatMap((event) => (event.type === 'status' ? [event.status] : []));
const verbs = ['interrupt', 'pause', 'resume', 'cancel'] as const;
const ask = (id: string, verb: string, headers?: Record<string, string>) =>
  api.post(`/api/sessions/${id}/${verb}`, undefined, headers);
const session = async (id: string): Promise<any> => (await api.get(`/api/sessions/${id}`)).body;
const heard = (verb: string) => (event: any) => event.type === 'subagentAddJson' && event.data.what?.type === verb;

async function working(agent: string, prompt = hang): Promise<string> {
  const { id } = await api.start({ agent, prompt });
  await api.until(id, (event) => event.type === 'subagentAddJson' && event.title === 'log');
  return id;
}

async function ended(once: 'completed' | 'failed' | 'cancelled'): Promise<string> {
  if (once === 'cancelled') {
    const { id } = await api.start({ agent: 'puppet', prompt: 'x' });
    await ask(id, 'cancel');
    await api.until(id, isFinish);
    return id;
  }
  const say = once === 'completed' ? { type: 'result', text: 'x' } : { type: 'error', message: 'x' };
  const { id } = await api.start({ agent: 'puppet', prompt: steps({ say }), once: true });
  await api.until(id, isFinish);
  return id;
}

describe('verbs by status', () => {
  test.each(['completed', 'failed', 'cancelled'] as const)('%s: every verb is 409 wrong_status', async (status) => {
    const id = await ended(status);
    expect((await session(id)).status).toBe(status);
    for (const verb of verbs) {
      expect(await ask(id, verb)).toMatchObject({
        status: 409,
        body: { status: 409, code: 'wrong_status', sessionStatus: status },
      });
    }
  });

  test('idle: pause is 202 and paused, resume makes it idle again; interrupt and resume mean nothing', async () => {
    const { id } = await api.start({ agent: 'puppet', prompt: 'x' });
    await api.untilStatus(id, 'idle');
    expect(await ask(id, 'interrupt')).toMatchObject({ status: 409, body: { code: 'wrong_status' } });
    expect(await ask(id, 'resume')).toMatchObject({ status: 409, body: { code: 'wrong_status' } });
    expect(await ask(id, 'pause')).toMatchObject({
      status: 202,
      body: { status: 'paused', requestId: expect.any(String) },
    });
    expect(await session(id)).toMatchObject({ status: 'paused', waiting: { for: 'pause' } });
    expect(await ask(id, 'pause')).toMatchObject({ status: 409, body: { code: 'wrong_status' } });
    await api.post(`/api/sessions/${id}/messages`, { content: 'held' });
    expect(await session(id)).toMatchObject({ status: 'paused', pending: 1 });
    expect((await ask(id, 'resume')).status).toBe(202);
    await api.until(id, (event) => event.type === 'content' && event.content.parts[0].text === 'did: held');
    await api.until(id, (event) => event.type === 'status' && event.status === 'idle' && event.previous === 'running');
  });

  test('running: resume is 409 wrong_status', async () => {
    const id = await working('able');
    expect(await ask(id, 'resume')).toMatchObject({ status: 409, body: { code: 'wrong_status' } });
    expect((await ask(id, 'cancel')).status).toBe(202);
  });

  test('unknown sessions are 404 for every verb', async () => {
    for (const verb of verbs) {
      expect(await ask('nobody', verb)).toMatchObject({ status: 404, body: { code: 'no_such_session' } });
    }
  });
});

describe('with an agent that can', () => {
  test('interrupt: 202, the agent is told the request id, its ack ends the turn, no result needed', async () => {
    const id = await working('able');
    const accepted = await ask(id, 'interrupt');
    expect(accepted).toMatchObject({ status: 202, body: { status: 'interrupting', requestId: expect.any(String) } });
    const events = await api.untilStatus(id, 'interrupted');
    expect(statuses(events).slice(-2)).toEqual(['interrupting', 'interrupted']);
    const told = (await api.until(id, heard('interrupt'))).at(-1);
    expect(told.data.what).toEqual({ type: 'interrupt', id: accepted.body.requestId });
    expect(await session(id)).not.toHaveProperty('waiting');
    await api.post(`/api/sessions/${id}/messages`, { content: 'go on' });
    // The same process, which is still hanging in its first turn as far as it knows, answers.
    await api.until(id, (event) => event.type === 'content' && event.content.parts[0].text === 'did: go on');
  });

  test('pause, then resume: the agent confirms both, and the turn goes on', async () => {
    const gate = puppets.gate();
    const id = await working(
      'able',
      steps(
        { say: { type: 'log', message: 'at work' } },
        { until: gate.path },
        { say: { type: 'result', text: 'end' } },
      ),
    );
    expect(await ask(id, 'pause')).toMatchObject({ status: 202, body: { status: 'pausing' } });
    const paused = await api.untilStatus(id, 'paused');
    expect(statuses(paused).slice(-3)).toEqual(['running', 'pausing', 'paused']);
    expect(paused.at(-1)).not.toHaveProperty('reason');
    expect(await ask(id, 'resume')).toMatchObject({ status: 202, body: { status: 'resuming' } });
    await api.until(
      id,
      (event) => event.type === 'status' && event.status === 'running' && event.previous === 'resuming',
    );
    await gate.open();
    await api.until(id, (event) => event.type === 'turnComplete');
  });

  test.each([
    ['interrupt', 'interrupted'],
    ['pause', 'paused'],
    ['cancel', 'cancelled'],
  ] as const)('%s before it has said what it can: it is asked all the same, not signalled', async (verb, status) => {
    const { id } = await api.start({ agent: 'slow-able', prompt: hang });
    await api.untilStatus(id, 'running');
    const { requestId } = (await ask(id, verb)).body;
    const events = await api.untilStatus(id, status);
    expect(events.at(-1).reason).toBe(verb === 'cancel' ? 'cancelled' : undefined);
    expect((await api.until(id, heard(verb))).at(-1).data.what).toEqual({ type: verb, id: requestId });
  });

  test('cancel: 202 cancelling, then cancelled, error and finish; the process is gone', async () => {
    const id = await working('able');
    expect(await ask(id, 'cancel')).toMatchObject({ status: 202, body: { status: 'cancelling' } });
    const events = await api.until(id, isFinish);
    expect(events.slice(-3)).toMatchObject([
      { type: 'status', status: 'cancelled', previous: 'cancelling' },
      { type: 'error', message: 'cancelled' },
      { type: 'finish' },
    ]);
  });

  test('a message sent while interrupting says how to go on', async () => {
    const id = await working('able');
    await ask(id, 'interrupt');
    await api.post(`/api/sessions/${id}/messages`, { content: 'instead' });
    await api.until(id, (event) => event.type === 'content' && event.content.parts[0].text === 'did: instead');
  });
});

describe('while one is under way', () => {
  test('every other verb is 409 with kind and since; only cancel goes through', async () => {
    const id = await working('deaf-pause');
    const first = await ask(id, 'pause');
    expect(first).toMatchObject({ status: 202, body: { status: 'pausing' } });
    for (const verb of ['pause', 'interrupt', 'resume'] as const) {
      const refused = await ask(id, verb);
      expect(refused).toMatchObject({
        status: 409,
        body: { code: 'lifecycle_request_in_progress', kind: 'pause', since: expect.any(String) },
      });
      expect(Number.isNaN(Date.parse(refused.body.since))).toBe(false);
      expect(refused.headers.get('content-type')).toBe('application/problem+json');
    }
    expect(await ask(id, 'cancel')).toMatchObject({ status: 202 });
    await api.until(id, isFinish);
  });

  test('a second cancel says so; it does not hurt', async () => {
    const id = await working('deaf-cancel');
    expect((await ask(id, 'cancel')).status).toBe(202);
    expect(await ask(id, 'cancel')).toMatchObject({
      status: 409,
      body: { code: 'lifecycle_request_in_progress', kind: 'cancel' },
    });
    expect(await api.post(`/api/sessions/${id}/messages`, { content: 'late' })).toMatchObject({
      status: 409,
      body: { code: 'session_closed' },
    });
  });

  test('twenty at once: one is accepted, the others are told of it', async () => {
    const id = await working('deaf-pause');
    const answers = await Promise.all(Array.from({ length: 20 }, () => ask(id, 'pause')));
    expect(answers.filter((answer) => answer.status === 202)).toHaveLength(1);
    expect(new Set(answers.map((answer) => answer.body.code))).toEqual(
      new Set([undefined, 'lifecycle_request_in_progress']),
    );
    await ask(id, 'cancel');
  });

  test('the same request with the same key is the same request', async () => {
    const id = await working('able');
    const key = { 'idempotency-key': 'please' };
    const [first, second] = await Promise.all([ask(id, 'pause', key), ask(id, 'pause', key)]);
    expect(first).toMatchObject({ status: 202 });
    expect(second?.body).toEqual(first?.body);
    await api.untilStatus(id, 'paused');
    expect((await ask(id, 'pause', key)).body).toEqual(first?.body);
    await ask(id, 'cancel');
  });
});

describe('with an agent that cannot', () => {
  test('pause: 202, held at the end of the turn; the queue waits; resume lets it go on', async () => {
    const gate = puppets.gate();
    const id = await working(
      'puppet',
      steps(
        { say: { type: 'log', message: 'at work' } },
        { until: gate.path },
        { say: { type: 'result', text: 'end' } },
      ),
    );
    await api.post(`/api/sessions/${id}/messages`, { content: 'next' });
    expect(await ask(id, 'pause')).toMatchObject({ status: 202, body: { status: 'pausing' } });
    await gate.open();
    const events = await api.untilStatus(id, 'paused');
    expect(events.map((event) => event.type)).toContain('turnComplete');
    expect(events.at(-1)).not.toMatchObject({ reason: 'forced' });
    expect(await session(id)).toMatchObject({ status: 'paused', pending: 1, waiting: { for: 'pause' } });
    expect((await ask(id, 'resume')).status).toBe(202);
    await api.until(id, (event) => event.type === 'content' && event.content.parts[0].text === 'did: next');
  });

  test('interrupt: SIGINT ends the process, the turn is interrupted, the next message starts another', async () => {
    const id = await working('puppet');
    await api.post(`/api/sessions/${id}/messages`, { content: 'parked' });
    expect((await ask(id, 'interrupt')).status).toBe(202);
    await api.untilStatus(id, 'interrupted');
    expect(await session(id)).toMatchObject({ status: 'interrupted', pending: 1, waiting: { for: 'pause' } });
    expect((await ask(id, 'resume')).status).toBe(202);
    await api.until(id, (event) => event.type === 'content' && event.content.parts[0].text === 'did: parked');
  });

  test('cancel ends it', async () => {
    const id = await working('puppet');
    expect((await ask(id, 'cancel')).status).toBe(202);
    expect((await api.until(id, isFinish)).at(-2)).toMatchObject({ type: 'error', message: 'cancelled' });
  });
});

describe('questions', () => {
  const question = { type: 'question', id: 'q', question: 'well?' };
  const asking = async (agent: string): Promise<{ id: string; path: string; asked: any }> => {
    const { id } = await api.start({ agent, prompt: steps({ ask: question }, { tell: 'answer' }) });
    const asked = (await api.until(id, (event) => event.type === 'waitForInput')).at(-1);
    return { id, asked, path: `/api/sessions/${id}/requests/${asked.requestId}` };
  };

  test.each(['puppet', 'able'])(
    'pause keeps the question of %s; an answer is 200 and held; resume hands it over',
    async (agent) => {
      const { id, path } = await asking(agent);
      expect((await ask(id, 'pause')).status).toBe(202);
      await api.untilStatus(id, 'paused');
      expect((await api.get(`/api/sessions/${id}/requests`)).body.requests).toHaveLength(1);
      expect((await api.post(path, { response: 'held' })).status).toBe(200);
      expect(await api.post(path, { response: 'again' })).toMatchObject({
        status: 409,
        body: { code: 'already_answered' },
      });
      expect((await session(id)).status).toBe('paused');
      expect((await ask(id, 'resume')).status).toBe(202);
      const result = (await api.until(id, (event) => event.type === 'functionResult')).at(-1);
      const { text } = result.content.parts[0].functionResponse.response;
      expect(JSON.parse(text)).toMatchObject({ in_reply_to_id: 'q', value: 'held' });
    },
  );

  test('a paused question that is not answered is asked again after resume', async () => {
    const { id, asked } = await asking('puppet');
    await ask(id, 'pause');
    await api.untilStatus(id, 'paused');
    await ask(id, 'resume');
    await api.until(
      id,
      (event) => event.type === 'status' && event.status === 'waitingForInput' && event.previous !== 'running',
    );
    expect(await session(id)).toMatchObject({
      status: 'waitingForInput',
      waiting: { for: 'input', requestId: asked.requestId },
    });
  });

  test.each(['interrupt', 'cancel'] as const)(
    '%s withdraws it: 202, nothing open, a late answer is 409 with the reason',
    async (verb) => {
      const { id, asked, path } = await asking('able');
      expect((await ask(id, verb)).status).toBe(202);
      const events = await api.untilStatus(id, verb === 'cancel' ? 'cancelled' : 'interrupted');
      expect(events).toContainEqual(
        expect.objectContaining({ type: 'requestSettled', requestId: asked.requestId, outcome: 'withdrawn' }),
      );
      expect((await api.get(`/api/sessions/${id}/requests`)).body).toEqual({ requests: [] });
      expect(await api.post(path, { response: 1 })).toMatchObject({
        status: 409,
        body: { code: 'withdrawn', reason: expect.any(String) },
      });
    },
  );
});

// The deadlines run side by side: the longest is 20 s.
describe.concurrent('when the agent does not answer', () => {
  test('pause is forced', async () => {
    const id = await working('deaf-pause');
    await ask(id, 'pause');
    const events = await api.untilStatus(id, 'paused');
    expect(events.at(-1)).toMatchObject({ status: 'paused', previous: 'pausing', reason: 'forced' });
    expect(await session(id)).toMatchObject({ status: 'paused', reason: 'forced' });
    expect((await ask(id, 'resume')).status).toBe(202);
    await api.until(id, (event) => event.type === 'status' && event.previous === 'resuming');
    expect((await session(id)).status).toBe('running');
  }, 60_000);

  test('interrupt is forced', async () => {
    const id = await working('deaf-interrupt');
    await api.post(`/api/sessions/${id}/messages`, { content: 'kept' });
    await ask(id, 'interrupt');
    const events = await api.untilStatus(id, 'interrupted');
    expect(events.at(-1)).toMatchObject({ status: 'interrupted', previous: 'interrupting', reason: 'forced' });
    expect(await session(id)).toMatchObject({ status: 'interrupted', pending: 1 });
    await ask(id, 'resume');
    await api.until(id, (event) => event.type === 'content' && event.content.parts[0].text === 'did: kept');
  }, 60_000);

  test('resume is forced', async () => {
    const id = await working('deaf-resume');
    await ask(id, 'pause');
    await api.untilStatus(id, 'paused');
    await ask(id, 'resume');
    const after = await api.until(id, (event) => event.type === 'status' && event.previous === 'resuming');
    expect(after.at(-1)).toMatchObject({ status: 'interrupted', reason: 'forced' });
  }, 60_000);

  test('a start is given up: an agent with params that never says init_ack; the prompt is kept', async () => {
    const { id } = await api.start({ agent: 'mute', prompt: 'x' });
    const events = await api.untilStatus(id, 'interrupted');
    expect(events.at(-1)).toMatchObject({ previous: 'starting', reason: expect.stringMatching(/init|start/) });
    expect(await session(id)).toMatchObject({
      pending: 1,
      error: { message: expect.stringMatching(/init|start/) },
    });
    expect((await api.post(`/api/sessions/${id}/resume`)).status).toBe(202);
    expect((await session(id)).status).toMatch(/queued|starting/);
  }, 60_000);

  test('with once it has failed', async () => {
    const { id } = await api.start({ agent: 'mute', prompt: 'x', once: true });
    const events = await api.until(id, isFinish);
    expect(events.slice(-3)).toMatchObject([
      { status: 'failed', previous: 'starting' },
      { type: 'error' },
      { type: 'finish' },
    ]);
    expect((await session(id)).error).toMatchObject({ message: expect.stringMatching(/init|start/) });
  }, 60_000);

  test('a quiet stream is pinged', async () => {
    const id = await working('puppet');
    const leave = new AbortController();
    const response = await fetch(`${api.url}/api/sessions/${id}/events`, {
      headers: { authorization: `Bearer ${api.token}` },
      signal: leave.signal,
    });
    const { body } = response;
    assert(body !== null);
    let text = '';
    for await (const chunk of body.pipeThrough(new TextDecoderStream())) {
      text += chunk;
      // One at once, and another although nothing happens.
      if (text.split(': ping\n\n').length > 2) break;
    }
    leave.abort();
    expect(text.startsWith(': ping\n\n')).toBe(true);
  }, 60_000);

  test('cancel is forced, and the process is gone', async () => {
    const id = await working('deaf-cancel');
    await ask(id, 'cancel');
    const events = await api.until(id, isFinish);
    expect(events.slice(-3)).toMatchObject([
      { status: 'cancelled' },
      { type: 'error', message: 'cancelled' },
      { type: 'finish' },
    ]);
  }, 60_000);
});

describe('who asked what', () => {
  test('the audit has both directions, request and confirmation, and how long it took', async () => {
    const id = await working('able');
    const { requestId } = (await ask(id, 'pause')).body;
    await api.untilStatus(id, 'paused');
    await ask(id, 'cancel');
    await api.until(id, isFinish);
    const { entries } = (await api.get(`/api/sessions/${id}/audit`)).body;
    expect(new Set(entries.map((entry: any) => entry.direction))).toEqual(new Set(['in', 'out']));
    const about = entries.filter((entry: any) => entry.requestId === requestId);
    expect(about[0]).toMatchObject({ actor: 'user:owner', at: expect.any(String) });
    expect(about.find((entry: any) => entry.latencyMs !== undefined)?.latencyMs).toBeGreaterThanOrEqual(0);
  });
});
