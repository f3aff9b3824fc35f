import type { Node, Path } from './node.ts';

export type TypeExpression = NamedType | StringLiteralType | UnionType | TupleType | FunctionType | ErrorType;

/** `Int`, `Array<T>`, `shapes::Circle`. */
export interface NamedType extends Node {
  readonly kind: 'NamedType';
  readonly path: Path;
  readonly arguments: readonly TypeExpression[];
}

/** A member of a string-literal union, such as `"low"`. */
interface StringLiteralType extends Node {
  readonly kind: 'StringLiteralType';
  readonly value: string;
}

/** At least two members, none of which is a union. */
export interface UnionType extends Node {
  readonly kind: 'UnionType';
  readonly members: readonly TypeExpression[];
}

/** `()` has no elements and is `Nil`; `(T)` is `T` itself and gives no node. */
interface TupleType extends Node {
  readonly kind: 'TupleType';
  readonly elements: readonly TypeExpression[];
}

interface FunctionType extends Node {
  readonly kind: 'FunctionType';
  readonly parameters: readonly TypeExpression[];
  readonly result: TypeExpression | undefined;
}

/** Already reported. */
interface ErrorType extends Node {
  readonly kind: 'ErrorType';
}
