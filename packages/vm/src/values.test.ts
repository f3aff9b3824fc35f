import { createHash } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { add, divide, multiply, power, remainder, subtract } from './arithmetic.ts';
import { own, share } from './copy-on-write.ts';
import { md5, sha256 } from './digest.ts';
import { display } from './display.ts';
import { equal, mapKey, putEntry } from './equality.ts';
import { Fault } from './fault.ts';
import { parseJson, stringify } from './json.ts';
import { compare } from './order.ts';
import { array, emptyMap, float, MAX_INT, type Value } from './value.ts';

/** Values that JSON can hold. */
const values: fc.Arbitrary<Value> = fc.letrec<{ value: Value }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 4 },
    fc.constant(null),
    fc.boolean(),
    fc.integer(),
    fc.double({ noNaN: true, noDefaultInfinity: true }).map(float),
    fc.string({ unit: 'grapheme' }),
    fc.array(tie('value'), { maxLength: 4 }).map((items) => array(items)),
    fc.dictionary(fc.string({ unit: 'grapheme' }), tie('value'), { maxKeys: 4 }).map((entries) => {
      const map = emptyMap();
      for (const [key, value] of Object.entries(entries)) putEntry(map, key, value);
      return map;
    }),
  ),
})).value;

describe('JSON', () => {
  test('a value comes back as it was, Ints as Ints and Floats as Floats', () => {
    fc.assert(
      fc.property(values, fc.constantFrom(0, 2), (value, indent) => {
        const back = parseJson(stringify(value, indent));
        expect(back.ok && equal(back.value, value)).toBe(true);
        expect(back.ok && stringify(back.value)).toBe(stringify(value));
      }),
    );
  });

  test('what JSON.parse reads, we read to the same text', () => {
    fc.assert(
      fc.property(fc.json(), (text) => {
        const parsed = parseJson(text);
        const numbers = /\d{16,}|[eE.]/.test(text);
        fc.pre(!numbers);
        expect(parsed.ok && JSON.parse(stringify(parsed.value))).toEqual(JSON.parse(text));
      }),
    );
  });

  test('text that JSON.parse refuses, we refuse, with the place', () => {
    fc.assert(
      fc.property(fc.json(), fc.nat(), fc.constantFrom('', '}', '"', ',', '\\', 'x'), (text, at, mark) => {
        const cut = text.slice(0, at % text.length) + mark + text.slice((at % text.length) + 1);
        let fine = true;
        try {
          JSON.parse(cut);
        } catch {
          fine = false;
        }
        const parsed = parseJson(cut);
        fc.pre(!/\d{16,}/.test(cut));
        expect(parsed.ok).toBe(fine);
      }),
    );
  });

  test('endless nesting is refused, not followed', () => {
    expect(parseJson('['.repeat(100_000))).toMatchObject({
      ok: false,
      error: expect.stringContaining('nested deeper'),
    });
  });
});

describe('display', () => {
  test('a Float is the shortest decimal that reads back, without exponent', () => {
    fc.assert(
      fc.property(fc.double({ noNaN: true, noDefaultInfinity: true }), (value) => {
        const text = display(float(value));
        expect(text).toMatch(/^-?\d+(\.\d+)?$/);
        expect(Object.is(Number(text), value)).toBe(true);
      }),
    );
  });

  test('nesting beyond reason is cut off instead of failing', () => {
    let deep: Value = 1;
    for (let level = 0; level < 50_000; level++) deep = array([deep]);
    expect(display(deep)).toContain('...');
  });
});

describe('order and equality', () => {
  test('strings are ordered by code point', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), fc.string({ unit: 'grapheme' }), (a, b) => {
        const points = (text: string): number[] => Array.from(text, (character) => character.codePointAt(0) ?? 0);
        const [x, y] = [points(a), points(b)];
        const first = x.findIndex((point, index) => point !== y[index]);
        const expected = first < 0 || first >= y.length ? x.length - y.length : (x[first] ?? 0) - (y[first] ?? 0);
        expect(Math.sign(compare(a, b) ?? Number.NaN)).toBe(Math.sign(expected));
      }),
    );
  });

  test('equal values have the same key, and different ones another', () => {
    fc.assert(
      fc.property(values, values, (a, b) => {
        const [x, y] = [mapKey(a), mapKey(b)];
        fc.pre(x !== undefined && y !== undefined);
        expect(x === y).toBe(equal(a, b));
      }),
    );
  });

  test('a copy is equal and changes alone', () => {
    fc.assert(
      fc.property(values, (value) => {
        share(value);
        const copy = own(value);
        expect(equal(copy, value)).toBe(true);
        const container = typeof copy === 'object' && copy !== null && copy.kind === 'array' ? copy : undefined;
        fc.pre(container !== undefined);
        container?.items.push(1);
        expect(equal(copy, value)).toBe(false);
      }),
    );
  });
});

describe('Int arithmetic', () => {
  const exact = fc.maxSafeInteger();
  const inRange = (value: bigint): number | string =>
    value > BigInt(MAX_INT) || value < -BigInt(MAX_INT) ? 'overflow' : Number(value);
  const outcome = (work: () => Value): Value => {
    try {
      return work();
    } catch (cause) {
      return cause instanceof Fault ? 'overflow' : 'crash';
    }
  };
  const operations: [string, (a: Value, b: Value) => Value, (a: bigint, b: bigint) => bigint][] = [
    ['+', add, (a, b) => a + b],
    ['-', subtract, (a, b) => a - b],
    ['*', multiply, (a, b) => a * b],
    ['/', divide, (a, b) => a / b],
    ['%', remainder, (a, b) => a % b],
  ];

  test.each(operations)('%s is exact or an overflow', (_, ours, reference) => {
    const small = fc.integer({ min: -100_000, max: 100_000 });
    fc.assert(
      fc.property(fc.oneof(exact, small), fc.oneof(exact, small), (a, b) => {
        fc.pre(b !== 0);
        const expected = reference(BigInt(a), BigInt(b));
        expect(outcome(() => ours(a, b))).toBe(inRange(expected));
      }),
      { numRuns: 500 },
    );
  });

  test('powers are exact or an overflow', () => {
    fc.assert(
      fc.property(fc.integer({ min: -50, max: 50 }), fc.nat(60), (a, b) => {
        const expected = BigInt(a) ** BigInt(b);
        expect(outcome(() => power(a, b))).toBe(inRange(expected));
      }),
    );
  });
});

describe('digests', () => {
  test('are those of the platform', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme', maxLength: 300 }), (text) => {
        expect(sha256(text)).toBe(createHash('sha256').update(text).digest('hex'));
        expect(md5(text)).toBe(createHash('md5').update(text).digest('hex'));
      }),
    );
  });
});
