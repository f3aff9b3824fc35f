import type { TokenKind } from '../lexer/token.ts';
import type { Name, Path } from '../syntax/node.ts';
import type { Parser } from './parser.ts';

/** Keywords that begin no expression: they may also name variables and parameters. */
export const SOFT_KEYWORDS: ReadonlySet<TokenKind> = new Set([
  'model',
  'tool',
  'pipeline',
  'stage',
  'schema',
  'hashmap',
  'agent',
  'ledger',
  'memory',
  'mock',
  'with',
  'type',
  'mcp',
]);

export function isBindableName(kind: TokenKind): boolean {
  return kind === 'Identifier' || SOFT_KEYWORDS.has(kind);
}

/** A name that is declared or bound; a hard keyword is reported and taken. */
export function parseName(p: Parser, what: string): Name {
  if (!p.atName()) return missingName(p, what);
  if (!isBindableName(p.kind)) {
    p.syntaxError('C0100', p.tokenSpan, `expected ${what}, found the keyword \`${p.text}\``, {
      help: `\`${p.text}\` is reserved; choose another name`,
    });
  }
  return takeName(p);
}

/** A field, label or segment, for which every keyword will do. */
export function parseAnyName(p: Parser, what: string, code = 'C0100'): Name {
  return p.atName() ? takeName(p) : missingName(p, what, code);
}

export function takeName(p: Parser): Name {
  const name: Name = { kind: 'Name', id: p.newId(), span: p.tokenSpan, text: p.text };
  p.bump();
  return name;
}

/** At a label; its name has no quote. */
export function takeLabel(p: Parser): Name {
  const text = p.tokens.texts.get(p.position) ?? '';
  const label: Name = { kind: 'Name', id: p.newId(), span: p.tokenSpan, text };
  p.bump();
  return label;
}

export function missingName(p: Parser, what: string, code = 'C0100'): Name {
  p.unexpected(`expected ${what}`, false, { code });
  const start = p.previousEnd;
  return { kind: 'Name', id: p.newId(), span: { start, end: start }, text: '' };
}

/** `first` is already read. */
export function parsePathRest(p: Parser, first: Name): Path {
  const segments = [first];
  while (p.at('::') && p.nameAt(1)) {
    p.bump();
    segments.push(takeName(p));
  }
  return { kind: 'Path', id: p.newId(), span: p.spanFrom(first.span.start), segments };
}

/**
 * Elements up to the closing mark, with commas between them and maybe one at the end. Goes on after a bad
 * element, and always comes to an end.
 */
export function parseList<T>(p: Parser, close: TokenKind, parseElement: (parser: Parser) => T): T[] {
  const elements: T[] = [];
  while (!p.at(close) && !p.at('EndOfFile')) {
    const before = p.position;
    elements.push(parseElement(p));
    if (p.eat(',')) continue;
    if (p.at(close)) break;
    p.unexpected(`expected \`,\` or \`${close}\``, true);
    // `fn f( {`: the brace opens the body, not an element.
    if (p.position === before && p.at('{')) return elements;
    p.skipBalanced((kind) => kind === ',' || kind === close || kind === ';');
    if (!p.eat(',')) break;
    if (p.position === before) break;
  }
  if (!p.eat(close)) p.unexpected(`expected \`${close}\``, true);
  return elements;
}
