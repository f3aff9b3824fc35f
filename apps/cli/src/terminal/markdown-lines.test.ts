import { expect, test } from 'vitest';
import { MarkdownLines } from './markdown-lines.ts';
import { columnsOf, cut, wrapped, wrappedLine } from './wrap.ts';

function shown(text: string, width = 30): readonly string[] {
  const lines = new MarkdownLines(() => width);
  return [...text.split('\n').flatMap((line) => lines.take(line)), ...lines.fresh()];
}

test('headings, emphasis, code, links and lists are shown without their signs', () => {
  expect(
    shown('# Plan\n\nI **change** `a.ts`, see [docs](https://x.y).\n- one\n- [x] done\n  1. deep\n> said\n---', 60),
  ).toEqual([
    'Plan',
    '',
    'I change a.ts, see docs (https://x.y).',
    '• one',
    '☑ done',
    '  1. deep',
    '│ said',
    '─'.repeat(40),
  ]);
});

test('what only looks like emphasis stays', () => {
  expect(shown('a * b * c, 2*3*4, snake_case_name, **open')).toEqual(['a * b * c, 2*3*4,', 'snake_case_name, **open']);
});

test('code is not touched, and its blanks stay; a fence of another kind does not end it', () => {
  expect(shown('```ts\nif (a)  {\n  **b**\n~~~\n}\n```\nend')).toEqual([
    '  ts',
    '  │ if (a)  {',
    '  │   **b**',
    '  │ ~~~',
    '  │ }',
    'end',
  ]);
});

test('a table is put in columns when it is over, and within the width', () => {
  expect(shown('| a | long |\n|---|---|\n| 1 | 2 |\n\nend')).toEqual(['a  long', '1  2', '', 'end']);
  const rows = shown('| name | what it is |\n|---|---|\n| one | a text that is longer than the row |', 24);
  expect(rows.length).toBeGreaterThan(2);
  expect(Math.max(...rows.map(columnsOf))).toBeLessThanOrEqual(24);
});

test('an unfinished line is shown as it stands, with the rows of a table that is not over', () => {
  const lines = new MarkdownLines(() => 40);
  expect(lines.take('| a |')).toEqual([]);
  expect(lines.rest('| b')).toEqual(['| a |', '| b']);
  expect(lines.take('over **now**')).toEqual(['a', 'over now']);
});

test('rows are no wider than they may be, whatever stands in them', () => {
  const rows = [...wrapped(`${'漢字'.repeat(20)} ${'x'.repeat(50)} a b`, 21), ...wrapped('  two  blanks', 21)];
  expect(rows.filter((row) => columnsOf(row) > 21)).toEqual([]);
  const margin = { first: '• ', others: '  ' };
  expect(wrapped('one two three', 9, margin)).toEqual(['• one two', '  three']);
});

test('signs that join others take no room, and no letter is torn apart', () => {
  const family = '\u{1f468}\u200d\u{1f469}\u200d\u{1f467}';
  expect(['e\u0301', family, '\u2714', '\u26a0\ufe0f', '\u6f22', 'a\u200bb'].map(columnsOf)).toEqual([
    1, 2, 1, 2, 2, 2,
  ]);
  expect(cut(`${family}${family}x`, 3)).toBe(`${family}…`);
  expect(wrapped('e\u0301'.repeat(3), 2)).toEqual(['e\u0301e\u0301', 'e\u0301']);
  expect(wrappedLine('    one two three', 12)).toEqual(['    one two', '    three']);
});

test('what is cut is no wider than it may be, and ends its styles', () => {
  const bold = (text: string): string => `\u001b[1m${text}\u001b[22m`;
  expect(cut('漢字漢字', 5)).toBe('漢字…');
  expect(cut('漢字', 4)).toBe('漢字');
  expect(cut(`${bold('Title')} of it`, 4)).toBe(`${bold('Tit…')}`);
  expect(cut(`${bold('Title')} of it`, 8)).toBe(`${bold('Title')} o…`);
  expect(cut('abc', 1)).toBe('…');
});
