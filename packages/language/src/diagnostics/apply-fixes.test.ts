import { expect, test } from 'vitest';
import { applyFixes } from './apply-fixes.ts';

const edit = (start: number, end: number, text: string) => ({ span: { start, end }, text });

test('fixes that would touch each other are not mixed', () => {
  const first = { title: 'a', edits: [edit(0, 1, 'X'), edit(4, 5, 'Y')] };
  const clash = { title: 'b', edits: [edit(2, 3, 'Z'), edit(4, 5, 'W')] };
  const third = { title: 'c', edits: [edit(5, 5, '!')] };
  expect(applyFixes('abcde', [first, clash, third])).toEqual({ text: 'XbcdY!', applied: [first, third] });
});
