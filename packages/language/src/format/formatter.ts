import type { TokenKind } from '../lexer/token.ts';
import type { Span } from '../source/span.ts';
import type { Block, Expression } from '../syntax/expression.ts';
import type { Item } from '../syntax/item.ts';
import { blankline, type Doc, freshline, group, hardline, ifBroken, indent, line, softline } from './doc.ts';
import { runSpacing } from './run-spacing.ts';
import type { TokenCursor } from './token-cursor.ts';

/** The parts of a program that contain each other, so that their files need not import each other. */
interface Layouts {
  readonly expression: (f: Formatter, expression: Expression) => Doc;
  readonly block: (f: Formatter, block: Block) => Doc;
  readonly item: (f: Formatter, item: Item) => Doc;
}

export interface Member {
  readonly layout: () => Doc;
  /** A comma follows it; methods have none. */
  readonly comma: boolean;
}

/** Walks the tree and takes the tokens in the order of the text. */
export class Formatter {
  readonly cursor: TokenCursor;
  readonly #layouts: Layouts;

  constructor(cursor: TokenCursor, layouts: Layouts) {
    this.cursor = cursor;
    this.#layouts = layouts;
  }

  expression(expression: Expression): Doc {
    return this.#layouts.expression(this, expression);
  }

  block(block: Block): Doc {
    return this.#layouts.block(this, block);
  }

  item(item: Item): Doc {
    return this.#layouts.item(this, item);
  }

  /** A type or a pattern: on one line, token after token. */
  run(span: Span): Doc {
    const docs: Doc[] = [];
    let previous: TokenKind | undefined;
    while (this.cursor.start < span.end && !this.cursor.at('EndOfFile')) {
      const { kind } = this.cursor;
      if (isTrailingComma(this.cursor)) {
        docs.push(this.cursor.drop(','));
        continue;
      }
      if (previous !== undefined && runSpacing(previous, kind)) docs.push(' ');
      docs.push(this.cursor.next());
      previous = kind;
    }
    return docs;
  }

  /** `( a, b )`: on one line if it fits, else each on its own with a comma after the last. */
  list(open: TokenKind, close: TokenKind, layouts: readonly (() => Doc)[]): Doc {
    const opening = this.cursor.token(open);
    if (layouts.length === 0 && this.cursor.hasInlineComment()) return [opening, this.cursor.token(close)];
    const parts: Doc[] = [];
    for (const [index, layout] of layouts.entries()) {
      const isLast = index === layouts.length - 1;
      const content = layout();
      parts.push(index === 0 ? softline : line, content, this.cursor.drop(','), isLast ? ifBroken(',') : ',');
    }
    const dangling = this.cursor.dangling();
    const closing = this.cursor.token(close);
    if (layouts.length === 0) return [opening, indent(dangling), isEmptyDoc(dangling) ? '' : freshline, closing];
    return group([opening, indent([parts, dangling]), softline, closing]);
  }

  /** One thing between brackets, never with a comma. */
  enclosed(open: TokenKind, close: TokenKind, layout: () => Doc): Doc {
    const opening = this.cursor.token(open);
    const content = [layout(), this.cursor.drop(',')];
    const dangling = this.cursor.dangling();
    return group([opening, indent([softline, content, dangling]), softline, this.cursor.token(close)]);
  }

  /** As `list`, but the last element may open its own lines: `f(a, |x| {` … `})`. */
  huggingList(open: TokenKind, close: TokenKind, layouts: readonly (() => Doc)[]): Doc {
    const opening = this.cursor.token(open);
    const parts: Doc[] = [];
    for (const [index, layout] of layouts.entries()) {
      parts.push(layout(), this.cursor.drop(','), index === layouts.length - 1 ? '' : ', ');
    }
    return [opening, parts, this.cursor.token(close)];
  }

  /**
   * `{ … }` with members that the user may have put on one line, which then stay there if they fit.
   * `padding` is the space inside the braces of that line.
   */
  braces(members: readonly Member[], options: { padding: '' | ' '; forceBreak: boolean }): Doc {
    const opening = this.cursor.token('{');
    const wasBroken = members.length > 0 && this.cursor.newlineBefore();
    const parts: Doc[] = [];
    const separator: Doc = options.padding === '' ? softline : line;
    for (const [index, member] of members.entries()) {
      this.skipStray(parts);
      if (index > 0) parts.push(this.cursor.blankBefore() ? [hardline, blankline] : line);
      const isLast = index === members.length - 1;
      const content = member.layout();
      const lastComma = isLast ? ifBroken(',') : ',';
      parts.push(content, this.cursor.drop(','), member.comma ? lastComma : '');
    }
    this.skipStray(parts);
    const dangling = this.cursor.dangling();
    const closing = this.cursor.token('}');
    if (members.length === 0) {
      return isEmptyDoc(dangling) ? [opening, closing] : [opening, indent(dangling), freshline, closing];
    }
    const isBroken = wasBroken || options.forceBreak;
    const edge = isBroken ? hardline : separator;
    return group([opening, indent([edge, parts, dangling]), isBroken ? freshline : separator, closing]);
  }

  /** Statements or items, each on its own line, with the empty lines the user left (at most one). */
  lines(layouts: readonly (() => Doc)[]): Doc {
    const docs: Doc[] = [];
    for (const [index, layout] of layouts.entries()) {
      this.skipStray(docs);
      if (index > 0) docs.push(this.cursor.blankBefore() ? [hardline, blankline] : hardline);
      docs.push(layout());
    }
    this.skipStray(docs);
    return docs;
  }

  /** Semicolons that end nothing. One behind a comment stays, or a doc comment would describe what follows. */
  skipStray(docs: Doc[]): void {
    while (this.cursor.at(';')) {
      const stays = this.cursor.hasCommentBefore();
      docs.push(stays ? [freshline, this.cursor.next()] : this.cursor.drop(';'));
    }
  }
}

function isEmptyDoc(doc: Doc): boolean {
  return Array.isArray(doc) && doc.length === 0;
}

/** `(a, b,)`: on one line the last comma says nothing. */
function isTrailingComma(cursor: TokenCursor): boolean {
  const next = cursor.peek(1);
  return cursor.at(',') && (next === ')' || next === ']' || next === '}' || next === '>');
}
