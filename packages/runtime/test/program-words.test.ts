import { ok } from '@concerto/base';
import { buildProgram, readManifest } from '@concerto/language';
import { type EventLog, memoryEventLog } from '@concerto/log';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { openStage, type Stage } from './session-stage.ts';

const source = `
async fn main() -> String {
    emit("progress", "one");
    print("two");
    let answer = await emit("ask", "go on?");
    emit("progress", "three");
    answer
}
`;

let log: EventLog;
let id: string;
const stages: Stage[] = [];

function open(): Stage {
  const { manifest } = readManifest('[project]\nname = "p"\nversion = "1"\nentry = "main.conc"\n');
  const { module, diagnostics } = buildProgram({ entry: 'main.conc', readFile: () => source, manifest });
  if (module === undefined) throw new Error(diagnostics.map(({ message }) => message).join('\n'));
  const load = () => ok({ module, projectDirectory: '.' });
  const stage = openStage({ agents: [], entries: [{ kind: 'program', name: 'p', load }], log });
  stages.push(stage);
  return stage;
}

/** The first owner has left it at its question. */
beforeEach(async () => {
  log = memoryEventLog({ now: Date.now });
  const stage = open();
  const started = await stage.start({ program: 'p', prompt: 'go' });
  if (!started.ok) throw new Error(JSON.stringify(started.error));
  id = started.value.id;
  await stage.until(id, ({ type }) => type === 'waitForInput');
  await stage.stop();
});

afterEach(async () => {
  for (const stage of stages.splice(0)) await stage.close().catch(() => undefined);
});

async function said(): Promise<readonly string[]> {
  const { entries } = await log.read({ session: id, stream: 'events', after: 0, limit: 1_000 });
  return entries.flatMap(({ data }) => {
    const { status, data: fields } = JSON.parse(data);
    if (fields?.level === 'info') return [fields.message];
    return typeof status === 'string' && /^(one|two|three)$/.test(status) ? [status] : [];
  });
}

/** The next owner takes it to its end. */
async function goOn(): Promise<readonly string[]> {
  const stage = open();
  const { requests = [] } = (await stage.sessions.requests(id)) ?? {};
  const target = { session: id, request: String(requests[0]?.requestId) };
  expect(await stage.sessions.answer(target, { response: 'yes' }, { actor: 'user', key: undefined })).toEqual({
    ok: true,
  });
  await stage.until(id, ({ type }) => type === 'turnComplete');
  return await said();
}

async function heard(): Promise<{ readonly run: string; readonly step: number; readonly index: number }> {
  return JSON.parse((await log.getDocument('heard', id))?.value ?? '{}');
}

async function put(value: object | undefined): Promise<void> {
  const text = value === undefined ? undefined : JSON.stringify(value);
  await log.putDocument({ collection: 'heard', key: id, value: text });
}

test('what a program said and the log heard is not said again', async () => {
  expect(await said()).toEqual(['one', 'two']);
  expect(await goOn()).toEqual(['one', 'two', 'three']);
});

test('what is in its journal and was not heard is said by the next owner', async () => {
  const last = await heard();
  await put({ ...last, index: last.index - 1 });
  expect(await goOn()).toEqual(['one', 'two', 'two', 'three']);
});

test('all of it, where nothing was heard', async () => {
  await put({ ...(await heard()), step: 0, index: 0 });
  expect(await goOn()).toEqual(['one', 'two', 'one', 'two', 'three']);
});

test('a run that an older version began is taken as heard', async () => {
  await put(undefined);
  expect(await goOn()).toEqual(['one', 'two', 'three']);
});
