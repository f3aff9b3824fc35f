import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import type { JsonObject } from '@concerto/base';
import { afterEach, describe, expect, test } from 'vitest';
import type { Script, ScriptStep } from '../../packages/models/src/testing/scripted-model-server.ts';
import { answer, type Driven, drive, shownBy } from './driven.ts';
import { commandLine, descendants, isAlive, type Place } from './real-claude.ts';
import { codex, openCodexPlace } from './real-codex.ts';

const timeout = 120_000;
const command = 'echo hello > out.txt';

let place: Place;
let driven: Driven | undefined;

afterEach(async () => {
  await driven?.agent.end();
  driven = undefined;
  await place.close();
});

async function start(script: Script, params: JsonObject = {}): Promise<Driven> {
  place = await openCodexPlace(script);
  const spec = { name: 'codex', protocol: 'codex', command: codex, env: place.env, workingDir: place.workDir } as const;
  driven = await drive({ ...spec, params: { model: 'gpt-6.1-sol', ...params } });
  return driven;
}

/** Such a model has one tool: it writes a program that calls the others. */
function runs(code: string): ScriptStep {
  return { tool: 'exec', namespace: 'functions', input: code };
}

const shell = (cmd: string, more = ''): string =>
  `text((await tools.exec_command({cmd: ${JSON.stringify(cmd)}${more}})).output);`;
/** What runs the model's programs stays for the next one. */
const isHost = /code-mode-host/;
const out = (): string => join(place.workDir, 'out.txt');
const told = (): string => {
  const input = place.model.requests.at(-1)?.body.input;
  return JSON.stringify(Array.isArray(input) ? input.slice(-4) : input);
};

describe('the default kind of model of the real Codex, which writes code,', () => {
  test('a command and a patch that are approved run, each a call of its own', { timeout }, async () => {
    const patch = '*** Begin Patch\n*** Update File: out.txt\n@@\n-hello\n+bye\n*** End Patch\n';
    const agent = await start([
      [{ text: 'I will.' }, runs(`${shell(command)} await tools.apply_patch(${JSON.stringify(patch)});`)],
      'Written.',
    ]);
    await agent.agent.prompt({ text: 'Write out.txt' });
    const first = (await agent.until('approval', 'result')).at(-1);
    expect(first).toMatchObject({ type: 'approval', tool: 'shell', kind: 'execute', command });
    expect(existsSync(out())).toBe(false);
    await answer(agent, first, 'yes');
    const second = (await agent.until('approval', 'result')).at(-1);
    expect(second).toMatchObject({ type: 'approval', tool: 'apply_patch', kind: 'edit', changes: [{ kind: 'edit' }] });
    await answer(agent, second, 'yes');
    expect((await agent.until('result', 'error')).at(-1)).toMatchObject({ type: 'result', text: 'Written.' });
    expect(await readFile(out(), 'utf8')).toBe('bye\n');
    const calls = shownBy(agent).filter((event) => event.type === 'functionCall');
    expect(calls).toMatchObject([{ name: 'shell' }, { name: 'apply_patch' }]);
    expect([first?.call, second?.call]).toEqual(calls.map(({ callId }) => callId));
  });

  test('a command that is denied does not run, and the model hears why', { timeout }, async () => {
    const agent = await start([[runs(shell(command))], 'With tee, then.', 'With tee, then.']);
    await agent.agent.prompt({ text: 'Write out.txt' });
    await answer(agent, (await agent.until('approval', 'result')).at(-1), 'no, use tee instead');
    expect((await agent.until('result', 'error')).at(-1)).toMatchObject({ type: 'result', text: 'With tee, then.' });
    expect(existsSync(out())).toBe(false);
    expect(told()).toContain('The supervisor refused this: use tee instead');
  });

  test('two commands at once are asked for apart, and each has its own answer', { timeout }, async () => {
    const both = ['a', 'b'].map((name) => `tools.exec_command({cmd: "echo hello > ${name}.txt"})`);
    const agent = await start([
      [runs(`await Promise.allSettled([${both.join(', ')}]);`)],
      'One of them.',
      'One of them.',
    ]);
    await agent.agent.prompt({ text: 'Write both' });
    const asked = [(await agent.until('approval', 'result')).at(-1), (await agent.until('approval', 'result')).at(-1)];
    expect(asked.map((request) => request?.type)).toEqual(['approval', 'approval']);
    for (const request of asked) await answer(agent, request, JSON.stringify(request).includes('a.txt') ? 'yes' : 'no');
    expect((await agent.until('result', 'error')).at(-1)).toMatchObject({ type: 'result' });
    expect(['a.txt', 'b.txt'].filter((name) => existsSync(join(place.workDir, name)))).toEqual(['a.txt']);
  });

  test.each([
    { command: 'that its program waits for', more: ', yield_time_ms: 30000' },
    { command: 'that its program has left in the background', more: ', yield_time_ms: 300' },
  ])('an interrupt in the middle of a command $command ends it at once', { timeout }, async ({ more }) => {
    const waits = runs(`${shell('touch begun; tail -f /dev/null', more)} await new Promise(() => {});`);
    const agent = await start([[waits], 'Going on.']);
    const own = descendants(agent.agent.identity.pid);
    await agent.agent.prompt({ text: 'Wait' });
    await answer(agent, (await agent.until('approval', 'result')).at(-1), 'yes');
    await expect.poll(() => existsSync(join(place.workDir, 'begun')), { timeout: 30_000 }).toBe(true);
    const running = descendants(agent.agent.identity.pid).filter(
      (pid) => !own.includes(pid) && !isHost.test(commandLine(pid)),
    );
    expect(running).not.toEqual([]);
    await agent.agent.request('interrupt', 'i-1');
    expect((await agent.until('ack', 'error')).at(-1)).toMatchObject({ type: 'ack', in_reply_to_id: 'i-1' });
    await expect.poll(() => running.filter(isAlive), { timeout: 10_000 }).toEqual([]);
    await agent.agent.prompt({ text: 'And now?' });
    expect((await agent.until('result', 'error')).at(-1)).toMatchObject({ text: 'Going on.' });
  });

  test("a session's servers and rules: what is denied is neither run nor asked for", { timeout }, async () => {
    const everything = createRequire(import.meta.url).resolve('@modelcontextprotocol/server-everything/dist/index.js');
    const tries = (call: string): string => `try { text(${call}); } catch (error) { text("no: " + error); }`;
    const agent = await start(
      [
        [
          runs(
            [
              tries('await tools.mcp__everything__get_sum({a: 2, b: 3})'),
              tries('await tools.mcp__everything__echo({message: "hi"})'),
              tries(`(await tools.exec_command({cmd: ${JSON.stringify(command)}})).output`),
            ].join('\n'),
          ),
        ],
        'Done.',
        'Done.',
      ],
      {
        mcp_servers: { everything: { transport: 'stdio', command: process.execPath, args: [everything, 'stdio'] } },
        tools: { allow: ['everything.*'], deny: ['everything.echo', 'shell'] },
      },
    );
    await agent.agent.prompt({ text: 'Use the tools' });
    const said = await agent.until('result', 'error');
    expect(said.map(({ type }) => type)).not.toContain('approval');
    expect(said.at(-1)).toMatchObject({ type: 'result' });
    const heard = JSON.stringify(place.model.requests.map(({ body }) => body.input));
    expect(heard).toContain('The sum of 2 and 3 is 5');
    expect(heard).not.toContain('Echo: hi');
    expect(existsSync(out())).toBe(false);
  });
});
