import type { Diagnostic } from '../diagnostics/diagnostic.ts';
import type { SourceFile } from '../source/source-file.ts';
import type { Span } from '../source/span.ts';
import { blockCommentEnd } from './block-comment.ts';
import {
  BACKSLASH,
  BACKTICK,
  DOUBLE_QUOTE,
  EQUALS,
  HASH,
  isBlank,
  isDigit,
  isIdentifierPart,
  isIdentifierStart,
  LEFT_BRACE,
  LOWER_R,
  RIGHT_BRACE,
  SINGLE_QUOTE,
  SLASH,
  STAR,
} from './characters.ts';
import { labelEnd } from './label.ts';
import { readNumber } from './number.ts';
import { readPunctuation } from './punctuation.ts';
import { type Quote, scanText } from './scan-text.ts';
import { dedent, endOfLine, isFirstOfLine, normaliseLineBreaks, resolveEscapes } from './string-text.ts';
import { endsOperand, KEYWORDS, type TokenKind, type TokenList } from './token.ts';
import { describeUnknown } from './unknown-character.ts';

export interface LexResult {
  readonly tokens: TokenList;
  readonly diagnostics: Diagnostic[];
}

/** An interpolated string that is waiting for the `}` of its `${`. */
interface OpenString {
  readonly quote: Quote;
  /** Offset of the opening quotes. */
  readonly start: number;
  /** Braces opened inside the current `${ … }`. */
  braces: number;
  /** Offset of the latest `${`. */
  opening: number;
  /** The pieces of text so far, each a token. */
  readonly pieces: { readonly token: number; readonly span: Span }[];
}

/** Any text gives tokens: a bad character is reported and passed over. */
export function lex(file: SourceFile): LexResult {
  return new Lexer(file).run();
}

class Lexer {
  readonly #file: SourceFile;
  readonly #source: string;
  #offset = 0;
  readonly #open: OpenString[] = [];
  readonly #diagnostics: Diagnostic[] = [];
  readonly #tokens: TokenList = {
    kinds: [],
    starts: [],
    ends: [],
    texts: new Map(),
    numbers: new Map(),
    comments: [],
    damaged: new Set(),
    docs: new Map(),
  };

  constructor(file: SourceFile) {
    this.#file = file;
    this.#source = file.text;
  }

  run(): LexResult {
    const source = this.#source;
    if (source.charCodeAt(0) === 0xfeff) this.#offset = 1;
    if (source.startsWith('#!', this.#offset)) this.#addComment('line', endOfLine(source, this.#offset));
    while (this.#offset < source.length) {
      const code = source.charCodeAt(this.#offset);
      if (isBlank(code)) this.#offset++;
      else this.#readToken(code);
    }
    this.#closeOpenStrings();
    this.#push('EndOfFile', source.length, source.length);
    return { tokens: this.#tokens, diagnostics: this.#diagnostics };
  }

  #readToken(code: number): void {
    if (isIdentifierStart(code)) return this.#readWord(code);
    if (isDigit(code)) return this.#readNumber();
    switch (code) {
      case DOUBLE_QUOTE:
        return this.#readString(this.#source.startsWith('"""', this.#offset) ? '"""' : '"');
      case BACKTICK:
        if (this.#readTemplateLiteral()) return undefined;
        break;
      case SINGLE_QUOTE:
        return this.#readSingleQuote();
      case SLASH:
        if (this.#readComment()) return undefined;
        break;
      case LEFT_BRACE:
      case RIGHT_BRACE:
        if (this.#readBraceInString(code)) return undefined;
        break;
    }
    const source = this.#source;
    const mark = readPunctuation(source, this.#offset);
    if (mark === undefined) return this.#readUnknown();
    const start = this.#offset;
    this.#offset += mark.length;
    this.#push(mark, start, this.#offset);
    if ((mark === '==' || mark === '!=') && source.charCodeAt(this.#offset) === EQUALS) this.#passThirdSign(mark);
    return undefined;
  }

  #passThirdSign(mark: '==' | '!='): void {
    const end = ++this.#offset;
    this.#report('C0001', { start: end - 3, end }, `there is no \`${mark}=\``, `write \`${mark}\``);
  }

  #readWord(first: number): void {
    const source = this.#source;
    const start = this.#offset;
    let end = start + 1;
    while (isIdentifierPart(source.charCodeAt(end))) end++;
    if (first === LOWER_R && end === start + 1 && source.charCodeAt(end) === HASH && this.#readRawString()) return;
    this.#offset = end;
    if (source.charCodeAt(end) > LAST_ASCII && FOREIGN_PART.test(source.slice(end, end + 2))) {
      return this.#readForeignWord(start);
    }
    this.#push(KEYWORDS.get(source.slice(start, end)) ?? 'Identifier', start, end);
  }

  #readNumber(): void {
    const start = this.#offset;
    const last = this.#tokens.kinds.length - 1;
    const afterDot = this.#tokens.kinds[last] === '.' && this.#tokens.ends[last] === start;
    const number = readNumber(this.#source, start, afterDot);
    if (number.problem !== undefined) this.#report('C0005', { start, end: number.end }, number.problem);
    this.#tokens.numbers.set(last + 1, number.value);
    this.#offset = number.end;
    this.#push(number.kind, start, number.end);
  }

  #readComment(): boolean {
    const source = this.#source;
    const next = source.charCodeAt(this.#offset + 1);
    if (next === SLASH) {
      const end = endOfLine(source, this.#offset);
      const isDoc = source.charCodeAt(this.#offset + 2) === SLASH && source.charCodeAt(this.#offset + 3) !== SLASH;
      if (isDoc) this.#addDoc(source.slice(this.#offset + 3, end));
      this.#addComment(isDoc ? 'doc' : 'line', end);
      return true;
    }
    if (next !== STAR) return false;
    this.#addComment('block', this.#blockCommentEnd());
    return true;
  }

  #blockCommentEnd(): number {
    const end = blockCommentEnd(this.#source, this.#offset);
    if (end !== undefined) return end;
    this.#report('C0003', { start: this.#offset, end: this.#offset + 2 }, 'this comment is never closed', 'add `*/`');
    return this.#source.length;
  }

  #addComment(kind: 'line' | 'block' | 'doc', end: number): void {
    this.#tokens.comments.push({ kind, start: this.#offset, end, beforeToken: this.#tokens.kinds.length });
    this.#offset = end;
  }

  #addDoc(text: string): void {
    const { docs, kinds } = this.#tokens;
    // Blanks at the end of a line are nobody's meaning, and the formatter takes them away.
    const line = (text.startsWith(' ') ? text.slice(1) : text).trimEnd();
    docs.set(kinds.length, docs.has(kinds.length) ? `${docs.get(kinds.length)}\n${line}` : line);
  }

  #readTemplateLiteral(): boolean {
    const start = this.#offset;
    if (!this.#source.includes('`', start + 1)) return false;
    const help = 'write `"…${value}…"`; text of several lines stands between `"""`';
    this.#report('C0001', { start, end: start + 1 }, 'a text stands between double quotes', help);
    this.#readString('`');
    return true;
  }

  #readString(quote: Quote): void {
    const start = this.#offset;
    this.#continueString({ quote, start, braces: 0, opening: start, pieces: [] }, start + quote.length);
  }

  /** Reads text up to the closing quotes or the next `${`; `textStart` is where the text begins. */
  #continueString(string: OpenString, textStart: number): void {
    const tokenStart = this.#offset;
    const isFirst = string.pieces.length === 0;
    const { end, stop } = scanText(this.#source, string.quote, textStart);
    if (stop === 'unterminated' && isFirst && string.quote === '"' && this.#endsOuterString(tokenStart)) return;
    string.pieces.push({ token: this.#tokens.kinds.length, span: { start: textStart, end } });
    if (stop === 'interpolation') {
      this.#offset = end + 2;
      this.#push(isFirst ? 'InterpolationStart' : 'InterpolationMiddle', tokenStart, this.#offset);
      string.opening = end;
      string.braces = 0;
      if (isFirst) this.#open.push(string);
      return;
    }
    if (!isFirst) this.#open.pop();
    this.#offset = stop === 'closed' ? end + string.quote.length : end;
    if (stop === 'unterminated') {
      this.#reportUnterminated(string, end);
      this.#tokens.damaged.add(this.#tokens.kinds.length + 1);
    }
    this.#push(isFirst ? 'String' : 'InterpolationEnd', tokenStart, this.#offset);
    this.#resolveText(string);
  }

  /**
   * `"a ${x" …`: the quote that seems to open a string at the end of a line closes the outer one, whose `}` is
   * missing. Without this the rest of the file would be read as an interpolation.
   */
  #endsOuterString(quoteOffset: number): boolean {
    const outer = this.#open.at(-1);
    if (outer === undefined || outer.quote !== '"') return false;
    this.#reportOpenInterpolation(outer);
    this.#open.pop();
    this.#offset = quoteOffset + 1;
    outer.pieces.push({ token: this.#tokens.kinds.length, span: { start: quoteOffset, end: quoteOffset } });
    this.#push('InterpolationEnd', quoteOffset, this.#offset);
    this.#resolveText(outer);
    return true;
  }

  /** Sets the values of all tokens of a finished string. */
  #resolveText(string: OpenString): void {
    const { texts } = this.#tokens;
    const report = (span: Span, message: string) => this.#report('C0004', span, message, ESCAPE_HELP);
    if (string.quote !== '"""') {
      for (const piece of string.pieces) texts.set(piece.token, resolveEscapes(this.#source, piece.span, report));
      return;
    }
    const spans = string.pieces.map((piece) => piece.span);
    for (const span of spans) resolveEscapes(this.#source, span, report);
    const lines = dedent(this.#source, spans);
    for (const [index, piece] of string.pieces.entries()) {
      const text = lines[index] ?? '';
      texts.set(piece.token, resolveEscapes(text, { start: 0, end: text.length }, ignoreEscape));
    }
  }

  /** True when the brace belongs to an interpolation. */
  #readBraceInString(code: number): boolean {
    const string = this.#open.at(-1);
    if (string === undefined) return false;
    if (code === LEFT_BRACE) {
      string.braces++;
      return false;
    }
    if (string.braces > 0) {
      string.braces--;
      return false;
    }
    this.#continueString(string, this.#offset + 1);
    return true;
  }

  #readSingleQuote(): void {
    const source = this.#source;
    const start = this.#offset;
    const end = labelEnd(source, start, this.#tokens.kinds.at(-1));
    if (end !== undefined) {
      this.#tokens.texts.set(this.#tokens.kinds.length, source.slice(start + 1, end));
      this.#offset = end;
      return this.#push('Label', start, end);
    }
    let offset = start + 1;
    const lineEnd = endOfLine(source, start);
    while (offset < lineEnd && source.charCodeAt(offset) !== SINGLE_QUOTE) {
      offset += source.charCodeAt(offset) === BACKSLASH && offset + 1 < lineEnd ? 2 : 1;
    }
    const isClosed = offset < lineEnd;
    if (!isClosed) this.#report('C0003', { start, end: offset }, 'this string is never closed', "add a closing `'`");
    const report = (span: Span, message: string) => this.#report('C0004', span, message, ESCAPE_HELP);
    this.#tokens.texts.set(
      this.#tokens.kinds.length,
      resolveEscapes(source, { start: start + 1, end: offset }, report),
    );
    this.#offset = isClosed ? offset + 1 : offset;
    return this.#push('String', start, this.#offset);
  }

  /** False when no quote follows the hashes: then `r` is a name. */
  #readRawString(): boolean {
    const source = this.#source;
    const start = this.#offset;
    let quote = start + 1;
    while (source.charCodeAt(quote) === HASH) quote++;
    const hashes = source.slice(start + 1, quote);
    if (source.charCodeAt(quote) !== DOUBLE_QUOTE) {
      this.#report('C0003', { start, end: quote }, `expected \`"\` after \`r${hashes}\` to start a raw string`);
      this.#offset = quote;
      this.#push('Identifier', start, start + 1);
      return true;
    }
    const closing = `"${hashes}`;
    const found = source.indexOf(closing, quote + 1);
    const textEnd = found === -1 ? source.length : found;
    if (found === -1) {
      const help = `add \`${closing}\``;
      this.#report('C0003', { start, end: quote + 1 }, 'this raw string is never closed', help);
    }
    this.#tokens.texts.set(this.#tokens.kinds.length, normaliseLineBreaks(source.slice(quote + 1, textEnd)));
    this.#offset = found === -1 ? textEnd : textEnd + closing.length;
    this.#push('String', start, this.#offset);
    return true;
  }

  #readUnknown(): void {
    const start = this.#offset;
    const character = String.fromCodePoint(this.#source.codePointAt(start) ?? 0);
    this.#offset += character.length;
    if (character === '&' && endsOperand(this.#tokens.kinds.at(-1))) {
      this.#report('C0002', { start, end: this.#offset }, 'a single `&` has no meaning', 'write `&&` for "and"');
      return this.#push('&&', start, this.#offset);
    }
    if (/[\p{L}\p{N}]/u.test(character)) return this.#readForeignWord(start);
    this.#tokens.damaged.add(this.#tokens.kinds.length);
    if (character === '#' && isFirstOfLine(this.#source, start)) this.#offset = endOfLine(this.#source, start);
    const { code, message, help } = describeUnknown(character);
    return this.#report(code, { start, end: start + character.length }, message, help);
  }

  /** Taken as a name all the same, so that one wrong letter is one error. */
  #readForeignWord(start: number): void {
    const rest = /[\p{L}\p{N}\p{M}_]*/uy;
    rest.lastIndex = this.#offset;
    this.#offset += rest.exec(this.#source)?.[0].length ?? 0;
    const word = this.#source.slice(start, this.#offset);
    const help = 'names have the letters A to Z and a to z, digits and `_`';
    this.#report('C0001', { start, end: this.#offset }, `\`${word}\` cannot be a name`, help);
    this.#push('Identifier', start, this.#offset);
  }

  #closeOpenStrings(): void {
    const end = this.#source.length;
    for (let string = this.#open.pop(); string !== undefined; string = this.#open.pop()) {
      this.#reportOpenInterpolation(string);
      string.pieces.push({ token: this.#tokens.kinds.length, span: { start: end, end } });
      this.#push('InterpolationEnd', end, end);
      this.#resolveText(string);
    }
  }

  #reportOpenInterpolation(string: OpenString): void {
    const span = { start: string.opening, end: string.opening + 2 };
    this.#report('C0105', span, 'this `${` is never closed', 'add `}`');
  }

  #reportUnterminated(string: OpenString, end: number): void {
    const isLong = string.quote !== '"';
    const spanEnd = isLong ? string.start + string.quote.length : end;
    const line = this.#source.slice(this.#source.lastIndexOf('\n', string.start) + 1, string.start);
    const where = line.includes('"') ? ', here or where an earlier text of this line ends' : '';
    const help = isLong
      ? `add \`${string.quote}\``
      : `add a closing \`"\`${where}; text of several lines stands between \`"""\``;
    this.#report('C0003', { start: string.start, end: spanEnd }, 'this string is never closed', help);
  }

  #report(code: string, span: Span, message: string, help?: string): void {
    if (this.#diagnostics.length >= MAX_DIAGNOSTICS) return;
    const base = { code, severity: 'error', message, file: this.#file.path, span, labels: [] } as const;
    this.#diagnostics.push(help === undefined ? base : { ...base, help });
  }

  #push(kind: TokenKind, start: number, end: number): void {
    this.#tokens.kinds.push(kind);
    this.#tokens.starts.push(start);
    this.#tokens.ends.push(end);
  }
}

const LAST_ASCII = 127;
const FOREIGN_PART = /^[\p{L}\p{N}\p{M}]/u;

/** In one file. What is no program at all would otherwise fill the memory with complaints. */
export const MAX_DIAGNOSTICS = 1000;

const ESCAPE_HELP = 'the escapes are `\\n` `\\t` `\\r` `\\\\` `\\"` `\\0` `\\$` and `\\u{HEX}`';
function ignoreEscape(): void {}
