import { describe, expect, test } from 'vitest';
import { defineCommand, UsageError } from './arguments.ts';
import { type CommandTable, runCommandLine } from './command-line.ts';

const spec = defineCommand({ name: 'run', summary: 'Runs.', usage: '[FILE]', options: {} });

function table(run: (argv: string[]) => Promise<number>): CommandTable {
  return { run: { summary: 'runs', load: async () => ({ spec, run }) } };
}

async function type(argv: string[], run: (argv: string[]) => Promise<number> = async () => 0) {
  const written = { out: '', err: '' };
  const code = await runCommandLine(table(run), argv, {
    out: (text) => {
      written.out += text;
    },
    err: (text) => {
      written.err += text;
    },
    version: () => '1.2.3',
  });
  return { code, ...written };
}

describe('runCommandLine', () => {
  test('hands the rest of the line to the command and its exit code to the caller', async () => {
    let seen: string[] = [];
    const result = await type(['run', 'a', '--b'], async (argv) => {
      seen = argv;
      return 7;
    });
    expect({ code: result.code, seen }).toEqual({ code: 7, seen: ['a', '--b'] });
  });

  test.each([[['--help']], [['-h']], [['help']]])('%j lists the commands', async (argv) => {
    expect(await type(argv)).toMatchObject({ code: 0, out: expect.stringContaining('run  runs') as string });
  });

  test.each([[['run', '--help']], [['help', 'run']], [['run', 'x', '-h']]])('%j shows one', async (argv) => {
    expect(await type(argv)).toMatchObject({
      code: 0,
      out: expect.stringContaining('usage: concerto run [FILE]') as string,
    });
  });

  test('says its version', async () => {
    expect(await type(['--version'])).toMatchObject({ code: 0, out: 'concerto 1.2.3\n' });
  });

  test('help behind `--` belongs to the program', async () => {
    expect(await type(['run', '--', '--help'], async () => 3)).toMatchObject({ code: 3 });
  });

  test('an unknown command is bad usage, with what was meant', async () => {
    expect(await type(['rum'])).toEqual({
      code: 2,
      out: '',
      err: 'error: unknown command `rum`. Did you mean `concerto run`?\nSee `concerto --help`.\n',
    });
    expect((await type([])).code).toBe(2);
    expect((await type(['toString'])).code).toBe(2);
  });

  test('bad usage is 2, a failure 1', async () => {
    const usage = await type(['run'], async () => {
      throw new UsageError('no such file: x');
    });
    expect(usage).toMatchObject({ code: 2, err: 'error: no such file: x\nSee `concerto run --help`.\n' });
    const failure = await type(['run'], async () => {
      throw new Error('disk full');
    });
    expect(failure).toMatchObject({ code: 1, err: 'error: disk full\n' });
  });
});
