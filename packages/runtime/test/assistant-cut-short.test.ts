import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type EventLog, memoryEventLog } from '@concerto/log';
import type { Script } from '@concerto/models/testing';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { CatalogEntry } from '../src/index.ts';
import { type AssistantStage, type AssistantStageOptions, openAssistantStage } from './assistant-stage.ts';

let stage: AssistantStage;
let log: EventLog;
let kept: EventLog;
let directory: string;

beforeEach(() => {
  log = memoryEventLog({ now: Date.now });
  kept = { ...log, close: async () => {} };
  directory = mkdtempSync(join(tmpdir(), 'concerto-cut-'));
});

afterEach(async () => {
  await stage.close();
  await log.close();
  rmSync(directory, { recursive: true, force: true });
});

async function open(script: Script, options: AssistantStageOptions = {}): Promise<void> {
  stage = await openAssistantStage(script, {
    log: kept,
    directory,
    functions: ['ask_user', 'run_command', 'edit_graph'],
    ...options,
  });
}

/** A planned stop, and the next owner, whose model says this. */
async function restart(script: Script, options?: AssistantStageOptions): Promise<void> {
  await stage.close();
  await open(script, options);
}

const ask = { tool: 'ask_user', arguments: { question: 'Which?' } };
const run = (command: string) => ({ tool: 'run_command', arguments: { command: ['sh', '-c', command] } });

async function requests(id: string): Promise<readonly { requestId: string; about: string }[]> {
  const open_ = (await stage.sessions.requests(id))?.requests ?? [];
  return open_.map(({ requestId, ...rest }) => ({ requestId, about: JSON.stringify(rest) }));
}

async function answer(id: string, about: string, response: string | boolean): Promise<void> {
  const request = (await requests(id)).find((one) => one.about.includes(about))?.requestId ?? `none about ${about}`;
  const answered = await stage.sessions.answer(
    { session: id, request },
    { response },
    { actor: 'user', key: undefined },
  );
  if (!answered.ok) throw new Error(answered.error.message);
}

const isAsked = ({ type }: Record<string, unknown>): boolean => type === 'waitForInput' || type === 'queryConsent';

async function afterAsking(id: string, count: number): Promise<void> {
  let asked = 0;
  await stage.until(id, (event) => isAsked(event) && ++asked === count);
}

/** What the model was told of its calls. */
const told = (): unknown => {
  const messages = stage.model.requests[0]?.body.messages;
  return Array.isArray(messages) ? messages.flatMap(({ role, content }) => (role === 'tool' ? [content] : [])) : [];
};

test('a command that was allowed and ran is not run again, and the model hears that nobody knows; the question stays', async () => {
  await open([[run('echo ran >> ran.txt; exec sleep 60'), ask]]);
  const id = await stage.begin('Go');
  await afterAsking(id, 2);
  await answer(id, 'ran.txt', true);
  await expect.poll(() => readFileSync(join(directory, 'ran.txt'), 'utf8'), { timeout: 10_000 }).toBe('ran\n');
  await restart(['Done.']);
  await expect
    .poll(() => requests(id), { timeout: 10_000 })
    .toMatchObject([{ about: expect.stringContaining('Which?') }]);
  await answer(id, 'Which?', 'this');
  await stage.afterTurns(id, 1);
  expect(told()).toEqual(['lost: it may or may not have been done', 'this']);
  expect(readFileSync(join(directory, 'ran.txt'), 'utf8')).toBe('ran\n');
  expect(stage.model.requests).toHaveLength(1);
});

test('a command that waits for leave runs once it has it, under the next owner; one that was refused does not', async () => {
  await open([[run('echo yes >> ran.txt'), run('echo no >> ran.txt')]]);
  const id = await stage.begin('Go');
  await afterAsking(id, 2);
  await restart(['Done.']);
  await answer(id, 'echo no', false);
  await answer(id, 'echo yes', true);
  const events = await stage.afterTurns(id, 1);
  expect(readFileSync(join(directory, 'ran.txt'), 'utf8')).toBe('yes\n');
  expect(told()).toEqual([expect.stringContaining('"exit_code":0'), expect.stringContaining('did not allow')]);
  expect(events.filter(isAsked)).toHaveLength(2);
});

test('what a server asked while it worked goes with the server', async () => {
  const asking = {
    transport: 'stdio',
    command: process.execPath,
    args: [join(import.meta.dirname, 'agents/asking-server.mjs')],
  };
  const options = { servers: { asking } };
  const [tool] = await toolsOf(options);
  await open([[{ tool: tool ?? '', arguments: {} }, ask]], options);
  const id = await stage.begin('Go');
  await afterAsking(id, 2);
  await restart(['Done.'], options);
  await expect
    .poll(() => requests(id), { timeout: 15_000 })
    .toMatchObject([{ about: expect.stringContaining('Which?') }]);
  await answer(id, 'Which?', 'this');
  const events = await stage.afterTurns(id, 1);
  expect(told()).toEqual(['lost: it may or may not have been done', 'this']);
  const settled = events.filter(({ type }) => type === 'requestSettled');
  expect(settled).toMatchObject([
    { outcome: 'withdrawn', reason: 'the call was lost with its owner' },
    { outcome: 'answered' },
  ]);
});

test('a pause that comes while the next owner brings it up holds it, and its turn is not lost', async () => {
  await open([[ask]]);
  const id = await stage.begin('Go');
  await afterAsking(id, 1);
  const server = join(import.meta.dirname, 'agents/asking-server.mjs');
  const args = ['-c', 'sleep 1; exec "$0" "$1"', process.execPath, server];
  await restart(['Done.'], { servers: { slow: { transport: 'stdio', command: 'sh', args } } });
  const starts = async (): Promise<number> => {
    const { entries } = await log.read({ session: id, stream: 'domain', after: 0, limit: 1_000 });
    return entries.filter(({ type }) => type === 'start-requested').length;
  };
  await expect.poll(starts, { timeout: 10_000, interval: 10 }).toBe(2);
  await stage.control(id, 'pause');
  await stage.reached(id, 'paused');
  expect(await requests(id)).toHaveLength(1);
  await stage.control(id, 'resume');
  await answer(id, 'Which?', 'this');
  await stage.afterTurns(id, 1);
  expect(told()).toEqual(['this']);
});

/** As the model sees them. */
async function toolsOf(options: AssistantStageOptions): Promise<readonly string[]> {
  const look = await openAssistantStage(['Hi.'], options);
  const id = await look.begin('Hi');
  await look.afterTurns(id, 1);
  const tools = look.model.requests[0]?.body.tools;
  await look.close();
  return Array.isArray(tools) ? tools.map((tool) => String(Object(tool).function.name)) : [];
}

test('an agent that was called beside the question and was lost is not called again', async () => {
  const file = fileURLToPath(new URL('../../agents/test/agents/ndjson.mjs', import.meta.url));
  const spec = { name: 'coder', command: process.execPath, args: [file] };
  const coder: CatalogEntry = { kind: 'agent', name: 'coder', spec, initTimeoutMs: 10_000 };
  const options = { agents: ['coder'], others: () => [coder] };
  await open([[{ tool: 'coder', arguments: { prompt: 'permission' } }, ask]], options);
  const id = await stage.begin('Go');
  await afterAsking(id, 1);
  const child = String((await stage.until(id, ({ childSession }) => childSession !== undefined)).childSession);
  await expect.poll(async () => (await stage.sessions.requests(child))?.requests.length, { timeout: 10_000 }).toBe(1);
  await restart(['Done.'], options);
  await answer(id, 'Which?', 'this');
  await stage.afterTurns(id, 1);
  const { sessions } = await stage.sessions.list({ parent: id, limit: 10 });
  expect(sessions.map((session) => session.id)).toEqual([child]);
  expect(told()).toEqual([expect.stringMatching(/stopped with its runner|lost/), 'this']);
});

test('one that is paused while it asks takes the answer under the next owner, and goes on when it is resumed', async () => {
  await open([[ask]]);
  const id = await stage.begin('Go');
  await afterAsking(id, 1);
  await stage.control(id, 'pause');
  await stage.reached(id, 'paused');
  await restart(['Done.']);
  await answer(id, 'Which?', 'this');
  await stage.control(id, 'resume');
  await stage.afterTurns(id, 1);
  expect(told()).toEqual(['this']);
});

test('one that is interrupted under the next owner is over, and so is what it asked', async () => {
  await open([[ask]]);
  const id = await stage.begin('Go');
  await afterAsking(id, 1);
  await restart([]);
  await stage.control(id, 'interrupt');
  await stage.reached(id, 'interrupted');
  const events = await stage.afterTurns(id, 1);
  expect(events.findLast(({ type }) => type === 'turnComplete')).toMatchObject({ outcome: 'interrupted' });
  expect(events.filter(({ type }) => type === 'requestSettled')).toMatchObject([{ outcome: 'withdrawn' }]);
  expect(stage.model.requests).toEqual([]);
});
