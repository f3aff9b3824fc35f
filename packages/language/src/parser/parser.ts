import type { Diagnostic, DiagnosticFix, DiagnosticLabel } from '../diagnostics/diagnostic.ts';
import { type LexResult, MAX_DIAGNOSTICS } from '../lexer/lex.ts';
import {
  describeToken,
  isKeyword,
  type Punctuation,
  splitToken,
  type TokenKind,
  type TokenList,
} from '../lexer/token.ts';
import type { SourceFile } from '../source/source-file.ts';
import type { Span } from '../source/span.ts';
import type { Block, Expression } from '../syntax/expression.ts';
import type { Item } from '../syntax/item.ts';
import type { IdSource, NodeId } from '../syntax/node.ts';

/** The productions that contain each other, so that their files need not import each other. */
interface Grammar {
  readonly expression: (parser: Parser) => Expression;
  readonly block: (parser: Parser) => Block;
  readonly item: (parser: Parser) => Item;
}

interface ReportExtras {
  readonly help?: string;
  readonly labels?: readonly DiagnosticLabel[];
  readonly fix?: DiagnosticFix;
  readonly severity?: 'warning';
}

/** Deep enough for any program people write, far from the end of the stack. */
const MAX_NESTING = 200;

const MISSING_SEMICOLON = 'C0104';

/** Marks after which a missing token is reported: behind what was written rather than before what follows. */
const REPORTED_BEHIND: ReadonlySet<TokenKind> = new Set([';', ',', ')', ']', '}', '>', '|']);

/** A place in the tokens of one file, and what was found wrong so far. */
export class Parser {
  readonly file: SourceFile;
  readonly tokens: TokenList;
  readonly diagnostics: Diagnostic[];
  /** Offsets where it was not clear what was meant, so that something of the program is missing in the tree. */
  readonly guesses: number[] = [];
  /** More `{` than `}`: an item at the start of a line then ends the open blocks. */
  readonly hasOpenBraces: boolean;
  /** More `}` than `{`: one that is missing is then taken for written. */
  readonly lacksOpenBraces: boolean;
  /** Inside the head of `if`, `while`, `match`, `for` or `listen`, where `Name {` is no struct literal. */
  inHead = false;
  /** Inside the value of a match arm, where a new line may begin the next pattern. */
  inArm = false;
  position = 0;
  /** Where each bracket is closed, for a list of `#closingsOf` tokens. */
  #closings: ReadonlyMap<number, number> = new Map();
  #closingsOf = -1;
  /** Operators, calls, `else if` and other links of chains read so far: each makes the tree one level higher. */
  links = 0;
  /** Most links in one statement, and deepest nesting, since they were last set to 0. */
  longestChain = 0;
  deepestNesting = 0;
  readonly #ids: IdSource;
  readonly #grammar: Grammar;
  #nesting = 0;
  #lastErrorPosition = -1;
  #gaveUp = false;

  constructor(file: SourceFile, lexed: LexResult, ids: IdSource, grammar: Grammar) {
    this.file = file;
    this.tokens = lexed.tokens;
    this.diagnostics = lexed.diagnostics;
    this.#ids = ids;
    this.#grammar = grammar;
    let balance = 0;
    for (const kind of lexed.tokens.kinds) {
      if (kind === '{') balance++;
      else if (kind === '}') balance--;
    }
    this.hasOpenBraces = balance > 0;
    this.lacksOpenBraces = balance < 0;
  }

  get kind(): TokenKind {
    return this.tokens.kinds[this.position] ?? 'EndOfFile';
  }

  peek(distance: number): TokenKind {
    return this.tokens.kinds[this.position + distance] ?? 'EndOfFile';
  }

  /** Offset where the current token starts. */
  get start(): number {
    return this.tokens.starts[this.position] ?? this.file.text.length;
  }

  get previousEnd(): number {
    return this.position === 0 ? 0 : (this.tokens.ends[this.position - 1] ?? 0);
  }

  get tokenSpan(): Span {
    return { start: this.start, end: this.tokens.ends[this.position] ?? this.file.text.length };
  }

  get text(): string {
    return this.textAt(this.position);
  }

  textAt(index: number): string {
    return this.file.text.slice(this.tokens.starts[index] ?? 0, this.tokens.ends[index] ?? 0);
  }

  /** From an offset to the end of the token before the current one. */
  spanFrom(start: number): Span {
    return { start, end: Math.max(start, this.previousEnd) };
  }

  newId(): NodeId {
    return this.#ids.nextId++;
  }

  /** Takes the current token for another, as which it was meant. */
  retag(kind: TokenKind): void {
    this.tokens.kinds[this.position] = kind;
  }

  at(kind: TokenKind): boolean {
    return this.kind === kind;
  }

  /** At an identifier with this text: a word that is a keyword only here. */
  atWord(word: string): boolean {
    return this.kind === 'Identifier' && this.text === word;
  }

  bump(): void {
    if (this.position < this.tokens.kinds.length - 1) this.position++;
  }

  eat(kind: TokenKind): boolean {
    if (this.kind !== kind) return false;
    this.bump();
    return true;
  }

  /** Replaces the current token by its two halves. */
  splitToken(first: Punctuation, second: Punctuation): void {
    splitToken(this.tokens, this.position, first, second);
  }

  /** Reports and stays where it is when something else is there. */
  expect(kind: TokenKind, after?: string): boolean {
    if (this.eat(kind)) return true;
    const place = after === undefined ? '' : ` ${after}`;
    this.unexpected(`expected \`${kind}\`${place}`, REPORTED_BEHIND.has(kind));
    return false;
  }

  /** `expected` is the beginning of the message; what was found is added. */
  unexpected(expected: string, behind = false, extras: ReportExtras & { readonly code?: string } = {}): void {
    const { code = 'C0100', ...rest } = extras;
    const found = describeToken(this.kind, this.text);
    const end = this.previousEnd;
    const span = behind && this.position > 0 ? { start: Math.max(end - 1, 0), end } : this.tokenSpan;
    this.syntaxError(code, span, `${expected}, found ${found}`, rest);
  }

  /** One error for each place: what follows from the first is not worth reading. */
  syntaxError(code: string, span: Span, message: string, extras: ReportExtras = {}): void {
    if (this.position === this.#lastErrorPosition) return;
    this.#lastErrorPosition = this.position;
    if (this.tokens.damaged.has(this.position)) return;
    // With what a fix would write the tree is whole, and with a `;` where nothing had to be passed over.
    if (extras.fix === undefined && code !== MISSING_SEMICOLON) this.guesses.push(span.start);
    this.report(code, span, message, extras);
  }

  report(code: string, span: Span, message: string, extras: ReportExtras = {}): void {
    if (this.#gaveUp || this.diagnostics.length >= MAX_DIAGNOSTICS) return;
    const { severity = 'error', labels = [], ...rest } = extras;
    this.diagnostics.push({ code, severity, message, file: this.file.path, span, labels, ...rest });
  }

  expression(): Expression {
    if (!this.#enter()) return errorExpression(this);
    const { links } = this;
    const result = this.#grammar.expression(this);
    this.countLinks(links);
    this.#nesting--;
    return result;
  }

  /** An expression between brackets, or otherwise free of what surrounds it. */
  freeExpression(): Expression {
    return this.#expressionIn(false);
  }

  headExpression(): Expression {
    return this.#expressionIn(true);
  }

  #expressionIn(head: boolean): Expression {
    const { inHead, inArm } = this;
    this.inHead = head;
    this.inArm = false;
    const result = this.expression();
    this.inHead = inHead;
    this.inArm = inArm;
    return result;
  }

  block(): Block {
    if (!this.#enter()) return emptyBlock(this);
    const { inHead, inArm } = this;
    this.inHead = false;
    this.inArm = false;
    const result = this.#grammar.block(this);
    this.inHead = inHead;
    this.inArm = inArm;
    this.#nesting--;
    return result;
  }

  item(): Item {
    return this.#grammar.item(this);
  }

  within<T>(context: { inHead: boolean; inArm: boolean }, parse: () => T): T {
    const { inHead, inArm } = this;
    this.inHead = context.inHead;
    this.inArm = context.inArm;
    const result = parse();
    this.inHead = inHead;
    this.inArm = inArm;
    return result;
  }

  nested<T>(parse: (parser: Parser) => T, substitute: (parser: Parser) => T): T {
    if (!this.#enter()) return substitute(this);
    const result = parse(this);
    this.#nesting--;
    return result;
  }

  /** Gives up on the rest of the file when the nesting is too deep: a diagnostic instead of a stack overflow. */
  #enter(): boolean {
    if (this.#nesting >= MAX_NESTING) {
      this.report('C0107', this.tokenSpan, `this is nested more than ${MAX_NESTING} levels deep`);
      this.#gaveUp = true;
      this.guesses.push(this.start);
      this.position = this.tokens.kinds.length - 1;
      return false;
    }
    this.#nesting++;
    if (this.#nesting > this.deepestNesting) this.deepestNesting = this.#nesting;
    return true;
  }

  /** To be called at the end of an expression or statement with the value of `links` at its start. */
  countLinks(before: number): void {
    if (this.links - before > this.longestChain) this.longestChain = this.links - before;
  }

  newlineBefore(index = this.position): boolean {
    if (index === 0) return true;
    return this.file.text.slice(this.tokens.ends[index - 1] ?? 0, this.tokens.starts[index] ?? 0).includes('\n');
  }

  /** At the first column: in a file with unclosed braces the sign of a new item. */
  atLineStart(): boolean {
    const { start } = this;
    return start === 0 || this.file.text[start - 1] === '\n';
  }

  atName(): boolean {
    return this.kind === 'Identifier' || isKeyword(this.kind);
  }

  nameAt(distance: number): boolean {
    const kind = this.peek(distance);
    return kind === 'Identifier' || isKeyword(kind);
  }

  /** Passes over brackets that belong together; stops at `}` that closes what is around. */
  skipBalanced(stop: (kind: TokenKind) => boolean): void {
    let depth = 0;
    while (this.kind !== 'EndOfFile') {
      if (depth === 0 && stop(this.kind)) return;
      if (OPENING.has(this.kind)) depth++;
      else if (CLOSING.has(this.kind)) {
        if (depth === 0 && this.kind === '}') return;
        depth = Math.max(0, depth - 1);
      }
      this.bump();
    }
  }

  /** Index behind the bracket that closes the one at `index`, or undefined. */
  closingAfter(index: number): number | undefined {
    const { kinds } = this.tokens;
    // A token was made of two, or this is the first question.
    if (this.#closingsOf !== kinds.length) {
      this.#closings = matchBrackets(kinds);
      this.#closingsOf = kinds.length;
    }
    return this.#closings.get(index);
  }
}

/** All at once: to look for each one's end would take the square of the time in a text with many open ones. */
function matchBrackets(kinds: readonly TokenKind[]): Map<number, number> {
  const closings = new Map<number, number>();
  const open: number[] = [];
  for (const [at, kind] of kinds.entries()) {
    if (OPENING.has(kind)) open.push(at);
    else if (CLOSING.has(kind)) {
      const opening = open.pop();
      if (opening !== undefined) closings.set(opening, at + 1);
    }
  }
  return closings;
}

const OPENING: ReadonlySet<TokenKind> = new Set(['(', '[', '{', 'InterpolationStart']);
const CLOSING: ReadonlySet<TokenKind> = new Set([')', ']', '}', 'InterpolationEnd']);

export function errorExpression(parser: Parser): Expression {
  const { start } = parser;
  return { kind: 'ErrorExpression', id: parser.newId(), span: { start, end: start } };
}

export function emptyBlock(parser: Parser): Block {
  const { start } = parser;
  return { kind: 'Block', id: parser.newId(), span: { start, end: start }, statements: [], tail: undefined };
}
