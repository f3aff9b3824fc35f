import type { Span } from '../source/span.ts';
import { CR, isBlank, isHexDigit, LEFT_BRACE, LF, RIGHT_BRACE } from './characters.ts';

type ReportEscape = (span: Span, message: string) => void;

const MAX_HEX_DIGITS = 6;
const MAX_SCALAR = 0x10ffff;

/** The text between two offsets with its escapes resolved. A bad escape is reported and its character kept. */
export function resolveEscapes(source: string, span: Span, report: ReportEscape): string {
  const text = source.slice(span.start, span.end);
  // Looking for the first backslash in the source itself would read to its end for every string without one.
  if (!text.includes('\\')) return text;
  let result = '';
  let copied = 0;
  for (let offset = text.indexOf('\\'); offset !== -1; offset = text.indexOf('\\', copied)) {
    result += text.slice(copied, offset);
    const escape = readEscape(source, { start: span.start + offset, end: span.end }, report);
    result += escape.text;
    copied = escape.end - span.start;
  }
  return result + text.slice(copied);
}

/** `span.start` is at the backslash. */
function readEscape(source: string, span: Span, report: ReportEscape): { text: string; end: number } {
  const end = span.start + 2;
  switch (source[span.start + 1]) {
    case 'n':
      return { text: '\n', end };
    case 't':
      return { text: '\t', end };
    case 'r':
      return { text: '\r', end };
    case '0':
      return { text: '\0', end };
    case '\\':
      return { text: '\\', end };
    case '"':
      return { text: '"', end };
    case "'":
      return { text: "'", end };
    case '$':
      return { text: '$', end };
    case 'u':
      return readUnicodeEscape(source, span, report);
    default:
      return readUnknownEscape(source, span, report);
  }
}

function readUnknownEscape(source: string, span: Span, report: ReportEscape): { text: string; end: number } {
  const character = String.fromCodePoint(source.codePointAt(span.start + 1) ?? 0);
  const end = Math.min(span.start + 1 + character.length, span.end);
  report({ start: span.start, end }, `unknown escape \`\\${character}\``);
  return { text: source.slice(span.start + 1, end), end };
}

function readUnicodeEscape(source: string, span: Span, report: ReportEscape): { text: string; end: number } {
  const digitsStart = span.start + 3;
  if (source.charCodeAt(span.start + 2) !== LEFT_BRACE || digitsStart > span.end) {
    report({ start: span.start, end: span.start + 2 }, 'expected `{` after `\\u`');
    return { text: 'u', end: span.start + 2 };
  }
  let offset = digitsStart;
  while (offset < span.end && isHexDigit(source.charCodeAt(offset))) offset++;
  const isClosed = offset < span.end && source.charCodeAt(offset) === RIGHT_BRACE;
  const end = isClosed ? offset + 1 : offset;
  const digits = source.slice(digitsStart, offset);
  const problem = unicodeProblem(digits, isClosed);
  if (problem === undefined) return { text: String.fromCodePoint(Number.parseInt(digits, 16)), end };
  report({ start: span.start, end }, problem);
  return { text: '', end };
}

function unicodeProblem(digits: string, isClosed: boolean): string | undefined {
  if (!isClosed) return 'a `\\u{…}` escape has hexadecimal digits and a closing `}`';
  if (digits === '') return 'a `\\u{…}` escape needs at least one digit';
  if (digits.length > MAX_HEX_DIGITS) return 'a `\\u{…}` escape has at most six digits';
  const value = Number.parseInt(digits, 16);
  if (value > MAX_SCALAR || (value >= 0xd800 && value <= 0xdfff)) return `\`\\u{${digits}}\` is not a character`;
  return undefined;
}

/**
 * The pieces of a triple-quoted string (more than one when it is interpolated) without the first line break and
 * without the indentation of the closing quotes. Line breaks come out as LF.
 */
export function dedent(source: string, pieces: readonly Span[]): string[] {
  const last = pieces.at(-1);
  const indentation = last === undefined ? '' : closingIndentation(source, last);
  return pieces.map((piece, index) => {
    const raw = normaliseLineBreaks(source.slice(piece.start, piece.end));
    const text = index === 0 && raw.startsWith('\n') ? raw.slice(1) : raw;
    const startsLine = index === 0 && text.length < raw.length;
    return stripIndentation(text, indentation, startsLine);
  });
}

/** Only when the closing quotes stand alone on their line. */
function closingIndentation(source: string, last: Span): string {
  let start = last.end;
  while (start > last.start && source.charCodeAt(start - 1) !== LF) start--;
  const isLineStart = start > last.start && source.charCodeAt(start - 1) === LF;
  const text = source.slice(start, last.end);
  return isLineStart && /^[ \t]*$/.test(text) ? text : '';
}

function stripIndentation(text: string, indentation: string, startsLine: boolean): string {
  if (indentation === '') return text;
  const lines = text.split('\n');
  return lines.map((line, index) => (index === 0 && !startsLine ? line : stripPrefix(line, indentation))).join('\n');
}

function stripPrefix(line: string, indentation: string): string {
  let length = 0;
  while (length < indentation.length && line[length] === indentation[length]) length++;
  return line.slice(length);
}

export function normaliseLineBreaks(text: string): string {
  return text.includes('\r') ? text.replaceAll('\r\n', '\n') : text;
}

/** Whether only blanks stand before the place in its line. */
export function isFirstOfLine(source: string, offset: number): boolean {
  let before = offset - 1;
  while (before >= 0 && isBlank(source.charCodeAt(before)) && source.charCodeAt(before) !== LF) before--;
  return before < 0 || source.charCodeAt(before) === LF;
}

/** Where the line ends that contains this offset. */
export function endOfLine(source: string, offset: number): number {
  let end = offset;
  while (end < source.length && source.charCodeAt(end) !== LF && source.charCodeAt(end) !== CR) end++;
  return end;
}
