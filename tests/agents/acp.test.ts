import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import type { JsonObject } from '@concerto/base';
import { afterEach, describe, expect, test } from 'vitest';
import type { Script, ScriptedRequest } from '../../packages/models/src/testing/scripted-model-server.ts';
import { type Heard, openClaudeAcp, openCode, openGemini, openOpenCode, type RealAcp, startReal } from './real-acp.ts';
import { commandLine, descendants, isAlive } from './real-claude.ts';

const timeout = 120_000;

let place: RealAcp;
let heard: Heard | undefined;

afterEach(async () => {
  await heard?.agent.end();
  heard = undefined;
  await place.close();
});

async function start(
  open: (script: Script) => Promise<RealAcp>,
  script: Script,
  params: JsonObject = {},
): Promise<Heard> {
  place = await open(script);
  heard = await startReal(place, {}, params);
  return heard;
}

/** A real server of tools, in the params as a session's tool configuration puts it there. */
const servers = {
  everything: {
    transport: 'stdio',
    command: process.execPath,
    args: [createRequire(import.meta.url).resolve('@modelcontextprotocol/server-everything/dist/index.js'), 'stdio'],
    env: { TOOL_TOKEN: 'from-the-session' },
  },
};

const out = (): string => join(place.workDir, 'out.txt');
const command = 'echo hello > out.txt';

function textOf(said: readonly JsonObject[]): string {
  return said.flatMap(({ type, text }) => (type === 'partial' && typeof text === 'string' ? [text] : [])).join('');
}

function lastOf(said: readonly JsonObject[]): JsonObject & { id: string } {
  const last = said.at(-1);
  return { ...last, id: typeof last?.id === 'string' ? last.id : '' };
}

/** What the model was told last. */
function lastRequest(): string {
  const body = place.model.requests.at(-1)?.body;
  const said = body?.messages ?? body?.contents;
  return JSON.stringify(Array.isArray(said) ? said.slice(-4) : said);
}

async function answer({ agent }: Heard, request: JsonObject & { id: string }, value: string): Promise<void> {
  await agent.reply({ inReplyTo: 'question', inReplyToId: request.id, value });
}

const waiting = 'touch begun; tail -f /dev/null';

/** Its command runs, an interrupt comes, and the process list has it no more while the agent goes on. */
async function interrupts(real: Heard): Promise<void> {
  const own = descendants(real.agent.identity.pid);
  await real.agent.prompt({ text: 'Wait' });
  await answer(real, lastOf(await real.until('approval', 'result')), 'yes');
  const begun = join(place.workDir, 'begun');
  await expect.poll(() => existsSync(begun), { timeout: 30_000 }).toBe(true);
  const running = descendants(real.agent.identity.pid).filter((pid) => !own.includes(pid));
  expect(running).not.toEqual([]);
  await real.agent.request('interrupt', 'i-1');
  expect(lastOf(await real.until('ack', 'result', 'error'))).toMatchObject({ type: 'ack', in_reply_to_id: 'i-1' });
  const left = (): readonly string[] =>
    running
      .filter(isAlive)
      .map(commandLine)
      .filter((line) => /begun|tail/.test(line));
  await expect.poll(left, { timeout: 10_000 }).toEqual([]);
  await real.agent.prompt({ text: 'And now?' });
  expect(lastOf(await real.until('result', 'error'))).toMatchObject({ type: 'result', text: 'Going on.' });
}

const agents = [
  {
    name: 'Gemini CLI',
    open: openGemini,
    tool: { tool: 'run_shell_command', arguments: { command, description: 'Write out.txt' } },
    capabilities: expect.arrayContaining(['interrupt', 'cancel']),
    // It forgets a turn that was interrupted.
    remembers: 'And now?',
    environment: 'mcp_everything_get-env',
  },
  {
    name: 'Claude over ACP',
    open: openClaudeAcp,
    tool: { tool: 'Bash', arguments: { command, description: 'Write out.txt' } },
    capabilities: expect.arrayContaining(['interrupt', 'cancel', 'steer']),
    remembers: 'Thinking about it',
    environment: 'mcp__everything__get-env',
  },
];

describe.each(agents)('the real $name', ({ open, tool, capabilities, remembers, environment }) => {
  test('an allowed tool runs, and the session sees it begin and end', { timeout }, async () => {
    const real = await start(open, [[{ text: 'I will write a file.' }, tool], 'Written.']);
    expect([...real.agent.capabilities]).toEqual(capabilities);
    await real.agent.prompt({ text: 'Write out.txt', id: 'm-1' });
    const before = await real.until('approval');
    expect(textOf(before)).toBe('I will write a file.');
    expect(lastOf(before).description).toContain(command);
    expect(existsSync(out())).toBe(false);
    await answer(real, lastOf(before), 'yes');
    expect(lastOf(await real.until('result', 'error'))).toMatchObject({
      type: 'result',
      text: 'Written.',
      usage: { input_tokens: 200, output_tokens: 40 },
    });
    expect(await readFile(out(), 'utf8')).toBe('hello\n');
    expect(
      real
        .shown()
        .map(({ type }) => type)
        .filter((type) => type !== 'functionCallUpdate'),
    ).toEqual(['functionCall', 'functionResult']);
  });

  test('a refused tool does not run, and the turn goes on', { timeout }, async () => {
    const real = await start(open, [[tool], 'Then not.']);
    await real.agent.prompt({ text: 'Write out.txt' });
    await answer(real, lastOf(await real.until('approval')), 'no');
    expect(lastOf(await real.until('result', 'error'))).toMatchObject({ type: 'result', text: 'Then not.' });
    expect(existsSync(out())).toBe(false);
    expect(
      real
        .shown()
        .map(({ type }) => type)
        .filter((type) => type !== 'functionCallUpdate'),
    ).toEqual(['functionCall', 'subagentError', 'functionResult']);
  });

  test('an interrupt in the middle of an answer, and the next prompt', { timeout }, async () => {
    const real = await start(open, [[{ text: 'Thinking about it' }, { hang: true }], 'Going on.']);
    await real.agent.prompt({ text: 'Think' });
    await real.until('partial');
    await real.agent.request('interrupt', 'i-1');
    expect(lastOf(await real.until('ack', 'result', 'error'))).toMatchObject({ type: 'ack', in_reply_to_id: 'i-1' });
    await place.model.abandoned();
    await real.agent.prompt({ text: 'And now?' });
    expect(lastOf(await real.until('result', 'error'))).toMatchObject({ type: 'result', text: 'Going on.' });
    expect(lastRequest()).toContain(remembers);
  });

  test('an interrupt while a permission is open: nothing runs', { timeout }, async () => {
    const real = await start(open, [[tool], 'Never said.', 'Going on.']);
    await real.agent.prompt({ text: 'Write out.txt' });
    await real.until('approval');
    await real.agent.request('interrupt', 'i-1');
    expect(lastOf(await real.until('ack', 'result', 'error'))).toMatchObject({ type: 'ack', in_reply_to_id: 'i-1' });
    expect(existsSync(out())).toBe(false);
  });

  test('an interrupt in the middle of a command ends it, before the process does', { timeout }, async () => {
    const waits = { ...tool, arguments: { ...tool.arguments, command: waiting } };
    await interrupts(await start(open, [[waits], 'Going on.']));
  });

  test('a tool of the session’s server is asked about by its name, runs, and has its secret', { timeout }, async () => {
    const real = await start(open, [[{ tool: environment, arguments: {} }], 'Seen.'], { mcp_servers: servers });
    await real.agent.prompt({ text: 'Look at the environment' });
    await answer(real, lastOf(await real.until('approval', 'result')), 'yes');
    expect(lastOf(await real.until('result', 'error'))).toMatchObject({ type: 'result', text: 'Seen.' });
    expect(lastRequest()).toContain('from-the-session');
  });

  test('one that the session forbids is refused without asking anybody', { timeout }, async () => {
    const params = { mcp_servers: servers, tools: { deny: ['everything.get-env'] } };
    const real = await start(open, [[{ tool: environment, arguments: {} }], 'Then not.'], params);
    await real.agent.prompt({ text: 'Look at the environment' });
    const said = await real.until('result', 'error');
    expect(said.map(({ type }) => type)).not.toContain('approval');
    expect(JSON.stringify(said)).toContain('tools forbid it');
    expect(lastOf(said)).toMatchObject({ type: 'result', text: 'Then not.' });
    expect(lastRequest()).not.toContain('from-the-session');
  });

  test('cancel ends the process', { timeout }, async () => {
    const real = await start(open, [[{ text: 'Thinking' }, { hang: true }]]);
    await real.agent.prompt({ text: 'Think' });
    await real.until('partial');
    await real.agent.request('cancel', 'c-1');
    expect(lastOf(await real.until('ack'))).toMatchObject({ in_reply_to: 'cancel' });
    await real.agent.exited;
  });
});

describe('the real Claude over ACP', () => {
  test('a question with options: the model gets the answer', { timeout }, async () => {
    const options = [
      { label: 'SQLite', description: 'one file' },
      { label: 'Redis', description: 'for many' },
    ];
    const questions = [{ question: 'Which store?', header: 'Store', multiSelect: false, options }];
    const real = await start(openClaudeAcp, [[{ tool: 'AskUserQuestion', arguments: { questions } }], 'Redis it is.']);
    await real.agent.prompt({ text: 'Choose a store' });
    const asked = lastOf(await real.until('question'));
    expect(asked).toMatchObject({ question: 'Which store?', options: ['SQLite', 'Redis'] });
    await answer(real, asked, 'Redis');
    expect(lastOf(await real.until('result', 'error'))).toMatchObject({ text: 'Redis it is.' });
    expect(lastRequest()).toContain('Which store?\\"=\\"Redis');
  });

  test('a message that steers while it answers is part of the same turn', { timeout }, async () => {
    const real = await start(openClaudeAcp, [[{ text: 'First.' }, { gate: 'steered' }], 'In English, then.']);
    await real.agent.prompt({ text: 'Answer' });
    await real.until('partial');
    await real.agent.steer({ id: 's-1', text: 'In English, please' });
    place.model.gate('steered').open();
    const said = await real.until('result', 'error');
    expect(lastOf(said)).toMatchObject({ type: 'result', text: expect.stringContaining('In English, then.') });
    // Not in the last one: it asks for a title of the conversation meanwhile.
    const asked = place.model.requests.map(({ body }) => JSON.stringify(body?.messages));
    expect(asked).toContainEqual(expect.stringContaining('In English, please'));
  });

  test('a message that comes after the end of the turn is refused', { timeout }, async () => {
    const real = await start(openClaudeAcp, ['Done.']);
    await real.agent.prompt({ text: 'Answer' });
    await real.until('result');
    await expect(real.agent.steer({ id: 's-1', text: 'Too late' })).rejects.toThrow('has no turn');
  });

  test('another process goes on with the conversation', { timeout }, async () => {
    const first = await start(openClaudeAcp, ['I will remember.', 'Blue.']);
    await first.agent.prompt({ text: 'My colour is blue' });
    const said = await first.until('result');
    const named = said.find(({ type }) => type === 'conversation')?.id;
    await first.agent.end();
    heard = await startReal(place, { conversation: typeof named === 'string' ? named : 'it gave none' });
    await heard.agent.prompt({ text: 'Which colour?' });
    expect(lastOf(await heard.until('result', 'error'))).toMatchObject({ text: 'Blue.' });
    expect(lastRequest()).toContain('My colour is blue');
  });
});

describe.skipIf(openCode === '')('the real OpenCode', () => {
  const tool = { tool: 'bash', arguments: { command, description: 'Write out.txt' } };

  test('an interrupt in the middle of a command ends it, before the process does', { timeout }, async () => {
    const waits = { ...tool, arguments: { ...tool.arguments, command: waiting } };
    await interrupts(await start(openOpenCode, [[waits], 'Going on.']));
  });

  test('an interrupt while a permission is open: nothing runs', { timeout }, async () => {
    const real = await start(openOpenCode, [[tool], 'Never said.', 'Going on.']);
    await real.agent.prompt({ text: 'Write out.txt' });
    await real.until('approval');
    await real.agent.request('interrupt', 'i-1');
    expect(lastOf(await real.until('ack', 'result', 'error'))).toMatchObject({ type: 'ack', in_reply_to_id: 'i-1' });
    expect(existsSync(out())).toBe(false);
  });

  test('one that the session forbids is refused without asking anybody', { timeout }, async () => {
    const real = await start(openOpenCode, [[tool], 'Then not.'], { tools: { deny: ['bash'] } });
    await real.agent.prompt({ text: 'Write out.txt' });
    const said = await real.until('result', 'error');
    expect(said.map(({ type }) => type)).not.toContain('approval');
    // It tells that it begins before it asks: where that is long before, its turn is stopped.
    expect(JSON.stringify(said)).toMatch(/tools forbid it|tool_forbidden/);
    expect(existsSync(out())).toBe(false);
  });

  test('a sub-agent is refused what it would have to ask for, and the turn goes on', { timeout }, async () => {
    const isOfSubAgent = ({ body }: ScriptedRequest): boolean => !JSON.stringify(body.messages).includes('MAIN PROMPT');
    const task = { description: 'look', prompt: 'SUB PROMPT', subagent_type: 'general' };
    const turns = { main: [[{ tool: 'task', arguments: task }], 'MAIN DONE'], sub: [[tool], 'SUB REPORT'] };
    const script = (request: ScriptedRequest) => turns[isOfSubAgent(request) ? 'sub' : 'main'].shift() ?? 'over';
    const real = await start(openOpenCode, script);
    await real.agent.prompt({ text: 'MAIN PROMPT' });
    const said = await real.until('result', 'error', 'approval');
    expect(lastOf(said)).toMatchObject({ type: 'result', text: 'MAIN DONE' });
    expect(JSON.stringify(said)).toContain('SUB REPORT');
    expect(existsSync(out())).toBe(false);
  });

  test('cancel ends the process', { timeout }, async () => {
    const real = await start(openOpenCode, [[{ text: 'Thinking' }, { hang: true }]]);
    await real.agent.prompt({ text: 'Think' });
    await real.until('partial');
    await real.agent.request('cancel', 'c-1');
    expect(lastOf(await real.until('ack'))).toMatchObject({ in_reply_to: 'cancel' });
    await real.agent.exited;
  });

  test('an allowed tool runs', { timeout }, async () => {
    const real = await start(openOpenCode, [[{ text: 'I will write a file.' }, tool], 'Written.']);
    expect([...real.agent.capabilities]).toEqual(expect.arrayContaining(['interrupt', 'cancel']));
    await real.agent.prompt({ text: 'Write out.txt', id: 'm-1' });
    const asked = lastOf(await real.until('approval', 'result'));
    expect(asked.description).toContain(command);
    await answer(real, asked, 'yes');
    expect(lastOf(await real.until('result', 'error'))).toMatchObject({ type: 'result', text: 'Written.' });
    expect(await readFile(out(), 'utf8')).toBe('hello\n');
    expect(real.shown().map(({ type }) => type)).toContain('functionResult');
  });

  test('a refusal ends the turn, which is no error', { timeout }, async () => {
    const real = await start(openOpenCode, [[tool], 'Never said.', 'And now this.']);
    await real.agent.prompt({ text: 'Write out.txt' });
    await answer(real, lastOf(await real.until('approval', 'result')), 'no');
    expect(lastOf(await real.until('result', 'error'))).toMatchObject({ type: 'result' });
    expect(existsSync(out())).toBe(false);
  });

  test('an interrupt in the middle of an answer, and the next prompt', { timeout }, async () => {
    const real = await start(openOpenCode, [[{ text: 'Thinking about it' }, { hang: true }], 'Going on.']);
    await real.agent.prompt({ text: 'Think' });
    await real.until('partial');
    await real.agent.request('interrupt', 'i-1');
    expect(lastOf(await real.until('ack', 'result', 'error'))).toMatchObject({ type: 'ack', in_reply_to_id: 'i-1' });
    await real.agent.prompt({ text: 'And now?' });
    expect(lastOf(await real.until('result', 'error'))).toMatchObject({ type: 'result', text: 'Going on.' });
  });

  test('a session’s server is there, and another process goes on with the conversation', { timeout }, async () => {
    const script: Script = [[{ tool: 'everything_get-env', arguments: {} }], 'Seen.', 'I remember.'];
    const first = await start(openOpenCode, script, { mcp_servers: servers });
    await first.agent.prompt({ text: 'Look at the environment' });
    const said = await first.until('result', 'error');
    expect(lastOf(said)).toMatchObject({ type: 'result', text: 'Seen.' });
    expect(lastRequest()).toContain('from-the-session');
    const named = said.find(({ type }) => type === 'conversation')?.id;
    await first.agent.end();
    heard = await startReal(place, { conversation: typeof named === 'string' ? named : 'it gave none' });
    await heard.agent.prompt({ text: 'What did you see?' });
    expect(lastOf(await heard.until('result', 'error'))).toMatchObject({ text: 'I remember.' });
    expect(lastRequest()).toContain('everything_get-env');
  });
});
