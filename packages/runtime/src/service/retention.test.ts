import { type EventLog, memoryEventLog } from '@concerto/log';
import { SessionId } from '@concerto/protocol';
import { beforeEach, expect, test } from 'vitest';
import { RuleBook } from '../answer/rule-book.ts';
import { type CatalogEntry, catalogOf } from '../catalog.ts';
import { PoolKeeper } from '../owner/pool-keeper.ts';
import { type Clock, systemClock } from '../ports.ts';
import { SessionStore } from '../session/session-store.ts';
import { Retention, type RetentionRules } from './retention.ts';
import { Sessions } from './sessions.ts';

const echo: CatalogEntry = {
  kind: 'agent',
  name: 'echo',
  spec: { name: 'echo', protocol: 'ndjson', command: 'cat', args: [], env: {}, workingDir: '.', plainText: 'result' },
};
const caller = { actor: 'user:ann', key: undefined };
const day = 86_400_000;

let now: number;
let log: EventLog;
let sessions: Sessions;
/** Another server on the same store. */
let elsewhere: Sessions;
const clock: Clock = { ...systemClock, now: () => now, at: () => () => undefined };

let minted = 0;

function open(on: EventLog = log): Sessions {
  const store = new SessionStore(on);
  const mintId = (prefix: string): string => {
    minted += 1;
    return `${prefix}_${minted}`;
  };
  const pool = new PoolKeeper({ log: on, store, clock, report: () => undefined, initialMax: 100 });
  const catalog = catalogOf([echo]);
  return new Sessions({
    log: on,
    store,
    pool,
    rules: new RuleBook({ log: on, catalog, mintId }),
    catalog,
    clock,
    mintId,
  });
}

beforeEach(() => {
  now = Date.parse('2026-01-01T00:00:00Z');
  log = memoryEventLog({ now: () => now });
  sessions = open();
  elsewhere = open();
});

async function over(id: string): Promise<void> {
  const started = await sessions.start(
    { id: SessionId.parse(id), agent: 'echo', prompt: `the secret of ${id}` },
    caller,
  );
  expect(started.ok).toBe(true);
  await sessions.control(id, 'cancel', caller);
  expect((await sessions.get(id))?.status).toBe('cancelled');
}

async function sweep(rules: RetentionRules): Promise<void> {
  const retention = new Retention({ log, sessions, rules, clock, report: () => undefined });
  await retention.sweep();
  await retention.close();
}

async function held(id: string): Promise<string> {
  const pages = await Promise.all(
    (['domain', 'commands', 'journal', 'events'] as const).map((stream) =>
      log.read({ session: id, stream, after: 0, limit: 1_000 }),
    ),
  );
  return JSON.stringify(pages.map(({ entries }) => entries));
}

test('a session that is over is deleted with all it held, in every process; only who did it is left', async () => {
  await over('s_one');
  expect((await elsewhere.get('s_one'))?.title).toContain('the secret');
  expect(await sessions.delete('s_one', caller)).toEqual({ ok: true, value: undefined });
  for (const server of [sessions, elsewhere, open()]) {
    expect(await server.get('s_one')).toBeUndefined();
    expect(await server.delete('s_one', caller)).toMatchObject({ ok: false, error: { code: 'no_such_session' } });
    const again = await server.start({ id: SessionId.parse('s_one'), agent: 'echo', prompt: 'again' }, caller);
    const message = 'session s_one was deleted, and its id is not given again';
    expect(again).toMatchObject({ ok: false, error: { code: 'id_in_use', message } });
  }
  expect(await held('s_one')).not.toContain('secret');
  expect(await held('s_one')).toContain('user:ann');
  expect((await sessions.list({ limit: 10 })).sessions).toEqual([]);
});

test('one that is not over is refused', async () => {
  await sessions.start({ id: SessionId.parse('s_live'), agent: 'echo', prompt: 'x' }, caller);
  expect(await sessions.delete('s_live', caller)).toMatchObject({ ok: false, error: { code: 'not_over' } });
});

test('what a crash left of a deletion goes with the next sweep', async () => {
  await over('s_one');
  const dying = open({ ...log, trim: () => Promise.reject(new Error('the server died')) });
  await expect(dying.delete('s_one', caller)).rejects.toThrow('died');
  expect(await sessions.get('s_one')).toBeUndefined();
  expect(await held('s_one')).toContain('secret');
  await sweep({});
  expect(await held('s_one')).not.toContain('secret');
});

test('a title and being put away are the session’s, also when it is over, and lists keep to them', async () => {
  await over('s_one');
  await sessions.describe('s_one', { title: 'Better', archived: true }, caller);
  expect(await elsewhere.get('s_one')).toMatchObject({ title: 'Better', archived: true });
  expect((await sessions.list({ limit: 10 })).sessions).toEqual([]);
  expect((await sessions.list({ limit: 10, archived: true })).sessions).toMatchObject([{ id: 's_one' }]);
  await sessions.describe('s_one', { archived: false }, caller);
  expect((await sessions.list({ limit: 10 })).sessions).toMatchObject([{ id: 's_one', title: 'Better' }]);
});

test('what is old is put away, what is older is deleted, and what is not over is left alone', async () => {
  await sessions.start({ id: SessionId.parse('s_live'), agent: 'echo', prompt: 'x' }, caller);
  await over('s_old');
  now += 50 * day;
  await over('s_mid');
  now += 45 * day;
  await over('s_new');
  await sweep({ archiveAfterMs: 30 * day, deleteAfterMs: 90 * day });
  const ids = async (archived: boolean) =>
    (await sessions.list({ limit: 10, archived })).sessions.map(({ id }) => id).toSorted((a, b) => (a < b ? -1 : 1));
  expect(await ids(false)).toEqual(['s_live', 's_new']);
  expect(await ids(true)).toEqual(['s_mid']);
  await sweep({ keepSessions: 1 });
  expect([await ids(false), await ids(true)]).toEqual([['s_live', 's_new'], []]);
});

test('how old one is counts from what last happened in it, not from what was put on record afterwards', async () => {
  await over('s_first');
  now += day;
  await over('s_second');
  now += day;
  // Its agent's bill comes late.
  const usage = { inputTokens: 1, outputTokens: 1 };
  await new SessionStore(log).execute('s_first', { type: 'usage', epoch: 1, usage, at: now, actor: 'runner:r' });
  const [late] = (await sessions.list({ limit: 10 })).sessions.filter(({ id }) => id === 's_first');
  expect(late).toMatchObject({ usage, updatedAt: '2026-01-03T00:00:00.000Z', activeAt: '2026-01-01T00:00:00.000Z' });
  await sweep({ keepSessions: 1 });
  expect((await sessions.list({ limit: 10 })).sessions.map(({ id }) => id)).toEqual(['s_second']);
});

test('by size: the oldest that are over go until the rest fits, and never one that is not over', async () => {
  const words = 'x'.repeat(50_000);
  const begin = (id: string) => sessions.start({ id: SessionId.parse(id), agent: 'echo', prompt: words }, caller);
  for (const id of ['live', 'a', 'b', 'c']) {
    now += day;
    await begin(id);
    if (id !== 'live') await sessions.control(id, 'cancel', caller);
  }
  const full = await log.size();
  await sweep({ keepBytes: full });
  expect((await sessions.list({ limit: 10 })).sessions.map(({ id }) => id)).toEqual(['c', 'b', 'a', 'live']);
  await sweep({ keepBytes: full - 60_000 });
  expect((await sessions.list({ limit: 10 })).sessions.map(({ id }) => id)).toEqual(['c', 'b', 'live']);
  await sweep({ keepBytes: 1 });
  expect((await sessions.list({ limit: 10 })).sessions.map(({ id }) => id)).toEqual(['live']);
});
