import { describe, expect, test } from 'vitest';
import { runCommandLine } from '../src/command-line.ts';

/** Bad usage ends before anything is started, so it needs no process of its own. */
async function refused(args: readonly string[]): Promise<{ code: number; err: string }> {
  const commands = {
    serve: { summary: '', load: () => import('../src/serve/serve-command.ts') },
    runner: { summary: '', load: () => import('../src/serve/runner-command.ts') },
    pool: { summary: '', load: () => import('../src/sessions/pool-command.ts') },
    sessions: { summary: '', load: () => import('../src/sessions/sessions-command.ts') },
  };
  let err = '';
  const terminal = {
    out: (text: string) => expect.fail(`wrote ${text}`),
    err: (text: string) => {
      err += text;
    },
    version: () => '',
  };
  return { code: await runCommandLine(commands, args, terminal), err };
}

describe('bad usage: exit 2', () => {
  test.each([
    ['an unknown flag', ['serve', '--stor', 'x'], /--store/],
    ['a flag without its value', ['serve', '--port'], /needs a value/],
    ['an extra argument', ['serve', 'here'], /unexpected argument/],
    ['a port that is none', ['serve', '--port', 'x'], /not a port/],
    ['a port below zero', ['serve', '--port', '-1'], /"-1" is not a port, which is a number up to 65535/],
    ['a pool below zero', ['pool', '-1'], /MAX is a whole number from 1, not "-1"/],
    ['a port too high', ['serve', '--port', '70000'], /not a port/],
    ['no token off loopback', ['serve', '--no-auth', '--host', '0.0.0.0', '--port', '0'], /loopback/],
    ['an empty token', ['serve', '--token', '', '--port', '0'], /token/],
    ['a store that is none', ['serve', '--store', 'postgres://x', '--port', '0', '--token', 't'], /store/i],
    ['a runner without a store', ['runner'], /--store/],
    ['a runner on a store of one process', ['runner', '--store', 'memory:'], /redis/],
    ['sessions, but what?', ['sessions'], /SUBCOMMAND/],
    ['an unknown subcommand', ['sessions', 'lst'], /ls/],
    ['too few arguments', ['sessions', 'show'], /sessions show ID\nSee `concerto sessions show --help`/],
    ['too many arguments', ['sessions', 'show', 'a', 'b'], /sessions show ID/],
    ['an option of another subcommand', ['sessions', 'ls', '--once'], /`sessions ls` takes no --once; .* of start\n/],
    ['an option of several others', ['sessions', 'show', 'x', '--attach'], /takes no --attach; .* of start and fork/],
    ['an unknown status', ['sessions', 'ls', '--status', 'nope'], /waitingForInput/],
    ['a server that is none', ['sessions', 'ls', '--url', 'nonsense'], /not the URL of a server/],
  ])('%s', async (_what, args, said) => {
    const { code, err } = await refused(args);
    expect(code).toBe(2);
    expect(err).toMatch(/^error: /);
    expect(err).toMatch(said);
  });
});

test.each([
  [
    ['sessions', 'replay', '--help'],
    ['--rules FILE', '--supervisor PROGRAM', '--since TIME'],
  ],
  [
    ['sessions', 'worktree', '--help'],
    ['--commit MESSAGE', '--force'],
  ],
  [
    ['help', 'sessions', 'start'],
    ['--wait', '--rules FILE          its own rules: a manifest, a part of one, or JSON'],
  ],
])('%j shows every option of the subcommand', async (args, shown) => {
  let out = '';
  const commands = { sessions: { summary: '', load: () => import('../src/sessions/sessions-command.ts') } };
  const terminal = { out: (text: string) => void (out += text), err: () => expect.fail(), version: () => '' };
  expect(await runCommandLine(commands, args, terminal)).toBe(0);
  for (const option of shown) expect(out).toContain(option);
});
