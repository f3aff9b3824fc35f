import { expect, test } from 'vitest';
import { strictJson, strictValue } from './strict-json.ts';

test('half a character is one that cannot be read; a whole one and a backslash that was said stay', () => {
  const text = 'a\ud83d b\ude00 c😀 \\ud83d \\\\\ud83d';
  expect(JSON.parse(strictJson({ text, [text]: [text] }))).toEqual({
    text: 'a\ufffd b\ufffd c😀 \\ud83d \\\\\ufffd',
    'a\ufffd b\ufffd c😀 \\ud83d \\\\\ufffd': ['a\ufffd b\ufffd c😀 \\ud83d \\\\\ufffd'],
  });
});

test('a value without half a character is itself', () => {
  const whole = { text: 'c😀 \\ud83d' };
  expect(strictValue(whole)).toBe(whole);
  expect(strictValue({ text: 'a\ud83d' })).toEqual({ text: 'a\ufffd' });
});
