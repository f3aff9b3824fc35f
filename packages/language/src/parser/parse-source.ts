import type { Diagnostic } from '../diagnostics/diagnostic.ts';
import { lex } from '../lexer/lex.ts';
import type { TokenList } from '../lexer/token.ts';
import type { SourceFile } from '../source/source-file.ts';
import { createIdSource, type IdSource } from '../syntax/node.ts';
import type { SourceTree } from '../syntax/tree.ts';
import { parseExpression } from './parse-expression.ts';
import { parseItem, parseItems } from './parse-item.ts';
import { parseBlock } from './parse-statement.ts';
import { Parser } from './parser.ts';

export interface ParseResult {
  readonly tree: SourceTree;
  /** In the order of the source. */
  readonly diagnostics: readonly Diagnostic[];
  /** Offsets where it was not clear what was meant, so that something of the program is missing in the tree. */
  readonly guesses: readonly number[];
}

const GRAMMAR = { expression: parseExpression, block: parseBlock, item: parseItem };

/** Any text gives a tree: what could not be read is an error node with a diagnostic. */
export function parseSource(file: SourceFile, ids: IdSource = createIdSource()): ParseResult {
  const { tree, diagnostics, guesses } = parseTokens(file, ids);
  return { tree, diagnostics, guesses };
}

/** As `parseSource`, with the tokens, which know the comments. */
export function parseTokens(
  file: SourceFile,
  ids: IdSource = createIdSource(),
): ParseResult & { readonly tokens: TokenList } {
  const parser = new Parser(file, lex(file), ids, GRAMMAR);
  const items = parseItems(parser, 'EndOfFile');
  const span = { start: 0, end: file.text.length };
  const tree: SourceTree = { kind: 'SourceTree', id: parser.newId(), span, file: file.path, items };
  const diagnostics = parser.diagnostics.toSorted((a, b) => a.span.start - b.span.start);
  return { tree, diagnostics, guesses: parser.guesses, tokens: parser.tokens };
}
