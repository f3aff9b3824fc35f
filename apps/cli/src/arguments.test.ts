import { describe, expect, test } from 'vitest';
import { defineCommand, fitted, helpText, parseArguments, UsageError } from './arguments.ts';

const spec = defineCommand({
  name: 'demo',
  summary: 'Shows how.',
  usage: '[PATH...]',
  options: {
    json: { type: 'boolean', help: 'as JSON' },
    output: { type: 'string', short: 'o', value: 'FILE', help: 'where to' },
    env: { type: 'string', multiple: true, help: 'variables' },
  },
  maxPositionals: 2,
});

describe('parseArguments', () => {
  test('reads options anywhere, long and short, once and several times', () => {
    expect(parseArguments(spec, ['a', '--json', '-o', 'x', '--env=A', '--env', 'B', '--', '--b'])).toEqual({
      values: { json: true, output: 'x', env: ['A', 'B'] },
      positionals: ['a', '--b'],
    });
  });

  test('a number below zero is an argument and no option', () => {
    expect(parseArguments(spec, ['-1', '-o', '-2', '-30'])).toMatchObject({
      values: { output: '-2' },
      positionals: ['-1', '-30'],
    });
    expect(parseArguments(spec, ['--output=--json']).values.output).toBe('--json');
  });

  test('what is not given is false, absent or empty', () => {
    expect(parseArguments(spec, []).values).toEqual({ json: false, output: undefined, env: [] });
  });

  test.each([
    [['--jsn'], 'unknown option --jsn; did you mean --json?'],
    [['-x'], 'unknown option -x'],
    [['--output'], '--output needs a value (FILE)'],
    [['--output', '--json'], '--output needs a value (FILE)'],
    [['-1x', 'b', '-12'], 'unexpected argument "-12"'],
    [['--json=yes'], '--json takes no value'],
    [['a', 'b', 'c'], 'unexpected argument "c"'],
  ])('%j is bad usage', (argv, message) => {
    expect(() => parseArguments(spec, argv)).toThrow(new UsageError(message));
  });
});

test('the help lists every option', () => {
  const text = helpText(spec);
  expect(text).toContain('usage: concerto demo [PATH...]');
  expect(text).toContain('-o, --output FILE  where to');
});

test('a line that is too wide goes on below where it began', () => {
  const text = [
    'one line of prose is broken',
    '  -a, --all  every one of them, and more',
    '  a-wide-name-here  what it is',
  ].join('\n');
  expect(fitted(text, 26)).toBe(
    [
      'one line of prose is',
      'broken',
      '  -a, --all  every one of',
      '             them, and',
      '             more',
      '  a-wide-name-here',
      '      what it is',
    ].join('\n'),
  );
  expect(fitted(text, Number.POSITIVE_INFINITY)).toBe(text);
});
