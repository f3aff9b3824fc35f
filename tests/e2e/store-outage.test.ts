import { execFileSync } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { startRedisServer } from '@concerto/log/testing';
import Database from 'libsql';
import { afterEach, expect, test } from 'vitest';
import { apiOf } from '../support/api.ts';
import { steps, writePuppets } from '../support/puppets.ts';
import { type StartedServer, startServer } from '../support/start-server.ts';

/** Longer than a failing store is tried again (6 s) and than a lease runs (8 s); a minute is promised, and is tried by hand. */
const outageMs = Number(process.env.CONCERTO_OUTAGE_MS ?? '10000');

const cleanUp: (() => unknown)[] = [];
afterEach(async () => {
  for (const action of cleanUp.splice(0).reverse()) await action();
});

type Outage = { readonly server: StartedServer; readonly away: () => unknown; readonly back: () => unknown };

async function onRedis(folder: string, how: 'hangs' | 'stops'): Promise<Outage> {
  const redis = await startRedisServer();
  cleanUp.push(() => redis.dispose());
  const server = await startServer({ folder, args: ['--store', redis.url] });
  if (how === 'stops') return { server, away: () => redis.stop(), back: () => redis.start() };
  cleanUp.push(() => redis.kill('SIGCONT'));
  return { server, away: () => redis.kill('SIGSTOP'), back: () => redis.kill('SIGCONT') };
}

async function onSqlite(folder: string, how: 'full' | 'held'): Promise<Outage> {
  const file = join(folder, 'store.db');
  const server = await startServer({ folder, args: ['--store', `sqlite:${file}`] });
  if (how === 'held') {
    const other = new Database(file);
    cleanUp.push(() => other.close());
    return { server, away: () => other.exec('BEGIN IMMEDIATE'), back: () => other.exec('ROLLBACK') };
  }
  // No file of it may grow: what it writes finds no room.
  const limit = (size: string) => execFileSync('prlimit', ['--pid', String(server.pid), `--fsize=${size}:`]);
  return { server, away: () => limit('4096'), back: () => limit('unlimited') };
}

const isDone = (event: { type: string }): boolean => event.type === 'turnComplete';

test.each<[string, (folder: string) => Promise<Outage>]>([
  ['Redis that hangs', (folder) => onRedis(folder, 'hangs')],
  ['Redis that is stopped and started again', (folder) => onRedis(folder, 'stops')],
  ['file on a disk that is full', (folder) => onSqlite(folder, 'full')],
  ['file that another program holds', (folder) => onSqlite(folder, 'held')],
])(
  'a %s ends no turn: what was said meanwhile is there, and the question can be answered',
  { timeout: 180_000 + outageMs * 2 },
  async (_, open) => {
    const folder = await mkdtemp(join(tmpdir(), 'concerto-outage-'));
    cleanUp.push(() => rm(folder, { recursive: true, force: true }));
    await writePuppets(folder);
    const { server, away, back } = await open(folder);
    cleanUp.push(() => server.kill());
    const api = apiOf(server);
    const gate = join(folder, 'gate');
    const talks = steps(
      { many: 20 },
      { until: gate },
      { many: 200, bytes: 100 },
      { say: { type: 'result', text: 'done' } },
    );
    const { id } = await api.start({ agent: 'puppet', prompt: talks });
    await api.until(id, (event) => event.type === 'content' && event.content.parts[0].text === '19 ');
    const question = { type: 'question', id: 'q', question: 'Which?' };
    const asker = await api.start({ agent: 'puppet', prompt: steps({ ask: question }, { tell: 'answer' }) });
    const asked = (await api.until(asker.id, (event) => event.type === 'waitForInput')).at(-1);
    const answer = () => api.post(`/api/sessions/${asker.id}/requests/${asked.requestId}`, { response: 'this' });
    await away();
    await writeFile(gate, '');
    await sleep(outageMs / 2);
    // Nobody is told that something was done, and the server answers all the same.
    expect((await fetch(`${server.url}/healthz`)).status).toBe(200);
    expect((await fetch(`${server.url}/readyz`)).status).toBeGreaterThanOrEqual(503);
    expect((await answer()).status).toBeGreaterThanOrEqual(503);
    await sleep(outageMs / 2);
    await back();
    await expect
      .poll(async () => (await answer()).status, { timeout: 60_000, interval: 500 })
      .toSatisfy((status: number) => status === 200 || status === 409);
    for (const session of [id, asker.id]) {
      const events = await api.until(session, isDone);
      expect(events.at(-1)).toMatchObject({ outcome: 'done' });
      expect(events.filter(({ status }) => status === 'interrupted' || status === 'failed')).toEqual([]);
      expect(events.map(({ seq }) => seq)).toEqual(events.map((__, index) => index + 1));
    }
    const texts = (await api.until(id, isDone)).flatMap((event) =>
      event.type === 'content' ? [event.content.parts[0].text.split(' ')[0]] : [],
    );
    const counted = (count: number): string[] => Array.from({ length: count }, (__, index) => String(index));
    expect(texts).toEqual([...counted(20), ...counted(200), 'done']);
  },
);
