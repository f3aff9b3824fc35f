import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { JsonObject } from '@concerto/base';
import { afterEach, describe, expect, test } from 'vitest';
import type { ScriptedRequest, ScriptTurn } from '../../packages/models/src/testing/scripted-model-server.ts';
import { answer, type Driven, drive, shownBy, usageOf } from './driven.ts';
import { claude, descendants, isAlive, openPlace, type Place } from './real-claude.ts';
import { codex, openCodexPlace } from './real-codex.ts';

const timeout = 120_000;

let place: Place | undefined;
let driven: Driven | undefined;

afterEach(async () => {
  await driven?.agent.end();
  await place?.close();
  driven = undefined;
  place = undefined;
});

/** The first message tells whose request it is: the agent's, or that of the one to which it delegates. */
const isOfSubAgent = ({ body }: ScriptedRequest): boolean =>
  !JSON.stringify(Array.isArray(body.messages) ? body.messages[0] : body.input).includes('MAIN PROMPT');

function script(main: readonly ScriptTurn[], sub: readonly ScriptTurn[]): (request: ScriptedRequest) => ScriptTurn {
  const turns = { main: [...main], sub: [...sub] };
  return (request) => turns[isOfSubAgent(request) ? 'sub' : 'main'].shift() ?? 'FINAL REPORT';
}

async function startClaude(main: readonly ScriptTurn[], sub: readonly ScriptTurn[] = []): Promise<Driven> {
  place = await openPlace(script(main, sub));
  const params = { model: 'claude-sonnet-4-5', setting_sources: [] };
  const { env, workDir } = place;
  driven = await drive({ name: 'claude', protocol: 'claude', command: claude, env, workingDir: workDir, params });
  return driven;
}

const file = (): string => join(place?.workDir ?? '', 'sub.txt');
const writes = { tool: 'Bash', arguments: { command: 'sleep 1; echo sub > sub.txt', description: 'Write sub.txt' } };
const delegates = {
  tool: 'Task',
  arguments: { description: 'look', prompt: 'SUB PROMPT', subagent_type: 'general-purpose', run_in_background: true },
};

describe('work in the background of the real Claude Code', () => {
  test('a sub-agent keeps the turn open: it asks in it, its tokens are counted, the result is the last word', {
    timeout,
  }, async () => {
    const agent = await startClaude(
      [[{ text: 'I delegate.' }, delegates], 'Waiting for my agent.', 'FINAL REPORT'],
      [[writes], 'SUB REPORT'],
    );
    await agent.agent.prompt({ text: 'MAIN PROMPT' });
    const asked = await agent.until('approval', 'result');
    expect(asked.at(-1)).toMatchObject({ type: 'approval', tool: 'Bash', command: 'sleep 1; echo sub > sub.txt' });
    await answer(agent, asked.at(-1), 'yes');
    expect((await agent.until('result', 'error')).at(-1)).toMatchObject({ type: 'result', text: 'FINAL REPORT' });
    expect(existsSync(file())).toBe(true);
    const calls = shownBy(agent).filter((event) => event.type === 'functionCall');
    const [task, inner] = calls;
    expect(calls).toMatchObject([{ name: 'Task' }, { name: 'Bash', parentCallId: task?.callId }]);
    const results = shownBy(agent).filter((event) => event.type === 'functionResult');
    expect(results.map(({ callId, outcome }) => ({ callId, outcome }))).toEqual([
      { callId: inner?.callId, outcome: 'ok' },
      { callId: task?.callId, outcome: 'ok' },
    ]);
    expect(JSON.stringify(results[1])).toContain('SUB REPORT');
    // Five requests to the model, two of them the sub-agent's.
    expect(usageOf(agent)).toMatchObject({ input: 500, output: 100 });
  });

  test('a command keeps the turn open until it ends', { timeout }, async () => {
    const background = { tool: 'Bash', arguments: { command: 'sleep 1; echo done', run_in_background: true } };
    const agent = await startClaude([[background], 'Waiting for my command.', 'FINAL REPORT']);
    await agent.agent.prompt({ text: 'MAIN PROMPT' });
    expect((await agent.until('result', 'error')).at(-1)).toMatchObject({ type: 'result', text: 'FINAL REPORT' });
    const result = shownBy(agent).find((event) => event.type === 'functionResult');
    expect(JSON.stringify(result)).toContain('exit code 0');
  });

  test('a workflow is a call that ends when it does, though it is launched at once', { timeout }, async () => {
    const script = 'export const meta = { name: "look", description: "look" }; return await agent("SUB PROMPT");';
    const agent = await startClaude(
      [[{ tool: 'Workflow', arguments: { script } }], 'Waiting for my workflow.', 'FINAL REPORT'],
      ['SUB REPORT'],
    );
    await agent.agent.prompt({ text: 'MAIN PROMPT' });
    await answer(agent, (await agent.until('approval', 'result')).at(-1), 'yes');
    expect((await agent.until('result', 'error')).at(-1)).toMatchObject({ type: 'result', text: 'FINAL REPORT' });
    const results = shownBy(agent).filter((event) => event.type === 'functionResult');
    expect(results).toMatchObject([{ outcome: 'ok' }]);
    expect(JSON.stringify(results)).not.toContain('launched');
  });

  test('an interrupt ends it, before the process does', { timeout }, async () => {
    const endless = { tool: 'Bash', arguments: { command: 'sleep 300', run_in_background: true } };
    const agent = await startClaude([[endless], 'Waiting for my command.', 'Going on.']);
    const own = descendants(agent.agent.identity.pid);
    await agent.agent.prompt({ text: 'MAIN PROMPT' });
    const heard: JsonObject[] = [];
    while (heard.at(-1)?.stage !== 'background') heard.push(...(await agent.until('progress', 'result')));
    const command = descendants(agent.agent.identity.pid).filter((pid) => !own.includes(pid));
    expect(command).not.toEqual([]);
    await agent.agent.request('interrupt', 'i-1');
    expect((await agent.until('ack', 'result', 'error')).at(-1)).toMatchObject({ type: 'ack' });
    await expect.poll(() => command.filter(isAlive), { timeout: 10_000 }).toEqual([]);
    await agent.agent.prompt({ text: 'MAIN PROMPT, again' });
    expect((await agent.until('result', 'error')).at(-1)).toMatchObject({ type: 'result' });
  });
});

describe('work in the background of the real Codex, with its default kind of model', () => {
  const delegatesTo = {
    tool: 'spawn_agent',
    namespace: 'collaboration',
    arguments: { task_name: 'look', message: 'SUB PROMPT' },
  };
  async function startCodex(main: readonly ScriptTurn[], sub: readonly ScriptTurn[]): Promise<Driven> {
    const turns = { main: [...main], sub: [...sub] };
    place = await openCodexPlace(({ body }) => {
      const isSub = JSON.stringify(body.input).includes('"recipient":"/root/look"');
      return turns[isSub ? 'sub' : 'main'].shift() ?? 'The script is over.';
    });
    const { env, workDir } = place;
    const params = { model: 'gpt-6.1-sol' };
    driven = await drive({ name: 'codex', protocol: 'codex', command: codex, env, workingDir: workDir, params });
    return driven;
  }

  test('a sub-agent keeps the turn open, and its words and tokens are there', { timeout }, async () => {
    const agent = await startCodex(
      [[{ text: 'I delegate.' }, delegatesTo], 'Waiting for my agent.'],
      [[{ text: 'SUB REPORT' }, { gate: 'late' }]],
    );
    await agent.agent.prompt({ text: 'MAIN PROMPT' });
    const waiting: JsonObject[] = [];
    while (waiting.at(-1)?.stage !== 'background') waiting.push(...(await agent.until('progress', 'result')));
    place?.model.gate('late').open();
    expect((await agent.until('result', 'error')).at(-1)).toMatchObject({ text: 'Waiting for my agent.' });
    const result = shownBy(agent).find((event) => event.type === 'functionResult');
    expect(JSON.stringify(result)).toContain('SUB REPORT');
    expect(usageOf(agent)).toMatchObject({ input: 300, output: 60 });
  });

  test('an interrupt ends the sub-agent too', { timeout }, async () => {
    const agent = await startCodex(
      [[delegatesTo], 'Waiting for my agent.', 'Going on.'],
      [[{ text: 'Sub here.' }, { hang: true }]],
    );
    await agent.agent.prompt({ text: 'MAIN PROMPT' });
    const waiting: JsonObject[] = [];
    while (waiting.at(-1)?.stage !== 'background') waiting.push(...(await agent.until('progress', 'result')));
    await expect.poll(() => place?.model.requests.length, { timeout: 10_000 }).toBe(3);
    await agent.agent.request('interrupt', 'i-1');
    expect((await agent.until('ack', 'result', 'error')).at(-1)).toMatchObject({ type: 'ack' });
    await place?.model.abandoned();
    await agent.agent.prompt({ text: 'And now?' });
    expect((await agent.until('result', 'error')).at(-1)).toMatchObject({ text: 'Going on.' });
  });

  test('a question that it does not wait for is asked, and the model hears the answer', { timeout }, async () => {
    const asks = {
      tool: 'request_user_input_async',
      namespace: 'functions',
      arguments: { questions: [{ title: 'Which store?', options: ['SQLite', 'Redis'] }] },
    };
    const agent = await startCodex([[asks], [{ text: 'I work on.' }, { gate: 'answered' }], 'Redis it is.'], []);
    await agent.agent.prompt({ text: 'MAIN PROMPT' });
    const asked = (await agent.until('question', 'result')).at(-1);
    expect(asked).toMatchObject({ question: 'Which store?', options: ['SQLite', 'Redis'] });
    // Told before the model is asked again it would be part of that.
    await expect.poll(() => place?.model.requests.length, { timeout: 10_000 }).toBe(2);
    await answer(agent, asked, 'Redis');
    place?.model.gate('answered').open();
    expect((await agent.until('result', 'error')).at(-1)).toMatchObject({ text: 'Redis it is.' });
    expect(JSON.stringify(place?.model.requests.at(-1)?.body.input)).toContain('Which store?: Redis');
  });
});
