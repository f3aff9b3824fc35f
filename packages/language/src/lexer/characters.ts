/** Character codes and classes; the classes are tables because the lexer asks for every character. */
export const LF = 10;
export const CR = 13;
export const DOUBLE_QUOTE = 34;
export const HASH = 35;
export const DOLLAR = 36;
export const SINGLE_QUOTE = 39;
export const STAR = 42;
export const DOT = 46;
export const SLASH = 47;
export const EQUALS = 61;
export const BACKSLASH = 92;
export const BACKTICK = 96;
export const UNDERSCORE = 95;
export const LEFT_BRACE = 123;
export const RIGHT_BRACE = 125;
export const LOWER_R = 114;

const IDENTIFIER_START = 1;
const IDENTIFIER_PART = 2;
const DIGIT = 4;
const HEX_DIGIT = 8;
const BLANK = 16;

const CLASSES = new Uint8Array(128);
mark('abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_', IDENTIFIER_START | IDENTIFIER_PART);
mark('0123456789', IDENTIFIER_PART | DIGIT);
mark('0123456789abcdefABCDEF', HEX_DIGIT);
mark(' \t\r\n', BLANK);

function mark(characters: string, bits: number): void {
  for (const character of characters) {
    const code = character.charCodeAt(0);
    CLASSES[code] = (CLASSES[code] ?? 0) | bits;
  }
}

// `NaN` (beyond the end) and anything above ASCII find no entry and are in no class.
export function isIdentifierStart(code: number): boolean {
  return ((CLASSES[code] ?? 0) & IDENTIFIER_START) !== 0;
}

export function isIdentifierPart(code: number): boolean {
  return ((CLASSES[code] ?? 0) & IDENTIFIER_PART) !== 0;
}

export function isDigit(code: number): boolean {
  return ((CLASSES[code] ?? 0) & DIGIT) !== 0;
}

export function isHexDigit(code: number): boolean {
  return ((CLASSES[code] ?? 0) & HEX_DIGIT) !== 0;
}

export function isBlank(code: number): boolean {
  return ((CLASSES[code] ?? 0) & BLANK) !== 0;
}
