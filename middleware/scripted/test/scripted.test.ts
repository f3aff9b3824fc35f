import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { builtinScripts, demoAgents, findScript, parseScript } from '@concerto/middleware-scripted';
import { describe, expect, onTestFinished, test } from 'vitest';
import { scriptedCommand } from '../../../tests/support/concerto-command.ts';

type Message = { readonly type: string; readonly [field: string]: unknown };
type Exit = { readonly code: number | null; readonly stderr: string };

type Running = {
  say(message: Message): void;
  answer(to: Message, value: unknown): void;
  hear(type: string): Promise<Message>;
  until(type: string): Promise<Message[]>;
  exit(): Promise<Exit>;
};

function run(...args: string[]): Running {
  return begin([...scriptedCommand, ...args]);
}

function begin(args: readonly string[]): Running {
  const child = spawn(process.execPath, args);
  onTestFinished(() => void child.kill('SIGKILL'));
  const closed = once(child, 'close') as Promise<[number | null]>;
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  let stderr = '';
  child.stderr.on('data', (chunk) => {
    stderr += String(chunk);
  });
  const next = async (): Promise<Message> => {
    const line = await lines.next();
    if (line.done === true) throw new Error(`it has ended: ${stderr}`);
    return JSON.parse(line.value) as Message;
  };
  const say = (message: Message): void => void child.stdin.write(`${JSON.stringify(message)}\n`);
  return {
    say,
    answer: (to, value) => say({ type: 'response', in_reply_to: to.type, in_reply_to_id: to.id, value }),
    async hear(type) {
      const message = await next();
      expect(message).toMatchObject({ type });
      return message;
    },
    async until(type) {
      const heard: Message[] = [];
      do heard.push(await next());
      while (heard.at(-1)?.type !== type);
      return heard;
    },
    async exit() {
      child.stdin.end();
      const [code] = await closed;
      return { code, stderr };
    },
  };
}

async function runScript(script: object, ...args: string[]): Promise<Running> {
  const file = join(await mkdtemp(join(tmpdir(), 'script-')), 'script.json');
  await writeFile(file, JSON.stringify({ description: 'a test', ...script }));
  return run(file, '--speed', '0', ...args);
}

describe('the builtin scripts', () => {
  test('are the four demo agents, and each can be read', () => {
    expect(builtinScripts()).toEqual(['demo', 'echo', 'flaky', 'slow']);
    expect(demoAgents().map((agent) => agent.name)).toEqual(builtinScripts());
    for (const agent of demoAgents()) expect(agent.description).toBe(findScript(agent.name).description);
  });

  test.each([
    ['RS256', 'yes', /^Done: sign tokens.*signed with RS256.*the old secret is gone\.$/s],
    ['HS256', 'no', /^Done: sign tokens.*signed with HS256.*remove it when you are ready\.$/s],
  ])('demo asks (%s), asks for approval (%s) and reports', async (algorithm, approval, text) => {
    const agent = run('demo', '--speed', '0');
    agent.say({ type: 'prompt', text: 'sign tokens' });
    const before = await agent.until('question');
    expect(before[0]).toEqual({
      type: 'init_ack',
      version: '1.0.0',
      capabilities: ['steer', 'interrupt', 'pause', 'cancel', 'resume'],
    });
    expect(before.map((message) => message.type)).toEqual(expect.arrayContaining(['progress', 'log', 'partial']));
    const question = before.at(-1) as Message;
    expect(question.options).toEqual(['RS256', 'HS256']);
    agent.answer(question, algorithm);
    const request = (await agent.until('approval')).at(-1) as Message;
    expect(request).toMatchObject({ risk_level: 'high', files: ['config/production.json'] });
    agent.answer(request, approval);
    const result = (await agent.until('result')).at(-1);
    expect(result).toMatchObject({ text: expect.stringMatching(text), files_changed: 3 });
    agent.say({ type: 'prompt', text: 'more' });
    expect((await agent.until('result')).at(-1)).toMatchObject({ text: expect.stringContaining('"more"') });
  });

  test('echo answers with the prompt, again and again', async () => {
    // As the catalog starts it.
    const agent = begin(demoAgents().find(({ name }) => name === 'echo')?.args ?? []);
    for (const text of ['one', '{{prompt}}']) {
      agent.say({ type: 'prompt', text });
      expect(await agent.hear('result')).toEqual({ type: 'result', text });
    }
  });

  test('flaky reports an error, then crashes with its last words on stderr', async () => {
    const agent = run('flaky', '--speed', '0');
    agent.say({ type: 'prompt', text: 'x' });
    expect((await agent.until('error')).at(-1)).toMatchObject({ code: 'ETIMEDOUT' });
    agent.say({ type: 'prompt', text: 'x' });
    await agent.hear('progress');
    expect(await agent.exit()).toEqual({ code: 134, stderr: 'fatal: out of memory while linking\n' });
  });

  test('slow can be paused, resumed and interrupted', async () => {
    const agent = run('slow', '--speed', '20');
    agent.say({ type: 'prompt', text: 'x' });
    await agent.until('progress');
    for (const type of ['pause', 'resume', 'interrupt']) {
      agent.say({ type, id: type });
      expect((await agent.until('ack')).at(-1)).toMatchObject({ in_reply_to: type, in_reply_to_id: type });
    }
    expect(await agent.exit()).toMatchObject({ code: 0 });
  });
});

describe('a script', () => {
  test('waits at a gate until it is opened', async () => {
    const gates = await mkdtemp(join(tmpdir(), 'gates-'));
    const steps = [
      { type: 'log', message: 'before' },
      { type: 'gate', name: 'go' },
      { type: 'result', text: 'after' },
    ];
    const agent = await runScript({ turns: [steps] }, '--gates', gates);
    agent.say({ type: 'prompt', text: 'x' });
    await agent.hear('log');
    const result = agent.hear('result');
    await writeFile(join(gates, 'go'), '');
    expect(await result).toMatchObject({ text: 'after' });
  });

  test('repeats, branches on any answer, fills in texts, and ends a turn that has no result', async () => {
    const agent = await runScript({
      turns: [
        [
          { type: 'repeat', times: 2, steps: [{ type: 'partial', text: '{{n}} ' }] },
          {
            type: 'question',
            question: 'How many?',
            as: 'count',
            answers: { '3': [{ type: 'log', message: 'three' }], '*': [{ type: 'log', message: 'other' }] },
          },
          { type: 'custom', name: 'counted', fields: { a: 1 } },
          { type: 'partial', text: '{{count}} in turn {{turn}} {{unknown}}' },
        ],
      ],
    });
    agent.say({ type: 'prompt', text: 'x' });
    expect([await agent.hear('partial'), await agent.hear('partial')].map(({ text }) => text)).toEqual(['1 ', '2 ']);
    agent.answer(await agent.hear('question'), 3);
    expect(await agent.hear('log')).toMatchObject({ message: 'three' });
    expect(await agent.hear('counted')).toEqual({ type: 'counted', a: 1 });
    expect(await agent.hear('partial')).toMatchObject({ text: '3 in turn 1 {{unknown}}' });
    expect(await agent.hear('result')).toEqual({ type: 'result', text: 'Done.' });
  });

  test('can come as a param, with what it announces', async () => {
    const agent = run();
    const script = { description: 'x', capabilities: ['steer'], turns: [[{ type: 'result', text: 'from params' }]] };
    agent.say({ type: 'init', params: { script, speed: 0 } });
    expect(await agent.hear('init_ack')).toMatchObject({ capabilities: ['steer'] });
    agent.say({ type: 'prompt', text: 'x' });
    expect(await agent.hear('result')).toMatchObject({ text: 'from params' });
  });
});

describe('a bad script', () => {
  test('names the place of each fault', () => {
    const turns = [
      [
        { type: 'progres', message: 'x' },
        { type: 'delay', ms: -1 },
        { type: 'approval', description: 'x', yes: [{ type: 'result', txt: '' }] },
      ],
    ];
    expect(() => parseScript({ description: 'x', turns, speed: 1 }, 'x.json')).toThrow(
      /^x\.json is not a script that can be played:\n {2}turns\.0\.0\.type: .*\n {2}turns\.0\.1\.ms: .*\n {2}turns\.0\.2\.yes\.0: .*txt.*\n {2}\(top\): .*speed/s,
    );
  });

  test.each([
    [['dmo'], /there is no script "dmo"\. Did you mean "demo"\? Builtin are demo, echo, flaky, slow/],
    [['./nowhere.json'], /the script \.\/nowhere\.json cannot be read: ENOENT/],
    [['--speeed', '1'], /Unknown option '--speeed'/],
    [['demo', '--speed', 'fast'], /--speed is a number from 0, not "fast"/],
  ])('%j ends the program with one clear line', async (args, message) => {
    const { code, stderr } = await run(...args).exit();
    expect(stderr).toMatch(message);
    expect(stderr).not.toMatch(/\n\s+at /);
    expect(code).toBe(1);
  });

  test('as a param is told to the supervisor', async () => {
    const agent = run();
    agent.say({ type: 'init', params: { script: 'dmo' } });
    expect(await agent.hear('error')).toMatchObject({ message: expect.stringContaining('Did you mean "demo"?') });
    agent.say({ type: 'init', params: { scrpt: 'demo' } });
    expect(await agent.hear('error')).toMatchObject({ message: expect.stringContaining('scrpt') });
  });
});

test('a script may begin with a byte order mark', async () => {
  const file = join(await mkdtemp(join(tmpdir(), 'concerto-scripted-')), 'marked.json');
  await writeFile(file, `\uFEFF${JSON.stringify({ description: 'marked', turns: [[]] })}`);
  expect(findScript(file).description).toBe('marked');
});
