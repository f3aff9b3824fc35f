import { replaceableLog } from '@concerto/log/testing';
import { afterEach, describe, expect, test } from 'vitest';
import { People } from '../src/people/people.ts';
import { type CalledApp, type CallInit, callApp, token } from './called-app.ts';

const opened: CalledApp[] = [];
const open = (...options: Parameters<typeof callApp>): CalledApp => {
  const app = callApp(...options);
  opened.push(app);
  return app;
};
afterEach(async () => {
  for (const app of opened.splice(0)) await app.close();
});

/** Whatever of it an answer has. */
type Body = {
  readonly id: string;
  readonly token: string;
  readonly by: string;
  readonly paths: Readonly<Record<string, Readonly<Record<string, { readonly 'x-role'?: unknown }>>>>;
  readonly entries: readonly { readonly actor: string }[];
  readonly events: readonly { readonly type: string; readonly message?: { readonly by: string } }[];
  readonly tokens: readonly unknown[];
};

// oxlint-disable-next-line typescript/no-unsafe-type-assertion -- what is missing fails the test that reads it
const json = async (response: Response): Promise<Body> => (await response.json()) as Body;

type As = (path: string, init?: CallInit) => Promise<Response>;

function holding(app: CalledApp, shown: string): As {
  return (path, init = {}) =>
    app.call(path, { ...init, headers: { authorization: `Bearer ${shown}`, ...init.headers } });
}

async function add(app: CalledApp, name: string, role: string): Promise<{ readonly token: string; readonly as: As }> {
  const response = await app.ask('/api/tokens', { method: 'POST', body: { name, role } });
  expect(response.status).toBe(201);
  const { token: made } = await json(response);
  return { token: made, as: holding(app, made) };
}

type Call = { readonly method: string; readonly path: string; readonly role: unknown };

async function callsOf(app: CalledApp): Promise<readonly Call[]> {
  const { paths } = await json(await app.call('/api/openapi.json'));
  return Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, { 'x-role': role }]) => ({ method: method.toUpperCase(), path, role })),
  );
}

const ranks = ['anyone', 'observer', 'agent', 'member', 'owner'];

test('every call of the API says who may, and nobody else does', async () => {
  const app = open();
  const calls = await callsOf(app);
  expect(calls.filter(({ role }) => !ranks.includes(String(role)))).toEqual([]);
  const people = {
    observer: await add(app, 'ola', 'observer'),
    agent: await add(app, 'claude', 'agent'),
    member: await add(app, 'mia', 'member'),
  };
  const owner = await add(app, 'oscar', 'owner');
  const wrong: string[] = [];
  for (const { method, path, role } of calls) {
    // A stream has no end to wait for; what is asked of it here is whether it would be given.
    const asked = path.endsWith('/events') ? 'HEAD' : method;
    const place = path.replaceAll(/\{\w+\}/g, 'none');
    const init = { method: asked, ...(asked === 'GET' || asked === 'HEAD' ? {} : { body: {} }) };
    const needs = ranks.indexOf(String(role));
    const nobody = (await app.call(place, init)).status;
    if ((nobody === 401) !== needs > 0) wrong.push(`${method} ${path} without a token: ${nobody}`);
    for (const [name, { as }] of Object.entries({ ...people, owner })) {
      const { status, headers } = await as(place, init);
      if ((status === 403) !== needs > ranks.indexOf(name)) wrong.push(`${method} ${path} as ${name}: ${status}`);
      // Described, and nobody there who answers but the page.
      const isPage = headers.get('content-type')?.startsWith('text/html') === true;
      if (status === 405 || isPage) wrong.push(`${method} ${path} has no route`);
    }
  }
  expect(wrong).toEqual([]);
});

test('what somebody may not do is refused with what to do about it', async () => {
  const app = open();
  const { as } = await add(app, 'ola', 'observer');
  const refused = await as('/api/sessions', { method: 'POST', body: { agent: 'echo', prompt: 'x' } });
  expect(await refused.json()).toMatchObject({
    status: 403,
    code: 'forbidden',
    name: 'ola',
    role: 'observer',
    needs: 'agent',
    detail: expect.stringContaining('concerto tokens add ola --role agent'),
  });
  const { as: claude } = await add(app, 'claude', 'agent');
  const start = (more: object) =>
    claude('/api/sessions', { method: 'POST', body: { agent: 'echo', prompt: 'x', ...more } });
  expect((await start({ supervisor: null })).status).toBe(403);
  expect((await start({ budget: { usd: 1 } })).status).toBe(403);
  expect((await start({ rules: [{ decide: 'allow' }] })).status).toBe(403);
  expect((await start({})).status).toBe(201);
  const { as: mia } = await add(app, 'mia', 'member');
  const withRules = { agent: 'echo', prompt: 'x', rules: [{ tool: 'Read', decide: 'allow' }], ifFull: 'queue' };
  expect((await mia('/api/sessions', { method: 'POST', body: withRules })).status).toBe(201);
  const path = '/api/sessions/none/requests/none';
  const always = { method: 'POST', body: { response: true, remember: 'always' } };
  expect((await mia(path, always)).status).toBe(403);
  expect((await mia(path, { ...always, body: { response: true, remember: 'session' } })).status).toBe(404);
  expect((await app.ask(path, always)).status).toBe(404);
});

test('what is asked is in the log under the name of whoever asked', async () => {
  const app = open();
  const { as } = await add(app, 'ann', 'member');
  const started = await as('/api/sessions', { method: 'POST', body: { agent: 'echo', prompt: 'x' } });
  const { id } = await json(started);
  expect(await json(await as('/api/me'))).toEqual({ name: 'ann', role: 'member' });
  expect(await json(await app.ask('/api/me'))).toEqual({ name: 'owner', role: 'owner' });
  await app.ask(`/api/sessions/${id}/messages`, { method: 'POST', body: { content: 'more' } });
  await as(`/api/sessions/${id}/cancel`, { method: 'POST' });
  const { entries } = await json(await as(`/api/sessions/${id}/audit`));
  const actors = new Set(entries.map(({ actor }) => actor));
  expect([...actors]).toEqual(expect.arrayContaining(['user:ann', 'user:owner']));
  const { events } = await json(await as(`/api/sessions/${id}/events?format=json`));
  const of = (type: string) => events.filter((event) => event.type === type);
  expect(of('message').map(({ message }) => message?.by)).toContain('user:owner');
  expect(of('status').at(-1)).toMatchObject({ status: 'cancelled', by: 'user:ann' });
});

test('a key of one is not a key of another', async () => {
  const app = open();
  const { as } = await add(app, 'ann', 'member');
  const key = { headers: { 'idempotency-key': 'same' }, method: 'POST' };
  const { id } = await json(await app.ask('/api/sessions', { ...key, body: { agent: 'echo', prompt: 'x' } }));
  const path = `/api/sessions/${id}/messages`;
  const mine = await json(await app.ask(path, { ...key, body: { content: 'a' } }));
  const hers = await json(await as(path, { ...key, body: { content: 'b' } }));
  expect(hers.id).not.toBe(mine.id);
  expect(hers).toMatchObject({ content: 'b', by: 'user:ann' });
});

describe('a token', () => {
  test('is told once, and the store has neither it nor its cookie', async () => {
    const app = open();
    const { token: made } = await add(app, 'ann', 'member');
    const cookie = await signedIn(app, made);
    const { entries } = await app.context.log.read({ session: '@people', stream: 'domain', after: 0, limit: 10 });
    const stored = JSON.stringify(entries);
    expect(stored).toContain('ann');
    expect(stored).not.toContain(made);
    expect(stored).not.toContain(/=([^.]+)/.exec(cookie)?.[1]);
    const { tokens } = await json(await app.ask('/api/tokens'));
    expect(tokens).toEqual([{ name: 'ann', role: 'member', addedAt: expect.any(String), addedBy: 'user:owner' }]);
  });

  test.each([
    ['ann', 'name_taken'],
    ['ANN', 'name_taken'],
    ['owner', 'name_taken'],
  ])('for %s a second time is refused: %s', async (name, code) => {
    const app = open();
    await add(app, 'ann', 'member');
    const response = await app.ask('/api/tokens', { method: 'POST', body: { name, role: 'owner' } });
    expect(response.status).toBe(409);
    expect(await response.json()).toMatchObject({ code });
  });

  test('that is revoked is no token any more, nor is its cookie; another under the name is another', async () => {
    const app = open();
    const first = await add(app, 'ann', 'member');
    const cookie = await signedIn(app, first.token);
    expect(await json(await app.call('/api/me', { headers: { cookie } }))).toEqual({ name: 'ann', role: 'member' });
    expect((await app.ask('/api/tokens/ann', { method: 'DELETE' })).status).toBe(204);
    expect((await app.ask('/api/tokens/ann', { method: 'DELETE' })).status).toBe(404);
    expect((await first.as('/api/me')).status).toBe(401);
    expect((await app.call('/api/me', { headers: { cookie } })).status).toBe(401);
    const second = await add(app, 'ann', 'observer');
    expect((await first.as('/api/me')).status).toBe(401);
    expect(await json(await second.as('/api/me'))).toEqual({ name: 'ann', role: 'observer' });
  });

  test('counts at each server of the store, and after a restart', async () => {
    const app = open();
    const { token: made } = await add(app, 'ann', 'member');
    const elsewhere = await People.open(app.context.log);
    expect(await elsewhere.whose(made, 'token')).toMatchObject({ name: 'ann', role: 'member' });
    const { token: later } = await add(app, 'bob', 'observer');
    expect(await elsewhere.whose(later, 'token')).toMatchObject({ name: 'bob' });
    await app.ask('/api/tokens/ann', { method: 'DELETE' });
    await elsewhere.refresh();
    expect(await elsewhere.whose(made, 'token')).toBeUndefined();
    elsewhere.close();
  });
});

test('of a store that came back with less: who is not in it may not call, others can be added, and cookies stay', async () => {
  const { log, replace } = replaceableLog();
  const people = await People.open(log);
  const added = async (name: string): Promise<string> => {
    const made = await people.add({ name, role: 'member' }, 'user:owner');
    return made.ok ? made.value.token : '';
  };
  const [ann] = [await added('ann'), await added('bob')];
  let changes = 0;
  people.onChange(() => changes++);
  replace();
  await expect.poll(() => changes).toBeGreaterThan(0);
  expect(await people.whose(ann, 'token')).toBeUndefined();
  expect(people.list()).toEqual([]);
  const cleo = await added('cleo');
  expect(await people.whose(cleo, 'token')).toMatchObject({ name: 'cleo', id: 1 });
  await expect.poll(async () => (await People.open(log)).instance).toBe(people.instance);
  people.close();
});

async function signedIn(app: CalledApp, shown: string): Promise<string> {
  const response = await app.call(`/?token=${shown}`);
  expect(response.status).toBe(302);
  return (response.headers.get('set-cookie') ?? '').split(';')[0] ?? '';
}

test('the server’s own token stays what it was', async () => {
  const app = open();
  expect((await app.call('/api/me', { headers: { cookie: await signedIn(app, token) } })).status).toBe(200);
});
