import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { parseAgentLine } from '@concerto/protocol';
import { describe, expect, onTestFinished, test } from 'vitest';
import { bundledFile } from '../../../tests/support/bundled-file.ts';

type Message = { readonly type: string; readonly [field: string]: unknown };

/** One of the agents in `agents/`, over real pipes. */
function run(agent: string): {
  say(...messages: (Message | string)[]): void;
  hear(type: string): Promise<Message>;
  end(): Promise<{ code: number | null; stderr: string; rest: Message[] }>;
} {
  const child: ChildProcess = spawn(process.execPath, [
    bundledFile(join(import.meta.dirname, 'agents', `${agent}.ts`)),
  ]);
  onTestFinished(() => void child.kill('SIGKILL'));
  const { stdin, stdout, stderr } = child;
  if (stdin === null || stdout === null || stderr === null) throw new Error('no pipes');
  const lines = createInterface({ input: stdout })[Symbol.asyncIterator]();
  let complaints = '';
  stderr.on('data', (chunk) => {
    complaints += String(chunk);
  });
  async function next(): Promise<Message | undefined> {
    const line = await lines.next();
    return line.done === true ? undefined : (JSON.parse(line.value) as Message);
  }
  return {
    say(...messages) {
      for (const message of messages)
        stdin.write(`${typeof message === 'string' ? message : JSON.stringify(message)}\n`);
    },
    async hear(type) {
      const message = await next();
      expect(message).toMatchObject({ type });
      return message as Message;
    },
    async end() {
      const exit = once(child, 'close');
      stdin.end();
      const rest: Message[] = [];
      for (let message = await next(); message !== undefined; message = await next()) rest.push(message);
      const [code] = (await exit) as [number | null];
      return { code, stderr: complaints, rest };
    },
  };
}

test('whatever an agent says of its work is as the wire wants it', async () => {
  const agent = run('worker');
  agent.say({ type: 'prompt', text: 'go', prompt: 'go' });
  const heard: Message[] = [];
  for (const type of [
    'plan',
    'thought',
    'partial',
    'message',
    'tool_call',
    'tool_output',
    'tool_result',
    'tool_call',
  ]) {
    heard.push(await agent.hear(type));
  }
  const approval = await agent.hear('approval');
  expect(approval).toMatchObject({ call: heard[7]?.id, paths: ['a.ts'] });
  agent.say({ type: 'response', in_reply_to: 'approval', in_reply_to_id: approval.id, value: 'no' });
  heard.push(approval, await agent.hear('tool_result'), await agent.hear('usage'), await agent.hear('result'));
  const problems = heard.map((message) => parseAgentLine(JSON.stringify(message)));
  expect(problems.filter((line) => line.kind !== 'message' || line.problem !== undefined)).toEqual([]);
  expect(heard[9]).toMatchObject({ id: heard[7]?.id, content: 'not allowed', outcome: 'denied' });
  expect(heard[10]).toMatchObject({ input_tokens: 100, cost_usd: 0.01, context: { used: 120, size: 1000 } });
  expect((await agent.end()).code).toBe(0);
});

describe('a middleware of twenty lines', () => {
  test('takes its params, asks, asks for approval and answers', async () => {
    const agent = run('release-notes');
    agent.say({ type: 'init', params: { repository: '/repo' } }, { type: 'prompt', text: 'v2', prompt: 'v2' });
    expect(await agent.hear('init_ack')).toEqual({ type: 'init_ack', version: '1.0.0', capabilities: [] });
    expect(await agent.hear('progress')).toEqual({ type: 'progress', message: 'Reading the history', percent: 10 });
    const question = await agent.hear('question');
    expect(question).toMatchObject({ question: 'Which style?', options: ['short', 'long'], context: '/repo' });
    agent.say({ type: 'response', in_reply_to: 'question', in_reply_to_id: question.id, value: 'short' });
    expect(await agent.hear('partial')).toEqual({ type: 'partial', text: 'A "short" text about v2. ' });
    expect(await agent.hear('approval')).toMatchObject({ description: 'Publish the notes', risk_level: 'medium' });
    agent.say({ type: 'response', in_reply_to: 'approval', value: 'yes' });
    expect(await agent.hear('result')).toEqual({ type: 'result', text: 'Published.', style: 'short' });
    expect(await agent.end()).toMatchObject({ code: 0, stderr: '', rest: [] });
  });

  test.each([
    [true, 'Published.'],
    ['yes', 'Published.'],
    [false, 'Kept as a draft.'],
    ['no', 'Kept as a draft.'],
    [null, 'Kept as a draft.'],
    ['perhaps', 'Kept as a draft.'],
  ])('takes only a yes for a yes: %j', async (value, text) => {
    const agent = run('release-notes');
    agent.say('a bare prompt', { type: 'response', in_reply_to: 'question', value: 'long' });
    await agent.hear('progress');
    await agent.hear('question');
    agent.say({ type: 'response', in_reply_to: 'question', value: 'long' });
    await agent.hear('partial');
    await agent.hear('approval');
    agent.say({ type: 'response', in_reply_to: 'approval', value });
    expect(await agent.hear('result')).toMatchObject({ text });
  });

  test('says what is wrong with its params', async () => {
    const agent = run('release-notes');
    agent.say({ type: 'init', params: {} });
    expect(await agent.hear('error')).toEqual({ type: 'error', message: 'the param `repository` is required' });
  });

  test('hears that there will be no answer, from the supervisor or because nobody is there', async () => {
    const agent = run('release-notes');
    agent.say({ type: 'prompt', text: 'v2' });
    await agent.hear('progress');
    await agent.hear('question');
    agent.say({ type: 'response', in_reply_to: 'question', error: 'unhandled' });
    expect(await agent.hear('error')).toEqual({ type: 'error', message: 'no answer: unhandled' });
    agent.say({ type: 'prompt', text: 'v3' });
    await agent.hear('progress');
    await agent.hear('question');
    const { rest, code } = await agent.end();
    expect(rest).toEqual([{ type: 'error', message: expect.stringContaining('stdin has ended') }]);
    expect(code).toBe(0);
  });
});

describe('an agent with capabilities', () => {
  test('announces them before its first turn, and stops when it is interrupted', async () => {
    const agent = run('patient');
    agent.say({ type: 'prompt', text: 'work' });
    expect(await agent.hear('init_ack')).toMatchObject({ capabilities: ['steer', 'interrupt', 'pause', 'resume'] });
    await agent.hear('log');
    agent.say({ type: 'steer', id: 's1', text: 'left' }, { type: 'pause', id: 'p1' }, { type: 'resume', id: 'p2' });
    for (const [verb, id] of [
      ['steer', 's1'],
      ['pause', 'p1'],
      ['resume', 'p2'],
    ]) {
      expect(await agent.hear('ack')).toEqual({ type: 'ack', in_reply_to: verb, in_reply_to_id: id });
    }
    agent.say({ type: 'interrupt', id: 'i1' }, { type: 'prompt', text: 'what' });
    expect(await agent.hear('ack')).toEqual({ type: 'ack', in_reply_to: 'interrupt', in_reply_to_id: 'i1' });
    expect(await agent.hear('result')).toEqual({ type: 'result', text: 'what: left, paused, resumed, interrupted' });
  });

  test('stops when it is interrupted while it is paused', async () => {
    const agent = run('patient');
    agent.say({ type: 'prompt', text: 'work' });
    await agent.hear('init_ack');
    await agent.hear('log');
    agent.say({ type: 'pause', id: 'p1' }, { type: 'interrupt', id: 'i1' });
    await agent.hear('ack');
    expect(await agent.hear('ack')).toMatchObject({ in_reply_to: 'interrupt' });
  });

  test('tells a failure with its code, and goes on', async () => {
    const agent = run('patient');
    agent.say({ type: 'prompt', text: 'fail' }, { type: 'prompt', text: 'next' });
    await agent.hear('init_ack');
    expect(await agent.hear('error')).toEqual({ type: 'error', message: 'it broke', code: 'E_BROKE' });
    expect(await agent.hear('result')).toMatchObject({ text: 'next: ' });
  });

  test('tells a failure that says nothing itself by what it is made of', async () => {
    const agent = run('patient');
    agent.say({ type: 'prompt', text: 'fail twice' }, { type: 'prompt', text: 'fail silently' });
    await agent.hear('init_ack');
    expect(await agent.hear('error')).toEqual({ type: 'error', message: 'not here; nor there' });
    expect(await agent.hear('error')).toEqual({ type: 'error', message: 'TypeError' });
  });

  test('has no voice after its turn', async () => {
    const agent = run('patient');
    agent.say({ type: 'prompt', text: 'late' });
    await agent.hear('init_ack');
    await agent.hear('result');
    await new Promise((resolve) => setTimeout(resolve, 100));
    expect((await agent.end()).rest).toEqual([]);
  });

  test('says on stderr what it could not use', async () => {
    const agent = run('patient');
    agent.say({ type: 'dance' }, { type: 'response', in_reply_to: 'question', in_reply_to_id: 'q9', value: 1 });
    const { stderr, code } = await agent.end();
    expect(stderr).toContain('no such command: "dance"');
    expect(stderr).toContain('an answer that no question waits for: q9');
    expect(code).toBe(0);
  });
});
