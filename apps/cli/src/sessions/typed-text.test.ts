import { expect, test } from 'vitest';
import { TypedText } from './typed-text.ts';

test('a line is done as it was typed', () => {
  const typed = new TypedText();
  expect(typed.take(' y ', 'a')).toEqual({ kind: 'whole', text: 'y' });
  typed.turns('a', '');
  expect(typed.take('y', 'b')).toEqual({ kind: 'whole', text: 'y' });
});

test('what was begun for another question, or as a message, answers only when it is sent once more', () => {
  for (const before of ['a', undefined]) {
    const typed = new TypedText();
    typed.turns(before, 'y');
    typed.turns('b', 'y');
    expect(typed.take('yes', 'c')).toEqual({ kind: 'late', line: 'yes' });
    expect(typed.take('yes', 'c')).toEqual({ kind: 'whole', text: 'yes' });
  }
  const typed = new TypedText();
  typed.turns('a', '/que');
  expect(typed.take('/queue later', 'b')).toEqual({ kind: 'whole', text: '/queue later' });
  typed.turns('a', 'go on');
  expect(typed.take('go on', undefined)).toEqual({ kind: 'whole', text: 'go on' });
});

test('lines that are pasted are one text, which the next Enter ends or forgets', () => {
  const typed = new TypedText();
  const paste = (): void => {
    typed.pasteBegins();
    expect(typed.take('one', 'a')).toEqual({ kind: 'pasted', line: 'one' });
    expect(typed.take('', 'a')).toEqual({ kind: 'pasted', line: '' });
    typed.pasteEnds();
    expect(typed.pasted).toBe(2);
  };
  paste();
  expect(typed.take('three', 'a')).toEqual({ kind: 'whole', text: 'one\n\nthree' });
  paste();
  expect(typed.take('/drop', 'a')).toEqual({ kind: 'dropped' });
  expect(typed.take('two', 'a')).toEqual({ kind: 'whole', text: 'two' });
  paste();
  typed.turns('a', '');
  expect(typed.take('', 'b')).toEqual({ kind: 'late', line: '' });
  expect(typed.take('', 'b')).toEqual({ kind: 'whole', text: 'one' });
});
