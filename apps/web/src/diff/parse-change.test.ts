import { createTwoFilesPatch } from 'diff';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { pairsOf, parseChange, textOfLine } from './parse-change.ts';

const patch =
  '--- a/x.ts\n+++ b/x.ts\n@@ -1,3 +1,4 @@\n import a;\n-const port = 80;\n+const port = 8080;\n+const host = "";\n end\n';

test('lines have their numbers, and changed words are marked', () => {
  const parsed = parseChange(patch);
  if (parsed.kind !== 'text') throw new Error(parsed.kind);
  const lines = parsed.hunks[0]?.lines ?? [];
  expect(lines.map(({ kind, before, after }) => [kind, before, after])).toEqual([
    ['context', 1, 1],
    ['removed', 2, undefined],
    ['added', undefined, 2],
    ['added', undefined, 3],
    ['context', 3, 4],
  ]);
  expect(lines[1]?.pieces.filter(({ isChanged }) => isChanged)).toEqual([{ text: '80', isChanged: true }]);
  expect(lines[2]?.pieces.filter(({ isChanged }) => isChanged)).toEqual([{ text: '8080', isChanged: true }]);
  expect(pairsOf(lines)[2]).toMatchObject({ left: undefined, right: { kind: 'added' } });
});

test('binary, empty and broken patches are told apart', () => {
  expect(parseChange('Binary files a/x.png and b/x.png differ\n')).toEqual({ kind: 'binary' });
  expect(parseChange('')).toEqual({ kind: 'empty' });
  expect(parseChange('@@ nonsense @@\nfoo')).toEqual({ kind: 'unreadable' });
});

test('for any two texts, the sides that are shown are the sides that were', () => {
  const lines = fc.array(fc.string({ unit: fc.constantFrom('a', 'b', ' ', '-', '+', '\\') }), { maxLength: 12 });
  fc.assert(
    fc.property(lines, lines, (before, after) => {
      const text = (side: readonly string[]): string => side.map((line) => `${line}\n`).join('');
      const parsed = parseChange(createTwoFilesPatch('x', 'x', text(before), text(after), '', '', { context: 100 }));
      if (text(before) === text(after)) return;
      if (parsed.kind !== 'text') throw new Error(parsed.kind);
      const shown = parsed.hunks.flatMap((hunk) => hunk.lines);
      expect(shown.filter(({ kind }) => kind !== 'added').map(textOfLine)).toEqual(before);
      expect(shown.filter(({ kind }) => kind !== 'removed').map(textOfLine)).toEqual(after);
    }),
  );
});
