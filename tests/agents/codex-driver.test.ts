import { existsSync } from 'node:fs';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import type { StartOptions } from '@concerto/agents';
import type { JsonObject } from '@concerto/base';
import { afterEach, describe, expect, test } from 'vitest';
import type { Script } from '../../packages/models/src/testing/scripted-model-server.ts';
import { apiOf } from '../support/api.ts';
import { builtConcerto } from '../support/built-concerto.ts';
import { startServer } from '../support/start-server.ts';
import { answer, type Driven, drive, placesOf, shownBy, usageOf, versionOf } from './driven.ts';
import { descendants, isAlive, type Place } from './real-claude.ts';
import { codex, openCodexPlace } from './real-codex.ts';

const timeout = 120_000;

let place: Place;
let driven: Driven | undefined;

afterEach(async () => {
  await driven?.agent.end();
  driven = undefined;
  await place.close();
});

async function start(params: JsonObject = {}, options: StartOptions = {}): Promise<Driven> {
  await driven?.agent.end();
  driven = await drive(
    { name: 'codex', protocol: 'codex', command: codex, env: place.env, workingDir: place.workDir, params },
    options,
  );
  return driven;
}

async function startWith(script: Script, params: JsonObject = {}): Promise<Driven> {
  place = await openCodexPlace(script);
  return await start(params);
}

const writes = { tool: 'exec_command', arguments: { cmd: 'echo hello > out.txt' } };
const out = (): string => join(place.workDir, 'out.txt');

/** What the model was told last. */
function lastRequest(): string {
  const input = place.model.requests.at(-1)?.body.input;
  return JSON.stringify(Array.isArray(input) ? input.slice(-8) : input);
}

describe('the real codex program, driven', () => {
  test('a command that is approved runs, and the session sees it', { timeout }, async () => {
    const agent = await startWith([[{ text: 'I will write a file.' }, writes], 'Written.']);
    expect(agent.agent.version).toBe(versionOf(codex));
    await agent.agent.prompt({ text: 'Write out.txt' });
    const asked = (await agent.until('approval')).at(-1);
    expect(asked).toMatchObject({
      description: 'shell: echo hello > out.txt',
      tool: 'shell',
      kind: 'execute',
      command: 'echo hello > out.txt',
      input: { command: 'echo hello > out.txt' },
    });
    expect(existsSync(out())).toBe(false);
    await answer(agent, asked, 'yes');
    expect((await agent.until('result')).at(-1)).toMatchObject({
      text: 'Written.',
      usage: { input_tokens: 200, output_tokens: 40 },
      conversation: expect.any(String),
    });
    expect(await readFile(out(), 'utf8')).toBe('hello\n');
    expect(shownBy(agent)).toMatchObject([
      { type: 'functionCall', name: 'shell', args: { command: 'echo hello > out.txt' } },
      { type: 'functionResult' },
    ]);
    expect(usageOf(agent)).toMatchObject({ input: 200, output: 40 });
  });

  test('a command that is denied: nothing runs, the model hears why, the turn goes on', { timeout }, async () => {
    const agent = await startWith([[writes], 'With tee, then.', 'With tee, then.']);
    await agent.agent.prompt({ text: 'Write out.txt' });
    await answer(agent, (await agent.until('approval')).at(-1), 'no, use tee instead');
    expect((await agent.until('result')).at(-1)).toMatchObject({ text: 'With tee, then.' });
    expect(existsSync(out())).toBe(false);
    expect(lastRequest()).toContain('The supervisor refused this: use tee instead');
  });

  test('a question with options: the model gets the answer', { timeout }, async () => {
    const options = [
      { label: 'SQLite', description: 'one file' },
      { label: 'Redis', description: 'for many' },
    ];
    const questions = [{ id: 'store', header: 'Store', question: 'Which store?', options }];
    const agent = await startWith([[{ tool: 'request_user_input', arguments: { questions } }], 'Redis it is.']);
    await agent.agent.prompt({ text: 'Choose a store' });
    const asked = (await agent.until('question')).at(-1);
    expect(asked).toMatchObject({ question: 'Which store?', options: ['SQLite', 'Redis'] });
    await answer(agent, asked, 'Redis');
    expect((await agent.until('result')).at(-1)).toMatchObject({ text: 'Redis it is.' });
    expect(lastRequest()).toContain('Redis');
  });

  test('a message that steers is part of the same turn', { timeout }, async () => {
    const agent = await startWith([[{ text: 'First.' }, { gate: 'steered' }], 'In English, then.']);
    await agent.agent.prompt({ text: 'Answer' });
    await agent.until('partial');
    await agent.agent.steer({ id: 's-1', text: 'In English, please' });
    place.model.gate('steered').open();
    const said = await agent.until('result');
    expect(said.at(-1)).toMatchObject({ text: 'In English, then.' });
    expect(lastRequest()).toContain('In English, please');
  });

  test('an interrupt keeps the thread; the next prompt works', { timeout }, async () => {
    const agent = await startWith([[{ text: 'Thinking about it' }, { hang: true }], 'Going on.']);
    await agent.agent.prompt({ text: 'Think' });
    await agent.until('partial');
    await agent.agent.request('interrupt', 'i-1');
    expect((await agent.until('ack', 'result', 'error')).at(-1)).toMatchObject({ type: 'ack', in_reply_to_id: 'i-1' });
    await place.model.abandoned();
    await agent.agent.prompt({ text: 'And now?' });
    expect((await agent.until('result')).at(-1)).toMatchObject({ text: 'Going on.' });
    expect(lastRequest()).toContain('Think');
  });

  test('an interrupt in the middle of an approval: nothing runs, and the next prompt works', { timeout }, async () => {
    const agent = await startWith([[writes], 'Going on.']);
    await agent.agent.prompt({ text: 'Write out.txt' });
    const asked = (await agent.until('approval')).at(-1);
    await agent.agent.request('interrupt', 'i-1');
    expect((await agent.until('ack')).at(-1)).toMatchObject({ in_reply_to_id: 'i-1' });
    await answer(agent, asked, 'yes');
    await agent.agent.prompt({ text: 'And now?' });
    expect((await agent.until('result')).at(-1)).toMatchObject({ text: 'Going on.' });
    expect(existsSync(out())).toBe(false);
  });

  test.each([
    { command: 'that the model waits for', yieldMs: 30_000 },
    { command: 'that the model has left in the background', yieldMs: 300 },
  ])(
    'an interrupt in the middle of a command $command: it ends at once, and the thread goes on',
    {
      timeout,
    },
    async ({ yieldMs }) => {
      const waits = {
        tool: 'exec_command',
        arguments: { cmd: 'touch begun; tail -f /dev/null', yield_time_ms: yieldMs },
      };
      const looksOn = yieldMs > 1_000 ? [] : [[{ text: 'I look on.' }, { hang: true as const }]];
      const agent = await startWith([[waits], ...looksOn, 'Going on.']);
      const own = descendants(agent.agent.identity.pid);
      await agent.agent.prompt({ text: 'Wait' });
      await answer(agent, (await agent.until('approval')).at(-1), 'yes');
      await expect.poll(() => existsSync(join(place.workDir, 'begun')), { timeout: 30_000 }).toBe(true);
      const command = descendants(agent.agent.identity.pid).filter((pid) => !own.includes(pid));
      expect(command).not.toEqual([]);
      if (looksOn.length > 0) await agent.until('partial');
      await agent.agent.request('interrupt', 'i-1');
      expect((await agent.until('ack', 'error')).at(-1)).toMatchObject({ type: 'ack', in_reply_to_id: 'i-1' });
      await expect.poll(() => command.filter(isAlive), { timeout: 5_000 }).toEqual([]);
      await agent.agent.prompt({ text: 'And now?' });
      expect((await agent.until('result')).at(-1)).toMatchObject({ text: 'Going on.' });
      await agent.agent.end();
    },
  );

  test('a goal towards which it goes on by itself keeps the turn open, and all of it is counted', {
    timeout,
  }, async () => {
    const agent = await startWith([
      [{ tool: 'create_goal', arguments: { objective: 'Say more' } }],
      'I begin.',
      [{ tool: 'update_goal', arguments: { status: 'complete' } }],
      'Reached.',
    ]);
    await agent.agent.prompt({ text: 'Go' });
    expect((await agent.until('result', 'error')).at(-1)).toMatchObject({ type: 'result', text: 'Reached.' });
    expect(usageOf(agent)).toMatchObject({ input: 400, output: 80 });
  });

  test('a new process goes on with the thread, and its tokens are counted once', { timeout }, async () => {
    const first = await startWith(['One.', 'Two.', 'Three.']);
    await first.agent.prompt({ text: 'Say one' });
    const { conversation } = (await first.until('result')).at(-1) ?? {};
    if (typeof conversation !== 'string') throw new Error('the thread has no name');
    const second = await start({}, { conversation });
    await second.agent.prompt({ text: 'Say two' });
    expect((await second.until('result')).at(-1)).toMatchObject({ text: 'Two.', conversation });
    expect(usageOf(second)).toMatchObject({ input: 100, output: 20 });
    expect(lastRequest()).toContain('Say one');
    const lost = await start({}, { conversation: '01a1e074-7cde-7ec0-aea0-f5a59e62bb54' });
    await lost.agent.prompt({ text: 'Say three' });
    const said = await lost.until('result');
    expect(said).toContainEqual(
      expect.objectContaining({ type: 'log', message: expect.stringContaining('a new one begins') }),
    );
    expect(said.at(-1)).toMatchObject({ text: 'Three.' });
  });

  test('a new conversation begins at a place in another one, which stays as it was', { timeout }, async () => {
    const first = await startWith(['One.', 'Two.', 'Three.', 'Four.']);
    for (const word of ['one', 'two']) {
      await first.agent.prompt({ text: `Say ${word}` });
      await first.until('result');
    }
    const [begun] = placesOf(first);
    if (begun === undefined) throw new Error('it did not tell where it stands');
    const forked = await start({}, { fork: begun });
    await forked.agent.prompt({ text: 'Say three' });
    const result = (await forked.until('result')).at(-1);
    expect(result).toMatchObject({ text: 'Three.' });
    expect(result?.conversation).not.toBe(begun.id);
    expect(lastRequest()).toContain('Say one');
    expect(lastRequest()).not.toContain('Say two');
    const again = await start({}, { conversation: begun.id });
    await again.agent.prompt({ text: 'Say four' });
    await again.until('result');
    expect(lastRequest()).toContain('Say two');
    expect(lastRequest()).not.toContain('Say three');
    const nowhere = start({}, { fork: { id: '11111111-2222-4333-8444-555555555555', upTo: begun.upTo } });
    await expect(nowhere).rejects.toThrow(/thread/i);
  });

  test("a session's servers and rules: a secret over the pipe, a tool denied, one asked for", { timeout }, async () => {
    const everything = createRequire(import.meta.url).resolve('@modelcontextprotocol/server-everything/dist/index.js');
    // The model knows them with underscores; rules and people, by their own names.
    const call = (tool: string, args: JsonObject) => ({ tool, arguments: args, namespace: 'mcp__everything' });
    const agent = await startWith(
      [[call('get_env', {}), call('echo', { message: 'hi' }), call('get_sum', { a: 2, b: 3 })], 'Done.', 'Done.'],
      {
        mcp_servers: {
          everything: {
            transport: 'stdio',
            // Slower than the program would wait for one of its own.
            command: '/bin/sh',
            args: ['-c', 'sleep 3; exec "$0" "$1" stdio', process.execPath, everything],
            env: { TOOL_TOKEN: 'from-the-session' },
          },
        },
        tools: { allow: ['everything.*'], deny: ['everything.echo'], ask: ['everything.get-env'] },
      },
    );
    await agent.agent.prompt({ text: 'Use the tools' });
    const asked = (await agent.until('approval')).at(-1);
    expect(asked).toMatchObject({ tool: 'everything.get-env' });
    await answer(agent, asked, 'yes');
    const said = await agent.until('result');
    expect(said.map(({ type }) => type)).not.toContain('approval');
    const told = lastRequest();
    expect(told).toContain('from-the-session');
    expect(told).toContain('The sum of 2 and 3 is 5');
    expect(told).not.toContain('Echo: hi');
  });

  test('a server of the session that does not start is named, and nothing begins', { timeout }, async () => {
    place = await openCodexPlace(['Never said.']);
    const broken = { transport: 'stdio', command: '/bin/false' };
    await expect(start({ mcp_servers: { broken }, tools: {} })).rejects.toMatchObject({
      code: 'init-refused',
      message: expect.stringContaining('broken'),
    });
  });

  test("what the session's rules forbid is not offered to the model", { timeout }, async () => {
    const agent = await startWith(['Nothing to do.'], { tools: { deny: ['shell', 'web_search'] } });
    await agent.agent.prompt({ text: 'Hello' });
    await agent.until('result');
    const tools = JSON.stringify(place.model.requests.at(-1)?.body.tools);
    expect(tools).not.toContain('exec_command');
    expect(tools).not.toContain('web_search');
    expect(tools).toContain('request_user_input');
  });

  test('every param reaches the program', { timeout }, async () => {
    const agent = await startWith([[writes], 'Not written.'], {
      model: 'gpt-5.5',
      model_provider: 'scripted',
      effort: 'low',
      approval_policy: 'never',
      sandbox: 'read-only',
      developer_instructions: 'You are called Ada.',
      config: { web_search: 'disabled' },
    });
    await agent.agent.prompt({ text: 'Write out.txt' });
    const said = await agent.until('result');
    expect(said.map(({ type }) => type)).not.toContain('approval');
    expect(existsSync(out())).toBe(false);
    const { input, reasoning, tools } = place.model.requests[0]?.body ?? { model: '' };
    expect(JSON.stringify(input)).toContain('You are called Ada.');
    expect(reasoning).toMatchObject({ effort: 'low' });
    expect(JSON.stringify(tools)).not.toContain('web_search');
  });

  test('a model that fails is an error of the turn', { timeout }, async () => {
    const agent = await startWith(() => [{ error: { status: 400, message: 'no such model' } }]);
    await agent.agent.prompt({ text: 'Hello' });
    expect((await agent.until('error', 'result')).at(-1)).toMatchObject({
      type: 'error',
      message: expect.stringContaining('no such model'),
    });
  });

  test('a cancel ends it with all it has started', { timeout }, async () => {
    const agent = await startWith([[writes], 'Never said.']);
    await agent.agent.prompt({ text: 'Write out.txt' });
    await agent.until('approval');
    const processes = [agent.agent.identity.pid, ...descendants(agent.agent.identity.pid)];
    await agent.agent.request('cancel', 'c-1');
    await agent.until('ack');
    await agent.agent.exited;
    expect(processes.filter(isAlive)).toEqual([]);
    expect(existsSync(out())).toBe(false);
  });

  test('a program in the language supervises it', { timeout }, async () => {
    place = await openCodexPlace([[{ text: 'Writing.' }, writes], 'Written.']);
    await mkdir(join(place.workDir, 'src'));
    await writeFile(join(place.workDir, 'Concerto.toml'), manifest());
    await writeFile(join(place.workDir, 'src/main.conc'), supervisor);
    const ran = await builtConcerto(['run'], place.workDir);
    expect(ran).toMatchObject({ code: 0, stderr: '' });
    expect(ran.stdout).toContain('[emit:approved] shell: echo hello > out.txt (high)\n');
    expect(ran.stdout).toContain('[emit:result] Written.\n');
    expect(await readFile(out(), 'utf8')).toBe('hello\n');
  });

  test('a session shows it, asks a person, and goes on after the server was killed', { timeout }, async () => {
    place = await openCodexPlace([[{ text: 'Writing.' }, writes], 'Written.', 'Still here.']);
    await writeFile(join(place.workDir, 'Concerto.toml'), manifest());
    const options = { folder: place.workDir, args: ['--store', 'sqlite:sessions.db'] };
    const server = await startServer(options);
    const api = apiOf(server);
    const { id } = (await api.post('/api/sessions', { agent: 'coder', prompt: 'Write out.txt' })).body;
    const events = `/api/sessions/${id}/events`;
    const asked = (await api.eventsUntil(events, ({ type }) => type === 'queryConsent')).at(-1);
    expect(asked.scope).toMatchObject({ tool: 'shell', risk_level: 'high' });
    await api.post(`/api/sessions/${id}/requests/${asked.requestId}`, { response: true });
    const seen = await api.eventsUntil(events, ({ type }) => type === 'turnComplete');
    expect(seen.map(({ type }) => type)).toEqual(expect.arrayContaining(['functionCall', 'functionResult', 'usage']));
    await server.kill();
    const again = await startServer(options);
    try {
      const there = apiOf(again);
      await there.post(`/api/sessions/${id}/messages`, { content: 'Are you there?' });
      const isAnswer = ({ type, content }: { type: string; content?: { parts: { text?: string }[] } }): boolean =>
        type === 'content' && content?.parts[0]?.text === 'Still here.';
      await there.eventsUntil(events, isAnswer);
      expect(lastRequest()).toContain('Are you there?');
      expect(lastRequest()).toContain('Written.');
    } finally {
      await again.stop();
    }
  });
});

function manifest(): string {
  const env = Object.entries(place.env).map(([name, value]) => `${name} = ${JSON.stringify(value)}`);
  return `[project]
name = "supervised"
version = "0.1.0"
entry = "src/main.conc"
[agents.coder]
protocol = "codex"
command = ${JSON.stringify(codex)}
[agents.coder.env]
${env.join('\n')}
`;
}

const supervisor = `
agent Coder { connector: coder, timeout: 100 }

fn main() -> Result<Nil, Error> {
    let result = listen Coder.execute("Write out.txt") {
        "approval" => |request| {
            emit("approved", "\${request.description} (\${request.risk_level})");
            "yes"
        },
        _ => |_| {},
    }?;
    emit("result", result.text);
    Ok(nil)
}
`;
