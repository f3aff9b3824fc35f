import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { afterEach, describe, expect, test } from 'vitest';
import { concertoCommand } from '../../../tests/support/concerto-command.ts';
import { run } from '../src/signals-command.ts';

const children: ChildProcessWithoutNullStreams[] = [];

function start(...args: string[]): ChildProcessWithoutNullStreams {
  const child = spawn(process.execPath, [...concertoCommand, 'signals', ...args], { stdio: 'pipe' });
  children.push(child);
  return child;
}

async function finished(child: ChildProcessWithoutNullStreams): Promise<{ code: unknown; out: string; err: string }> {
  let out = '';
  let err = '';
  child.stdout.on('data', (chunk: Buffer) => (out += chunk.toString()));
  child.stderr.on('data', (chunk: Buffer) => (err += chunk.toString()));
  const [code] = (await once(child, 'close')) as unknown[];
  return { code, out, err };
}

async function events(input: string | Uint8Array, ...args: string[]): Promise<unknown[]> {
  const child = start(...args);
  child.stdin.end(input);
  const { code, out, err } = await finished(child);
  expect({ code, err }).toEqual({ code: 0, err: '' });
  return out
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as unknown);
}

afterEach(() => {
  for (const child of children.splice(0)) child.kill('SIGKILL');
});

describe('concerto signals', () => {
  test('prints an event while stdin is still open', async () => {
    const child = start();
    const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
    child.stdin.write('§RESPOND: Hel');
    const first = await lines.next();
    expect(JSON.parse(String(first.value))).toMatchObject({ type: 'respond', content: 'Hel' });
    child.stdin.end('lo\n§END:');
    const second = await lines.next();
    expect(JSON.parse(String(second.value))).toMatchObject({ type: 'respond', content: 'lo' });
    const third = await lines.next();
    expect(JSON.parse(String(third.value))).toMatchObject({ type: 'end', content: '' });
  });

  test('events have seconds of the clock; merged ones have not', async () => {
    const [event] = await events('§END:');
    expect(event).toEqual({ type: 'end', content: '', timestamp: expect.any(Number) as number });
    expect(await events('§END:', '--merged')).toEqual([{ type: 'end', content: '' }]);
  });

  test('--mode, --preset and --after-execute choose how the text is read', async () => {
    const text = 'x §think: y\n§EXECUTE:\n§END:';
    const [lenient, strict, live, both] = await Promise.all([
      events(text, '--merged', '--mode', 'lenient'),
      events(text, '--merged', '--preset', 'eval'),
      events(text, '--merged', '--preset=live'),
      events(text, '--merged', '--preset', 'live', '--after-execute', 'continue'),
    ]);
    const respond = { type: 'respond', content: 'x §think: y', implicit: true };
    const execute = [
      { type: 'error', code: 'execute_without_calls' },
      { type: 'execute', content: '' },
    ];
    const end = { type: 'end', content: '' };
    expect(lenient).toEqual([{ ...respond, content: 'x' }, { type: 'think', content: 'y' }, ...execute, end]);
    expect(strict).toEqual([{ type: 'error', code: 'text_before_delimiter' }]);
    expect(live).toEqual([respond, ...execute]);
    expect(both).toEqual([respond, ...execute, end]);
  });

  test('reads bytes that are not text, and nothing at all', async () => {
    const [broken, nothing] = await Promise.all([
      events(Uint8Array.from([0xc2, 0xa7, 0x45, 0x4e, 0x44, 0xff]), '--merged'),
      events('', '--merged'),
    ]);
    expect(broken).toEqual([
      { type: 'respond', content: '§END\ufffd', implicit: true },
      { type: 'error', code: 'missing_end' },
    ]);
    expect(nothing).toEqual([{ type: 'error', code: 'missing_end' }]);
  });

  test.each([
    [['--mode', 'loose'], 'standard, strict, lenient'],
    [['--preset', 'live1'], 'did you mean live?'],
    [['--after-execute', ''], 'continue, stop'],
    [['--mode'], '--mode needs a value'],
    [['--merge'], 'did you mean --merged?'],
    [['file.txt'], 'unexpected argument'],
  ])('%j is bad usage', async (args, message) => {
    await expect(run(args)).rejects.toThrow(message);
  });

  test('bad usage exits with 2 and leaves stdout alone', async () => {
    const child = start('--mode', 'loose');
    child.stdin.end();
    const { code, out, err } = await finished(child);
    expect({ code, out }).toEqual({ code: 2, out: '' });
    expect(err).toContain('--mode cannot be "loose"');
  });

  test('a reader that leaves early is not a failure', async () => {
    const child = start();
    // The child leaves before it has read everything.
    child.stdin.on('error', () => {});
    const line = '§RESPOND: a line of words that somebody will not read to its end\n';
    child.stdin.write(line);
    await once(child.stdout, 'data');
    child.stdout.destroy();
    const more = line.repeat(20_000);
    child.stdin.end(more);
    const { code, err } = await finished(child);
    expect({ code, err }).toEqual({ code: 0, err: '' });
  });
});
