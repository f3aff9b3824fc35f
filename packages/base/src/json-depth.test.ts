import { expect, test } from 'vitest';
import { isNestedTooDeep, jsonDepthMax } from './json-depth.ts';

const nested = (levels: number): string => `${'['.repeat(levels)}${']'.repeat(levels)}`;

test.each([
  ['1', false],
  [nested(jsonDepthMax), false],
  [nested(jsonDepthMax + 1), true],
  [nested(200_000), true],
  [`{"a":1,"b":${nested(jsonDepthMax - 1)}}`, false],
  [`{"a":1,"b":${nested(jsonDepthMax)}}`, true],
])('%.20s… is too deep: %s', (text, expected) => {
  expect(isNestedTooDeep(JSON.parse(text))).toBe(expected);
});
