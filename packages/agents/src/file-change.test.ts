import { expect, test } from 'vitest';
import { changeOf, changeOfPatch } from './file-change.ts';

const lines = (count: number, word: string): string =>
  Array.from({ length: count }, (_, index) => `${word} ${index} ${'x'.repeat(90)}\n`).join('');

test.each([
  {
    what: 'a diff of 10 MB is told by its size, at once',
    change: () => changeOf('big.txt', lines(50_000, 'old'), lines(50_000, 'new')),
    shown: {
      path: 'big.txt',
      kind: 'edit',
      added: 50_001,
      removed: 50_001,
      patch: /too large to compare: 50001 lines before/,
    },
  },
  {
    what: 'a patch of 10 MB is cut, its lines are counted',
    change: () => changeOfPatch('big.txt', 'edit', `@@ -0,0 +1,100000 @@\n${lines(100_000, '+new')}`),
    shown: { path: 'big.txt', kind: 'edit', added: 100_000, removed: 0, patch: /\n\[cut\]$/ },
  },
  {
    what: 'a binary edit',
    change: () => changeOf('dot.png', 'PNG\u0000a', 'PNG\u0000b'),
    shown: { path: 'dot.png', kind: 'edit', added: 0, removed: 0, patch: /^Binary files dot\.png and dot\.png differ/ },
  },
  {
    what: 'a path with newlines stays one, and cannot be taken for lines of the patch',
    change: () => changeOf('a\n+++ b/evil', 'one\n', 'two\n'),
    shown: {
      path: 'a\n+++ b/evil',
      kind: 'edit',
      added: 1,
      removed: 1,
      patch: /^--- "a\\n\+\+\+ b\/evil"\n\+\+\+ "a\\n/,
    },
  },
])('$what', ({ change, shown: { patch, ...facts } }) => {
  const made = change();
  expect(made).toMatchObject(facts);
  expect(made.patch).toMatch(patch);
  expect(made.patch.length).toBeLessThan(70_000);
});
