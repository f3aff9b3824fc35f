import { execFile } from 'node:child_process';
import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';

test('without descriptors a start fails with the reason, and the process that wanted it lives on', {
  timeout: 60_000,
}, async () => {
  const script = fileURLToPath(new URL('out-of-descriptors.ts', import.meta.url));
  const node = [
    process.execPath,
    '--conditions=@concerto/source',
    '--import',
    createRequire(import.meta.url).resolve('tsx'),
  ];
  const { stdout } = await promisify(execFile)('sh', ['-c', 'ulimit -n 100; exec "$@"', 'sh', ...node, script]);
  expect(stdout).toBe('EMFILE then started\n');
});
