import { realpathSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { type AgentHandlers, serveAgent } from '@concerto/agent-kit';
import type { JsonObject } from '@concerto/base';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { ClaudeAgent } from '../src/index.ts';

const command = join(import.meta.dirname, 'fake-claude.mjs');

let folder: string;
let agent: ClaudeAgent;
let wire: ReturnType<typeof serve>;

beforeEach(async () => {
  folder = realpathSync(await mkdtemp(join(tmpdir(), 'claude-code-')));
  agent = new ClaudeAgent({ command, work_dir: folder });
  wire = serve({ prompt: (prompt, turn) => agent.prompt(prompt, turn), ...agent.handlers });
});

afterEach(async () => {
  wire.end();
  await agent.end();
  await rm(folder, { recursive: true, force: true });
});

/** The agent on a wire of its own; `until` waits for a message. */
function serve(handlers: AgentHandlers) {
  const input = new PassThrough();
  const output = new PassThrough();
  const said: JsonObject[] = [];
  const waiting = new Set<() => void>();
  let rest = '';
  output.setEncoding('utf8').on('data', (text: string) => {
    const lines = (rest + text).split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines) said.push(JSON.parse(line));
    for (const wake of waiting) wake();
  });
  void serveAgent(handlers, { input, output });
  return {
    said,
    send: (message: JsonObject) => void input.write(`${JSON.stringify(message)}\n`),
    end: () => void input.end(),
    until: async (type: string): Promise<JsonObject> => {
      for (;;) {
        const index = said.findIndex((message) => message.type === type);
        if (index >= 0) return said.splice(0, index + 1).at(-1) ?? {};
        await new Promise<void>((wake) => waiting.add(wake));
      }
    },
  };
}

describe('the program as a process', () => {
  test('works in its folder, prompt after prompt in one conversation, and bills each prompt for itself', async () => {
    wire.send({ type: 'prompt', text: 'say one' });
    expect(await wire.until('result')).toMatchObject({
      text: `session-1 in ${folder}: one`,
      cost_usd: 0.5,
      usage: { input_tokens: 0, output_tokens: 1 },
      claude_session: 'session-1',
    });
    wire.send({ type: 'prompt', text: 'say two', context: { branch: 'main' } });
    const second = await wire.until('result');
    expect(second).toMatchObject({ cost_usd: 0 });
    expect(second.text).toContain('"branch": "main"');
  });

  test('one that dies fails its turn with what it said last; the next prompt goes on where it was', async () => {
    wire.send({ type: 'prompt', text: 'die' });
    expect(await wire.until('error')).toMatchObject({
      code: 'exited',
      message: 'claude ended with code 3: out of memory',
    });
    wire.send({ type: 'prompt', text: 'say again' });
    expect(await wire.until('result')).toMatchObject({ text: `session-1 in ${folder}: again` });
  });

  test('an interrupt is confirmed when the program has stopped, and its conversation goes on', async () => {
    wire.send({ type: 'prompt', text: 'work' });
    await wire.until('log');
    wire.send({ type: 'interrupt', id: 'i-1' });
    expect(await wire.until('ack')).toMatchObject({ in_reply_to: 'interrupt', in_reply_to_id: 'i-1' });
    wire.send({ type: 'prompt', text: 'say more' });
    expect(await wire.until('result')).toMatchObject({ text: expect.stringContaining('more') });
  });

  test('a program that does not obey an interrupt is ended', { timeout: 20_000 }, async () => {
    wire.send({ type: 'prompt', text: 'deaf' });
    await wire.until('log');
    wire.send({ type: 'interrupt', id: 'i-1' });
    expect(await wire.until('ack')).toMatchObject({ in_reply_to_id: 'i-1' });
  });

  test.each([
    ['no', 'The supervisor refused this. Go on without it, or ask what to do instead.'],
    ['no, use git mv instead', 'The supervisor refused this: use git mv instead'],
    ['Use git mv instead.', 'The supervisor refused this: Use git mv instead.'],
    [{ approved: false, reason: 'Not on Friday' }, 'The supervisor refused this: Not on Friday'],
  ])('what is said beside a refusal reaches Claude: %j', async (value, message) => {
    wire.send({ type: 'prompt', text: 'use rm -r build' });
    const { id = null } = await wire.until('approval');
    wire.send({ type: 'response', in_reply_to: 'approval', in_reply_to_id: id, value });
    const { text } = await wire.until('result');
    expect(JSON.parse(typeof text === 'string' ? text : '')).toMatchObject({ response: { behavior: 'deny', message } });
  });

  test('a message that comes after the end of its turn goes with the next prompt, and a log says so', async () => {
    wire.send({ type: 'prompt', text: 'say one' });
    await wire.until('result');
    wire.send({ type: 'steer', id: 's-1', text: 'say it in English' });
    expect(await wire.until('ack')).toMatchObject({ in_reply_to_id: 's-1' });
    wire.send({ type: 'prompt', text: 'and go on' });
    expect(await wire.until('log')).toMatchObject({ message: expect.stringContaining('say it in English') });
    expect(await wire.until('result')).toMatchObject({ text: expect.stringContaining('it in English\n\nand go on') });
    wire.send({ type: 'prompt', text: 'say three' });
    expect(await wire.until('result')).toMatchObject({ text: `session-1 in ${folder}: three` });
  });

  test('a message that an interrupt overtook goes with the next prompt', async () => {
    wire.send({ type: 'prompt', text: 'work' });
    await wire.until('log');
    wire.send({ type: 'steer', id: 's-1', text: 'say it in English' });
    await wire.until('ack');
    wire.send({ type: 'interrupt', id: 'i-1' });
    await wire.until('ack');
    wire.send({ type: 'prompt', text: 'and go on' });
    expect(await wire.until('result')).toMatchObject({ text: expect.stringContaining('it in English\n\nand go on') });
  });

  test('what it asks and nobody can answer is answered with an error, so that it does not wait', async () => {
    wire.send({ type: 'prompt', text: 'hook' });
    expect(await wire.until('result')).toMatchObject({ text: expect.stringContaining('cannot serve hook_callback') });
  });
});

describe('before the first prompt', () => {
  test('a program that is not there: how to install it', async () => {
    const missing = new ClaudeAgent({ command: join(folder, 'claude') });
    await expect(missing.start()).rejects.toThrow(/npm install -g @anthropic-ai\/claude-code.*param `command`/);
  });

  test('a folder that is not there is not taken for a missing program', async () => {
    const nowhere = new ClaudeAgent({ command, work_dir: join(folder, 'nowhere') });
    await expect(nowhere.start()).rejects.toThrow(/the folder to work in is not there/);
  });
});
