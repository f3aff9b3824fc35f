import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { apiOf } from '../support/api.ts';
import { type StartedServer, startServer } from '../support/start-server.ts';
import { writeManifest } from '../support/test-agents.ts';

/** Each test starts the server twice, from source. */
const aMachineUnderLoadMs = 120_000;
const store = ['--store', 'sqlite:store.db'];
let folder: string;
let server: StartedServer | undefined;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'concerto-recovery-'));
  await writeManifest(folder);
});

afterEach(async () => {
  await server?.stop();
  server = undefined;
  await rm(folder, { recursive: true, force: true });
});

async function start(): Promise<ReturnType<typeof apiOf>> {
  server = await startServer({ folder, args: store });
  return apiOf(server);
}

test('after kill -9 every unfinished session is settled and says what happened', {
  timeout: aMachineUnderLoadMs,
}, async () => {
  const before = await start();
  const asking = await before.start({ agent: 'ask', prompt: 'paint' });
  const once = await before.start({ agent: 'silent', prompt: 'wait', once: true });
  const idle = await before.start({ agent: 'echo', prompt: 'hello' });
  const cancelling = await before.start({ agent: 'ignores-sigterm', prompt: 'stay' });
  const asked = (await before.until(asking.id, (event) => event.type === 'waitForChoice')).at(-1);
  await before.until(once.id, (event) => event.type === 'functionCall');
  await before.untilStatus(idle.id, 'idle');
  await before.until(cancelling.id, (event) => event.type === 'functionCall');
  await before.post(`/api/sessions/${asking.id}/messages`, { content: 'for later' });
  expect((await before.post(`/api/sessions/${cancelling.id}/cancel`)).status).toBe(202);
  await server?.kill();

  const after = await start();
  const settled = await after.until(asking.id, (event) => event.type === 'status' && event.status === 'interrupted');
  expect(settled).toContainEqual(
    expect.objectContaining({ type: 'requestSettled', requestId: asked.requestId, outcome: 'withdrawn' }),
  );
  expect(await after.post(`/api/sessions/${asking.id}/requests/${asked.requestId}`, { response: 1 })).toMatchObject({
    status: 409,
    body: { code: 'withdrawn' },
  });
  expect((await after.get(`/api/sessions/${asking.id}/messages`)).body.pending).toEqual([
    expect.objectContaining({ content: 'for later', status: 'pending' }),
  ]);
  const failed = await after.until(once.id, (event) => event.type === 'finish');
  expect(failed.slice(-3)).toMatchObject([{ type: 'status', status: 'failed' }, { type: 'error' }, { type: 'finish' }]);
  await after.untilStatus(cancelling.id, 'cancelled');
  expect((await after.get(`/api/sessions/${idle.id}`)).body.status).toBe('idle');

  // A message to a session whose process is gone starts a new one.
  await after.post(`/api/sessions/${idle.id}/messages`, { content: 'again' });
  const again = await after.until(
    idle.id,
    (event) => event.type === 'content' && event.content.parts[0].text === 'echo: again',
  );
  expect(again.map((event) => event.seq)).toEqual(again.map((_, index) => index + 1));
});

test('an answer right after kill -9 and restart is given to the agent or refused, never taken and lost', {
  timeout: aMachineUnderLoadMs,
}, async () => {
  const before = await start();
  const asking = await Promise.all(Array.from({ length: 4 }, () => before.start({ agent: 'ask', prompt: 'paint' })));
  const asked = await Promise.all(
    asking.map(async ({ id }) => ({
      id,
      requestId: (await before.until(id, (event) => event.type === 'waitForChoice')).at(-1).requestId as string,
    })),
  );
  await server?.kill();
  const after = await start();
  const answers = await Promise.all(
    asked.map(({ id, requestId }) => after.post(`/api/sessions/${id}/requests/${requestId}`, { response: 'red' })),
  );
  const fates = await Promise.all(
    asked.map(async ({ id, requestId }, index) => {
      const answer = answers[index];
      const events: { type: string; requestId?: string; outcome?: string }[] = (
        await after.get(`/api/sessions/${id}/events?format=json`)
      ).body.events;
      const settled = events.filter((event) => event.type === 'requestSettled' && event.requestId === requestId);
      const told = settled.map((event) => event.outcome).join();
      if (answer?.status !== 200) return `${answer?.status} ${answer?.body.code} ${told}`;
      const deadline = Date.now() + 10_000;
      for (;;) {
        const { entries } = (await after.get(`/api/sessions/${id}/audit`)).body;
        if (entries.some((entry: { deliveredAt?: string }) => entry.deliveredAt !== undefined)) return 'delivered';
        if (Date.now() > deadline) return 'lost';
        await new Promise((resolve) => setTimeout(resolve, 50));
      }
    }),
  );
  for (const fate of fates) expect(['delivered', '409 withdrawn withdrawn']).toContain(fate);
});

test('no agent outlives its server, however that ended', { timeout: aMachineUnderLoadMs }, async () => {
  const before = await start();
  const { id } = await before.start({ agent: 'forks-a-grandchild', prompt: 'go' });
  await before.until(id, (event) => event.type === 'functionCall');
  await server?.kill();
  await start();
  const { execFileSync } = await import('node:child_process');
  const left = (): string => {
    try {
      return execFileSync('pgrep', ['-f', `forks-a-grandchild.mjs`], { encoding: 'utf8' });
    } catch {
      return ''; // pgrep found nothing.
    }
  };
  await expect.poll(left, { timeout: 20_000 }).toBe('');
});

test('SIGTERM hands over: exit 0, the queue is kept, the turn is settled by the next server', {
  timeout: aMachineUnderLoadMs,
}, async () => {
  const before = await start();
  const { id } = await before.start({ agent: 'silent', prompt: 'wait' });
  await before.until(id, (event) => event.type === 'functionCall');
  await server?.stop();
  const after = await start();
  await after.untilStatus(id, 'interrupted');
  expect((await after.get(`/api/sessions/${id}`)).body.status).toBe('interrupted');
});
