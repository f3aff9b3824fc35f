import fc from 'fast-check';
import type { SignalOptions } from '../src/index.ts';

const signals = [
  '§THINK:',
  '§CALLS:',
  '§EXECUTE:',
  '§RESPOND:',
  '§END:',
  '§EXECUTE',
  '§END',
  '§CALL:',
  '§think: ',
  '§end',
];
const shards = [
  '§',
  '§§',
  '§§§',
  'TH',
  'INK',
  'END',
  'EXEC',
  'UTE',
  'K',
  ':',
  '\r',
  '\n',
  '\n\n',
  '\r\n',
  ' ',
  '  ',
  '    ',
  '\t',
];
const marks = ['`', '```', '````', '~~~', '\n```\n', '\n~~~ x\n', '```json\n', '\n```', '`a`'];
const json = [
  '[',
  ']',
  '{',
  '}',
  '"',
  '\\',
  ',',
  '[]',
  '{"name":"a"}',
  '[{"name":"b","args":{"x":[1]}}]',
  '"name":',
  '"§END: "',
  '\\"',
];
const results = ['[SYSTEM:', '[SYSTEM: ok]', '[SYS', ']', '] ]', '\n[SYSTEM: '];
const prose = [
  'a',
  'word',
  'some more words',
  'é',
  '—',
  '東',
  '😀',
  '\ud83d',
  '\ude00',
  '\ufeff',
  '\u2028',
  '\u0000',
  '§ 50',
  'ſ',
  'K',
];

const fragment = fc.oneof(
  { weight: 5, arbitrary: fc.constantFrom(...signals.map((signal) => `\n${signal}`)) },
  { weight: 2, arbitrary: fc.constantFrom(...signals) },
  { weight: 5, arbitrary: fc.constantFrom(...shards) },
  { weight: 2, arbitrary: fc.constantFrom(...marks) },
  { weight: 3, arbitrary: fc.constantFrom(...json) },
  { weight: 2, arbitrary: fc.constantFrom(...results) },
  { weight: 4, arbitrary: fc.constantFrom(...prose) },
  { weight: 1, arbitrary: fc.string({ unit: 'binary', maxLength: 6 }) },
);

const fragments = (maxLength: number): fc.Arbitrary<string> =>
  fc.array(fragment, { maxLength, size: 'max' }).map((parts) => parts.join(''));

/** Text made of the protocol's own pieces; now and then long enough for the ways that only long texts take. */
export const protocolText: fc.Arbitrary<string> = fc.oneof(
  { weight: 3, arbitrary: fragments(24) },
  { weight: 1, arbitrary: fragments(120) },
);

export const parserOptions: fc.Arbitrary<SignalOptions> = fc.record(
  {
    mode: fc.constantFrom('standard', 'strict', 'lenient'),
    fences: fc.boolean(),
    afterExecute: fc.constantFrom('continue', 'continue', 'stop'),
    incremental: fc.boolean(),
    maxHeldWhitespace: fc.constantFrom(0, 1, 2, 4, 1024),
    maxCallsLength: fc.constantFrom(4, 12, 40, 1_048_576),
    maxDepth: fc.constantFrom(1, 2, 3, 64),
    maxCalls: fc.constantFrom(0, 1, 2, 128),
  },
  { requiredKeys: [] },
);

/** Where to cut a text of any length: fractions of it. */
export const cuts: fc.Arbitrary<number[]> = fc.array(fc.double({ min: 0, max: 1, noNaN: true }), { maxLength: 12 });

export function cutAt<T extends string | Uint8Array>(whole: T, fractions: readonly number[]): T[] {
  const edges = [0, ...fractions.map((fraction) => Math.round(fraction * whole.length)), whole.length];
  edges.sort((a, b) => a - b);
  return edges.slice(1).map((edge, index) => whole.slice(edges[index], edge) as T);
}
