import { expect, test } from 'vitest';
import { stderrExcerpt } from './stderr-tail.ts';

test('the reason above a long stack is in the excerpt', () => {
  const frames = Array.from({ length: 20 }, (_, n) => `    at frame${n} (file.js:${n}:1)`);
  const tail = ['', "Error: Cannot find package 'x'", ...frames, '', 'Node.js v20', ''].join('\n');
  expect(stderrExcerpt(tail)).toBe("the end of its stderr:\n\nError: Cannot find package 'x'\n\nNode.js v20");
});

test('only the last lines are shown', () => {
  const lines = Array.from({ length: 20 }, (_, n) => `at line ${n}`);
  expect(stderrExcerpt(lines.join('\n'))).toBe(`the end of its stderr:\n${lines.slice(8).join('\n')}`);
  expect(stderrExcerpt('\n')).toBe('it wrote nothing on stderr');
});
