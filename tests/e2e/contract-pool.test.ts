import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { Api } from '../support/api.ts';
import { type PuppetServer, startPuppetServer, steps } from '../support/puppets.ts';

let puppets: PuppetServer;
let api: Api;

beforeAll(async () => {
  puppets = await startPuppetServer({ manifest: '[templates.greeting]\nagent = "puppet"\nprompt = "hello"\n' });
  api = puppets.api;
  await api.call('PUT', '/api/pool', { max: 200 });
});

afterAll(async () => {
  await puppets?.close();
});

const isFinish = (event: { type: string }): boolean => event.type === 'finish';

const over: ReadonlySet<string> = new Set(['completed', 'failed', 'cancelled']);

/** What an earlier test left at work would become idle in the middle of the next, and give its place up. */
async function emptied(): Promise<void> {
  await api.call('PUT', '/api/pool', { max: 200 });
  const { sessions } = (await api.get('/api/sessions?limit=200')).body;
  for (const { id, status } of sessions) if (!over.has(status)) await api.post(`/api/sessions/${id}/cancel`);
  while ((await api.get('/api/pool')).body.active > 0) await sleep(50);
}

beforeEach(emptied);

describe('the pool', () => {
  test('twenty starts at once for one place: one session, nineteen 409 with the numbers; nothing is left behind', async () => {
    const before = (await api.get('/api/pool')).body;
    expect(before).toMatchObject({ active: expect.any(Number), max: 200 });
    const max = before.active + 1;
    expect((await api.call('PUT', '/api/pool', { max })).body).toMatchObject({ max });
    const count = async (): Promise<number> => (await api.get('/api/sessions?limit=200')).body.sessions.length;
    const known = await count();
    const answers = await Promise.all(
      Array.from({ length: 20 }, () => api.post('/api/sessions', { agent: 'puppet', prompt: steps({ hang: true }) })),
    );
    const started = answers.filter((answer) => answer.status === 201);
    expect(started).toHaveLength(1);
    const refused = answers.filter((answer) => answer.status !== 201);
    for (const answer of refused) {
      expect(answer).toMatchObject({ status: 409, body: { code: 'pool_full', active: max, max } });
    }
    expect(await count()).toBe(known + 1);
    // The run wire too.
    expect(await api.post('/api/agent/run', { agent: 'puppet', objective: 'x' })).toMatchObject({
      status: 409,
      body: { code: 'pool_full' },
    });

    // ifFull: queue waits in order, and says for what.
    const gate = puppets.gate();
    const waiting = [];
    for (const prompt of [steps({ until: gate.path }, { tell: 'prompt' }), 'two'])
      waiting.push(await api.start({ agent: 'puppet', prompt, ifFull: 'queue' }));
    const [one, two] = waiting;
    expect((await api.get(`/api/sessions/${one.id}`)).body).toMatchObject({
      status: 'queued',
      waiting: { for: 'slot', since: expect.any(String), detail: expect.any(String) },
    });
    const detail = async (id: string): Promise<string> => (await api.get(`/api/sessions/${id}`)).body.waiting.detail;
    expect(await detail(one.id)).toContain('number 1 of 2 in line');
    expect(await detail(two.id)).toContain('number 2 of 2 in line');
    expect((await api.get('/api/pool')).body).toMatchObject({ active: max, max, waiting: 2 });
    // A newcomer does not overtake those who wait, and a queued one can be cancelled.
    await api.post(`/api/sessions/${started[0]?.body.id}/cancel`);
    await api.until(one.id, (event) => event.type === 'functionCall');
    expect((await api.get(`/api/sessions/${two.id}`)).body.status).toBe('queued');
    expect(await detail(two.id)).toContain('number 1 of 1 in line');
    expect((await api.post(`/api/sessions/${two.id}/cancel`)).status).toBe(202);
    expect((await api.until(two.id, isFinish)).at(-2)).toMatchObject({ type: 'error', message: 'cancelled' });
    await gate.open();
    // An idle session gives way to a start that needs its place, and says so; starts that found no room can be read.
    await api.untilStatus(one.id, 'idle');
    expect((await api.get('/api/pool')).body).toMatchObject({ active: max, waiting: 0 });
    const next = await api.start({ agent: 'puppet', prompt: steps({ hang: true }) });
    expect((await api.get(`/api/sessions/${one.id}`)).body).toMatchObject({
      status: 'idle',
      reason: expect.stringContaining(`session ${next.id}`),
    });
    const pool = (await api.get('/api/pool')).body;
    expect(pool).toMatchObject({ active: max, max, capacityReached: { outcome: 'waitlisted' } });
    expect((await api.post('/api/sessions', { agent: 'puppet', prompt: 'x' })).body.code).toBe('pool_full');
    await api.call('PUT', '/api/pool', { max: 200 });
    expect((await api.post('/api/sessions', { agent: 'puppet', prompt: 'x' })).status).toBe(201);
  });

  test('a session that waits in line gets the place of the first that becomes idle', async () => {
    const gate = puppets.gate();
    const { active } = (await api.call('PUT', '/api/pool', { max: 1 })).body;
    await api.call('PUT', '/api/pool', { max: active + 1 });
    await api.start({ agent: 'puppet', prompt: steps({ until: gate.path }, { tell: 'prompt' }) });
    const waiting = await api.start({ agent: 'puppet', prompt: 'x', ifFull: 'queue' });
    expect((await api.get(`/api/sessions/${waiting.id}`)).body.status).toBe('queued');
    await gate.open();
    await api.untilStatus(waiting.id, 'idle');
    const { sessions } = (await api.get('/api/sessions?limit=200')).body;
    const gaveWay = sessions.filter((one: { reason?: string }) => one.reason?.includes(waiting.id) === true);
    expect(gaveWay).toHaveLength(1);
    await api.call('PUT', '/api/pool', { max: 200 });
  });

  test('of idle sessions the one that has been so for longest gives way first, one for each start', async () => {
    await api.call('PUT', '/api/pool', { max: 1 });
    await api.call('PUT', '/api/pool', { max: 200 });
    const ids: string[] = [];
    for (const name of ['one', 'two', 'three']) {
      const { id } = await api.start({ agent: 'puppet', prompt: name });
      await api.untilStatus(id, 'idle');
      ids.push(id);
    }
    const [one = '', two = '', three = ''] = ids;
    // It was the first that was started, and is not the one that has been idle for longest.
    await api.post(`/api/sessions/${one}/messages`, { content: 'again' });
    await api.until(one, (event) => event.type === 'content' && event.content.parts[0].text === 'did: again');
    await api.untilStatus(one, 'idle');
    const { active } = (await api.get('/api/pool')).body;
    await api.call('PUT', '/api/pool', { max: active });
    const reasonOf = async (id: string): Promise<string> => (await api.get(`/api/sessions/${id}`)).body.reason ?? '';
    for (const gone of [two, three, one]) {
      const { id } = await api.start({ agent: 'puppet', prompt: steps({ hang: true }) });
      expect(await reasonOf(gone)).toContain(`session ${id}`);
      expect((await api.get('/api/pool')).body).toMatchObject({ active, max: active });
    }
    await api.call('PUT', '/api/pool', { max: 200 });
  });

  test('a larger pool lets the waiting go on; a smaller one ends nobody', async () => {
    const { active } = (await api.call('PUT', '/api/pool', { max: 1 })).body;
    await api.call('PUT', '/api/pool', { max: 200 });
    const hanging = await api.start({ agent: 'puppet', prompt: steps({ hang: true }) });
    await api.call('PUT', '/api/pool', { max: active + 1 });
    const waiting = await api.start({ agent: 'puppet', prompt: 'x', ifFull: 'queue' });
    await api.post(`/api/sessions/${waiting.id}/messages`, { content: 'meanwhile' });
    expect((await api.get(`/api/sessions/${waiting.id}`)).body).toMatchObject({ status: 'queued', pending: 2 });
    await api.call('PUT', '/api/pool', { max: active + 2 });
    await api.until(
      waiting.id,
      (event) => event.type === 'content' && event.content.parts[0].text === 'did: meanwhile',
    );
    await api.untilStatus(waiting.id, 'idle');
    // What is idle gives its place up; what works keeps it.
    expect((await api.call('PUT', '/api/pool', { max: 1 })).body).toMatchObject({ active: active + 1, max: 1 });
    expect((await api.get(`/api/sessions/${waiting.id}`)).body.reason).toContain('the pool was made smaller');
    expect((await api.get(`/api/sessions/${hanging.id}`)).body.status).toBe('running');
    await api.call('PUT', '/api/pool', { max: 200 });
  });

  test.each([[{ max: 0 }], [{ max: -1 }], [{ max: 1.5 }], [{ max: '3' }], [{}], [{ max: 3, more: 1 }]])(
    'PUT /api/pool %j is 422',
    async (body) => {
      expect((await api.call('PUT', '/api/pool', body)).status).toBe(422);
    },
  );
});

describe('lists and templates', () => {
  test('the list pages through everything once, newest first', async () => {
    const started = [];
    for (let i = 0; i < 5; i++) started.push((await api.start({ agent: 'puppet', prompt: `p${i}` })).id);
    const seen: string[] = [];
    let cursor: string | undefined;
    do {
      const page: any = (
        await api.get(`/api/sessions?limit=2${cursor === undefined ? '' : `&cursor=${encodeURIComponent(cursor)}`}`)
      ).body;
      expect(page.sessions.length).toBeLessThanOrEqual(2);
      seen.push(...page.sessions.map((session: any) => session.id));
      cursor = page.nextCursor;
    } while (cursor !== undefined);
    expect(new Set(seen).size).toBe(seen.length);
    expect(seen.slice(0, 5)).toEqual(started.toReversed());
    for (const query of ['limit=0', 'limit=x', 'limit=-1', 'cursor=x', 'cursor=', 'status=x', 'status=']) {
      expect({ query, status: (await api.get(`/api/sessions?${query}`)).status }).toEqual({ query, status: 400 });
    }
  });

  test('templates: from the manifest, made, changed, used, deleted', async () => {
    expect((await api.get('/api/templates/greeting')).body).toEqual({
      name: 'greeting',
      agent: 'puppet',
      prompt: 'hello',
    });
    const mine = { name: 'mine', agent: 'puppet', prompt: 'from a template' };
    expect(await api.post('/api/templates', mine)).toMatchObject({ status: 201, body: mine });
    expect((await api.post('/api/templates', mine)).status).toBe(409);
    expect((await api.get('/api/templates')).body.templates.map((template: any) => template.name)).toEqual(
      expect.arrayContaining(['greeting', 'mine']),
    );
    const { id } = await api.start({ template: 'mine' });
    await api.until(id, (event) => event.type === 'content' && event.content.parts[0].text === 'did: from a template');
    const own = await api.start({ template: 'mine', prompt: 'my own' });
    await api.until(own.id, (event) => event.type === 'content' && event.content.parts[0].text === 'did: my own');
    expect((await api.call('PUT', '/api/templates/mine', { agent: 'puppet' })).body).toEqual({
      name: 'mine',
      agent: 'puppet',
    });
    expect((await api.call('PUT', '/api/templates/mine', { name: 'other', agent: 'puppet' })).status).toBe(422);
    for (const bad of [
      { name: 'a b', agent: 'puppet' },
      { name: 'x' },
      { name: 'x', agent: 'puppet', program: 'p' },
      { name: 'x', agent: 'none' },
      { name: 'x', agent: 'puppet', more: 1 },
    ]) {
      expect((await api.post('/api/templates', bad)).status).toBe(422);
    }
    expect(await api.post('/api/templates', { name: 'x', agent: 'puppet', tools: { nope: 1 } })).toMatchObject({
      status: 422,
      body: { code: 'invalid_tools' },
    });
    expect([200, 204]).toContain((await api.call('DELETE', '/api/templates/mine')).status);
    for (const method of ['GET', 'DELETE']) {
      expect(await api.call(method, '/api/templates/mine')).toMatchObject({
        status: 404,
        body: { code: 'no_such_template' },
      });
    }
  });
});
