import { realpathSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { JsonObject } from '@concerto/base';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { Bridge } from '../src/bridge.ts';

/** The stand-in of the driver's own tests. */
const fake = join(import.meta.dirname, '../../../packages/agents/test/agents/claude.mjs');

let folder: string;
let command: string;
let bridge: Bridge;
let said: JsonObject[];
let wake: () => void;

beforeEach(async () => {
  folder = realpathSync(await mkdtemp(join(tmpdir(), 'claude-code-')));
  command = join(folder, 'fake-claude');
  await writeFile(command, `#!/bin/sh\nexec ${process.execPath} ${fake} "$@"\n`, { mode: 0o755 });
  said = [];
  wake = () => {};
  bridge = new Bridge({
    environment: process.env,
    say: (message) => {
      said.push(message);
      wake();
    },
  });
});

afterEach(async () => {
  await bridge.end();
  await rm(folder, { recursive: true, force: true });
});

async function until(type: string): Promise<JsonObject> {
  for (;;) {
    const index = said.findIndex((message) => message.type === type);
    if (index >= 0) return said.splice(0, index + 1).at(-1) ?? {};
    await new Promise<void>((resolve) => {
      wake = resolve;
    });
  }
}

async function begun(): Promise<void> {
  void bridge.take({ type: 'init', params: { command, work_dir: folder } });
  expect(await until('init_ack')).toMatchObject({
    capabilities: expect.arrayContaining(['steer', 'interrupt', 'cancel']),
    version: '9.9',
  });
}

test('what the driver says goes on as it is: words, results, approvals with all that is known, reasons', async () => {
  await begun();
  void bridge.take({ type: 'prompt', text: 'say one' });
  expect(await until('result')).toMatchObject({ text: 'one', conversation: 'c-1' });
  void bridge.take({ type: 'prompt', text: 'use rm -r build' });
  const { id = null, ...asked } = await until('approval');
  expect(asked).toMatchObject({ tool: 'Bash', kind: 'execute', command: 'rm -r build', options: expect.any(Array) });
  const reply = { type: 'response', in_reply_to: 'approval', in_reply_to_id: id };
  void bridge.take({ ...reply, value: 'no', reason: 'not on Friday' });
  expect(await until('result')).toMatchObject({ text: 'The supervisor refused this: not on Friday' });
});

test('an interrupt is confirmed when the program has stopped, and its conversation goes on', async () => {
  await begun();
  void bridge.take({ type: 'prompt', text: 'work' });
  await until('partial');
  void bridge.take({ type: 'interrupt', id: 'i-1' });
  expect(await until('ack')).toMatchObject({ in_reply_to: 'interrupt', in_reply_to_id: 'i-1' });
  void bridge.take({ type: 'prompt', text: 'say more' });
  expect(await until('result')).toMatchObject({ text: 'more' });
});

test('one that dies fails its turn; the next prompt goes on with its conversation in a new process', async () => {
  await begun();
  void bridge.take({ type: 'prompt', text: 'say one' });
  await until('result');
  void bridge.take({ type: 'prompt', text: 'die' });
  expect(await until('error')).toMatchObject({ code: 'exited', message: expect.stringContaining('out of memory') });
  void bridge.take({ type: 'prompt', text: 'show' });
  const { text = '' } = await until('result');
  expect(JSON.parse(typeof text === 'string' ? text : '')).toMatchObject({ options: { resume: 'c-1' }, cwd: folder });
});

test('a program that is not there, and a param that it does not have, are told', async () => {
  void bridge.take({ type: 'init', params: { command: join(folder, 'claude') } });
  expect(await until('error')).toMatchObject({ code: 'spawn-failed' });
  void bridge.take({ type: 'init', params: { modle: 'opus' } });
  expect(await until('error')).toMatchObject({ message: expect.stringContaining('did you mean "model"') });
});
