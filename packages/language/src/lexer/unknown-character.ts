const QUOTES_OF_WORD_PROCESSORS = new Set(['“', '”', '‘', '’', '„']);

export interface UnknownCharacter {
  readonly code: 'C0001' | 'C0002';
  readonly message: string;
  readonly help: string | undefined;
}

/** What to say about a character that begins no token. */
export function describeUnknown(character: string): UnknownCharacter {
  if (character === '&') {
    return { code: 'C0002', message: 'there are no references', help: 'leave `&` out: values are copied' };
  }
  const isInvisible = /\p{C}|\p{Z}/u.test(character);
  const code = (character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0');
  const message = `unexpected character ${isInvisible ? `U+${code}` : `\`${character}\``}`;
  return { code: 'C0001', message, help: helpWith(character) };
}

function helpWith(character: string): string | undefined {
  if (QUOTES_OF_WORD_PROCESSORS.has(character)) return 'strings have straight quotes: `"`';
  if (character === '#') return 'a comment begins with `//`, a decorator with `@`';
  if (character === '^') return 'a power is written `a ** b`; numbers have no operators for their bits';
  return character === '~' ? 'numbers have no operators for their bits' : undefined;
}
