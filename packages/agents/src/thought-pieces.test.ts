import { expect, test } from 'vitest';
import { ThoughtPieces } from './thought-pieces.ts';

function told(...words: readonly string[]): readonly string[] {
  const pieces = new ThoughtPieces();
  return [...words.map((word) => pieces.push(word)), pieces.take()].filter((piece) => piece !== undefined);
}

test('a thought is told a line at a time, and an empty line with what follows it', () => {
  expect(told('One ', 'line.\n', '\n', 'Another', '.')).toEqual(['One line.\n', '\nAnother.']);
  expect(told('One.\n\n', 'Two.')).toEqual(['One.\n\n', 'Two.']);
});

test('empty lines alone are no thought, and are not kept for ever', () => {
  expect(told('\n', ' \n')).toEqual([]);
  expect(told(...Array.from({ length: 30 }, () => '\n'.repeat(1_000)), 'End.').join('').length).toBeLessThan(11_000);
});
