import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';

const room = fileURLToPath(new URL('..', import.meta.url));

test('the example of the README prints what the README says', () => {
  const readme = readFileSync(`${room}README.md`, 'utf8');
  const [, code = '', output] = /```ts\n([^]*?)```\n\nprints\n\n```text\n([^]*?)```/.exec(readme) ?? [];
  expect(code).toContain("from '@concerto/signals'");
  const flags = ['--import', 'tsx', '--conditions=@concerto/source', '--input-type=module'];
  expect(execFileSync(process.execPath, [...flags, '-e', code], { cwd: room, encoding: 'utf8' })).toBe(output);
});
