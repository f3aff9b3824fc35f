import { ok } from '@concerto/base';
import { buildProgram } from '@concerto/language';
import { afterEach, expect, test } from 'vitest';
import type { CatalogEntry } from '../src/index.ts';
import { openStage, type Stage } from './session-stage.ts';

let stage: Stage | undefined;
afterEach(async () => {
  await stage?.close();
  stage = undefined;
});

function program(name: string, source: string): CatalogEntry {
  const { module, diagnostics } = buildProgram({ entry: 'main.conc', readFile: () => source });
  if (module === undefined) throw new Error(diagnostics.map(({ message }) => message).join('\n'));
  return { kind: 'program', name, load: () => ok({ module, projectDirectory: process.cwd() }) };
}

const endless = program('endless', 'fn main() {\n    let mut n = 0;\n    while true {\n        n = n + 1;\n    }\n}\n');
const chatty = program('chatty', 'fn main() {\n    while true { emit("again", "and again"); }\n}\n');
const plain = program('plain', 'fn main() -> Result<String, String> { Ok("plain") }\n');

async function started(name: string): Promise<string> {
  const session = await stage?.start({ program: name });
  if (session?.ok !== true) throw new Error(`${name} was not started`);
  return session.value.id;
}

test('an endless loop ends with an error that names the line, and others go on beside it', {
  timeout: 120_000,
}, async () => {
  stage = openStage({ agents: [], entries: [endless, plain] });
  const loop = await started('endless');
  const beside = await started('plain');
  await stage.until(beside, (event) => event.type === 'complete');
  const error = await stage.until(loop, (event) => event.type === 'error');
  expect(error.message).toMatch(/more than 100000000 steps.*main\.conc:[345]/);
});

test('a program that emits without end is held by the log’s pace, and can be cancelled', {
  timeout: 60_000,
}, async () => {
  stage = openStage({ agents: [], entries: [chatty, plain] });
  const id = await started('chatty');
  await stage.until(id, (event) => event.title === 'again');
  const beside = await started('plain');
  await stage.until(beside, (event) => event.type === 'complete');
  const cancelled = await stage.sessions.control(id, 'cancel', { actor: 'user', key: undefined });
  expect(cancelled.ok).toBe(true);
  await stage.until(id, (event) => event.type === 'finish');
});
