import { prune, showType } from '../check/types.ts';
import type { Span } from '../source/span.ts';
import type { ProgramIndex } from './index-program.ts';
import { childrenOf, type SyntaxNode } from './syntax-node.ts';

export interface InlayType {
  /** Behind the name. */
  readonly offset: number;
  readonly text: string;
}

/** Longer types say less than they hide. */
const LONGEST = 40;

/** The types of variables and parameters of closures that the author has not written. */
export function inlayTypes(index: ProgramIndex, file: string, range: Span): InlayType[] {
  const tree = index.program.files.get(file)?.tree;
  const found: InlayType[] = [];
  const visit = (node: SyntaxNode): void => {
    if (node.span.end < range.start || node.span.start > range.end) return;
    if (node.kind === 'LetStatement' && node.type === undefined) add(node.pattern);
    if (node.kind === 'ClosureExpression') {
      for (const parameter of node.parameters) if (parameter.type === undefined) add(parameter);
    }
    if (node.kind === 'ForExpression') add(node.pattern);
    for (const child of childrenOf(node)) visit(child);
  };
  const add = (node: SyntaxNode): void => {
    if (node.kind !== 'BindingPattern' && node.kind !== 'Parameter') {
      if (node.kind === 'TuplePattern') for (const child of childrenOf(node)) add(child);
      return;
    }
    const type = prune(index.checked.facts.locals.get(node.id)?.type ?? { kind: 'any' });
    const text = type.kind === 'applied' ? showType(type) : '';
    if (text !== '' && text.length <= LONGEST && !text.includes('_')) {
      found.push({ offset: node.name.span.end, text: `: ${text}` });
    }
  };
  if (tree !== undefined) for (const item of tree.items) visit(item);
  return found;
}
