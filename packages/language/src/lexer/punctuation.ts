import type { Punctuation } from './token.ts';

/** Longer marks first, so that `..=` is not read as `..`. */
const BY_FIRST_CHARACTER: { readonly [character: string]: readonly Punctuation[] } = {
  '+': ['+=', '+'],
  '-': ['->', '-=', '-'],
  '*': ['**', '*=', '*'],
  '/': ['/=', '/'],
  '%': ['%=', '%'],
  '=': ['==', '=>', '='],
  '!': ['!=', '!'],
  '<': ['<=', '<'],
  '>': ['>=', '>'],
  '&': ['&&'],
  '|': ['||', '|>', '|'],
  '?': ['??', '?'],
  '.': ['..=', '..', '.'],
  ':': ['::', ':'],
  '@': ['@'],
  '(': ['('],
  ')': [')'],
  '{': ['{'],
  '}': ['}'],
  '[': ['['],
  ']': [']'],
  ',': [','],
  ';': [';'],
};

const TABLE: (readonly Punctuation[] | undefined)[] = Array.from(
  { length: 128 },
  (_, code) => BY_FIRST_CHARACTER[String.fromCharCode(code)],
);

export function readPunctuation(source: string, offset: number): Punctuation | undefined {
  const candidates = TABLE[source.charCodeAt(offset)];
  if (candidates === undefined) return undefined;
  for (const mark of candidates) {
    if (mark.length === 1 || source.startsWith(mark, offset)) return mark;
  }
  return undefined;
}
