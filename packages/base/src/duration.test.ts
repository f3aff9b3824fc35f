import { expect, test } from 'vitest';
import { parseDuration } from './duration.ts';

test.each([
  ['500ms', 500],
  ['90s', 90_000],
  ['1h 30m', 5_400_000],
  ['1.5h', 5_400_000],
  ['3d', 259_200_000],
  ['2w', 1_209_600_000],
  ['', undefined],
  ['3', undefined],
  ['d', undefined],
  ['-1s', undefined],
  ['3 days', undefined],
  [`${'9'.repeat(30)}w`, undefined],
])('%j is %s', (text, expected) => {
  expect(parseDuration(text)).toBe(expected);
});
