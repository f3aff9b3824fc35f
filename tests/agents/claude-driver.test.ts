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
import { claude, descendants, isAlive, openPlace, type Place } from './real-claude.ts';

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
    {
      name: 'claude',
      protocol: 'claude',
      command: claude,
      env: place.env,
      workingDir: place.workDir,
      params: { model: 'claude-sonnet-4-5', setting_sources: [], ...params },
    },
    options,
  );
  return driven;
}

async function startWith(script: Script, params: JsonObject = {}): Promise<Driven> {
  place = await openPlace(script);
  return await start(params);
}

const writes = { tool: 'Bash', arguments: { command: 'echo hello > out.txt', description: 'Write out.txt' } };
const out = (): string => join(place.workDir, 'out.txt');

/** What the model was told last. */
function lastRequest(): string {
  const messages = place.model.requests.at(-1)?.body.messages;
  return JSON.stringify(Array.isArray(messages) ? messages.slice(-4) : messages);
}

/** In plan mode the program tells its model where to write the plan. */
const planScript: Script = (request, turn) => {
  if (turn > 0) return turn === 1 ? [{ tool: 'ExitPlanMode', arguments: {} }] : 'On it.';
  const file = /\/[^\s"\\]+\/plans\/[^\s"\\]+\.md/.exec(JSON.stringify(request.body))?.[0] ?? '';
  return [{ tool: 'Write', arguments: { file_path: file, content: 'First this, then that.' } }];
};

describe('the real claude program, driven', () => {
  test('a permission that is approved: the command runs, and the session sees it', { timeout }, async () => {
    const agent = await startWith([[{ text: 'I will write a file.' }, writes], 'Written.']);
    expect(agent.agent.version).toBe(versionOf(claude));
    await agent.agent.prompt({ text: 'Write out.txt', id: 'm-1' });
    const asked = (await agent.until('approval')).at(-1);
    expect(asked).toMatchObject({
      description: 'Bash: echo hello > out.txt',
      tool: 'Bash',
      kind: 'execute',
      command: 'echo hello > out.txt',
      input: writes.arguments,
    });
    expect(existsSync(out())).toBe(false);
    // A budget stops it here, not at the end of the turn.
    await expect.poll(() => usageOf(agent), { timeout }).toMatchObject({ input: 100, output: 20, cost: 600 });
    await answer(agent, asked, 'yes');
    expect((await agent.until('result')).at(-1)).toMatchObject({
      text: 'Written.',
      turns: 2,
      usage: { input_tokens: 200, output_tokens: 40 },
      conversation: expect.any(String),
    });
    expect(await readFile(out(), 'utf8')).toBe('hello\n');
    expect(shownBy(agent)).toMatchObject([
      { type: 'functionCall', name: 'Bash', args: writes.arguments },
      { type: 'functionResult' },
    ]);
    expect(usageOf(agent)).toMatchObject({ input: 200, output: 40, cost: 1200 });
  });

  test('a permission that is denied: nothing runs, the model hears why, the turn goes on', { timeout }, async () => {
    const agent = await startWith([[writes], 'With tee, then.']);
    await agent.agent.prompt({ text: 'Write out.txt' });
    await answer(agent, (await agent.until('approval')).at(-1), 'no, use tee instead');
    expect((await agent.until('result')).at(-1)).toMatchObject({ text: 'With tee, then.', denied: ['Bash'] });
    expect(existsSync(out())).toBe(false);
    expect(lastRequest()).toContain('The supervisor refused this: use tee instead');
  });

  test('a question with options: the model gets the answer', { timeout }, async () => {
    const options = [
      { label: 'SQLite', description: 'one file' },
      { label: 'Redis', description: 'for many' },
    ];
    const questions = [{ question: 'Which store?', header: 'Store', multiSelect: false, options }];
    const agent = await startWith([[{ tool: 'AskUserQuestion', arguments: { questions } }], 'Redis it is.']);
    await agent.agent.prompt({ text: 'Choose a store' });
    const asked = (await agent.until('question')).at(-1);
    expect(asked).toMatchObject({ question: 'Which store?', options: ['SQLite', 'Redis'] });
    await answer(agent, asked, 'Redis');
    expect((await agent.until('result')).at(-1)).toMatchObject({ text: 'Redis it is.' });
    expect(lastRequest()).toContain('Which store?\\"=\\"Redis');
  });

  test('a message that steers is part of the same turn', { timeout }, async () => {
    const agent = await startWith([[{ text: 'First.' }, { gate: 'steered' }], 'In English, then.']);
    await agent.agent.prompt({ text: 'Answer' });
    await agent.until('partial');
    await agent.agent.steer({ id: 's-1', text: 'In English, please' });
    place.model.gate('steered').open();
    const said = await agent.until('result');
    expect(said.at(-1)).toMatchObject({ text: 'In English, then.', usage: { output_tokens: 40 } });
    expect(said.filter(({ type }) => type === 'result')).toHaveLength(1);
    expect(lastRequest()).toContain('In English, please');
  });

  test('an interrupt keeps what was said; a message it overtook goes with the next prompt', { timeout }, async () => {
    const agent = await startWith([[{ text: 'Thinking about it' }, { hang: true }], 'Going on.', 'Never said.']);
    await agent.agent.prompt({ text: 'Think' });
    await agent.until('partial');
    await agent.agent.steer({ id: 's-1', text: 'In English, please' });
    await agent.agent.request('interrupt', 'i-1');
    const stopped = await agent.until('ack', 'result', 'error');
    expect(stopped.at(-1)).toMatchObject({ type: 'ack', in_reply_to_id: 'i-1' });
    await place.model.abandoned();
    await agent.agent.prompt({ text: 'And now?' });
    expect((await agent.until('result')).at(-1)).toMatchObject({ text: 'Going on.' });
    expect(lastRequest()).toContain('Thinking about it');
    expect(lastRequest()).toContain('In English, please\\n\\nAnd now?');
  });

  test('an interrupt in the middle of a permission: nothing runs, and the next prompt works', { timeout }, async () => {
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

  test('an interrupt in the middle of a command ends the command', { timeout }, async () => {
    const waits = { tool: 'Bash', arguments: { command: 'touch begun; tail -f /dev/null', description: 'Wait' } };
    const agent = await startWith([[waits], 'Going on.'], { allowed_tools: ['Bash'] });
    await agent.agent.prompt({ text: 'Wait' });
    await expect.poll(() => existsSync(join(place.workDir, 'begun')), { timeout: 30_000 }).toBe(true);
    const command = descendants(agent.agent.identity.pid);
    await agent.agent.request('interrupt', 'i-1');
    expect((await agent.until('ack', 'error')).at(-1)).toMatchObject({ type: 'ack', in_reply_to_id: 'i-1' });
    await expect.poll(() => command.filter(isAlive), { timeout: 30_000 }).toEqual([]);
    await agent.agent.prompt({ text: 'And now?' });
    expect((await agent.until('result')).at(-1)).toMatchObject({ text: 'Going on.' });
  });

  test('a plan can be read before it is approved', { timeout }, async () => {
    const agent = await startWith(planScript, { permission_mode: 'plan' });
    await agent.agent.prompt({ text: 'Make a plan' });
    const asked = (await agent.until('approval')).at(-1);
    expect(asked).toMatchObject({
      tool: 'ExitPlanMode',
      description: 'ExitPlanMode: First this, then that.',
    });
    await answer(agent, asked, 'yes');
    expect((await agent.until('result')).at(-1)).toMatchObject({ text: 'On it.' });
  });

  test('a new process goes on with the conversation, and its cost is counted once', { timeout }, async () => {
    const first = await startWith(['One.', 'Two.', 'Three.']);
    await first.agent.prompt({ text: 'Say one' });
    const { conversation, cost_usd: cost } = (await first.until('result')).at(-1) ?? {};
    if (typeof conversation !== 'string') throw new Error('the conversation has no name');
    const second = await start({}, { conversation });
    await second.agent.prompt({ text: 'Say two' });
    const result = (await second.until('result')).at(-1);
    expect(result).toMatchObject({ text: 'Two.', conversation });
    expect(result?.cost_usd).toBeCloseTo(Number(cost), 6);
    expect(lastRequest()).toContain('Say one');
    const lost = await start({}, { conversation: '11111111-2222-4333-8444-555555555555' });
    await lost.agent.prompt({ text: 'Say three' });
    const said = await lost.until('result');
    expect(said[0]).toMatchObject({ type: 'log', message: expect.stringContaining('a new one begins') });
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
    await expect(nowhere).rejects.toThrow(/cannot be forked/);
  });

  test("a session's servers and rules: a secret by the environment, a tool denied, one asked for", {
    timeout,
  }, async () => {
    const everything = createRequire(import.meta.url).resolve('@modelcontextprotocol/server-everything/dist/index.js');
    const agent = await startWith(
      [
        [
          { tool: 'mcp__everything__get-env', arguments: {} },
          { tool: 'mcp__everything__echo', arguments: { message: 'hi' } },
          { tool: 'Read', arguments: { file_path: '/etc/hostname' } },
        ],
        'Done.',
      ],
      {
        mcp_servers: {
          everything: {
            transport: 'stdio',
            // Not there at once.
            command: '/bin/sh',
            args: ['-c', 'sleep 3; exec "$0" "$1" stdio', process.execPath, everything],
            env: { TOOL_TOKEN: 'from-the-session' },
          },
        },
        tools: { allow: ['everything.*'], deny: ['everything.echo'], ask: ['everything.get-env'] },
        allowed_tools: ['mcp__everything'],
      },
    );
    await agent.agent.prompt({ text: 'Use the tools' });
    const asked = (await agent.until('approval')).at(-1);
    expect(asked).toMatchObject({ tool: 'everything.get-env', server: 'everything' });
    await answer(agent, asked, 'yes');
    await agent.until('result');
    const told = lastRequest();
    expect(told).toContain('from-the-session');
    expect(told).toContain("The session's rules do not allow mcp__everything__echo");
    expect(told).toContain("The session's rules do not allow Read");
  });

  test('every param reaches the program', { timeout }, async () => {
    const agent = await startWith([[writes], 'Never said.'], {
      allowed_tools: ['Bash'],
      disallowed_tools: ['WebSearch'],
      permission_mode: 'acceptEdits',
      append_system_prompt: 'You are called Ada.',
      max_turns: 1,
      max_budget_usd: 5,
    });
    await agent.agent.prompt({ text: 'Write out.txt' });
    const said = await agent.until('error', 'result');
    expect(said.map(({ type }) => type)).not.toContain('approval');
    expect(said.at(-1)).toMatchObject({ type: 'error', code: 'max_turns' });
    expect(await readFile(out(), 'utf8')).toBe('hello\n');
    const { system, tools } = place.model.requests[0]?.body ?? { model: '' };
    expect(JSON.stringify(system)).toContain('You are called Ada.');
    expect(JSON.stringify(tools)).not.toContain('"WebSearch"');
  });

  test('a model that fails is an error of the turn', { timeout }, async () => {
    const agent = await startWith(() => [{ error: { status: 400, message: 'no such model' } }]);
    await agent.agent.prompt({ text: 'Hello' });
    expect((await agent.until('error', 'result')).at(-1)).toMatchObject({ type: 'error', code: 'api_error' });
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
    place = await openPlace([[{ text: 'Writing.' }, writes], 'Written.']);
    await mkdir(join(place.workDir, 'src'));
    await writeFile(join(place.workDir, 'Concerto.toml'), manifest());
    await writeFile(join(place.workDir, 'src/main.conc'), supervisor);
    const ran = await builtConcerto(['run'], place.workDir);
    expect(ran).toMatchObject({ code: 0, stderr: '' });
    expect(ran.stdout).toContain('[emit:approved] Bash: echo hello > out.txt (high)\n');
    expect(ran.stdout).toContain('[emit:text] Writing.\n\nWritten.\n');
    expect(ran.stdout).toContain('[emit:result] Written. 40\n');
    expect(await readFile(out(), 'utf8')).toBe('hello\n');
  });

  test('a session shows it, asks a person, and goes on after the server was killed', { timeout }, async () => {
    place = await openPlace([[{ text: 'Writing.' }, writes], 'Written.', 'Still here.']);
    await writeFile(join(place.workDir, 'Concerto.toml'), manifest());
    const options = { folder: place.workDir, args: ['--store', 'sqlite:sessions.db'] };
    const server = await startServer(options);
    const api = apiOf(server);
    const { id } = (await api.post('/api/sessions', { agent: 'claude_code', prompt: 'Write out.txt' })).body;
    const events = `/api/sessions/${id}/events`;
    const asked = (await api.eventsUntil(events, ({ type }) => type === 'queryConsent')).at(-1);
    expect(asked.scope).toMatchObject({ tool: 'Bash', risk_level: 'high' });
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
[agents.claude_code]
protocol = "claude"
command = ${JSON.stringify(claude)}
[agents.claude_code.env]
${env.join('\n')}
[agents.claude_code.params]
model = "claude-sonnet-4-5"
`;
}

const supervisor = `
agent ClaudeCode { connector: claude_code, timeout: 100 }

fn main() -> Result<Nil, Error> {
    let mut text = "";
    let result = listen ClaudeCode.execute("Write out.txt") {
        "partial" => |piece| { text = text + piece.text; },
        "approval" => |request| {
            emit("approved", "\${request.description} (\${request.risk_level})");
            "yes"
        },
        _ => |_| {},
    }?;
    emit("text", text);
    emit("result", "\${result.text} \${result.usage.output_tokens}");
    Ok(nil)
}
`;
