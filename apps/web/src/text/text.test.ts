import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { hiddenPieces } from './hidden-characters.ts';
import { highlight } from './highlighter.ts';
import { blockTokens } from './markdown-tokens.ts';
import { safeLink } from './safe-link.ts';
import { unescaped } from './unescaped.ts';

describe('links', () => {
  test('only addresses that a click may follow', () => {
    expect(safeLink('https://example.com/a', 'the docs')?.isMisleading).toBe(false);
    for (const bad of ['javascript:alert(1)', 'data:text/html,x', 'file:///etc/passwd', 'vscode://x', '/relative', ''])
      expect(safeLink(bad, 'x')).toBeUndefined();
  });

  test('a text that names another address is marked, one that names its own is not', () => {
    expect(safeLink('https://evil.test/x', 'https://github.com/x')?.isMisleading).toBe(true);
    expect(safeLink('https://evil.test/x', 'github.com')?.isMisleading).toBe(true);
    expect(safeLink('https://github.com@evil.test/', 'here')).toMatchObject({ isMisleading: true, host: 'evil.test' });
    expect(safeLink('https://www.github.com/x', 'github.com/x')?.isMisleading).toBe(false);
    expect(safeLink('https://a.test/', 'see parse.ts')?.isMisleading).toBe(false);
  });
});

test('what cannot be seen is shown by its number; joiners and line ends stay', () => {
  expect(hiddenPieces('a\u202eb')).toEqual([
    { kind: 'text', text: 'a' },
    { kind: 'hidden', name: 'U+202E' },
    { kind: 'text', text: 'b' },
  ]);
  expect(hiddenPieces('👩‍👩‍👧\n\tok')).toHaveLength(1);
  expect(hiddenPieces('\u{e0041}x')[0]).toEqual({ kind: 'hidden', name: 'U+E0041' });
});

test('character references', () => {
  expect(unescaped('a &lt;b&gt; &amp;amp; &#65;&#x42; &nope;')).toBe('a <b> &amp; AB &nope;');
});

test('a fence that is still being written is code already', () => {
  const [code] = blockTokens('```ts\nconst a = 1;\n');
  expect(code).toMatchObject({ type: 'code', lang: 'ts' });
});

test('a text that grows leaves its earlier blocks as they were', () => {
  const text = '# A\n\none\n\n- x\n- y\n\n```js\nlet a;\n```\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\nend';
  for (let length = 1; length < text.length; length++) {
    const now = blockTokens(text.slice(0, length)).map(({ raw }) => raw.trimEnd());
    const next = blockTokens(text.slice(0, length + 1)).map(({ raw }) => raw.trimEnd());
    expect(next.slice(0, now.length - 1)).toEqual(now.slice(0, -1));
  }
});

test('any text has blocks that together are the text', () => {
  fc.assert(
    fc.property(fc.string(), (text) => {
      expect(() => blockTokens(text)).not.toThrow();
    }),
  );
});

test('code in its colours is the same code', () => {
  const code = 'const a: string = "b"; // c\n';
  const runs = highlight('ts', code) ?? [];
  expect(runs.map(({ text }) => text).join('')).toBe(code);
  expect(runs.some(({ kind }) => kind === 'hljs-keyword')).toBe(true);
  expect(highlight('klingon', code)).toBeUndefined();
});
