import { expect, test } from 'vitest';
import { exitError } from './process-words.ts';

test.each([
  [{ code: 3, signal: null }, 'agent "a" ended with code 3;'],
  // Of a process in a sandbox, or of a shell's child.
  [{ code: 139, signal: null }, 'agent "a" ended with code 139 (SIGSEGV);'],
  [{ code: 255, signal: null }, 'agent "a" ended with code 255;'],
  [{ code: null, signal: 'SIGKILL' }, 'agent "a" ended with signal SIGKILL;'],
  [{ code: 0, signal: null, why: 'was ended' }, 'agent "a" was ended;'],
])('how it ended: %j', (exit, words) => {
  expect(exitError('a', { ...exit, stderr: '' }).message).toContain(words);
});
