import { existsSync } from 'node:fs';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { JsonObject } from '@concerto/base';
import { afterEach, describe, expect, test } from 'vitest';
import type { Script } from '../../packages/models/src/testing/scripted-model-server.ts';
import { builtConcerto } from '../support/built-concerto.ts';
import {
  type Agent,
  claude,
  descendants,
  isAlive,
  middleware,
  openPlace,
  type Place,
  startAgent,
} from './real-claude.ts';

const withinMs = 120_000;

let place: Place;
let agent: Agent | undefined;

afterEach(async () => {
  await agent?.stop();
  agent = undefined;
  await place.close();
});

/** The agent after its init, with a model that says this. */
async function start(script: Script, params: JsonObject = {}): Promise<Agent> {
  place = await openPlace(script);
  agent = startAgent(place.env);
  agent.send({
    type: 'init',
    params: { command: claude, work_dir: place.workDir, model: 'claude-sonnet-4-5', ...params },
  });
  expect((await agent.until('init_ack')).at(-1)).toMatchObject({
    capabilities: expect.arrayContaining(['steer', 'interrupt', 'cancel']),
  });
  return agent;
}

const writes = { tool: 'Bash', arguments: { command: 'echo hello > out.txt', description: 'Write out.txt' } };
const out = (): string => join(place.workDir, 'out.txt');

function answer(request: JsonObject | undefined, value: string): JsonObject {
  return {
    type: 'response',
    in_reply_to: request?.type ?? null,
    in_reply_to_id: request?.id ?? null,
    value,
  };
}

function textOf(said: readonly JsonObject[]): string {
  return said.flatMap(({ type, text }) => (type === 'partial' && typeof text === 'string' ? [text] : [])).join('');
}

/** What the model was told last. */
function lastRequest(): string {
  const messages = place.model.requests.at(-1)?.body.messages;
  return JSON.stringify(Array.isArray(messages) ? messages.slice(-4) : messages);
}

describe('the real claude program', () => {
  test('a permission that is approved: the command runs', { timeout: withinMs }, async () => {
    const claudeCode = await start([[{ text: 'I will write a file.' }, writes], 'Written.']);
    claudeCode.send({ type: 'prompt', text: 'Write out.txt', id: 'm-1' });
    const before = await claudeCode.until('approval');
    expect(textOf(before)).toBe('I will write a file.');
    expect(before).toContainEqual(
      expect.objectContaining({ type: 'tool_call', name: 'Bash', kind: 'execute', args: writes.arguments }),
    );
    expect(before.at(-1)).toMatchObject({
      description: 'Bash: echo hello > out.txt',
      tool: 'Bash',
      kind: 'execute',
      command: 'echo hello > out.txt',
      input: writes.arguments,
    });
    expect(existsSync(out())).toBe(false);
    claudeCode.send(answer(before.at(-1), 'yes'));
    expect((await claudeCode.until('result')).at(-1)).toMatchObject({
      text: 'Written.',
      turns: 2,
      usage: { input_tokens: 200, output_tokens: 40 },
    });
    expect(await readFile(out(), 'utf8')).toBe('hello\n');
  });

  test('a permission that is denied: nothing runs, the model is told, the turn goes on', {
    timeout: withinMs,
  }, async () => {
    const claudeCode = await start([[writes], 'Then not.']);
    claudeCode.send({ type: 'prompt', text: 'Write out.txt' });
    claudeCode.send(answer((await claudeCode.until('approval')).at(-1), 'no'));
    expect((await claudeCode.until('result')).at(-1)).toMatchObject({ text: 'Then not.', denied: ['Bash'] });
    expect(existsSync(out())).toBe(false);
    expect(lastRequest()).toContain('The supervisor refused this.');
  });

  test('what is said beside a refusal reaches the model', { timeout: withinMs }, async () => {
    const claudeCode = await start([[writes], 'With tee, then.']);
    claudeCode.send({ type: 'prompt', text: 'Write out.txt' });
    claudeCode.send(answer((await claudeCode.until('approval')).at(-1), 'no, use tee instead'));
    expect((await claudeCode.until('result')).at(-1)).toMatchObject({ text: 'With tee, then.', denied: ['Bash'] });
    expect(lastRequest()).toContain('The supervisor refused this: use tee instead');
  });

  test('a message that comes after the end of a turn is part of the next prompt', { timeout: withinMs }, async () => {
    const claudeCode = await start(['First.', 'In English, then.']);
    claudeCode.send({ type: 'prompt', text: 'Answer' });
    await claudeCode.until('result');
    claudeCode.send({ type: 'steer', id: 's-1', text: 'In English, please' });
    await claudeCode.until('ack');
    claudeCode.send({ type: 'prompt', text: 'Again' });
    expect((await claudeCode.until('result')).at(-1)).toMatchObject({ text: 'In English, then.' });
    expect(lastRequest()).toContain('In English, please\\n\\nAgain');
  });

  test('an allowed tool is not asked about', { timeout: withinMs }, async () => {
    const claudeCode = await start([[writes], 'Written.'], { allowed_tools: ['bash'] });
    claudeCode.send({ type: 'prompt', text: 'Write out.txt' });
    const said = await claudeCode.until('result');
    expect(said.map(({ type }) => type)).not.toContain('approval');
    expect(await readFile(out(), 'utf8')).toBe('hello\n');
  });

  test('a question with options: the model gets the answer', { timeout: withinMs }, async () => {
    const options = [
      { label: 'SQLite', description: 'one file' },
      { label: 'Redis', description: 'for many' },
    ];
    const questions = [{ question: 'Which store?', header: 'Store', multiSelect: false, options }];
    const claudeCode = await start([[{ tool: 'AskUserQuestion', arguments: { questions } }], 'Redis it is.']);
    claudeCode.send({ type: 'prompt', text: 'Choose a store' });
    const asked = (await claudeCode.until('question')).at(-1);
    expect(asked).toMatchObject({ question: 'Which store?', options: ['SQLite', 'Redis'] });
    claudeCode.send(answer(asked, 'Redis'));
    expect((await claudeCode.until('result')).at(-1)).toMatchObject({ text: 'Redis it is.' });
    expect(lastRequest()).toContain('Which store?\\"=\\"Redis');
  });

  test('an interrupt in the middle of an answer; the next prompt knows what was said', {
    timeout: withinMs,
  }, async () => {
    const claudeCode = await start([[{ text: 'Thinking about it' }, { hang: true }], 'Going on.']);
    claudeCode.send({ type: 'prompt', text: 'Think' });
    await claudeCode.until('partial');
    claudeCode.send({ type: 'interrupt', id: 'i-1' });
    expect((await claudeCode.until('ack')).at(-1)).toMatchObject({ in_reply_to_id: 'i-1' });
    await place.model.abandoned();
    claudeCode.send({ type: 'prompt', text: 'And now?' });
    expect((await claudeCode.until('result')).at(-1)).toMatchObject({ text: 'Going on.' });
    expect(lastRequest()).toContain('Thinking about it');
  });

  test('a message that steers while it answers is part of the same turn', { timeout: withinMs }, async () => {
    const claudeCode = await start([[{ text: 'First.' }, { gate: 'steered' }], 'In English, then.']);
    claudeCode.send({ type: 'prompt', text: 'Answer' });
    await claudeCode.until('partial');
    claudeCode.send({ type: 'steer', id: 's-1', text: 'In English, please' });
    await claudeCode.until('ack');
    place.model.gate('steered').open();
    const said = await claudeCode.until('result');
    expect(said.filter(({ type }) => type === 'result')).toHaveLength(1);
    expect(said.at(-1)).toMatchObject({ text: 'In English, then.', usage: { output_tokens: 40 } });
    expect(lastRequest()).toContain('In English, please');
  });

  test('cancel in the middle of a permission: nothing runs, and no process stays', { timeout: withinMs }, async () => {
    const claudeCode = await start([[writes], 'Never said.']);
    claudeCode.send({ type: 'prompt', text: 'Write out.txt' });
    await claudeCode.until('approval');
    const children = descendants(claudeCode.pid);
    expect(children.length).toBeGreaterThan(0);
    claudeCode.send({ type: 'cancel', id: 'c-1' });
    expect((await claudeCode.until('ack')).at(-1)).toMatchObject({ in_reply_to: 'cancel', in_reply_to_id: 'c-1' });
    await claudeCode.stop();
    expect(await claudeCode.exited).toBe(0);
    expect(children.filter(isAlive)).toEqual([]);
    expect(existsSync(out())).toBe(false);
  });

  test('without a login: an error that says what to do', { timeout: withinMs }, async () => {
    place = await openPlace(['never asked']);
    const { ANTHROPIC_API_KEY: _, ...env } = place.env;
    agent = startAgent(env);
    agent.send({ type: 'init', params: { command: claude, work_dir: place.workDir } });
    agent.send({ type: 'prompt', text: 'Hello' });
    expect((await agent.until('error')).at(-1)).toMatchObject({
      code: 'not_logged_in',
      message: expect.stringContaining('ANTHROPIC_API_KEY'),
    });
  });

  test('a program in the language supervises it', { timeout: withinMs }, async () => {
    place = await openPlace([[{ text: 'Writing.' }, writes], 'Written.']);
    await mkdir(join(place.workDir, 'src'));
    const env = Object.entries(place.env).map(([name, value]) => `${name} = ${JSON.stringify(value)}`);
    const manifest = `[project]
name = "supervised"
version = "0.1.0"
entry = "src/main.conc"
[agents.claude_code]
transport = "stdio"
command = ${JSON.stringify(process.execPath)}
args = [${JSON.stringify(middleware)}]
[agents.claude_code.env]
${env.join('\n')}
[agents.claude_code.params]
command = ${JSON.stringify(claude)}
work_dir = "."
model = "claude-sonnet-4-5"
`;
    await writeFile(join(place.workDir, 'Concerto.toml'), manifest);
    await writeFile(join(place.workDir, 'src/main.conc'), supervisor);
    const ran = await builtConcerto(['run'], place.workDir);
    expect(ran).toMatchObject({ code: 0, stderr: '' });
    expect(ran.stdout).toContain('[emit:approved] Bash: echo hello > out.txt (high)\n');
    expect(ran.stdout).toContain('[emit:text] Writing.\n\nWritten.\n');
    expect(ran.stdout).toContain('[emit:result] Written. 40\n');
    expect(await readFile(out(), 'utf8')).toBe('hello\n');
  });
});

const supervisor = `
agent ClaudeCode { connector: claude_code, timeout: 100 }

fn main() -> Result<Nil, Error> {
    let mut text = "";
    let result = listen ClaudeCode.execute("Write out.txt") {
        "partial" => |piece| { text = text + piece.text; },
        "progress" | "log" => |_| {},
        "approval" => |request| {
            emit("approved", "\${request.description} (\${request.risk_level})");
            "yes"
        },
    }?;
    emit("text", text);
    emit("result", "\${result.text} \${result.usage.output_tokens}");
    Ok(nil)
}
`;
