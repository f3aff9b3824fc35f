import type { BoolLiteral, FloatLiteral, IntLiteral, NilLiteral, StringLiteral } from './expression.ts';
import type { Name, Node, Path } from './node.ts';

export type Pattern =
  | WildcardPattern
  | LiteralPattern
  | RangePattern
  | BindingPattern
  | PathPattern
  | ConstructorPattern
  | StructPattern
  | TuplePattern
  | ArrayPattern
  | OrPattern
  | RestPattern
  | ErrorPattern;

interface WildcardPattern extends Node {
  readonly kind: 'WildcardPattern';
}

/** A minus sign is already part of the number. */
export interface LiteralPattern extends Node {
  readonly kind: 'LiteralPattern';
  readonly value: LiteralExpression;
}

export type LiteralExpression = IntLiteral | FloatLiteral | StringLiteral | BoolLiteral | NilLiteral;

/** One of the ends may be missing: `1..`, `..=9`. */
export interface RangePattern extends Node {
  readonly kind: 'RangePattern';
  readonly start: LiteralExpression | undefined;
  readonly end: LiteralExpression | undefined;
  readonly inclusive: boolean;
}

/** `name`, `mut name`, `name @ pattern`. A single name that is a constant or a unit variant also arrives as this; only `None` is a path. */
export interface BindingPattern extends Node {
  readonly kind: 'BindingPattern';
  readonly name: Name;
  readonly mutable: boolean;
  readonly pattern: Pattern | undefined;
}

/** `None`, or a path of two or more segments such as `Mode::Fast`. */
export interface PathPattern extends Node {
  readonly kind: 'PathPattern';
  readonly path: Path;
}

/** `Ok(p)`, `Shape::Circle(p, q)`. */
export interface ConstructorPattern extends Node {
  readonly kind: 'ConstructorPattern';
  readonly path: Path;
  readonly elements: readonly Pattern[];
}

export interface StructPattern extends Node {
  readonly kind: 'StructPattern';
  readonly path: Path;
  readonly fields: readonly FieldPattern[];
  /** It ends in `..`. */
  readonly rest: boolean;
}

/** For the shorthand `x` the pattern is a binding of the same name. */
export interface FieldPattern extends Node {
  readonly kind: 'FieldPattern';
  readonly name: Name;
  readonly pattern: Pattern;
  readonly shorthand: boolean;
}

/** `(p)` is `p` itself and gives no node. */
export interface TuplePattern extends Node {
  readonly kind: 'TuplePattern';
  readonly elements: readonly Pattern[];
}

export interface ArrayPattern extends Node {
  readonly kind: 'ArrayPattern';
  readonly elements: readonly Pattern[];
}

/** At least two alternatives, none of which is an or-pattern. */
export interface OrPattern extends Node {
  readonly kind: 'OrPattern';
  readonly alternatives: readonly Pattern[];
}

/** `..` or `..name`: at most one, only directly inside an array, tuple or constructor pattern. */
export interface RestPattern extends Node {
  readonly kind: 'RestPattern';
  readonly name: Name | undefined;
}

/** Already reported. */
interface ErrorPattern extends Node {
  readonly kind: 'ErrorPattern';
}
