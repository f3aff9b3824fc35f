import fc from 'fast-check';
import { expect, test } from 'vitest';
import { spansOf, textBlocksOf } from './parse-rich-text.ts';

test('paragraphs, lists, headings and code are told apart', () => {
  const text =
    '# Plan\nFirst line\nsecond line\n\n- one\n- two\n  still two\n\n3. three\n```ts\nconst a = 1;\n\n```\nend';
  expect(textBlocksOf(text)).toEqual([
    { kind: 'heading', level: 1, text: 'Plan' },
    { kind: 'paragraph', text: 'First line\nsecond line' },
    { kind: 'list', isOrdered: false, start: 1, items: ['one', 'two\nstill two'] },
    { kind: 'list', isOrdered: true, start: 3, items: ['three'] },
    { kind: 'code', language: 'ts', text: 'const a = 1;\n' },
    { kind: 'paragraph', text: 'end' },
  ]);
});

test('code that is still being written is code', () => {
  expect(textBlocksOf('```\nhalf')).toEqual([{ kind: 'code', language: '', text: 'half' }]);
});

test('only http links become links', () => {
  expect(spansOf('see [docs](https://a.b/c) or [bad](javascript:alert(1)) and `x`')).toEqual([
    { kind: 'text', text: 'see ' },
    { kind: 'link', text: 'docs', href: 'https://a.b/c' },
    { kind: 'text', text: ' or [bad](javascript:alert(1)) and ' },
    { kind: 'code', text: 'x' },
  ]);
});

test('any text is read to its end, and no word is lost', () => {
  const line = fc.constantFrom('~a', '- ~b', '1. ~c', '```', '# ~d', '', '  ~e', '**~f** `~g`');
  fc.assert(
    fc.property(fc.array(line), (lines) => {
      const text = lines.join('\n');
      expect(JSON.stringify(textBlocksOf(text)).split('~')).toHaveLength(text.split('~').length);
    }),
  );
});
