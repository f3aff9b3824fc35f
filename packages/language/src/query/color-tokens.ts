import { lex } from '../lexer/lex.ts';
import { isKeyword, type TokenKind } from '../lexer/token.ts';
import type { SourceFile } from '../source/source-file.ts';
import type { Span } from '../source/span.ts';
import type { Reference, SymbolKind } from './code-symbol.ts';

export type TokenColor = 'comment' | 'keyword' | 'string' | 'number' | 'operator' | 'label' | SymbolKind;

export interface ColoredToken {
  readonly span: Span;
  readonly color: TokenColor;
  readonly isDeclaration: boolean;
  readonly isBuiltin: boolean;
}

/** Every token that has a colour, in the order of the text and without overlaps: names by what they mean. */
export function colorTokens(source: SourceFile, references: readonly Reference[]): ColoredToken[] {
  const { tokens } = lex(source);
  const named = new Map<number, Reference>();
  for (const reference of references) {
    if (reference.shorthand !== 'field') named.set(reference.span.start, reference);
  }
  const colored: ColoredToken[] = [];
  tokens.kinds.forEach((kind, at) => {
    const span = { start: tokens.starts[at] ?? 0, end: tokens.ends[at] ?? 0 };
    const reference = named.get(span.start);
    if (reference !== undefined && reference.span.end === span.end && reference.symbol.kind !== 'self') {
      const { symbol, isDeclaration } = reference;
      colored.push({ span, color: symbol.kind, isDeclaration, isBuiltin: symbol.declaration === undefined });
      return;
    }
    const color = colorOf(kind);
    if (color !== undefined) colored.push({ span, color, isDeclaration: false, isBuiltin: false });
  });
  for (const { start, end } of tokens.comments) {
    colored.push({ span: { start, end }, color: 'comment', isDeclaration: false, isBuiltin: false });
  }
  return colored.filter(({ span }) => span.end > span.start).sort((a, b) => a.span.start - b.span.start);
}

const BRACKETS = new Set<TokenKind>(['(', ')', '[', ']', '{', '}', ',', ';', ':', '.', '::']);

function colorOf(kind: TokenKind): TokenColor | undefined {
  switch (kind) {
    case 'EndOfFile':
    case 'Identifier':
      return undefined;
    case 'Int':
    case 'Float':
      return 'number';
    case 'String':
    case 'InterpolationStart':
    case 'InterpolationMiddle':
    case 'InterpolationEnd':
      return 'string';
    case 'Label':
      return 'label';
    default:
      if (isKeyword(kind)) return 'keyword';
      return BRACKETS.has(kind) ? undefined : 'operator';
  }
}
