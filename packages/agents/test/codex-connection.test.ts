import { realpathSync } from 'node:fs';
import { tmpdir } from 'node:os';
import type { JsonObject } from '@concerto/base';
import { describe, expect, test } from 'vitest';
import type { AgentConnection, AgentOutput, StartOptions } from '../src/index.ts';
import { kindOf, placeAfter, rawOf, reader, start } from './start.ts';

function startCodex(params: JsonObject = {}, options: StartOptions = {}): Promise<AgentConnection> {
  return start('codex', { protocol: 'codex', params }, options);
}

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

function textOf(items: readonly AgentOutput[]): string {
  return rawOf<{ text: string }>(items.at(-1) as AgentOutput).text;
}

describe('a turn', () => {
  test('text is partial, then usage and a result', async () => {
    const agent = await startCodex();
    expect([...agent.capabilities]).toEqual(['steer', 'interrupt', 'cancel', 'images']);
    expect(agent.version).toBe('0.9.1');
    const items = await turn(agent, 'say Hello there');
    expect(items.map(kindOf)).toEqual(['custom', 'partial', 'usage', 'result']);
    expect(rawOf(items[0] as AgentOutput)).toEqual({ type: 'conversation', id: 't-1' });
    expect(items[2]).toEqual({
      kind: 'usage',
      usage: { inputTokens: 10, outputTokens: 5, cacheReadTokens: 4, cacheWriteTokens: 0 },
      source: {},
    });
    expect(rawOf(items[3] as AgentOutput)).toEqual({
      type: 'result',
      text: 'Hello there',
      usage: { input_tokens: 10, output_tokens: 5, thought_tokens: 2 },
      conversation: 't-1',
      message: 'm-1',
    });
  });

  test('two messages are two paragraphs, and the last is the result', async () => {
    const items = await turn(await startCodex(), 'two');
    const partials = items
      .filter((item) => kindOf(item) === 'partial')
      .map((item) => rawOf<{ text: string }>(item).text);
    expect(partials).toEqual(['First.', '\n\n', 'Second.']);
    expect(textOf(items)).toBe('Second.');
  });

  test('what it thinks and plans is told', async () => {
    const items = await turn(await startCodex(), 'think');
    expect(shownOf(items)).toEqual([{ type: 'thought', text: 'First this, then that.' }]);
    expect(items.filter((item) => kindOf(item) === 'plan').map(rawOf)).toEqual([
      { type: 'plan', entries: [{ content: 'look', status: 'in_progress' }] },
    ]);
  });

  test('a failure is an error with its code; a retry before it is shown', async () => {
    const agent = await startCodex();
    const output = reader(agent);
    const items = await turn(agent, 'fail', output);
    expect(items.map(kindOf)).toEqual(['custom', 'progress', 'error']);
    expect(rawOf(items[1] as AgentOutput)).toMatchObject({ message: 'asks its model again: stream closed' });
    expect(rawOf(items[2] as AgentOutput)).toEqual({
      type: 'error',
      message: 'unexpected status 429',
      code: 'responseTooManyFailedAttempts',
    });
    expect((await turn(agent, 'logout', output)).at(-1)).toMatchObject({
      raw: { code: 'not_logged_in', message: expect.stringContaining('codex login') },
    });
  });

  test('a prompt that it does not take is an error of the turn', async () => {
    const items = await turn(await startCodex(), 'refuse');
    expect(items.at(-1)).toMatchObject({
      raw: { type: 'error', message: expect.stringContaining('the model is not there') },
    });
  });

  test('what we do not know is a log, what it wants of us is refused, another thread is none of ours', async () => {
    const items = await turn(await startCodex(), 'stranger');
    const logs = items.filter((item) => kindOf(item) === 'log').map((item) => rawOf<{ message: string }>(item).message);
    expect(logs).toEqual([
      'codex: something/new',
      expect.stringContaining('no frame'),
      'codex asked for item/tool/call, which is not served here',
    ]);
    expect(items.filter((item) => kindOf(item) === 'partial')).toHaveLength(1);
    expect(JSON.parse(textOf(items))).toMatchObject({ code: -32601 });
  });

  test('one that dies says with what', async () => {
    const items = await turn(await startCodex(), 'die');
    expect(items.map(kindOf)).not.toContain('error');
    expect(items.at(-1)).toMatchObject({ kind: 'exit', exit: { code: 3 } });
    expect(items.at(-1)).toMatchObject({ error: { message: expect.stringContaining('out of memory') } });
  });
});

describe('approvals and questions', () => {
  test('a command is an approval with tool and input; a yes lets it run', async () => {
    const agent = await startCodex();
    const output = reader(agent);
    await agent.prompt({ text: 'use rm -r build' });
    const asked = rawOf<{ id: string }>(await output.until('approval'));
    expect(asked).toMatchObject({
      call: 'i-1',
      kind: 'execute',
      command: 'rm -r build',
      type: 'approval',
      id: '0',
      description: 'shell: rm -r build',
      tool: 'shell',
      input: { command: 'rm -r build', cwd: '/w' },
    });
    await agent.reply({ inReplyTo: 'approval', inReplyToId: asked.id, value: 'yes' });
    const items = await untilEnd(output);
    expect(shownOf(items)).toMatchObject([
      {
        type: 'functionResult',
        outcome: 'ok',
        callId: 'i-1',
        content: { role: 'user', parts: [{ functionResponse: { name: 'shell', response: { result: 'removed\n' } } }] },
      },
    ]);
    expect(textOf(items)).toBe('Done.');
  });

  test.each([
    [{ value: 'no' }, 'Declined.'],
    [{ value: 'no, use git clean' }, 'The supervisor refused this: use git clean'],
    [{ error: 'unhandled' }, 'Declined.'],
  ])('a denial and its reason reach the agent: %j', async (answer, text) => {
    const agent = await startCodex();
    const output = reader(agent);
    await agent.prompt({ text: 'use' });
    await output.until('approval');
    await agent.reply({ inReplyTo: 'approval', ...answer });
    const items = await untilEnd(output);
    expect(textOf(items)).toBe(text);
    expect(shownOf(items)).toMatchObject([{ type: 'subagentError' }, { type: 'functionResult' }]);
  });

  test('a change of files shows what is changed', async () => {
    const agent = await startCodex();
    const output = reader(agent);
    await agent.prompt({ text: 'patch' });
    expect(rawOf(await output.until('approval'))).toMatchObject({
      description: 'apply_patch: a.ts',
      paths: ['a.ts'],
      changes: [{ path: 'a.ts', kind: 'create', added: 1, patch: expect.stringContaining('++x') }],
    });
    await agent.reply({ inReplyTo: 'approval', value: true });
    expect(textOf(await untilEnd(output))).toBe('accept');
  });

  test('questions are asked one after the other, with options, and answered together', async () => {
    const agent = await startCodex();
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
    expect(second).toEqual({ type: 'question', id: '0.1', question: 'Which name?' });
    await agent.reply({ inReplyTo: 'question', inReplyToId: second.id, value: 'main' });
    expect(JSON.parse(textOf(await untilEnd(output)))).toEqual({
      answers: { store: { answers: ['Redis'] }, name: { answers: ['main'] } },
    });
  });

  test('a form of a server is asked field by field, again where the answer does not fit', async () => {
    const agent = await startCodex();
    const output = reader(agent);
    await agent.prompt({ text: 'form' });
    for (const value of ['old', '42', 'Ada']) {
      const { id } = rawOf<{ id: string }>(await output.until('question'));
      await agent.reply({ inReplyTo: 'question', inReplyToId: id, value });
    }
    expect(JSON.parse(textOf(await untilEnd(output)))).toEqual({ action: 'accept', content: { age: 42, name: 'Ada' } });
  });

  test('of a field with several values several are asked for, and again with why', async () => {
    const agent = await startCodex();
    const output = reader(agent);
    await agent.prompt({ text: 'colours' });
    const first = rawOf<{ id: string }>(await output.until('question'));
    expect(first).toMatchObject({ question: 'Which?', options: ['red', 'green'], multiple: true });
    await agent.reply({ inReplyTo: 'question', inReplyToId: first.id, value: ['mauve'] });
    const again = rawOf<{ id: string }>(await output.until('question'));
    expect(again).toMatchObject({ multiple: true, context: expect.stringContaining('Please answer with') });
    await agent.reply({ inReplyTo: 'question', inReplyToId: again.id, value: ['red', 'green'] });
    expect(JSON.parse(textOf(await untilEnd(output)))).toEqual({
      action: 'accept',
      content: { colour: ['red', 'green'] },
    });
  });

  test('a question that the program takes back is withdrawn, and a late answer does no harm', async () => {
    const agent = await startCodex();
    const output = reader(agent);
    await agent.prompt({ text: 'withdraw' });
    await output.until('approval');
    expect(await output.until('withdrawn')).toMatchObject({ id: '0' });
    await agent.reply({ inReplyTo: 'approval', inReplyToId: '0', value: 'yes' });
    await output.until('result');
  });

  const rules = {
    mcp_servers: { files: { transport: 'stdio', command: 'mcp-files', env: { TOKEN: 'secret' } } },
    tools: { allow: ['files.*', 'apply_patch'], deny: ['files.remove'], ask: ['files.write'] },
  };

  test.each([
    ['read', 'accept'],
    ['remove', 'decline'],
  ])("the session's rules answer for a tool of a server: %s → %s", async (tool, action) => {
    const agent = await startCodex(rules);
    const items = await turn(agent, `tool ${tool}`);
    expect(items.map(kindOf)).not.toContain('approval');
    expect(textOf(items)).toBe(action);
  });

  test('what they leave to a person is an approval', async () => {
    const agent = await startCodex(rules);
    const output = reader(agent);
    await agent.prompt({ text: 'tool write' });
    expect(rawOf(await output.until('approval'))).toMatchObject({
      description: 'files.write: {"path":"a"}',
      tool: 'files.write',
      input: { path: 'a' },
    });
    await agent.reply({ inReplyTo: 'approval', value: 'no' });
    expect(textOf(await untilEnd(output))).toBe('decline');
  });

  test('a command that they forbid is declined without asking', async () => {
    const items = await turn(await startCodex(rules), 'use');
    expect(items.map(kindOf)).not.toContain('approval');
    expect(textOf(items)).toContain("the session's rules do not allow shell");
  });
});

describe('while it works', () => {
  test('a message steers the turn', async () => {
    const agent = await startCodex();
    const output = reader(agent);
    await agent.prompt({ text: 'work' });
    await output.until('partial');
    await agent.steer({ id: 's-1', text: 'in English, please' });
    expect(textOf(await untilEnd(output))).toBe('heard: in English, please');
  });

  test('an interrupt ends the turn with an ack and nothing else, and the session goes on', async () => {
    const agent = await startCodex();
    const output = reader(agent);
    await agent.prompt({ text: 'use' });
    const { id } = rawOf<{ id: string }>(await output.until('approval'));
    await agent.request('interrupt', 'i-1');
    expect(await output.next()).toMatchObject({ shown: [{ type: 'functionResult', outcome: 'cancelled' }] });
    expect(rawOf(await output.next())).toEqual({ type: 'ack', in_reply_to: 'interrupt', in_reply_to_id: 'i-1' });
    await agent.reply({ inReplyTo: 'approval', inReplyToId: id, error: 'interrupted' });
    expect(textOf(await turn(agent, 'say more', output))).toBe('more');
  });

  test('an interrupt is acknowledged when what runs in the background has ended too', async () => {
    const agent = await startCodex();
    const output = reader(agent);
    await agent.prompt({ text: 'background' });
    await output.until('partial');
    await agent.request('interrupt', 'i-1');
    await output.until('ack');
    await agent.prompt({ text: 'terminals' });
    expect(await output.until('result')).toMatchObject({ raw: { text: '0 running' } });
  });

  test('what a command wrote before it was interrupted is shown', async () => {
    const agent = await startCodex();
    const output = reader(agent);
    await agent.prompt({ text: 'runs' });
    await output.until('partial');
    await agent.request('interrupt', 'i-1');
    const stopped = await output.next();
    expect(stopped).toMatchObject({ shown: [{ type: 'functionResult', outcome: 'cancelled' }] });
    expect(rawOf(stopped)).toMatchObject({ type: 'tool_result', content: 'begun\n', outcome: 'cancelled' });
    expect(kindOf(await output.next())).toBe('ack');
  });

  test('a program that cannot end what it runs in the background: the interrupt is confirmed with a warning', async () => {
    const agent = await start('codex', { protocol: 'codex', env: { OLD: '1' } });
    const output = reader(agent);
    await agent.prompt({ text: 'background' });
    await output.until('partial');
    await agent.request('interrupt', 'i-1');
    expect(rawOf(await output.until('log'))).toMatchObject({ message: expect.stringContaining('may go on') });
    await output.until('ack');
  });

  test('what a command writes is told while it runs, in pieces', async () => {
    const items = await turn(await startCodex(), 'writes');
    const written = items.filter((item) => kindOf(item) === 'tool_output').map(rawOf);
    expect(written).toEqual([{ type: 'tool_output', id: 'i-1', text: 'one\ntwo\n' }]);
    expect(shownOf(items).at(-1)).toMatchObject({ type: 'functionResult', outcome: 'ok', extra: { exit_code: 0 } });
  });

  test('a question that it does not wait for is asked, and the answer is told as a message', async () => {
    const agent = await startCodex();
    const output = reader(agent);
    await agent.prompt({ text: 'aside' });
    expect(rawOf(await output.until('message'))).toMatchObject({ text: 'A question.' });
    const asked = rawOf<{ id: string }>(await output.until('question'));
    expect(asked).toMatchObject({ question: 'Which store?', options: ['SQLite', 'Redis'] });
    await agent.reply({ inReplyTo: 'question', inReplyToId: asked.id, value: 'Redis' });
    await agent.steer({ id: 's-1', text: 'in the end' });
    expect(await output.until('result')).toMatchObject({ raw: { text: 'heard: in the end' } });
    await agent.prompt({ text: 'steered' });
    expect(await output.until('result')).toMatchObject({ raw: { text: 'Which store?: Redis | in the end' } });
  });

  test('a command in the background keeps the turn open', async () => {
    const agent = await startCodex();
    const output = reader(agent);
    await agent.prompt({ text: 'leaves' });
    expect(rawOf(await output.until('tool_call'))).toMatchObject({ name: 'shell', kind: 'execute' });
    expect(rawOf(await output.until('progress'))).toMatchObject({ message: 'waits for a command in the background' });
    expect(await output.until('result')).toMatchObject({ raw: { text: 'It runs.' } });
  });

  test('an interrupt that comes before the turn has a name stops it as soon as it has', async () => {
    const agent = await startCodex();
    const output = reader(agent);
    await agent.prompt({ text: 'work' });
    await agent.request('interrupt', 'i-1');
    expect(rawOf(await output.until('ack'))).toMatchObject({ in_reply_to_id: 'i-1' });
  });

  test('a message that comes after the turn goes with the next prompt', async () => {
    const agent = await startCodex();
    const output = reader(agent);
    await turn(agent, 'say one', output);
    await agent.steer({ id: 's-1', text: 'say it' });
    expect(textOf(await turn(agent, 'in English', output))).toBe('it\n\nin English');
  });

  test('a second prompt while it works is refused', async () => {
    const agent = await startCodex();
    await agent.prompt({ text: 'work' });
    await expect(agent.prompt({ text: 'more' })).rejects.toMatchObject({ code: 'protocol' });
  });

  test.each(['work', 'deaf'])('a cancel ends the process: %s', async (what) => {
    const agent = await startCodex();
    const output = reader(agent);
    await agent.prompt({ text: what });
    await output.until('partial');
    await agent.request('cancel', 'c-1');
    expect(rawOf(await output.until('ack'))).toMatchObject({ in_reply_to: 'cancel', in_reply_to_id: 'c-1' });
    await output.until('exit');
  });
});

type Shown = { started: JsonObject & { config: JsonObject }; args: string[]; cwd: string };

async function show(params: JsonObject, options: StartOptions = {}): Promise<Shown> {
  return JSON.parse(textOf(await turn(await startCodex(params, options), 'show')));
}

describe('how it is started', () => {
  test('asks about what is not harmless and stays in its sandbox, unless told otherwise', async () => {
    const folder = realpathSync(tmpdir());
    const { started, args, cwd } = await show({ model: 'gpt-5.5', work_dir: folder, config: { web_search: 'live' } });
    expect(args).toEqual(['app-server']);
    expect(cwd).toBe(folder);
    expect(started).toEqual({
      cwd: folder,
      model: 'gpt-5.5',
      approvalPolicy: 'untrusted',
      approvalsReviewer: 'user',
      sandbox: 'workspace-write',
      config: {
        web_search: 'live',
        features: { default_mode_request_user_input: true },
        suppress_unstable_features_warning: true,
      },
    });
  });

  test('servers and their secrets go over the pipe, and what the rules forbid is not offered', async () => {
    const { started, args } = await show({
      mcp_servers: {
        files: { transport: 'stdio', command: 'mcp-files', args: ['.'], env: { TOKEN: 'secret-1' }, cwd: '/srv' },
        web: { transport: 'http', url: 'https://tools.example/mcp', headers: { Authorization: 'secret-2' } },
      },
      tools: { deny: ['shell', 'web_search'] },
    });
    expect(args.join(' ')).not.toContain('secret');
    expect(started.config).toEqual({
      suppress_unstable_features_warning: true,
      features: { default_mode_request_user_input: true, shell_tool: false },
      web_search: 'disabled',
      mcp_servers: {
        own: { enabled: false },
        files: {
          command: 'mcp-files',
          args: ['.'],
          env: { TOKEN: 'secret-1' },
          cwd: '/srv',
          required: true,
          default_tools_approval_mode: 'prompt',
        },
        web: {
          url: 'https://tools.example/mcp',
          http_headers: { Authorization: 'secret-2' },
          required: true,
          default_tools_approval_mode: 'prompt',
        },
      },
    });
  });

  test.each([
    [{ sandbox: 'danger-full-access' }, /params\.sandbox/],
    [{ approvals: 'never' }, /did you mean "approval_policy"|has no such param/],
  ])('a param that there is not is refused: %j', async (params, message) => {
    await expect(startCodex(params)).rejects.toMatchObject({
      code: 'init-refused',
      message: expect.stringMatching(message),
    });
  });

  test('a thread goes on in a new process, which is not counted twice', async () => {
    const agent = await startCodex({}, { conversation: 't-7' });
    const items = await turn(agent, 'say more');
    expect(items.filter((item) => item.kind === 'usage')).toMatchObject([{ usage: { inputTokens: 10 } }]);
    expect(rawOf(items.at(-1) as AgentOutput)).toMatchObject({ text: 'more', conversation: 't-7' });
  });

  test('one that is not there any more is begun anew, and a log says so', async () => {
    const agent = await startCodex({}, { conversation: 'lost' });
    const items = await turn(agent, 'say more');
    expect(items[0]).toMatchObject({ raw: { level: 'warn', message: expect.stringContaining('conversation lost') } });
    expect(rawOf(items.at(-1) as AgentOutput)).toMatchObject({ text: 'more', conversation: 't-1' });
  });

  test('a program that does not answer is no agent', async () => {
    const mute = start('codex', { protocol: 'codex', env: { MUTE: '1' } }, { initTimeoutMs: 300 });
    await expect(mute).rejects.toMatchObject({ code: 'init-timeout' });
  });
});

test('the end of a turn tells where the conversation stands, and a new one begins there', async () => {
  expect(await placeAfter(await startCodex(), 'say one')).toEqual({ id: 't-1', upTo: 'turn-1' });
  const items = await turn(await startCodex({}, { fork: { id: 't-1', upTo: 'turn-1' } }), 'show');
  expect(rawOf(items[0] as AgentOutput)).toEqual({ type: 'conversation', id: 't-fork' });
  expect(JSON.parse(textOf(items)).started).toMatchObject({ threadId: 't-1', lastTurnId: 'turn-1' });
});

test('one that is not there cannot be forked: nothing begins in its place', async () => {
  const lost = startCodex({}, { fork: { id: 'lost', upTo: 'x' } });
  await expect(lost).rejects.toMatchObject({ code: 'init-refused', message: expect.stringContaining('lost') });
});
