import type { Expression } from './expression.ts';
import type { ConfigField, Item } from './item.ts';
import type { Name, Node } from './node.ts';
import type { Pattern } from './pattern.ts';
import type { TypeExpression } from './type-expression.ts';

export type Statement = LetStatement | ExpressionStatement | MockStatement | ItemStatement;

export interface LetStatement extends Node {
  readonly kind: 'LetStatement';
  /** `let mut`: every name the pattern binds may be assigned. */
  readonly mutable: boolean;
  readonly pattern: Pattern;
  readonly type: TypeExpression | undefined;
  readonly initializer: Expression | undefined;
}

/** `return`, `break`, `continue` and `throw` are expressions too. The value is discarded. */
export interface ExpressionStatement extends Node {
  readonly kind: 'ExpressionStatement';
  readonly expression: Expression;
  readonly semicolon: boolean;
}

/** `mock Model { response: "…" }`. */
export interface MockStatement extends Node {
  readonly kind: 'MockStatement';
  readonly target: Name;
  readonly fields: readonly ConfigField[];
}

/** A `const`, `fn`, `struct` or other item inside a block. */
interface ItemStatement extends Node {
  readonly kind: 'ItemStatement';
  readonly item: Item;
}
