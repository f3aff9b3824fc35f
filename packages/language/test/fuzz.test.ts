import { describe, expect, test } from 'vitest';
import { checkText, fuzz, readCorpus } from './fuzz.ts';

describe('any text', () => {
  test('goes through lexer, parser, checker and formatter', { timeout: 120_000 }, () => {
    expect(fuzz({ seed: 1, count: 200 })).toEqual([]);
  });

  test.each(readCorpus())('$name is formatted without changing its meaning', ({ text }) => {
    expect(() => checkText(text)).not.toThrow();
  });

  test.each([
    ['brackets', `let x = ${'('.repeat(20_000)}`],
    ['blocks', '{'.repeat(20_000)],
    ['interpolations', '"${'.repeat(20_000)],
    ['comments', '/*'.repeat(20_000)],
    ['operators', `let x = 1${' + 1'.repeat(20_000)};`],
    ['calls', `let x = y${'.f()'.repeat(20_000)};`],
    ['else', `fn f() { if a {} ${'else if b {} '.repeat(20_000)} }`],
    ['types', `let x: ${'Array<'.repeat(20_000)}`],
    ['negations', `let x = ${'!'.repeat(20_000)}y;`],
    ['if let', `fn f() { ${'if let Some(x) = a { } else '.repeat(20_000)} }`],
    ['bodies without braces', `fn f() { ${'if a '.repeat(20_000)} }`],
    ['choices', `let x = ${'a ? '.repeat(20_000)}b;`],
    ['shifts', `let x = a ${'<< b '.repeat(20_000)};`],
    ['words of JavaScript', `let x = ${'typeof '.repeat(20_000)}${'new '.repeat(20_000)}a;`],
    ['exports', `${'export '.repeat(20_000)}fn f() { }`],
    ['array types', `fn f(a: Int${'[]'.repeat(20_000)}) { }`],
  ])('%s without end are a diagnostic, not a crash', (_name, text) => {
    expect(() => checkText(text)).not.toThrow();
  });
});
