import type { AgentOutput, AgentPrompt } from '@concerto/agents';
import type { Json } from '@concerto/base';
import { describe, expect, test, vi } from 'vitest';
import { brief, kindOf, rawOf, reader, start } from './start.ts';

describe('a conversation', () => {
  test('carries prompt, question, answer and result', async () => {
    const agent = await start('asks-once');
    const output = reader(agent);
    await agent.prompt({ text: 'line one\nline two', id: 'p1' });
    expect(await output.next()).toMatchObject({
      message: { type: 'progress', message: 'got line one\nline two', percent: 50 },
    });
    expect(await output.next()).toMatchObject({
      message: { type: 'question', id: 'q1', options: ['a', 'b'] },
    });
    await agent.reply({ inReplyTo: 'question', inReplyToId: 'q1', value: false });
    expect(await output.next()).toMatchObject({ message: { type: 'result', text: 'question/q1: false' } });
  });

  test('carries an error as an answer, and goes on with the next prompt in the same process', async () => {
    const agent = await start('asks-once');
    const output = reader(agent);
    for (const turn of ['one', 'two']) {
      await agent.prompt({ text: turn });
      await output.until('question');
      await agent.reply({ inReplyTo: 'question', error: 'unhandled' });
      expect(await output.until('result')).toMatchObject({ message: { text: 'question/undefined: "unhandled"' } });
    }
  });
});

describe('init', () => {
  test('sends the params, waits for the ack, and takes a banner for a log', async () => {
    const agent = await start('takes-params', { params: { model: 'opus', tools: ['read'] }, inputFormat: 'text' });
    expect([...agent.capabilities]).toEqual(['steer', 'interrupt']);
    expect(agent.version).toBe('2.1');
    const output = reader(agent);
    await agent.prompt({ text: 'go', context: { a: 1 }, session: 's1', id: 'p1' });
    const said: AgentOutput[] = [await output.next(), await output.next(), await output.next()];
    expect(brief(said)).toEqual(['log*: Welcome to the agent', 'log: starting', 'result: go']);
    expect(said[2]).toMatchObject({
      raw: {
        params: { model: 'opus', tools: ['read'] },
        prompt: { type: 'prompt', text: 'go', prompt: 'go', context: { a: 1 }, session: 's1', id: 'p1' },
      },
    });
  });

  test('is skipped for empty params', async () => {
    const agent = await start('asks-once', { params: {} });
    const output = reader(agent);
    await agent.prompt({ text: 'x' });
    expect(kindOf(await output.next())).toBe('progress');
  });

  test('that announces nothing, against what it means to, is told of', async () => {
    const agent = await start('announces-wrongly', { params: { a: 1 } });
    expect([...agent.capabilities]).toEqual([]);
    const { message } = rawOf<{ message: string }>(await reader(agent).next());
    expect(message).toBe(
      '`init_ack` message: field `capabilities`: expected an array, found the string "steer"; `concerto doctor announces-wrongly` shows how it should look',
    );
  });

  test('accepts an ack nobody asked for', async () => {
    const agent = await start('announces-unasked');
    expect(await reader(agent).next()).toEqual({ kind: 'announced', capabilities: ['pause', 'resume'] });
    expect([...agent.capabilities]).toEqual(['pause', 'resume']);
  });

  test.each([
    ['refuses-params', 'init-refused', /refused its params: bad work_dir; .*\nwork_dir \/nowhere: no such directory/s],
    ['never-acknowledges', 'init-timeout', /did not answer `init` with `init_ack` within 0\.7 s.*thinking about it/s],
    ['results-before-ack', 'protocol', /sent `result` before `init_ack`/],
    ['exits-at-once', 'exited', /ended with code 3; .*cannot find my configuration/s],
  ])('%s fails with %s and leaves no process', async (behaviour, code, message) => {
    let pid = 0;
    const starting = start(
      behaviour,
      { params: { a: 1 } },
      { initTimeoutMs: code === 'init-timeout' ? 700 : 20_000, onProcess: (found) => void (pid = found.pid) },
    );
    await expect(starting).rejects.toMatchObject({ name: 'AgentError', code, message: expect.stringMatching(message) });
    expect(() => process.kill(pid, 0)).toThrow('ESRCH');
  });

  test('can be given up', async () => {
    const giveUp = new AbortController();
    const starting = start(
      'never-acknowledges',
      { params: { a: 1 } },
      { signal: giveUp.signal, onProcess: () => giveUp.abort() },
    );
    await expect(starting).rejects.toThrow('aborted');
  });
});

describe('what was not announced', () => {
  test('is refused, and what was is sent and acknowledged', async () => {
    const agent = await start('takes-params', { params: { a: 1 } });
    await expect(agent.request('pause', 'r0')).rejects.toMatchObject({ code: 'not-announced' });
    const output = reader(agent);
    await agent.steer({ id: 'm1', text: 'left' });
    expect(await output.until('ack')).toMatchObject({ message: { in_reply_to: 'steer', in_reply_to_id: 'm1' } });
    await agent.request('interrupt', 'r1');
    expect(await output.until('ack')).toMatchObject({ message: { in_reply_to: 'interrupt', in_reply_to_id: 'r1' } });
  });
});

describe('plain text', () => {
  test('is one result a turn from an agent that speaks no NDJSON', async () => {
    const agent = await start('speaks-plain', { inputFormat: 'text' });
    const output = reader(agent);
    await agent.prompt({ text: 'hello there' });
    expect(brief([await output.next()])).toEqual(['result*: you said\n> hello there']);
    await agent.prompt({ text: 'again' });
    expect(await output.next()).toMatchObject({ raw: { type: 'result', text: 'you said\n> again' } });
  });

  test('is the result of an agent with params too, if nothing but its `init_ack` was typed before', async () => {
    const agent = await start('acknowledges-then-plain', { params: { a: 1 } });
    const output = reader(agent);
    await agent.prompt({ text: 'go' });
    const said = [await output.next(), await output.next()];
    expect(brief(said)).toEqual(['log*: Welcome', 'result*: all\ndone']);
    await agent.prompt({ text: 'on' });
    expect(brief([await output.next()])).toEqual(['result*: all\ndone']);
  });

  test('said without a prompt is the result as well, its last line included', async () => {
    const agent = await start('speaks-unasked', { inputFormat: 'text' });
    expect(brief(await reader(agent).rest())).toEqual(['result*: first\n\nlast', 'exit: 0']);
  });

  test('is a log before, between and after typed messages', async () => {
    const agent = await start('banner-then-typed');
    const output = reader(agent);
    await agent.prompt({ text: 'go' });
    expect(brief(await output.rest())).toEqual([
      'log*: Welcome',
      'log*: Loading',
      'progress: x',
      'log*: plain among typed',
      'result: done',
      'exit: 0',
    ]);
  });

  test('is always a log when the manifest says so, or always an error', async () => {
    const asLog = await start('speaks-unasked', { plainText: 'log' });
    expect(brief(await reader(asLog).rest())).toEqual(['log*: first', 'log*: last', 'exit: 0']);
    const asError = await start('speaks-unasked', { plainText: 'error' });
    expect(brief(await reader(asError).rest())).toEqual(['fatal: protocol', 'fatal: protocol', 'exit: 0']);
  });
});

describe('the form of a prompt', () => {
  const several = 'hello\nthere';
  const heardBy = async (inputFormat: 'line-or-json' | 'text', prompts: readonly AgentPrompt[]) => {
    const notices: string[] = [];
    const agent = await start('speaks-plain', { inputFormat }, { onNotice: (message) => notices.push(message) });
    const output = reader(agent);
    const heard: string[] = [];
    for (const prompt of prompts) {
      await agent.prompt(prompt);
      heard.push(rawOf<{ text: string }>(await output.next()).text.replace('you said\n> ', ''));
    }
    return { heard, notices };
  };

  test('is a bare line if it is one, else an object, which is said once', async () => {
    const prompts = [{ text: 'one' }, { text: several }, { text: 'two', context: { a: 1 } }, { text: 'a\r\nb' }];
    const { heard, notices } = await heardBy('line-or-json', prompts);
    expect(heard).toEqual([
      'one',
      JSON.stringify({ type: 'prompt', text: several, prompt: several }),
      JSON.stringify({ type: 'prompt', text: 'two', prompt: 'two', context: { a: 1 } }),
      JSON.stringify({ type: 'prompt', text: 'a\r\nb', prompt: 'a\r\nb' }),
    ]);
    expect(notices).toEqual([expect.stringContaining('got this prompt as a JSON object')]);
  });

  test('is always a bare line with `text`: the ends of its lines are escaped, which is said once', async () => {
    const prompts = [{ text: 'one' }, { text: several }, { text: 'a\r\nb\rc' }];
    const { heard, notices } = await heardBy('text', prompts);
    expect(heard).toEqual(['one', 'hello\\nthere', 'a\\nb\\nc']);
    expect(notices).toEqual([expect.stringContaining('got the lines of this prompt as one')]);
  });

  test('has its context in the same line with `text`, as programs show it', async () => {
    const contexts: readonly Json[] = ['be brief', { files: ['a', 'b'], n: 2, deep: { no: null } }, 'two\nlines'];
    const { heard } = await heardBy(
      'text',
      contexts.map((context) => ({ text: 'go', context })),
    );
    expect(heard).toEqual([
      'go\\nContext: be brief',
      'go\\nContext: {"files": [a, b], "n": 2, "deep": {"no": nil}}',
      'go\\nContext: two\\nlines',
    ]);
  });

  test('is said in the session where nobody else listens for it', async () => {
    const agent = await start('speaks-plain', { inputFormat: 'text' });
    const output = reader(agent);
    await agent.prompt({ text: several });
    expect(brief([await output.next(), await output.next()])).toEqual([
      expect.stringMatching(/^log: agent "speaks-plain" got the lines/),
      'result*: you said\n> hello\\nthere',
    ]);
  });
});

describe('bad output', () => {
  test('garbage between messages is logged, bad UTF-8 is reported, and the agent goes on', async () => {
    const agent = await start('garbage');
    expect(brief(await reader(agent).rest())).toEqual([
      'progress: a',
      'log*: {"type":',
      'log*: \0\x01\x02 ]]]',
      'log*: [1,2]',
      'log*: {"type":7}',
      'log*: null',
      'tolerated: invalid-utf8',
      'log*: {\uFFFD\uFFFD',
      'tolerated: invalid-utf8',
      'log: \uFFFD',
      'question: ',
      'result: still here',
      'exit: 0',
    ]);
  });

  test('a line over 8 MiB is skipped with an error that names the limit', async () => {
    const agent = await start('long-lines');
    const items = await reader(agent).rest();
    expect(items.map(kindOf)).toEqual(['partial', 'violation', 'result', 'exit']);
    expect(items[1]).toMatchObject({
      fatal: true,
      error: { code: 'line-too-long', message: expect.stringContaining('8388608 bytes') },
    });
  });

  test('an exit tells code and last words', async () => {
    const agent = await start('exits-at-once');
    const [exit] = await reader(agent).rest();
    expect(exit).toMatchObject({
      kind: 'exit',
      exit: { code: 3, signal: null, stderr: 'cannot find my configuration\n' },
      error: { code: 'exited', message: expect.stringMatching(/agent exited without result.*code 3.*cannot find my/s) },
    });
    await expect(agent.prompt({ text: 'x' })).rejects.toMatchObject({ code: 'exited' });
  });
});

test('an agent that closes its stdout and lives on is ended: it could say nothing more', async () => {
  const agent = await start('closes-stdout');
  await agent.prompt({ text: 'x' });
  const [exit] = await reader(agent).rest();
  expect(exit).toMatchObject({
    kind: 'exit',
    error: { message: expect.stringMatching(/closed its stdout and was ended.*going mute/s) },
  });
});

describe('floods', () => {
  test('100,000 lines arrive complete and in order, and a slow reader stops the agent', async () => {
    const agent = await start('floods-stdout');
    let seen = 0;
    let largest = 0;
    let result: AgentOutput | undefined;
    for await (const batch of agent.output) {
      largest = Math.max(largest, batch.length);
      for (const item of batch) {
        if (kindOf(item) === 'result') result = item;
        if (kindOf(item) === 'progress' && rawOf<{ n: number }>(item).n === seen) seen++;
      }
      // A pause of the reader: meanwhile the agent could write everything, if anything but the pipe took it.
      if (seen < 50_000) await new Promise((resolve) => setTimeout(resolve, 5));
    }
    expect(seen).toBe(100_000);
    expect(result).toBeDefined();
    expect(largest).toBeLessThan(10_000);
  });

  test('stderr is drained, its end is kept, and what came by reference is struck out', async () => {
    vi.stubEnv('TEST_SECRET', 'sesame-open');
    const agent = await start('floods-stderr', { env: { API_KEY: '${TEST_SECRET}' } });
    const items = await reader(agent).rest();
    expect(brief(items)).toEqual(['result: done', 'exit: 0']);
    const { stderr } = await agent.exited;
    expect(stderr.endsWith('the key is ***\nlast words\n')).toBe(true);
    expect(stderr.length).toBeLessThanOrEqual(64 * 1024);
  });
});
