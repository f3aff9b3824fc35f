import { spawn } from 'node:child_process';
import { mkdtemp, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describeProcess, endOrphan, type ProcessIdentity, startAgent } from '@concerto/agents';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { kindOf, rawOf, reader, start } from './start.ts';

/** Waits for an event of the world that has no promise of its own. */
async function eventually(condition: () => Promise<boolean>): Promise<void> {
  const deadline = Date.now() + 10_000;
  while (!(await condition())) {
    if (Date.now() > deadline) throw new Error('it did not happen');
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}

async function isGone(pid: number): Promise<boolean> {
  return (await describeProcess(pid)) === undefined;
}

describe('starting', () => {
  test.each([
    [
      'no-such-agent-program',
      /command "no-such-agent-program" was not found: it is in none of the folders of PATH: .*; install it/,
    ],
    ['./bin/missing', /\/bin\/missing does not exist; install it, or correct `command`/],
    ['', /its `command` is empty/],
  ])('says what to do about command %j', async (command, message) => {
    await expect(startAgent({ name: 'x', command })).rejects.toMatchObject({
      name: 'AgentError',
      code: 'spawn-failed',
      message: expect.stringMatching(message),
    });
  });

  test('tells a missing working directory and a file that may not run from a missing command', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'agents-'));
    await writeFile(join(folder, 'agent.sh'), 'echo hi\n', { mode: 0o644 });
    await expect(startAgent({ name: 'x', command: 'sh', workingDir: join(folder, 'nowhere') })).rejects.toThrow(
      /working_dir .*nowhere does not exist/,
    );
    await expect(startAgent({ name: 'x', command: './agent.sh', workingDir: folder })).rejects.toThrow(
      /agent\.sh is not an executable file; run `chmod \+x/,
    );
  });

  test('says which variable a reference misses', async () => {
    await expect(start('shows-environment', { env: { API_KEY: 'Bearer ${NOT_SET_ANYWHERE}' } })).rejects.toMatchObject({
      code: 'missing-variable',
      message: expect.stringContaining('its variable API_KEY is read from NOT_SET_ANYWHERE'),
    });
  });

  test('gives the agent its arguments as they are, its directory, and no variable of ours but those it needs', async () => {
    vi.stubEnv('CONCERTO_TOKEN', 'ours');
    vi.stubEnv('REFERENCED', 'theirs');
    const folder = await mkdtemp(join(tmpdir(), 'agents-'));
    const args = ['a b', '$HOME', '; rm -rf x', '*'];
    const agent = await start('shows-environment', {
      args,
      workingDir: folder,
      env: { MODE: 'test', KEY: '${REFERENCED}', TERM: 'dumb' },
    });
    const raw = rawOf<{ env: object; cwd: string; args: string[] }>(await reader(agent).until('result'));
    expect(raw.args).toEqual(args);
    expect(raw.cwd).toBe(folder);
    expect(raw.env).toMatchObject({ MODE: 'test', KEY: 'theirs', TERM: 'dumb', PATH: process.env.PATH });
    expect(raw.env).not.toHaveProperty('CONCERTO_TOKEN');
    expect(raw.env).not.toHaveProperty('REFERENCED');
  });
});

describe('ending', () => {
  test('first only ends stdin', async () => {
    const agent = await start('ends-with-stdin');
    await reader(agent).next();
    expect(await agent.end()).toMatchObject({ code: 0, signal: null });
  });

  test('then sends SIGTERM', async () => {
    const agent = await start('ignores-stdin-end');
    await reader(agent).next();
    expect(await agent.end({ stepMs: 1_000 })).toMatchObject({ signal: 'SIGTERM' });
  });

  test('does not wait for the end of stdin to work on an agent that is at work', async () => {
    const agent = await start('ignores-stdin-end');
    await reader(agent).next();
    expect(await agent.end({ stepMs: 600_000, atWork: true })).toMatchObject({ signal: 'SIGTERM' });
  });

  test('then SIGKILL, and the reader sees all that was said and then the exit', async () => {
    const agent = await start('ignores-sigterm');
    const output = reader(agent);
    await output.next();
    const [first, second] = await Promise.all([agent.end({ stepMs: 300 }), agent.end()]);
    expect(first).toMatchObject({ signal: 'SIGKILL' });
    expect(second).toEqual(first);
    expect((await output.rest()).map(kindOf)).toEqual(['log', 'exit']);
    expect(await isGone(agent.identity.pid)).toBe(true);
  });

  test('reaches an agent that was stopped where it stands', async () => {
    const agent = await start('ends-with-stdin');
    await reader(agent).next();
    agent.freeze();
    expect(await agent.end({ stepMs: 5_000 })).toMatchObject({ code: 0 });
  });

  test('works while nobody reads what the agent floods us with', async () => {
    const agent = await start('floods-stdout');
    expect(await agent.end({ stepMs: 100 })).toMatchObject({ signal: 'SIGTERM' });
  });

  test('works after the reader has left', async () => {
    const agent = await start('floods-stdout');
    for await (const batch of agent.output) {
      if (batch.length > 0) break;
    }
    expect(await agent.exited).toMatchObject({ code: 0 });
  });
});

describe('interrupting the process', () => {
  test('climbs from SIGINT to SIGKILL', async () => {
    const agent = await start('ignores-sigterm');
    const output = reader(agent);
    await output.next();
    expect(await agent.interruptProcess({ stepMs: 300 })).toMatchObject({ signal: 'SIGKILL' });
    const said = (await output.rest()).map((item) => (item.kind === 'message' ? item.raw.message : item.kind));
    expect(said).toEqual(['got SIGINT', 'got SIGTERM', 'exit']);
  });

  test('stops when the agent ends its turn and lives on', async () => {
    const agent = await start('ends-turn-on-sigint');
    const output = reader(agent);
    await output.next();
    const settled = new AbortController();
    const interrupted = agent.interruptProcess({ stepMs: 20_000, settled: settled.signal });
    await output.until('result');
    settled.abort();
    expect(await interrupted).toBeUndefined();
    expect(await isGone(agent.identity.pid)).toBe(false);
  });
});

describe('writing', () => {
  test('to an agent that has closed its stdin says so', async () => {
    const agent = await start('closes-stdin');
    await reader(agent).next();
    await expect(agent.prompt({ text: 'x' })).rejects.toMatchObject({
      code: 'protocol',
      message: expect.stringContaining('has closed its stdin but still runs'),
    });
  });

  test('waits for an agent that does not read, up to a limit', async () => {
    const agent = await start('never-reads');
    const text = 'x'.repeat(10 * 1024 * 1024);
    const waiting = [agent.prompt({ text }), agent.reply({ inReplyTo: 'question', value: text })];
    const settled = Promise.allSettled(waiting);
    await expect(agent.prompt({ text })).rejects.toMatchObject({ code: 'stdin-stalled' });
    await agent.end({ stepMs: 20 });
    expect(await settled).toMatchObject([
      { status: 'rejected', reason: { code: 'exited' } },
      { status: 'rejected', reason: { code: 'exited' } },
    ]);
  });
});

describe('nothing is left', () => {
  test.each(['end', 'wait'])('of what an agent started, in its group or out of it: %s', async (then) => {
    const agent = await start('forks-a-grandchild', { args: [then] });
    const output = reader(agent);
    const { pids } = rawOf<{ pids: number[] }>(await output.next());
    if (then === 'wait') await agent.end({ stepMs: 50 });
    expect((await output.rest()).map(kindOf)).toEqual(['exit']);
    for (const pid of pids) expect(await isGone(pid)).toBe(true);
  });

  test('of an orphan that was recorded, and another process with its pid is left alone', async () => {
    let identity: ProcessIdentity | undefined;
    const agent = await start('ignores-sigterm', {}, { onProcess: (found) => void (identity = found) });
    await reader(agent).next();
    expect(identity).toEqual(agent.identity);
    const { pid, startTime } = agent.identity;
    expect(await describeProcess(pid)).toEqual({ pid, startTime });
    expect(await endOrphan({ pid, startTime: 'another time', marker: 'another marker' })).toBe(false);
    expect(await isGone(pid)).toBe(false);
    expect(await endOrphan(agent.identity, 100)).toBe(true);
    expect(await isGone(pid)).toBe(true);
    expect(await endOrphan(agent.identity, 100)).toBe(false);
  });

  test('of the agents of a process that ends without ending them', async () => {
    const owner = spawn(
      process.execPath,
      ['--conditions=@concerto/source', '--import', 'tsx', join(import.meta.dirname, 'leaves-its-agent.ts')],
      { stdio: ['ignore', 'pipe', 'inherit'] },
    );
    onTestFinished(() => void owner.kill('SIGKILL'));
    let printed = '';
    for await (const chunk of owner.stdout) printed += String(chunk);
    const pid = Number(printed);
    expect(pid).toBeGreaterThan(1);
    await eventually(() => isGone(pid));
  });
});
