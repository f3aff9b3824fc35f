import { expect, test } from 'vitest';
import { commandOf } from './command-of.ts';

test.each([
  [{ command: 'npm test' }, 'npm test'],
  [{ command: ['git', 'commit', '-m', "it's done"] }, `git commit -m 'it'\\''s done'`],
  // Its arguments may stand beside it: without them it would read as another command.
  [{ command: 'git', args: ['push', '--force'] }, 'git push --force'],
  [{ command: 'ls', args: { path: '.' } }, 'ls'],
  [{ command: '  ' }, undefined],
  [{ path: 'a' }, undefined],
  ['ls', undefined],
])('the command of %j is %j', (fields, command) => {
  expect(commandOf(fields)).toBe(command);
});
