import { ok } from '@concerto/base';
import { buildProgram } from '@concerto/language';
import { memoryEventLog } from '@concerto/log';
import { SessionRecord } from '@concerto/protocol';
import { afterEach, expect, test } from 'vitest';
import type { CatalogEntry } from '../src/index.ts';
import { openStage, type Stage } from './session-stage.ts';

const user = { actor: 'user', key: undefined };
let stage: Stage;
afterEach(async () => {
  await stage.close();
});

function program(name: string, source: string): CatalogEntry {
  const { module, diagnostics } = buildProgram({ entry: 'main.conc', readFile: () => source });
  if (module === undefined) throw new Error(diagnostics.map(({ message }) => message).join('\n'));
  return { kind: 'program', name, load: () => ok({ module, projectDirectory: process.cwd() }) };
}

async function started(name: string): Promise<string> {
  const session = await stage.start({ program: name });
  if (!session.ok) throw new Error(session.error.message);
  return session.value.id;
}

async function records(session: string): Promise<readonly SessionRecord[]> {
  const { entries } = await stage.log.read({ session, stream: 'domain', after: 0, limit: 1_000 });
  return entries.map(({ data }) => SessionRecord.parse(JSON.parse(data)));
}

async function rests(session: string): Promise<void> {
  const isPutAway = async (): Promise<boolean> => {
    const last = (await records(session)).at(-1);
    return last?.type === 'released' && last.rests !== undefined;
  };
  await expect.poll(isPutAway, { timeout: 30_000, interval: 50 }).toBe(true);
}

const asks = program(
  'asks',
  `async fn main() -> Result<String, String> {
    emit("progress", "before");
    let first = await emit("ask", "Who?");
    emit("progress", "between");
    let second = await emit("ask", "And?");
    Ok("\${first} \${second}")
}
`,
);

test('a program that waits for a person is put away, is seen to wait, and goes on with the answer', {
  timeout: 120_000,
}, async () => {
  stage = openStage({ agents: [], entries: [asks] });
  const id = await started('asks');
  const first = await stage.until(id, (event) => event.type === 'waitForInput');
  await rests(id);
  expect(await stage.sessions.get(id)).toMatchObject({ status: 'waitingForInput' });
  const request = String(first.requestId);
  expect(await stage.sessions.answer({ session: id, request }, { response: 'Ada' }, user)).toMatchObject({ ok: true });
  const second = await stage.until(id, (event) => event.type === 'waitForInput' && event.requestId !== request);
  await rests(id);
  const again = { session: id, request: String(second.requestId) };
  expect(await stage.sessions.answer(again, { response: 'Bob' }, user)).toMatchObject({ ok: true });
  expect(await stage.until(id, (event) => event.type === 'complete')).toMatchObject({
    result: { outcomes: { parts: [{ text: 'Ada Bob' }] } },
  });
  const { entries } = await stage.log.read({ session: id, stream: 'events', after: 0, limit: 1_000 });
  // What it said before it was put away is not said again.
  for (const word of ['before', 'between']) {
    expect(entries.filter(({ data }) => data.includes(`"title":"progress","data":{"message":"${word}"}`))).toHaveLength(
      1,
    );
  }
});

test('one that sleeps is put away and wakes in time, under another owner too; one that rests can be paused and cancelled', {
  timeout: 120_000,
}, async () => {
  const sleeps = program('sleeps', 'fn main() -> Result<String, String> { std::time::sleep(9000); Ok("slept") }\n');
  const log = memoryEventLog({ now: Date.now });
  stage = openStage({ agents: [], entries: [sleeps, asks], log });
  const [sleeper, asker] = [await started('sleeps'), await started('asks')];
  await rests(sleeper);
  await rests(asker);
  expect(await stage.sessions.get(sleeper)).toMatchObject({ status: 'running' });
  await stage.stop();
  stage = openStage({ agents: [], entries: [sleeps, asks], log });
  expect((await stage.sessions.control(asker, 'pause', user)).ok).toBe(true);
  await expect.poll(async () => (await stage.sessions.get(asker))?.status, { timeout: 30_000 }).toBe('paused');
  expect((await stage.sessions.control(asker, 'cancel', user)).ok).toBe(true);
  await expect.poll(async () => (await stage.sessions.get(asker))?.status, { timeout: 30_000 }).toBe('cancelled');
  await stage.until(sleeper, (event) => event.type === 'complete');
  const done = (await records(sleeper)).find(({ type }) => type === 'ended');
  const begun = (await records(sleeper))[0];
  expect((done?.at ?? 0) - (begun?.at ?? 0)).toBeGreaterThanOrEqual(9_000);
});
