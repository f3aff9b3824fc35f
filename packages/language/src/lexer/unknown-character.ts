const QUOTES_OF_WORD_PROCESSORS = new Set(['“', '”', '‘', '’', '„']);

/** What to say about a character that begins no token. */
export function describeUnknown(character: string): { readonly message: string; readonly help: string | undefined } {
  const isInvisible = /\p{C}|\p{Z}/u.test(character);
  const code = (character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0');
  const message = `unexpected character ${isInvisible ? `U+${code}` : `\`${character}\``}`;
  return { message, help: QUOTES_OF_WORD_PROCESSORS.has(character) ? 'strings have straight quotes: `"`' : undefined };
}
