import type { Span } from '../source/span.ts';
import type { SourceTree } from '../syntax/tree.ts';
import { childrenOf, type SyntaxNode } from './syntax-node.ts';

/** Parts of a program that can be shown as their first line; an editor leaves out those of one line. */
export function foldsOf(tree: SourceTree): Span[] {
  const folds: Span[] = [];
  const visit = (node: SyntaxNode): void => {
    if (isFold(node)) folds.push(node.span);
    for (const child of childrenOf(node)) visit(child);
  };
  for (const item of tree.items) visit(item);
  return folds;
}

const FOLDED = new Set([
  'Block',
  'MatchExpression',
  'ListenExpression',
  'ArrayExpression',
  'MapExpression',
  'StructExpression',
  'CallExpression',
  'MethodCallExpression',
  'UseItem',
]);

function isFold({ kind }: SyntaxNode): boolean {
  return FOLDED.has(kind) || (kind.endsWith('Item') && kind !== 'StatementItem' && kind !== 'FunctionItem');
}
