import { mkdtemp, realpath, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { JsonObject } from '@concerto/base';
import { describe, expect, onTestFinished, test } from 'vitest';
import { type AgentConnection, type AgentOutput, type StartOptions, startAgent } from '../src/index.ts';
import { kindOf, placeAfter, rawOf, reader, start } from './start.ts';

function startClaude(params: JsonObject = {}, options: StartOptions = {}): Promise<AgentConnection> {
  return start('claude', { protocol: 'claude', params }, options);
}

/** Everything up to the end of the turn. */
async function turn(agent: AgentConnection, text: string, output = reader(agent)): Promise<AgentOutput[]> {
  await agent.prompt({ text });
  return await untilEnd(output);
}

async function untilEnd(output: ReturnType<typeof reader>): Promise<AgentOutput[]> {
  const items: AgentOutput[] = [];
  for (;;) {
    const item = await output.next();
    items.push(item);
    if (['result', 'error', 'exit'].includes(kindOf(item))) return items;
  }
}

function shownOf(items: readonly AgentOutput[]): unknown[] {
  return items.flatMap((item) => (item.kind === 'message' ? (item.shown ?? []) : []));
}

describe('a turn', () => {
  test('text is partial, then usage and a result with text, cost and turns', async () => {
    const agent = await startClaude();
    expect([...agent.capabilities]).toEqual(['steer', 'interrupt', 'cancel', 'images']);
    expect(agent.version).toBe('9.9');
    const items = await turn(agent, 'say Hello there');
    expect(items.map(kindOf)).toEqual(['custom', 'log', 'partial', 'usage', 'result']);
    expect(rawOf(items[0] as AgentOutput)).toEqual({ type: 'conversation', id: 'c-1' });
    expect(items[3]).toEqual({
      kind: 'usage',
      usage: { inputTokens: 15, outputTokens: 5, cacheReadTokens: 3, cacheWriteTokens: 2, costMicroUsd: 500_000 },
      source: {},
    });
    expect(rawOf(items[4] as AgentOutput)).toEqual({
      type: 'result',
      text: 'Hello there',
      usage: { input_tokens: 15, output_tokens: 5 },
      cost_usd: 0.5,
      turns: 1,
      conversation: 'c-1',
    });
  });

  test('each prompt is billed for itself, and its context goes along', async () => {
    const agent = await startClaude();
    const output = reader(agent);
    await turn(agent, 'say one', output);
    await agent.prompt({ text: 'say two', context: { branch: 'main' } });
    const items = await untilEnd(output);
    expect(items.at(-1)).toMatchObject({ raw: { cost_usd: 0.5, text: expect.stringContaining('"branch": "main"') } });
  });

  test('what it thinks is a thought, line by line', async () => {
    const items = await turn(await startClaude(), 'think');
    expect(shownOf(items)).toEqual([
      { type: 'thought', text: 'First this, then that.\nAnd ' },
      { type: 'thought', text: 'more.' },
    ]);
    expect(items.filter((item) => kindOf(item) === 'thought').map(rawOf)).toContainEqual({
      type: 'thought',
      text: 'more.',
    });
  });

  test('the calls of a subagent belong to the call that began it, and its words are not the answer', async () => {
    const items = await turn(await startClaude(), 'subagent');
    expect(items.map(kindOf)).not.toContain('partial');
    expect(shownOf(items)).toMatchObject([
      { type: 'functionCall', callId: 'task_1', name: 'Task' },
      { type: 'functionCall', callId: 'read_1', parentCallId: 'task_1', name: 'Read', kind: 'read' },
      { type: 'functionResult', callId: 'task_1', outcome: 'ok' },
      { type: 'functionResult', callId: 'read_1', outcome: 'cancelled' },
    ]);
  });

  test('a failed request to the model is an error, though the program calls it a success', async () => {
    const items = await turn(await startClaude(), 'limit');
    expect(rawOf(items.at(-1) as AgentOutput)).toEqual({
      type: 'error',
      message: 'API Error: 529 overloaded',
      code: 'api_error',
    });
  });

  test('what we do not know is a log, and what it wants of us is refused, so that it does not wait', async () => {
    const items = await turn(await startClaude(), 'stranger');
    const logs = items.filter((item) => kindOf(item) === 'log').map((item) => rawOf<{ message: string }>(item).message);
    expect(logs).toEqual(['Claude Code 9.9 with fake', 'claude: something_new', 'claude: something_newer', 'a banner']);
    expect(items.at(-1)).toMatchObject({ raw: { text: 'cannot serve something_to_serve' } });
  });

  test('one that dies says with what', async () => {
    const secrets = ['memory'];
    const agent = await start('claude', { protocol: 'claude', secrets });
    const items = await turn(agent, 'die');
    expect(items.at(-1)).toMatchObject({ kind: 'exit', exit: { code: 3 }, error: { code: 'exited' } });
    expect(items.at(-1)).toMatchObject({ error: { message: expect.stringContaining('out of ***') } });
  });
});

describe('permissions and questions', () => {
  test('a permission is an approval with tool and input; a yes lets it run', async () => {
    const agent = await startClaude();
    const output = reader(agent);
    await agent.prompt({ text: 'use rm -r build' });
    const asked = rawOf<{ id: string }>(await output.until('approval'));
    expect(asked).toMatchObject({
      description: 'Bash: rm -r build',
      tool: 'Bash',
      input: { command: 'rm -r build' },
    });
    await agent.reply({ inReplyTo: 'approval', inReplyToId: asked.id, value: 'yes' });
    const items = await untilEnd(output);
    expect(shownOf(items)).toEqual([
      {
        type: 'functionResult',
        outcome: 'ok',
        callId: 'toolu_1',
        content: {
          role: 'user',
          parts: [{ functionResponse: { name: 'Bash', response: { result: 'ran rm -r build' } } }],
        },
      },
    ]);
    expect(items.at(-1)).toMatchObject({ raw: { text: 'Done.' } });
  });

  test.each([
    [{ value: 'no' }, 'The supervisor refused this. Go on without it, or ask what to do instead.'],
    [{ value: 'no, use git mv' }, 'The supervisor refused this: use git mv'],
    [{ value: { approved: false, reason: 'Not on Friday' } }, 'The supervisor refused this: Not on Friday'],
    [{ error: 'unhandled' }, 'Nobody decided about this: unhandled'],
  ])('a denial and its reason reach the agent: %j', async (answer, message) => {
    const agent = await startClaude();
    const output = reader(agent);
    await agent.prompt({ text: 'use rm -r build' });
    await output.until('approval');
    await agent.reply({ inReplyTo: 'approval', ...answer });
    const items = await untilEnd(output);
    expect(items.at(-1)).toMatchObject({ raw: { text: message, denied: ['Bash'] } });
    expect(shownOf(items)).toMatchObject([{ type: 'subagentError' }, { type: 'functionResult' }]);
  });

  test('questions are asked one after the other, with options, and answered together', async () => {
    const agent = await startClaude();
    const output = reader(agent);
    await agent.prompt({ text: 'choose' });
    const first = rawOf<{ id: string }>(await output.until('question'));
    expect(first).toMatchObject({
      question: 'Which store?',
      options: ['SQLite', 'Redis'],
      context: 'Store\nSQLite: one file',
    });
    await agent.reply({ inReplyTo: 'question', inReplyToId: first.id, value: 'Redis' });
    const second = rawOf<{ id: string }>(await output.until('question'));
    expect(second).toMatchObject({ question: 'Which name?', multiple: true });
    await agent.reply({ inReplyTo: 'question', inReplyToId: second.id, value: ['a', 'b'] });
    expect((await untilEnd(output)).at(-1)).toMatchObject({
      raw: { text: '{"Which store?":"Redis","Which name?":"a, b"}' },
    });
  });

  test('a question that the program takes back is withdrawn, and a late answer does no harm', async () => {
    const agent = await startClaude();
    const output = reader(agent);
    await agent.prompt({ text: 'withdraw' });
    await output.until('approval');
    expect(await output.until('withdrawn')).toMatchObject({ id: 'w-1' });
    await agent.reply({ inReplyTo: 'approval', inReplyToId: 'w-1', value: 'yes' });
    await output.until('result');
  });
});

describe('while it works', () => {
  test('a message steers the turn, which has one result for both', async () => {
    const agent = await startClaude();
    const output = reader(agent);
    await agent.prompt({ text: 'work' });
    await output.until('partial');
    await agent.steer({ id: 's-1', text: 'in English, please' });
    const items = await untilEnd(output);
    expect(items.filter((item) => kindOf(item) === 'usage')).toHaveLength(2);
    expect(items.at(-1)).toMatchObject({
      raw: { text: 'heard: in English, please', turns: 2, cost_usd: 1, usage: { output_tokens: 10 } },
    });
  });

  test('a message that the program drops ends the turn, and goes with the next prompt', async () => {
    const agent = await startClaude();
    const output = reader(agent);
    await agent.prompt({ text: 'drop' });
    await output.until('partial');
    await agent.steer({ id: 's-1', text: 'say it' });
    expect((await untilEnd(output)).at(-1)).toMatchObject({ raw: { text: 'first part', turns: 1 } });
    expect((await turn(agent, 'in English', output)).at(-1)).toMatchObject({ raw: { text: 'it\n\nin English' } });
  });

  test('a program that does not tell what becomes of messages does not let a turn wait for ever', async () => {
    const agent = await startClaude();
    const output = reader(agent);
    await agent.prompt({ text: 'forget' });
    await output.until('partial');
    await agent.steer({ id: 's-1', text: 'say it' });
    expect((await untilEnd(output)).at(-1)).toMatchObject({ raw: { text: 'first part' } });
  });

  test('work of its own, which nobody asked for, has a result all the same: somebody may have been asked in it', async () => {
    const agent = await startClaude();
    const output = reader(agent);
    await turn(agent, 'wake', output);
    await output.until('usage');
    expect(rawOf(await output.next())).toMatchObject({ type: 'result', text: 'woken' });
  });

  test('an interrupt ends the turn with an ack and nothing else, withdraws what was asked, and the session goes on', async () => {
    const agent = await startClaude();
    const output = reader(agent);
    await agent.prompt({ text: 'use rm -r build' });
    const { id } = rawOf<{ id: string }>(await output.until('approval'));
    await agent.request('interrupt', 'i-1');
    expect(kindOf(await output.next())).toBe('usage');
    expect(await output.next()).toMatchObject({ shown: [{ type: 'functionResult', outcome: 'cancelled' }] });
    expect(rawOf(await output.next())).toEqual({ type: 'ack', in_reply_to: 'interrupt', in_reply_to_id: 'i-1' });
    await agent.reply({ inReplyTo: 'approval', inReplyToId: id, error: 'interrupted' });
    expect((await turn(agent, 'say more', output)).at(-1)).toMatchObject({ raw: { text: 'more' } });
  });

  test('a message that an interrupt overtook, or that came after the turn, goes with the next prompt', async () => {
    const agent = await startClaude();
    const output = reader(agent);
    await turn(agent, 'say one', output);
    await agent.steer({ id: 's-1', text: 'say it' });
    const items = await turn(agent, 'in English', output);
    expect(items.map(kindOf)).toContain('log');
    expect(items.at(-1)).toMatchObject({ raw: { text: 'it\n\nin English' } });
  });

  test('an interrupt between turns is done at once', async () => {
    const agent = await startClaude();
    await agent.request('interrupt', 'i-1');
    expect(rawOf(await reader(agent).next())).toMatchObject({ type: 'ack', in_reply_to_id: 'i-1' });
  });

  test.each(['work', 'deaf'])('a cancel ends the process: %s', async (what) => {
    const agent = await startClaude();
    const output = reader(agent);
    await agent.prompt({ text: what });
    await output.until('partial');
    await agent.request('cancel', 'c-1');
    expect(rawOf(await output.until('ack'))).toMatchObject({ in_reply_to: 'cancel', in_reply_to_id: 'c-1' });
    await output.until('exit');
  });

  test('a second prompt while it works is refused', async () => {
    const agent = await startClaude();
    await agent.prompt({ text: 'work' });
    await expect(agent.prompt({ text: 'more' })).rejects.toMatchObject({ code: 'protocol' });
  });

  test('it has not announced a pause', async () => {
    const agent = await startClaude();
    await expect(agent.request('pause', 'p-1')).rejects.toMatchObject({ code: 'not-announced' });
  });
});

type Shown = {
  options: Record<string, string | true>;
  env: Record<string, string>;
  cwd: string;
  hooks: JsonObject;
};

async function show(params: JsonObject, options: StartOptions = {}): Promise<Shown> {
  const items = await turn(await startClaude(params, options), 'show');
  return JSON.parse(rawOf<{ text: string }>(items.at(-1) as AgentOutput).text);
}

describe('how it is started', () => {
  test('model, tools and folder are passed on; permissions are never skipped', async () => {
    const folder = await realpath(await mkdtemp(join(tmpdir(), 'claude-driver-')));
    onTestFinished(() => rm(folder, { recursive: true }));
    const { options, cwd, hooks } = await show({
      model: 'opus',
      allowed_tools: ['read', 'Bash(git log:*)'],
      disallowed_tools: ['web_search'],
      permission_mode: 'plan',
      max_turns: 3,
      work_dir: folder,
    });
    expect(options).toMatchObject({
      model: 'opus',
      allowedTools: 'Read,Bash(git log:*)',
      'permission-mode': 'plan',
      'max-turns': '3',
      'permission-prompt-tool': 'stdio',
    });
    expect(Object.keys(options).join(' ')).not.toMatch(/skip|strict/);
    expect(cwd).toBe(folder);
    expect(hooks).toEqual({});
  });

  test('servers come as configuration, their secrets by the environment only', async () => {
    const { options, env } = await show({
      mcp_servers: {
        files: { transport: 'stdio', command: 'mcp-files', args: ['.'], env: { FILES_TOKEN: 'secret-1' } },
        here: { transport: 'stdio', command: 'mcp-here', args: ['${HOME}'], cwd: '/srv' },
        web: { transport: 'http', url: 'https://tools.example/mcp', headers: { Authorization: 'Bearer secret-2' } },
      },
      tools: { deny: ['files.remove'] },
    });
    expect(options['strict-mcp-config']).toBe(true);
    expect(JSON.stringify(options)).not.toContain('secret');
    expect(JSON.parse(String(options['mcp-config']))).toEqual({
      mcpServers: {
        files: { type: 'stdio', command: 'mcp-files', args: ['.'], env: { FILES_TOKEN: '${CONCERTO_MCP_1}' } },
        here: {
          type: 'stdio',
          command: '/bin/sh',
          args: ['-c', 'cd "$1" && shift && exec "$@"', 'sh', '/srv', 'mcp-here', '${CONCERTO_MCP_2}'],
          env: {},
        },
        web: { type: 'http', url: 'https://tools.example/mcp', headers: { Authorization: '${CONCERTO_MCP_3}' } },
      },
    });
    expect(env).toEqual({ CONCERTO_MCP_1: 'secret-1', CONCERTO_MCP_2: '${HOME}', CONCERTO_MCP_3: 'Bearer secret-2' });
  });

  test.each([
    ['mcp__files__remove', 'deny'],
    ['mcp__files__read', undefined],
    ['mcp__web__post', 'ask'],
    ['mcp__other__tool', 'deny'],
    ['Bash', 'deny'],
    ['Read', undefined],
  ])("the session's rules decide before the program's: %s → %s", async (tool, decision) => {
    const agent = await startClaude({
      mcp_servers: {
        files: { transport: 'stdio', command: 'mcp-files' },
        web: { transport: 'stdio', command: 'mcp-web' },
      },
      tools: { allow: ['files.*', 'web.*', 'Read'], deny: ['files.remove'], ask: ['web.post'] },
    });
    const { text } = rawOf<{ text: string }>((await turn(agent, `hook ${tool}`)).at(-1) as AgentOutput);
    expect(JSON.parse(text).hookSpecificOutput?.permissionDecision).toBe(decision);
  });

  test('a param that there is not is refused with the nearest one', async () => {
    await expect(startClaude({ modle: 'opus' })).rejects.toMatchObject({
      code: 'init-refused',
      message: expect.stringMatching(/params\.modle.*did you mean "model"/),
    });
  });

  test('a conversation goes on in a new process, which is not paid for twice', async () => {
    const agent = await startClaude({}, { conversation: 'c-7' });
    const items = await turn(agent, 'say more');
    expect(items.at(-1)).toMatchObject({ raw: { conversation: 'c-7', cost_usd: 0.5 } });
  });

  test('one that is not there any more is begun anew, and a log says so', async () => {
    const agent = await startClaude({}, { conversation: 'lost' });
    const items = await turn(agent, 'say more');
    expect(items[0]).toMatchObject({ raw: { level: 'warn', message: expect.stringContaining('conversation lost') } });
    expect(items.at(-1)).toMatchObject({ raw: { conversation: 'c-1', text: 'more' } });
  });

  test('a program that does not answer is no agent', async () => {
    const mute = start('claude', { protocol: 'claude', env: { MUTE: '1' } }, { initTimeoutMs: 300 });
    await expect(mute).rejects.toMatchObject({ code: 'init-timeout' });
  });
});

test('a program that is not there: how to install it', async () => {
  const nowhere = { name: 'coder', command: 'claude', protocol: 'claude', env: { PATH: '/nowhere' } } as const;
  await expect(startAgent(nowhere)).rejects.toMatchObject({
    code: 'spawn-failed',
    message: expect.stringContaining('npm install -g @anthropic-ai/claude-code'),
  });
});

test('the end of a turn tells where the conversation stands, and a new one begins there', async () => {
  expect(await placeAfter(await startClaude(), 'say one')).toEqual({ id: 'c-1', upTo: 'u-1' });
  const items = await turn(await startClaude({}, { fork: { id: 'c-1', upTo: 'u-1' } }), 'show');
  expect(rawOf(items[0] as AgentOutput)).toEqual({ type: 'conversation', id: 'c-fork' });
  expect(JSON.parse(rawOf<{ text: string }>(items.at(-1) as AgentOutput).text).options).toMatchObject({
    resume: 'c-1',
    'fork-session': true,
    'resume-session-at': 'u-1',
  });
});

test('one that is not there cannot be forked: nothing begins in its place', async () => {
  const lost = startClaude({}, { fork: { id: 'lost', upTo: 'x' } });
  await expect(lost).rejects.toMatchObject({ code: 'init-refused', message: expect.stringContaining('lost') });
});

test('what is used is told in the middle of a turn, and at its end only the rest', async () => {
  const agent = await startClaude();
  const output = reader(agent);
  await agent.prompt({ text: 'spend' });
  const asked = rawOf<{ id: string }>(await output.until('approval'));
  expect(await output.until('usage')).toMatchObject({
    usage: { inputTokens: 100, outputTokens: 20, costMicroUsd: 250_000 },
    source: { model: 'fake' },
  });
  await agent.reply({ inReplyTo: 'approval', inReplyToId: asked.id, value: 'yes' });
  expect(await output.until('usage')).toMatchObject({
    usage: { inputTokens: 200, outputTokens: 30, costMicroUsd: 500_000 },
    source: { context: { used: 120, size: 1000 } },
  });
  expect(await output.until('result')).toMatchObject({
    raw: { usage: { input_tokens: 300, output_tokens: 50 }, cost_usd: 0.75 },
  });
});
