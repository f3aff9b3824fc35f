import { assert, err, ok, type Result } from '@concerto/base';
import type { Diagnostic } from '../diagnostics/diagnostic.ts';
import { parseTokens } from '../parser/parse-source.ts';
import { createSourceFile } from '../source/source-file.ts';
import type { SourceTree } from '../syntax/tree.ts';
import { blankline, type Doc, hardline, hasForcedBreak } from './doc.ts';
import { formatExpression } from './format-expression.ts';
import { formatItem } from './format-item.ts';
import { formatBlock } from './format-statement.ts';
import { Formatter } from './formatter.ts';
import { printDoc } from './print-doc.ts';
import { sameTree } from './same-tree.ts';
import { TokenCursor } from './token-cursor.ts';

const WIDTH = 100;
/** A comment that moves to the end of its line may change the layout once more; then it is settled. */
const MAX_PASSES = 5;

const LAYOUTS = { expression: formatExpression, block: formatBlock, item: formatItem };

/**
 * The text in the one style. Refuses text with syntax errors. The result means the same, keeps every comment, and
 * is its own format.
 */
export function formatSource(text: string, path = 'main.conc'): Result<string, readonly Diagnostic[]> {
  const first = parse(text, path);
  const errors = first.diagnostics.filter((diagnostic) => diagnostic.severity === 'error');
  if (errors.length > 0) return err(errors);
  let current = text;
  for (let pass = 0; pass < MAX_PASSES; pass++) {
    const next = layOut(current, path);
    if (next === current) break;
    current = next;
  }
  assert(sameTree(first.tree, parse(current, path).tree), 'formatting changes no meaning');
  return ok(current);
}

function parse(text: string, path: string): { tree: SourceTree; diagnostics: readonly Diagnostic[] } {
  return parseTokens(createSourceFile(path, text));
}

function layOut(text: string, path: string): string {
  const { tree, tokens } = parseTokens(createSourceFile(path, text));
  const cursor = new TokenCursor(text, tokens);
  const f = new Formatter(cursor, LAYOUTS);
  const docs: Doc[] = [];
  let previousBroke = false;
  for (const [index, item] of tree.items.entries()) {
    f.skipStray(docs);
    const wantsBlank = cursor.blankBefore();
    const doc = f.item(item);
    const breaks = hasForcedBreak(doc) && item.kind !== 'StatementItem';
    if (index > 0) docs.push(wantsBlank || breaks || previousBroke ? [hardline, blankline] : hardline);
    docs.push(doc);
    previousBroke = breaks;
  }
  f.skipStray(docs);
  if (cursor.hasCommentBefore() && tree.items.length > 0)
    docs.push(cursor.blankBefore() ? [hardline, blankline] : hardline);
  docs.push(cursor.dangling());
  return printDoc(docs, WIDTH);
}
