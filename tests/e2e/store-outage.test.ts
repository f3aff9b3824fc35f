import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { type RedisServer, startRedisServer } from '@concerto/log/testing';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Api, apiOf } from '../support/api.ts';
import { steps, writePuppets } from '../support/puppets.ts';
import { type StartedServer, startServer } from '../support/start-server.ts';

/** Longer than a failing store is tried again (6 s) and than a lease runs (8 s); a minute is promised, and is tried by hand. */
const outageMs = Number(process.env.CONCERTO_OUTAGE_MS ?? '10000');

let folder: string;
let redis: RedisServer;
let server: StartedServer;
let api: Api;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'concerto-outage-'));
  await writePuppets(folder);
  redis = await startRedisServer();
  server = await startServer({ folder, args: ['--store', redis.url] });
  api = apiOf(server);
});

afterAll(async () => {
  await redis?.kill('SIGCONT');
  await server?.kill();
  await redis?.dispose();
  if (folder !== undefined) await rm(folder, { recursive: true, force: true });
});

test.each([
  { how: 'hangs', away: () => redis.kill('SIGSTOP'), back: () => redis.kill('SIGCONT') },
  { how: 'is stopped and started again', away: () => redis.stop(), back: () => redis.start() },
])(
  'a store that $how ends no turn: what was said meanwhile is there, and the question can be answered',
  {
    timeout: 120_000 + outageMs * 2,
  },
  async ({ away, back }) => {
    const gate = join(folder, `gate-${Date.now()}`);
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
    await away();
    await writeFile(gate, '');
    await sleep(outageMs);
    await back();
    const isDone = (event: { type: string }): boolean => event.type === 'turnComplete';
    await expect
      .poll(
        async () =>
          (await api.post(`/api/sessions/${asker.id}/requests/${asked.requestId}`, { response: 'this' })).status,
        {
          timeout: 60_000,
          interval: 500,
        },
      )
      .toSatisfy((status: number) => status === 200 || status === 409);
    for (const session of [id, asker.id]) {
      const events = await api.until(session, isDone);
      expect(events.at(-1)).toMatchObject({ outcome: 'done' });
      expect(events.filter(({ status }) => status === 'interrupted' || status === 'failed')).toEqual([]);
      expect(events.map(({ seq }) => seq)).toEqual(events.map((_, index) => index + 1));
    }
    const texts = (await api.until(id, isDone)).flatMap((event) =>
      event.type === 'content' ? [event.content.parts[0].text.split(' ')[0]] : [],
    );
    const counted = (count: number): string[] => Array.from({ length: count }, (_, index) => String(index));
    expect(texts).toEqual([...counted(20), ...counted(200), 'done']);
  },
);
