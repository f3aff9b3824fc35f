import { DOT, isDigit, isHexDigit, isIdentifierPart, UNDERSCORE } from './characters.ts';

interface NumberToken {
  readonly kind: 'Int' | 'Float';
  readonly end: number;
  /** 0 when there is a problem. */
  readonly value: number;
  readonly problem?: string;
}

const LOWER_E = 101;
const PLUS = 43;
const MINUS = 45;
const RADIXES: { readonly [letter: string]: number } = { x: 16, b: 2, o: 8 };

/** `start` is at a digit. After a dot (`pair.0.1`) only the digits of an index are read. */
export function readNumber(source: string, start: number, afterDot: boolean): NumberToken {
  if (afterDot) return readIndex(source, start);
  const radix = source[start] === '0' ? RADIXES[source[start + 1]?.toLowerCase() ?? ''] : undefined;
  if (radix !== undefined) return readPrefixed(source, start, radix);
  let end = skipDigits(source, start);
  let isFloat = false;
  if (source.charCodeAt(end) === DOT && isDigit(source.charCodeAt(end + 1))) {
    isFloat = true;
    end = skipDigits(source, end + 1);
  }
  const exponent = exponentEnd(source, end);
  if (exponent !== undefined) {
    isFloat = true;
    end = exponent;
  }
  const digits = source.slice(start, end).replaceAll('_', '');
  const suffixEnd = skipIdentifier(source, end);
  if (suffixEnd > end) return badSuffix(source, { start, end, suffixEnd }, isFloat ? 'Float' : 'Int');
  return isFloat ? floatToken(digits, end) : intToken(Number(digits), digits, end);
}

function readIndex(source: string, start: number): NumberToken {
  let end = start;
  while (isDigit(source.charCodeAt(end))) end++;
  const digits = source.slice(start, end);
  return intToken(Number(digits), digits, end);
}

function readPrefixed(source: string, start: number, radix: number): NumberToken {
  const digitsStart = start + 2;
  const end = skipIdentifier(source, digitsStart);
  const digits = source.slice(digitsStart, end).replaceAll('_', '');
  const prefix = source.slice(start, digitsStart);
  if (digits === '') return { kind: 'Int', end, value: 0, problem: `expected digits after \`${prefix}\`` };
  for (const digit of digits) {
    if (isHexDigit(digit.charCodeAt(0)) && Number.parseInt(digit, 16) < radix) continue;
    return { kind: 'Int', end, value: 0, problem: `\`${digit}\` is not a digit after \`${prefix}\`` };
  }
  return intToken(Number.parseInt(digits, radix), `${prefix}${digits}`, end);
}

function intToken(value: number, digits: string, end: number): NumberToken {
  if (Number.isSafeInteger(value)) return { kind: 'Int', end, value };
  const problem = `\`${digits}\` does not fit in Int, which is exact from -9007199254740991 to 9007199254740991`;
  return { kind: 'Int', end, value: 0, problem };
}

function floatToken(digits: string, end: number): NumberToken {
  const value = Number(digits);
  if (Number.isFinite(value)) return { kind: 'Float', end, value };
  return { kind: 'Float', end, value: 0, problem: `\`${digits}\` is too large for Float` };
}

function badSuffix(
  source: string,
  place: { start: number; end: number; suffixEnd: number },
  kind: 'Int' | 'Float',
): NumberToken {
  const suffix = source.slice(place.end, place.suffixEnd);
  const problem = `\`${suffix}\` cannot follow the number \`${source.slice(place.start, place.end)}\` directly`;
  return { kind, end: place.suffixEnd, value: 0, problem };
}

function exponentEnd(source: string, offset: number): number | undefined {
  // The bit that makes an ASCII letter lower case.
  if ((source.charCodeAt(offset) | 32) !== LOWER_E) return undefined;
  const sign = source.charCodeAt(offset + 1);
  const digits = sign === PLUS || sign === MINUS ? offset + 2 : offset + 1;
  return isDigit(source.charCodeAt(digits)) ? skipDigits(source, digits) : undefined;
}

function skipDigits(source: string, start: number): number {
  let offset = start;
  for (;;) {
    const code = source.charCodeAt(offset);
    if (!isDigit(code) && code !== UNDERSCORE) return offset;
    offset++;
  }
}

function skipIdentifier(source: string, start: number): number {
  let offset = start;
  while (isIdentifierPart(source.charCodeAt(offset))) offset++;
  return offset;
}
