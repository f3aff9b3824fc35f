import { assert } from '@concerto/base';
import type { Comment, TokenKind, TokenList } from '../lexer/token.ts';
import { blankline, type Doc, freshline, gap, hardline, suffix } from './doc.ts';

/** Behind these a comment at the end of the line belongs to what was just written. */
const ENDS_A_LINE: ReadonlySet<TokenKind> = new Set([';', '}', '{', ',']);
/** Before these a comment stands with a space in front instead of behind. */
const CLOSES: ReadonlySet<TokenKind> = new Set([')', ']', '}', ',', ';', '>']);

/**
 * Hands out the tokens of a file in order, each with the comments around it, so that no comment can be lost
 * whatever is printed.
 */
export class TokenCursor {
  readonly #tokens: TokenList;
  readonly #source: string;
  #position = 0;
  #comment = 0;
  /** End of the last token or comment that was handed out. */
  #end = 0;

  constructor(source: string, tokens: TokenList) {
    this.#source = source;
    this.#tokens = tokens;
  }

  get kind(): TokenKind {
    return this.#tokens.kinds[this.#position] ?? 'EndOfFile';
  }

  peek(distance: number): TokenKind {
    return this.#tokens.kinds[this.#position + distance] ?? 'EndOfFile';
  }

  get start(): number {
    return this.#tokens.starts[this.#position] ?? this.#source.length;
  }

  get previousEnd(): number {
    return this.#tokens.ends[this.#position - 1] ?? 0;
  }

  at(kind: TokenKind): boolean {
    return this.kind === kind;
  }

  /** The next token, whatever it is. */
  next(): Doc {
    const { kind } = this;
    assert(kind !== 'EndOfFile', 'the tree has no more tokens than the text');
    const start = this.#tokens.starts[this.#position] ?? 0;
    const end = this.#tokens.ends[this.#position] ?? 0;
    return this.#advance(this.#source.slice(start, end), end, this.#position + 1);
  }

  token(kind: TokenKind): Doc {
    assert(this.kind === kind, `expected ${kind} at ${this.start}, found ${this.kind}`);
    return this.next();
  }

  /** The token if it is there, else nothing. */
  optional(kind: TokenKind): Doc {
    return this.at(kind) ? this.next() : '';
  }

  /** Passes over a token that will be printed differently or not at all; its comments stay. */
  drop(kind: TokenKind): Doc {
    if (!this.at(kind)) return '';
    const end = this.#tokens.ends[this.#position] ?? 0;
    return this.#advance('', end, this.#position + 1);
  }

  /** Everything up to an offset exactly as it is written, comments included. */
  verbatim(end: number): Doc {
    const { start } = this;
    let next = this.#position;
    while ((this.#tokens.kinds[next] ?? 'EndOfFile') !== 'EndOfFile' && (this.#tokens.starts[next] ?? end) < end)
      next++;
    const leading = this.#leading(this.kind);
    while ((this.#tokens.comments[this.#comment]?.start ?? end) < end) this.#comment++;
    this.#position = next;
    this.#end = end;
    return [leading, this.#source.slice(start, end), this.#trailing(undefined)];
  }

  /** The user left an empty line before the next token or its comments. */
  blankBefore(): boolean {
    const comment = this.#pending();
    const start = comment?.start ?? this.start;
    return hasBlankLine(this.#source.slice(this.#end, start));
  }

  hasCommentBefore(): boolean {
    return this.#pending() !== undefined;
  }

  /** Whether there is a line break between the last token and the next. */
  newlineBefore(): boolean {
    return this.#source.slice(this.previousEnd, this.start).includes('\n');
  }

  isOneLine(start: number, end: number): boolean {
    return !this.#source.slice(start, end).includes('\n');
  }

  /** A block comment between two brackets on one line, with nothing else. */
  hasInlineComment(): boolean {
    const comment = this.#pending();
    return comment?.kind === 'block' && !this.#source.slice(this.#end, this.start).includes('\n');
  }

  /** Comments before the current token, each on its own line, for the inside of a closing brace. */
  dangling(): Doc {
    const docs: Doc[] = [];
    for (let comment = this.#pending(); comment !== undefined; comment = this.#pending()) {
      const isFirst = docs.length === 0;
      const before = this.#source.slice(this.#end, comment.start);
      docs.push(isFirst || !hasBlankLine(before) ? freshline : blankline, this.#take(comment));
    }
    return docs;
  }

  #advance(text: string, end: number, next: number): Doc {
    const { kind } = this;
    const leading = this.#leading(kind);
    this.#position = next;
    this.#end = end;
    const trailing = this.#trailing(kind);
    return leading === '' && trailing === '' ? text : [leading, text, trailing];
  }

  #pending(): Comment | undefined {
    const comment = this.#tokens.comments[this.#comment];
    return comment !== undefined && comment.beforeToken <= this.#position ? comment : undefined;
  }

  #take(comment: Comment): string {
    this.#comment++;
    this.#end = comment.end;
    return this.#source.slice(comment.start, comment.end).trimEnd();
  }

  #leading(kind: TokenKind): Doc {
    const docs: Doc[] = [];
    for (let comment = this.#pending(); comment !== undefined; comment = this.#pending()) {
      const before = this.#source.slice(this.#end, comment.start);
      const ownLine = before.includes('\n') || this.#end === 0;
      if (docs.length > 0 && hasBlankLine(before)) docs.push(blankline);
      if (ownLine) docs.push(freshline);
      const text = this.#take(comment);
      const following = this.#pending()?.start ?? this.start;
      const after = this.#source.slice(comment.end, following);
      if (comment.kind !== 'block' || after.includes('\n')) {
        docs.push(gap, text, hasBlankLine(after) ? [hardline, blankline] : hardline);
      } else docs.push(gap, text, CLOSES.has(kind) ? '' : ' ');
    }
    return docs.length === 0 ? '' : docs;
  }

  /** Comments on the line of the token that was just handed out. */
  #trailing(kind: TokenKind | undefined): Doc {
    const docs: Doc[] = [];
    for (let comment = this.#pending(); comment !== undefined; comment = this.#pending()) {
      if (comment.kind === 'doc' || this.#source.slice(this.#end, comment.start).includes('\n')) break;
      if (comment.kind === 'block' && !this.#isSuffixBlock(comment, kind)) break;
      docs.push(suffix(` ${this.#take(comment)}`));
    }
    return docs.length === 0 ? '' : docs;
  }

  /** Alone at the end of its line, behind something that ends a line; one of several lines cannot stand there. */
  #isSuffixBlock(comment: Comment, kind: TokenKind | undefined): boolean {
    if (kind === undefined || !ENDS_A_LINE.has(kind)) return false;
    const isLast = this.#tokens.comments[this.#comment + 1]?.beforeToken !== comment.beforeToken;
    const after = this.#source.slice(comment.end, this.start);
    const text = this.#source.slice(comment.start, comment.end);
    return isLast && after.includes('\n') && !text.includes('\n');
  }
}

function hasBlankLine(text: string): boolean {
  return /\n[ \t\r]*\n/.test(text);
}
