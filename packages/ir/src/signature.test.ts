import { describe, expect, test } from 'vitest';
import { BUILTIN_STRUCTS } from './builtin-types.ts';
import { BUILTIN_NAMES, builtinMethods, builtinSignature, builtinSpec, STD_MODULES, stdModule } from './builtins.ts';
import { formatType, parseSignature, parseType, SignatureError } from './signature.ts';

describe('parseSignature', () => {
  test('reads type parameters, receiver, functions and result', () => {
    const signature = parseSignature(
      'fn<T, U>(mut self: Array<T>, f: fn(T, Int) -> U, n?: Int) -> Map<String, (T, U)>',
    );
    expect(signature.typeParams).toEqual(['T', 'U']);
    expect(signature.params.map(({ name, optional, mut }) => ({ name, optional, mut }))).toEqual([
      { name: 'self', optional: false, mut: true },
      { name: 'f', optional: false, mut: false },
      { name: 'n', optional: true, mut: false },
    ]);
    expect(formatType(signature.result)).toBe('Map<String, (T, U)>');
    expect(formatType(signature.params[1]?.type ?? signature.result)).toBe('fn(T, Int) -> U');
  });

  test('a missing result is Nil, rest parameters are marked', () => {
    const signature = parseSignature('fn(...values: Any)');
    expect(formatType(signature.result)).toBe('Nil');
    expect(signature.params[0]?.rest).toBe(true);
  });

  test.each(['fn(', 'fn() ->', 'fn(x Int)', 'Array<', 'fn(x: Int) -> Int rest'])('refuses %s', (text) => {
    expect(() => parseSignature(text)).toThrow(SignatureError);
  });
});

describe('parseType', () => {
  test.each([
    'Int',
    'Array<Array<Int>>',
    '"a" | "b"',
    '(Int, String)',
    '(Int,)',
    'geo::Point',
    'fn() -> Nil',
    'Map<String, Any>',
  ])('%s is written as it was read', (text) => expect(formatType(parseType(text))).toBe(text));

  test('parentheses around one type only group', () => {
    expect(parseType('(Int)')).toEqual({ kind: 'name', name: 'Int', args: [] });
  });

  test('refuses what is not a type', () => {
    expect(() => parseType('Array<Int')).toThrow(SignatureError);
    expect(() => parseType('')).toThrow(SignatureError);
    expect(() => parseType('Int Int')).toThrow(SignatureError);
  });
});

describe('the table of built-ins', () => {
  test('every signature can be read, and a method begins with self of its type', () => {
    for (const name of BUILTIN_NAMES) {
      const signature = builtinSignature(name);
      const dot = name.indexOf('.');
      if (dot === -1) continue;
      const [self] = signature.params;
      expect([name, self?.name]).toEqual([name, 'self']);
      expect(self === undefined ? '' : formatType(self.type).split('<')[0]).toBe(name.slice(0, dot));
    }
  });

  test('optional parameters come last, and type arguments are declared where they are passed', () => {
    const wrong = BUILTIN_NAMES.filter((name) => {
      const { params, typeParams } = builtinSignature(name);
      const firstOptional = params.findIndex(({ optional }) => optional);
      const ordered = firstOptional < 0 || params.slice(firstOptional).every(({ optional }) => optional);
      return !ordered || (builtinSpec(name).typeArguments === true && typeParams.length === 0);
    });
    expect(wrong).toEqual([]);
  });

  test('methods and modules are found by type and path', () => {
    expect(builtinMethods('Array').get('push')).toBe('Array.push');
    expect(builtinMethods('Nothing').size).toBe(0);
    expect(STD_MODULES).toContain('std::math');
    expect(stdModule('std::math').get('abs')).toBe('std::math::abs');
    expect(stdModule('std::collections').get('Set::new')).toBe('std::collections::Set::new');
  });

  test('every error has a message and names its parent among the errors', () => {
    const needed = ['kind', 'message', 'source', 'code', 'details'];
    const wrong = Object.entries(BUILTIN_STRUCTS).filter(([, spec]) => {
      if (spec.kind !== 'error') return false;
      const known = !('parent' in spec) || spec.parent === undefined || Object.hasOwn(BUILTIN_STRUCTS, spec.parent);
      return !known || needed.some((name) => !Object.hasOwn(spec.fields, name));
    });
    expect(wrong).toEqual([]);
  });
});
