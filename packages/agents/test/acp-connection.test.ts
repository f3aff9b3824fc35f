import type { AgentConnection, AgentOutput, AgentSpec, StartOptions } from '@concerto/agents';
import type { Json, JsonObject } from '@concerto/base';
import { describe, expect, test } from 'vitest';
import { brief, kindOf, rawOf, reader, start } from './start.ts';

type Reader = ReturnType<typeof reader>;

async function startAcp(
  ways: readonly string[] = [],
  spec: Partial<AgentSpec> = {},
  options: StartOptions = {},
): Promise<{ agent: AgentConnection; output: Reader }> {
  const agent = await start('acp', { ...spec, protocol: 'acp', args: ways }, options);
  return { agent, output: reader(agent) };
}

/** Everything up to the end of the turn. */
async function turn(
  { agent, output }: { agent: AgentConnection; output: Reader },
  text: string,
): Promise<AgentOutput[]> {
  await agent.prompt({ text, id: 'm1' });
  return await untilEnd(output);
}

async function untilEnd(output: Reader): Promise<AgentOutput[]> {
  const items: AgentOutput[] = [];
  for (;;) {
    const item = await output.next();
    items.push(item);
    if (item.kind === 'exit') return items;
    if (item.kind === 'message' && ['result', 'error', 'ack'].includes(item.message.type)) return items;
  }
}

function last(items: readonly AgentOutput[]): JsonObject {
  const item = items.at(-1);
  if (item === undefined) throw new Error('nothing was said');
  return rawOf(item);
}

/** The JSON that the agent said last. */
function told(items: readonly AgentOutput[]): Json {
  const { text } = last(items);
  return JSON.parse(typeof text === 'string' ? text : 'null');
}

/** A message's type, or what else it is. */
function kinds(items: readonly AgentOutput[]): string[] {
  return items.map(kindOf);
}

function shown(items: readonly AgentOutput[]): unknown[] {
  return items.flatMap((item) => (item.kind === 'message' ? (item.shown ?? []) : []));
}

async function asks(agent: AgentConnection, output: Reader, text: string): Promise<{ id: string } & JsonObject> {
  await agent.prompt({ text, id: 'm1' });
  for (;;) {
    const item = await output.next();
    if (item.kind === 'message' && ['question', 'approval'].includes(item.message.type)) return rawOf(item);
  }
}

describe('a turn', () => {
  test('text comes in pieces, and the result has all of it with what it cost', async () => {
    const acp = await startAcp();
    expect([...acp.agent.capabilities]).toEqual(['interrupt', 'cancel', 'images']);
    expect(acp.agent.version).toBe('1.2.3');
    const said = await turn(acp, 'hello');
    expect(kinds(said)).toEqual(['partial', 'partial', 'usage', 'result']);
    expect(last(said)).toEqual({
      type: 'result',
      text: 'Hello there.',
      message: 'm1/message-1',
      stop_reason: 'end_turn',
      usage: { input_tokens: 7, output_tokens: 5 },
    });
    expect(said[2]).toMatchObject({ usage: { cacheReadTokens: 2 } });
  });

  test('the context follows the text', async () => {
    const acp = await startAcp();
    await acp.agent.prompt({ text: 'Look', context: { file: 'a.ts' } });
    expect(last(await untilEnd(acp.output))).toMatchObject({ text: 'Look\n\nContext:\n{\n  "file": "a.ts"\n}' });
  });

  test('tool calls begin once with their input and end once, also one that never says so', async () => {
    const acp = await startAcp();
    const said = await turn(acp, 'tools');
    expect(shown(said)).toMatchObject([
      { type: 'thought', text: 'Hm.' },
      {
        type: 'functionCall',
        callId: 'm1/call_1',
        name: 'read',
        kind: 'read',
        args: { path: 'a.txt' },
        title: 'Read a.txt',
        messageId: 'm1/message-1',
      },
      { type: 'functionCallUpdate', callId: 'm1/call_1', status: 'in_progress' },
      {
        type: 'functionResult',
        callId: 'm1/call_1',
        outcome: 'ok',
        content: { parts: [{ functionResponse: { name: 'read', response: { result: 'the text' } } }] },
        changes: [{ path: 'a.txt', kind: 'create', added: 1, removed: 0, patch: expect.stringContaining('+new') }],
      },
      { type: 'functionCall', callId: 'm1/call_2', name: 'fetch', args: {}, title: 'Never ends' },
      { type: 'functionResult', callId: 'm1/call_2', outcome: 'cancelled' },
    ]);
    expect(said.map((item) => (item.kind === 'message' ? item.raw : item))).toContainEqual({
      type: 'plan',
      entries: [
        { content: 'one', status: 'completed', priority: 'high' },
        { content: 'two', status: 'in_progress', priority: 'low' },
      ],
    });
    // What was said before the tools is not the answer.
    expect(last(said)).toMatchObject({ text: 'After.' });
  });

  test('a call whose input comes in two pieces is shown with all of it, and what it writes as it writes it', async () => {
    const said = await turn(await startAcp(['as:OpenCode']), 'writes');
    expect(shown(said)[0]).toMatchObject({
      type: 'functionCall',
      name: 'bash',
      kind: 'execute',
      args: { command: 'rm -r build', cwd: '/w' },
    });
    const written = said.filter((item) => kindOf(item) === 'tool_output').map(rawOf<{ text: string }>);
    expect(written.map(({ text }) => text)).toEqual(['one\n', 'two\n']);
    expect(shown(said).at(-1)).toMatchObject({ type: 'functionResult', outcome: 'ok' });
  });

  test('what is not about us, or not known, passes by; a request that we do not serve is refused', async () => {
    const acp = await startAcp();
    const said = await turn(acp, 'odd');
    expect(kinds(said)).toEqual(['log', 'usage', 'usage', 'custom', 'partial', 'result']);
    expect(said.flatMap((item) => (item.kind === 'usage' ? [item.usage.costMicroUsd] : []))).toEqual([
      500_000, 250_000,
    ]);
    expect(shown(said)).toEqual([
      {
        type: 'content',
        messageId: 'm1/message-1',
        content: { role: 'model', parts: [{ inlineData: { mimeType: 'image/png', data: 'AAAA' } }] },
      },
    ]);
    expect(told(said)).toMatchObject({ error: { code: -32601 } });
  });

  test('how full its window is is told, also where it tells nothing of its tokens', async () => {
    const acp = await startAcp();
    const usage = { inputTokens: 0, outputTokens: 0 };
    const told = { kind: 'usage', usage, source: { context: { used: 9, size: 100 } } };
    expect((await turn(acp, 'fills')).filter(({ kind }) => kind === 'usage')).toMatchObject([told]);
    expect((await turn(acp, 'garbage')).filter(({ kind }) => kind === 'usage')).toEqual([]);
  });

  test('lines that are no frames are logged, and the turn goes on', async () => {
    const acp = await startAcp();
    const said = await turn(acp, 'garbage');
    expect(kinds(said)).toEqual(['log', 'log', 'log', 'partial', 'result']);
    expect(said[0]).toMatchObject({ raw: { message: 'on stdout, but it is not JSON: Warning: I am chatty' } });
  });

  test('or break it, where the manifest says so', async () => {
    const acp = await startAcp([], { plainText: 'error' });
    const said = await turn(acp, 'garbage');
    expect(brief(said)).toContain('fatal: protocol');
  });

  test('a limit that was reached and a failure are errors that say so', async () => {
    const acp = await startAcp();
    expect(last(await turn(acp, 'tokens'))).toEqual({
      type: 'error',
      message: 'the model reached its limit of tokens',
      code: 'max_tokens',
    });
    expect(last(await turn(acp, 'fail'))).toEqual({
      type: 'error',
      message: 'session/prompt: Internal error (-32603): the model is on strike',
      code: -32603,
    });
    expect(last(await turn(acp, 'hello'))).toMatchObject({ text: 'Hello there.' });
  });

  test('an exit in the middle of it is told with the end of stderr', async () => {
    const acp = await startAcp();
    const said = await turn(acp, 'exit');
    expect(brief(said)).toEqual(['partial: I am not well.', 'exit: 3']);
    expect(said.at(-1)).toMatchObject({ error: { message: expect.stringContaining('out of memory') } });
    await expect(acp.agent.prompt({ text: 'hello' })).rejects.toMatchObject({ code: 'exited' });
  });

  test('an answer right before the exit is an answer', async () => {
    const acp = await startAcp();
    expect(last(await turn(acp, 'answer and exit'))).toMatchObject({ type: 'result', text: 'Bye.' });
    expect(brief(await acp.output.rest())).toEqual(['exit: 0']);
  });

  test('what it says between turns is passed on, but nobody is asked anything there', async () => {
    const acp = await startAcp();
    expect(last(await turn(acp, 'background'))).toMatchObject({ text: 'Started.' });
    const after = [await acp.output.next(), await acp.output.next(), await acp.output.next()];
    expect(brief(after)).toEqual([
      'partial: By the way: done.',
      'log: asked between turns, which was cancelled: `rm -r build`',
      'partial: {"outcome":"cancelled"}',
    ]);
    expect(last(await turn(acp, 'hello'))).toMatchObject({ text: 'Hello there.' });
  });

  test('a second prompt while it works is refused here: it would end the first', async () => {
    const { agent, output } = await startAcp();
    await agent.prompt({ text: 'wait' });
    await output.until('partial');
    await expect(agent.prompt({ text: 'hello' })).rejects.toThrow('still at work');
  });
});

describe('a permission', () => {
  test('is an approval with all that is known of the call, which is shown before it', async () => {
    const { agent, output } = await startAcp();
    await agent.prompt({ text: 'permission', id: 'm1' });
    const [call, approval] = [await output.next(), await output.next()];
    expect(shown([call])).toMatchObject([{ type: 'functionCall', name: 'Bash', args: { command: 'rm -r build' } }]);
    expect(rawOf(approval)).toEqual({
      type: 'approval',
      id: 'permission-1',
      call: 'm1/call_1',
      kind: 'execute',
      command: 'rm -r build',
      description: '`rm -r build`',
      tool: 'Bash',
      input: { command: 'rm -r build' },
      options: [
        { id: 'once', name: 'Allow once', label: 'Allow once', kind: 'allow_once' },
        { id: 'ever', name: 'Always allow', label: 'Always allow', kind: 'allow_always' },
        { id: 'not', name: 'Reject', label: 'Reject', kind: 'reject_once' },
      ],
    });
  });

  test.each<[Json, string]>([
    ['yes', 'once'],
    [true, 'once'],
    [{ approved: true }, 'once'],
    ['ever', 'ever'],
    ['always allow', 'ever'],
    [{ optionId: 'ever' }, 'ever'],
    ['no', 'not'],
    [false, 'not'],
    [{ approved: false }, 'not'],
    [null, 'not'],
    [{}, 'not'],
    ['perhaps', 'not'],
  ])('the answer %j takes the option %s', async (value, optionId) => {
    const { agent, output } = await startAcp();
    const { id } = await asks(agent, output, 'permission');
    await agent.reply({ inReplyTo: 'approval', inReplyToId: id, value });
    expect(told(await untilEnd(output))).toEqual({ outcome: 'selected', optionId });
  });

  test('a reason beside the no is not passed on, which is said', async () => {
    const { agent, output } = await startAcp();
    const { id } = await asks(agent, output, 'permission');
    await agent.reply({ inReplyTo: 'approval', inReplyToId: id, value: 'no, use git clean' });
    expect(rawOf(await output.until('log'))).toMatchObject({ message: expect.stringContaining(': use git clean') });
  });

  test('that nobody decides is cancelled, never allowed', async () => {
    const { agent, output } = await startAcp();
    const { id } = await asks(agent, output, 'permission');
    await agent.reply({ inReplyTo: 'approval', inReplyToId: id, error: 'nobody answered' });
    expect(told(await untilEnd(output))).toEqual({ outcome: 'cancelled' });
    // A second answer comes too late for anything.
    await agent.reply({ inReplyTo: 'approval', inReplyToId: id, value: 'yes' });
  });

  test('whose refusal ends the turn is a result all the same', async () => {
    const { agent, output } = await startAcp();
    const { id } = await asks(agent, output, 'cold');
    await agent.reply({ inReplyTo: 'approval', inReplyToId: id, value: 'no' });
    const said = await untilEnd(output);
    expect(last(said)).toMatchObject({ type: 'result', stop_reason: 'cancelled' });
    expect(shown(said).at(-1)).toMatchObject({ type: 'functionResult', callId: 'm1/call_1', outcome: 'denied' });
  });

  test('that the agent takes back is withdrawn', async () => {
    const { agent, output } = await startAcp();
    const { id } = await asks(agent, output, 'withdrawn');
    expect(await output.next()).toMatchObject({ kind: 'withdrawn', id });
    expect(told(await untilEnd(output))).toEqual({ outcome: 'cancelled' });
  });

  test('is cancelled by an interrupt, which is confirmed when the turn has ended', async () => {
    const { agent, output } = await startAcp();
    await asks(agent, output, 'permission, then wait');
    await agent.request('interrupt', 'i1');
    const said = await untilEnd(output);
    expect(
      said.flatMap((item) => (item.kind === 'message' && item.raw.type === 'partial' ? [item.raw.text] : [])),
    ).toEqual(['{"outcome":"cancelled"}']);
    expect(last(said)).toEqual({ type: 'ack', in_reply_to: 'interrupt', in_reply_to_id: 'i1' });
    expect(last(await turn({ agent, output }, 'hello'))).toMatchObject({ text: 'Hello there.' });
  });

  test('for a tool that the session forbids is refused without asking anybody', async () => {
    const acp = await startAcp([], { params: { tools: { deny: ['Bash'] } } });
    const said = await turn(acp, 'permission');
    expect(kinds(said)).not.toContain('approval');
    expect(kinds(said)).toContain('log');
    expect(told(said)).toEqual({ outcome: 'selected', optionId: 'not' });
  });

  test('for a tool that is not among those allowed, too', async () => {
    const acp = await startAcp([], { params: { tools: { allow: ['Read', 'files.*'] } } });
    expect(told(await turn(acp, 'permission'))).toEqual({ outcome: 'selected', optionId: 'not' });
  });
});

describe('a form', () => {
  test('with one choice is one question with options', async () => {
    const { agent, output } = await startAcp();
    const asked = await asks(agent, output, 'choose');
    expect(asked).toMatchObject({
      question: 'Which store?',
      options: ['SQLite', 'Redis'],
      context: 'SQLite: one file',
    });
    await agent.reply({ inReplyTo: 'question', inReplyToId: asked.id, value: 'Redis' });
    expect(told(await untilEnd(output))).toEqual({ action: 'accept', content: { question_0: 'Redis' } });
  });

  test('an answer of one’s own goes where the form has a place for it', async () => {
    const { agent, output } = await startAcp();
    const { id } = await asks(agent, output, 'choose');
    await agent.reply({ inReplyTo: 'question', inReplyToId: id, value: 'Postgres' });
    expect(told(await untilEnd(output))).toEqual({ action: 'accept', content: { question_0_custom: 'Postgres' } });
  });

  test('with several fields is asked one after the other, and again where an answer does not fit', async () => {
    const { agent, output } = await startAcp();
    let asked = await asks(agent, output, 'form');
    const questions: JsonObject[] = [];
    for (const value of ['Ada', 'young', 36, 'yes', ['red', 'Blue']]) {
      questions.push(asked);
      await agent.reply({ inReplyTo: 'question', inReplyToId: asked.id, value });
      if (questions.length < 5) asked = rawOf(await output.until('question'));
    }
    expect(questions).toMatchObject([
      { question: 'Name', context: 'About you' },
      { question: 'Age' },
      { question: 'Age', context: 'About you\nPlease answer with a whole number.' },
      { question: 'Sure?', options: ['yes', 'no'] },
      { question: 'Colours', options: ['red', 'green', 'blue'], multiple: true },
    ]);
    expect(told(await untilEnd(output))).toEqual({
      action: 'accept',
      content: { name: 'Ada', age: 36, sure: true, colours: ['red', 'blue'] },
    });
  });

  test('that cannot be filled in is declined; one that nobody answers is cancelled', async () => {
    const { agent, output } = await startAcp();
    let { id } = await asks(agent, output, 'form');
    for (const value of [null, 'a', 'b', 'c']) {
      await agent.reply({ inReplyTo: 'question', inReplyToId: id, value });
      if (value !== 'c') id = rawOf<{ id: string }>(await output.until('question')).id;
    }
    expect(told(await untilEnd(output))).toEqual({ action: 'decline' });
    ({ id } = await asks(agent, output, 'form'));
    await agent.reply({ inReplyTo: 'question', inReplyToId: id, error: 'nobody answered' });
    expect(told(await untilEnd(output))).toEqual({ action: 'cancel' });
  });
});

describe('what it can be asked', () => {
  test('interrupt while it works, and while it does nothing', async () => {
    const { agent, output } = await startAcp();
    await agent.prompt({ text: 'wait' });
    await output.until('partial');
    await agent.request('interrupt', 'i1');
    expect(last(await untilEnd(output))).toMatchObject({ type: 'ack', in_reply_to_id: 'i1' });
    await agent.request('interrupt', 'i2');
    expect(last(await untilEnd(output))).toMatchObject({ type: 'ack', in_reply_to_id: 'i2' });
  });

  test('cancel ends the process', async () => {
    const { agent, output } = await startAcp();
    await agent.prompt({ text: 'wait' });
    await output.until('partial');
    await agent.request('cancel', 'c1');
    expect(brief(await output.rest())).toEqual(['ack: ', 'exit: 0']);
  });

  test('steer, where it is announced', async () => {
    const { agent, output } = await startAcp(['steering']);
    expect([...agent.capabilities]).toEqual(['interrupt', 'cancel', 'steer', 'images']);
    await agent.prompt({ text: 'wait for steering' });
    await output.until('partial');
    await agent.steer({ id: 's1', text: 'in English' });
    expect(last(await untilEnd(output))).toMatchObject({ text: expect.stringContaining('Steered: in English') });
  });

  test('a message that comes too late for the turn is refused, so that it can be a prompt', async () => {
    const { agent } = await startAcp(['steering', 'steers late']);
    await expect(agent.steer({ id: 's1', text: 'in English' })).rejects.toThrow('has no turn');
  });

  test('nothing else', async () => {
    const { agent } = await startAcp();
    await expect(agent.steer({ id: 's1', text: 'x' })).rejects.toMatchObject({ code: 'not-announced' });
    await expect(agent.request('pause', 'p1')).rejects.toMatchObject({ code: 'not-announced' });
  });
});

describe('the start', () => {
  test('opens a conversation in its folder, with the servers in the protocol’s own form', async () => {
    const acp = await startAcp([], {
      workingDir: import.meta.dirname,
      params: {
        mode: 'plan',
        config: { model: 'small' },
        mcp_servers: {
          files: { transport: 'stdio', command: 'mcp-files', args: ['.'], env: { TOKEN: 't' } },
          web: { transport: 'http', url: 'https://tools.example/mcp', headers: { Authorization: 'Bearer x' } },
        },
      },
    });
    expect(told(await turn(acp, 'opened'))).toEqual({
      how: 'new',
      cwd: import.meta.dirname,
      mode: 'plan',
      model: 'small',
      mcpServers: [
        { name: 'files', command: 'mcp-files', args: ['.'], env: [{ name: 'TOKEN', value: 't' }] },
        {
          type: 'http',
          name: 'web',
          url: 'https://tools.example/mcp',
          headers: [{ name: 'Authorization', value: 'Bearer x' }],
        },
      ],
    });
  });

  test.each([
    [{ transport: 'sse', url: 'https://tools.example/sse' }, 'takes no server over sse'],
    [{ transport: 'stdio', command: 'mcp-files', cwd: '/srv' }, 'cannot tell a server its `cwd`'],
  ])('is refused with a server that the agent cannot have: %j', async (server, why) => {
    const started = startAcp([], { params: { mcp_servers: { files: server } } });
    await expect(started).rejects.toMatchObject({ code: 'init-refused', message: expect.stringContaining(why) });
  });

  test('is refused with a param that nobody knows', async () => {
    await expect(startAcp([], { params: { tool_name: 'id' } })).rejects.toMatchObject({
      code: 'init-refused',
      message:
        'agent "acp": params.tool_name: an agent of protocol "acp" has no such param; did you mean "tool_names"?',
    });
  });

  test('that is refused does not tell a secret', async () => {
    const headers = { Authorization: 'Bearer hush-hush' };
    const params = { mcp_servers: { web: { transport: 'http', url: 'https://tools.example/mcp', headers } } };
    const started = startAcp(['tells'], { params, secrets: ['Bearer hush-hush'] });
    const error = await started.catch((cause: unknown) => cause);
    expect(error).toMatchObject({ code: 'init-refused', message: expect.stringContaining('tools.example') });
    expect(String(error)).not.toContain('hush-hush');
  });

  test('survives a greeting', async () => {
    const acp = await startAcp(['banner']);
    expect(last(await turn(acp, 'hello'))).toMatchObject({ text: 'Hello there.' });
  });

  test('has a deadline', async () => {
    await expect(startAcp(['silent'], {}, { initTimeoutMs: 200 })).rejects.toMatchObject({
      code: 'init-timeout',
      message: expect.stringContaining('no answer to `initialize`'),
    });
  });

  test('can be given up', async () => {
    const giveUp = new AbortController();
    const started = startAcp(['silent'], {}, { signal: giveUp.signal, onProcess: () => giveUp.abort() });
    await expect(started).rejects.toThrow('aborted');
  });

  test('fails with an agent that dies, or speaks another version', async () => {
    await expect(startAcp(['dies'])).rejects.toMatchObject({ code: 'exited' });
    await expect(startAcp(['future'])).rejects.toMatchObject({
      code: 'init-refused',
      message: expect.stringContaining('speaks version 2'),
    });
  });

  test('without a login says how to log in; with the method it works', async () => {
    await expect(startAcp(['login:key'])).rejects.toMatchObject({
      code: 'init-refused',
      message: expect.stringContaining('set params.auth_method to one of key (API key)'),
    });
    const acp = await startAcp(['login:key'], { params: { auth_method: 'key' } });
    expect(last(await turn(acp, 'hello'))).toMatchObject({ text: 'Hello there.' });
  });
});

describe('a conversation', () => {
  test('that is taken up is billed from what it had cost before', async () => {
    const acp = await startAcp(['resume'], {}, { conversation: 'conversation-1', spentMicroUsd: 400_000 });
    const usages = (await turn(acp, 'billed')).flatMap((item) => (item.kind === 'usage' ? [item] : []));
    expect(usages).toMatchObject([
      { usage: { costMicroUsd: 100_000 }, source: { context: { used: 7, size: 100 } } },
      { usage: { inputTokens: 1, costMicroUsd: 0 } },
    ]);
  });

  test('has a name only where it can be taken up', async () => {
    const forgetful = await startAcp();
    expect(kinds(await turn(forgetful, 'hello'))).not.toContain('custom');
    const acp = await startAcp(['resume']);
    const said = await turn(acp, 'hello');
    expect(said.flatMap((item) => (item.kind === 'message' ? [item.raw] : []))).toContainEqual({
      type: 'conversation',
      id: 'conversation-1',
    });
    expect(last(said)).toMatchObject({ conversation: 'conversation-1' });
  });

  test('is resumed where the agent can, and nothing is told again', async () => {
    const acp = await startAcp(['resume', 'load'], {}, { conversation: 'conversation-1' });
    const said = await turn(acp, 'opened');
    expect(told(said)).toMatchObject({ how: 'resume', sessionId: 'conversation-1' });
  });

  test('that is taken up is not paid for twice', async () => {
    const costs = async (acp: Awaited<ReturnType<typeof startAcp>>): Promise<unknown> =>
      (await turn(acp, 'bill')).flatMap((item) => (item.kind === 'usage' ? [item.usage.costMicroUsd] : []));
    expect(await costs(await startAcp(['resume']))).toEqual([1_000_000, 500_000]);
    expect(await costs(await startAcp(['resume'], {}, { conversation: 'conversation-1' }))).toEqual([500_000]);
  });

  test('or loaded, and what is told again is not shown again', async () => {
    const acp = await startAcp(['load'], {}, { conversation: 'conversation-1' });
    const said = await turn(acp, 'opened');
    expect(told(said)).toMatchObject({ how: 'load', sessionId: 'conversation-1' });
    expect(kinds(said)).toEqual(['custom', 'partial', 'result']);
  });

  test('or begun anew when the agent has lost it, which is said', async () => {
    const acp = await startAcp(['load'], {}, { conversation: 'conversation-9' });
    const said = await turn(acp, 'opened');
    expect(told(said)).toMatchObject({ how: 'new' });
    expect(kinds(said)).toEqual(['log', 'custom', 'partial', 'result']);
    expect(rawOf(said[0] as AgentOutput)).toMatchObject({ message: expect.stringContaining('No such session') });
  });
});
