import { execFile } from 'node:child_process';
import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { GroupProcess } from '../src/index.ts';

const node = [
  process.execPath,
  '--conditions=@concerto/source',
  '--import',
  createRequire(import.meta.url).resolve('tsx'),
];

async function saidBy(script: string): Promise<string> {
  const file = fileURLToPath(new URL(script, import.meta.url));
  return (await promisify(execFile)('sh', ['-c', 'ulimit -n 100; exec "$@"', 'sh', ...node, file])).stdout;
}

const timeout = 60_000;

test('without descriptors a start fails with the reason, and the process that wanted it lives on', {
  timeout,
}, async () => {
  expect(await saidBy('out-of-descriptors.ts')).toBe('EMFILE then started\n');
});

test.runIf(process.platform === 'linux')('so it does without processes', { timeout }, async () => {
  expect(await saidBy('out-of-processes.ts')).toBe('EAGAIN then started\n');
});

test('what the system refuses at once, as it does without memory, fails the start alone', async () => {
  const env = { PATH: process.env.PATH ?? '' };
  const tooLong = { command: 'sleep', args: ['1'.repeat(4_000_000)], cwd: '/', env, marker: 'none' };
  await expect(GroupProcess.start(tooLong)).rejects.toMatchObject({ code: 'E2BIG' });
});
