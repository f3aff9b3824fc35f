import type {
  Argument,
  CatchClause,
  Expression,
  FieldInitializer,
  ListenHandler,
  MapEntry,
  MatchArm,
} from '../syntax/expression.ts';
import type {
  ConfigField,
  Decorator,
  DecoratorArgument,
  EnumVariant,
  FieldDeclaration,
  GenericParameter,
  Item,
  Parameter,
  SelfParameter,
  Stage,
  UseTree,
} from '../syntax/item.ts';
import type { Name, Path } from '../syntax/node.ts';
import type { FieldPattern, Pattern } from '../syntax/pattern.ts';
import type { Statement } from '../syntax/statement.ts';
import type { SourceTree } from '../syntax/tree.ts';
import type { TypeExpression } from '../syntax/type-expression.ts';

/** Any node of a tree. */
export type SyntaxNode =
  | SourceTree
  | Item
  | Statement
  | Expression
  | Pattern
  | TypeExpression
  | Name
  | Path
  | Argument
  | CatchClause
  | FieldInitializer
  | ListenHandler
  | MapEntry
  | MatchArm
  | ConfigField
  | Decorator
  | DecoratorArgument
  | EnumVariant
  | FieldDeclaration
  | GenericParameter
  | Parameter
  | SelfParameter
  | Stage
  | UseTree
  | FieldPattern;

function isNode(value: object): value is SyntaxNode {
  return 'kind' in value && 'id' in value && 'span' in value;
}

/** The nodes directly below, in the order of their fields. Parts without a place of their own are passed through. */
export function childrenOf(node: SyntaxNode): SyntaxNode[] {
  const found: SyntaxNode[] = [];
  collect(node, found);
  return found;
}

function collect(container: object, found: SyntaxNode[]): void {
  const values: unknown[] = Object.values(container);
  for (const value of values) {
    if (typeof value !== 'object' || value === null) continue;
    if (isNode(value)) found.push(value);
    else collect(value, found);
  }
}

/** From the tree to the innermost node that touches the offset, which may stand right behind its last character. */
export function nodesAt(tree: SourceTree, offset: number): SyntaxNode[] {
  const path: SyntaxNode[] = [tree];
  for (;;) {
    const innermost = path[path.length - 1];
    const touching = innermost === undefined ? [] : childrenOf(innermost).filter((child) => touches(child, offset));
    // Of two neighbours the one that starts here is meant, unless only the other is a name that can be typed on.
    const next = touching.find((child) => child.span.end >= offset && child.span.start < offset) ?? touching[0];
    if (next === undefined) return path;
    path.push(next);
  }
}

function touches(node: SyntaxNode, offset: number): boolean {
  return node.span.start <= offset && offset <= node.span.end;
}
