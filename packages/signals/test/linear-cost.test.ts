import { describe, expect, test } from 'vitest';
import { createSignalParser, type SignalOptions } from '../src/index.ts';

type Operation = (this: unknown, ...args: unknown[]) => unknown;
/** How many characters a call goes through, from its subject, its arguments and its result. */
type Weight = (subject: string, args: readonly unknown[], result: unknown) => number;

const whole: Weight = (subject) => subject.length;
const argument: Weight = (_, [source]) => String(source).length;
const searched: Weight = (subject, [, from = 0], found) =>
  (found === -1 ? subject.length : Number(found)) - Math.min(Number(from), subject.length);

const instruments: readonly (readonly [target: object, name: string, weight: Weight])[] = [
  [String.prototype, 'indexOf', searched],
  [String.prototype, 'slice', (_subject, _args, piece) => String(piece).length],
  [String.prototype, 'repeat', (_subject, _args, long) => String(long).length],
  [String.prototype, 'charCodeAt', () => 0],
  [String.prototype, 'charAt', () => 0],
  [String.prototype, 'startsWith', argument],
  [String.prototype, 'includes', whole],
  [String.prototype, 'replace', whole],
  [String.prototype, 'isWellFormed', whole],
  [RegExp.prototype, 'exec', argument],
  [RegExp.prototype, 'test', argument],
  [JSON, 'parse', argument],
];

/**
 * Counts the characters that the functions of strings, patterns and JSON go through while `work` runs. It is the same
 * on every machine, and a rescan or a growing copy shows however quick it is.
 */
function charactersTouched(work: () => void): number {
  let count = 0;
  const originals = instruments.map(([target, name]) => Reflect.get(target, name) as Operation);
  for (const [index, [target, name, weight]] of instruments.entries()) {
    const original = originals[index]!;
    Reflect.set(target, name, function (this: unknown, ...args: unknown[]): unknown {
      const result = Reflect.apply(original, this, args);
      count += 1 + weight(typeof this === 'string' ? this : '', args, result);
      return result;
    });
  }
  try {
    work();
  } finally {
    for (const [index, [target, name]] of instruments.entries()) Reflect.set(target, name, originals[index]);
  }
  return count;
}

function cost(text: string, size: number, options: SignalOptions): number {
  const chunks = Array.from({ length: Math.ceil(text.length / size) }, (_, at) =>
    text.slice(at * size, (at + 1) * size),
  );
  return charactersTouched(() => {
    const parser = createSignalParser(options, () => {});
    for (const chunk of chunks) parser.push(chunk);
    parser.finish();
  });
}

const unlimited: SignalOptions = {
  maxCallsLength: Number.POSITIVE_INFINITY,
  maxCalls: Number.POSITIVE_INFINITY,
  maxHeldWhitespace: Number.POSITIVE_INFINITY,
};

/** Each is a text that some careless parser would read again and again. */
const shapes: Record<string, (length: number) => string> = {
  prose: (length) => `§RESPOND: ${'words and words\n'.repeat(length / 16)}`,
  'lines of whitespace': (length) => `§RESPOND: a${' \n'.repeat(length / 2)}b`,
  'signs without end': (length) => `§RESPOND: a\n${'§'.repeat(length)}`,
  'almost signals': (length) => '§EXECUTED\n'.repeat(length / 10),
  'signs inside lines': (length) => `§THINK: ${'a § b §END '.repeat(length / 11)}`,
  'escaped signals': (length) => '§§END:\n'.repeat(length / 7),
  'marks inside lines': (length) => `§THINK: ${'a `b` ~c~ '.repeat(length / 10)}`,
  'fences opened and closed': (length) => `§RESPOND:\n${'~~~\n§END:\n~~~\n'.repeat(length / 14)}`,
  'one long fence line': (length) => `§RESPOND:\n\`\`\`${'x'.repeat(length)}`,
  'many small blocks': (length) => '§CALLS: [{"name":"a"}]\n§EXECUTE:\n[SYSTEM: ]]\n'.repeat(length / 45),
  'one large call': (length) => `§CALLS: [{"name":"a","args":{"t":"${'x\\"y '.repeat(length / 5)}"}}]\n§EXECUTE:`,
  'many calls': (length) => `§CALLS: [${'{"name":"a","args":{"x":[1]}},'.repeat(length / 30)}{"name":"b"}]\n§EXECUTE:`,
  'broken calls': (length) => `§CALLS: [${'"a\n'.repeat(length / 3)}`,
  brackets: (length) => `§CALLS: []\n§EXECUTE:\n[SYSTEM: ${'] '.repeat(length / 2)}`,
  babble: (length) => `§CALLS: []\n§EXECUTE:\n${'waiting\n'.repeat(length / 8)}`,
  'after the end': (length) => `§END:\n${'more\n'.repeat(length / 5)}`,
};

describe.each(Object.entries(shapes))('%s', (_, shape) => {
  test.each([
    ['standard', 1],
    ['standard', 7],
    ['standard', 100_000],
    ['strict', 50],
    ['lenient', 1],
    ['lenient', 100_000],
  ] as const)('%s, in chunks of %i: twice the text costs twice', (mode, size) => {
    for (const incremental of [false, true]) {
      const options = { ...unlimited, mode, incremental };
      const once = cost(shape(6_000), size, options);
      const twice = cost(shape(12_000), size, options);
      expect(twice).toBeLessThan(2.1 * once + 500);
      expect(twice).toBeLessThan(40 * 12_000);
    }
  });
});
