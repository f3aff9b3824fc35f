import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type AgentRunHandle, AgentService, SSEAgentRun } from '@concerto/client';
import { afterAll, expect, test } from 'vitest';
import { startServer } from '../support/start-server.ts';
import { writeManifest } from '../support/test-agents.ts';

const folder = await mkdtemp(join(tmpdir(), 'concerto-runs-'));
await writeManifest(folder);
const server = await startServer({ folder, args: ['--store', `sqlite:${join(folder, 'runs.db')}`] });
afterAll(async () => {
  await server.stop();
  await rm(folder, { recursive: true, force: true });
});

const withToken: typeof fetch = (input, init) =>
  fetch(input, { ...init, headers: [...new Headers(init?.headers), ['authorization', `Bearer ${server.token}`]] });

function start(agent: string, objective: string): SSEAgentRun {
  const service = new AgentService();
  service.configureRemote(server.url, withToken);
  const run = service.startRun({ kind: 'content', objective: { parts: [{ text: objective }] }, target: { agent } });
  if (!(run instanceof SSEAgentRun)) throw new Error('a remote run was expected');
  return run;
}

function typesOf(run: AgentRunHandle): string[] {
  const types: string[] = [];
  for (const type of ['start', 'functionCall', 'functionResult', 'complete', 'error', 'finish'] as const) {
    run.events.on(type, () => types.push(type));
  }
  return types;
}

test('a run of the library works on the real server, from its start to its end', async () => {
  const run = start('echo', 'say hello');
  const types = typesOf(run);
  await run.connect();
  expect(types).toEqual(['start', 'functionCall', 'functionResult', 'complete', 'finish']);
});

test('an approval is answered with a bare boolean', async () => {
  const run = start('approve', 'ship it');
  const types = typesOf(run);
  let asked = 0;
  run.events.on('queryConsent', async () => {
    asked++;
    await new Promise((resolve) => setTimeout(resolve, 50));
    return true;
  });
  await run.connect();
  expect(asked).toBe(1);
  expect(types.at(-2)).toBe('complete');
});

test('an abort ends the run here and there', async () => {
  const run = start('ask', 'what now');
  run.events.on('waitForInput', () => {
    run.abort();
    return new Promise(() => {});
  });
  run.events.on('waitForChoice', () => {
    run.abort();
    return new Promise(() => {});
  });
  await expect(run.connect()).rejects.toMatchObject({ name: 'AbortError' });
  await expect
    .poll(async () => {
      const answer = await withToken(`${server.url}/api/sessions/${run.runId}`);
      const session: unknown = await answer.json();
      return session;
    })
    .toMatchObject({ status: 'cancelled' });
});
