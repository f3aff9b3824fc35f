import type { Parameter } from './item.ts';
import type { Name, Node, Path } from './node.ts';
import type { Pattern } from './pattern.ts';
import type { Statement } from './statement.ts';
import type { NamedType, TypeExpression } from './type-expression.ts';

export type Expression =
  | IntLiteral
  | FloatLiteral
  | StringLiteral
  | BoolLiteral
  | NilLiteral
  | InterpolatedString
  | NameExpression
  | PathExpression
  | ParenExpression
  | TupleExpression
  | ArrayExpression
  | MapExpression
  | StructExpression
  | CallExpression
  | MethodCallExpression
  | FieldExpression
  | TupleFieldExpression
  | IndexExpression
  | UnaryExpression
  | BinaryExpression
  | AssignExpression
  | PipeExpression
  | RangeExpression
  | CastExpression
  | AwaitExpression
  | PropagateExpression
  | ClosureExpression
  | Block
  | IfExpression
  | MatchExpression
  | ForExpression
  | WhileExpression
  | LoopExpression
  | TryExpression
  | ListenExpression
  | RaceExpression
  | ReturnExpression
  | BreakExpression
  | ContinueExpression
  | ThrowExpression
  | ErrorExpression;

/** Always a safe integer: a literal outside the range is reported and becomes 0. */
export interface IntLiteral extends Node {
  readonly kind: 'IntLiteral';
  readonly value: number;
}

export interface FloatLiteral extends Node {
  readonly kind: 'FloatLiteral';
  readonly value: number;
}

/** Escapes are resolved and triple-quoted text is dedented. */
export interface StringLiteral extends Node {
  readonly kind: 'StringLiteral';
  readonly value: string;
}

export interface BoolLiteral extends Node {
  readonly kind: 'BoolLiteral';
  readonly value: boolean;
}

export interface NilLiteral extends Node {
  readonly kind: 'NilLiteral';
}

/** Text and expressions in order; empty texts are left out, and there is at least one expression. */
export interface InterpolatedString extends Node {
  readonly kind: 'InterpolatedString';
  readonly parts: readonly TemplatePart[];
}

export type TemplatePart =
  | { readonly kind: 'TextPart'; readonly value: string }
  | { readonly kind: 'ExpressionPart'; readonly expression: Expression };

/** One name, `self` and `emit` among them. */
export interface NameExpression extends Node {
  readonly kind: 'NameExpression';
  readonly name: Name;
}

/** Two or more segments. `typeArguments` are those of `Box<Int>::new`; they belong to the segment before the last. */
export interface PathExpression extends Node {
  readonly kind: 'PathExpression';
  readonly path: Path;
  readonly typeArguments: readonly TypeExpression[];
}

interface ParenExpression extends Node {
  readonly kind: 'ParenExpression';
  readonly expression: Expression;
}

/** `()` has no elements and is nil; otherwise there are two or more. */
export interface TupleExpression extends Node {
  readonly kind: 'TupleExpression';
  readonly elements: readonly Expression[];
}

export interface ArrayExpression extends Node {
  readonly kind: 'ArrayExpression';
  readonly elements: readonly Expression[];
}

/** Without entries it was written `{}`, which a match arm may also mean as "nothing". */
export interface MapExpression extends Node {
  readonly kind: 'MapExpression';
  readonly entries: readonly MapEntry[];
}

/** A key written as a bare name arrives as a string literal. */
export interface MapEntry extends Node {
  readonly kind: 'MapEntry';
  readonly key: Expression;
  readonly keyForm: 'string' | 'name' | 'computed';
  readonly value: Expression;
}

export interface StructExpression extends Node {
  readonly kind: 'StructExpression';
  readonly path: Path;
  readonly typeArguments: readonly TypeExpression[];
  readonly fields: readonly FieldInitializer[];
  /** `..base`: where the fields that are not written come from. */
  readonly base: Expression | undefined;
}

/** For the shorthand `x` the value is the name `x`. */
export interface FieldInitializer extends Node {
  readonly kind: 'FieldInitializer';
  readonly name: Name;
  readonly value: Expression;
  readonly shorthand: boolean;
}

export interface CallExpression extends Node {
  readonly kind: 'CallExpression';
  readonly callee: Expression;
  readonly typeArguments: readonly TypeExpression[];
  readonly arguments: readonly Argument[];
}

export interface MethodCallExpression extends Node {
  readonly kind: 'MethodCallExpression';
  readonly receiver: Expression;
  readonly method: Name;
  readonly typeArguments: readonly TypeExpression[];
  readonly arguments: readonly Argument[];
}

export interface Argument extends Node {
  readonly kind: 'Argument';
  /** `label: value`. */
  readonly label: Name | undefined;
  readonly value: Expression;
}

export interface FieldExpression extends Node {
  readonly kind: 'FieldExpression';
  readonly receiver: Expression;
  readonly name: Name;
}

/** `pair.0`. */
export interface TupleFieldExpression extends Node {
  readonly kind: 'TupleFieldExpression';
  readonly receiver: Expression;
  readonly index: number;
}

export interface IndexExpression extends Node {
  readonly kind: 'IndexExpression';
  readonly receiver: Expression;
  readonly index: Expression;
}

type UnaryOperator = '!' | '-';

export interface UnaryExpression extends Node {
  readonly kind: 'UnaryExpression';
  readonly operator: UnaryOperator;
  readonly operand: Expression;
}

export type BinaryOperator =
  | '+'
  | '-'
  | '*'
  | '/'
  | '%'
  | '**'
  | '=='
  | '!='
  | '<'
  | '>'
  | '<='
  | '>='
  | '&&'
  | '||'
  | '??';

export interface BinaryExpression extends Node {
  readonly kind: 'BinaryExpression';
  readonly operator: BinaryOperator;
  readonly left: Expression;
  readonly right: Expression;
}

export type AssignOperator = '=' | '+=' | '-=' | '*=' | '/=' | '%=';

/** The parser takes any target; whether it is a place is for the checker to say. */
export interface AssignExpression extends Node {
  readonly kind: 'AssignExpression';
  readonly operator: AssignOperator;
  readonly target: Expression;
  readonly value: Expression;
}

/** `left |> right`. A `?` or `.await` directly after `right` is already around this node, not inside it. */
export interface PipeExpression extends Node {
  readonly kind: 'PipeExpression';
  readonly left: Expression;
  readonly right: Expression;
}

export interface RangeExpression extends Node {
  readonly kind: 'RangeExpression';
  readonly start: Expression | undefined;
  readonly end: Expression | undefined;
  readonly inclusive: boolean;
}

export interface CastExpression extends Node {
  readonly kind: 'CastExpression';
  readonly operand: Expression;
  readonly type: TypeExpression;
}

/** `await e` and `e.await`. */
export interface AwaitExpression extends Node {
  readonly kind: 'AwaitExpression';
  readonly operand: Expression;
  readonly postfix: boolean;
}

/** `e?`. */
export interface PropagateExpression extends Node {
  readonly kind: 'PropagateExpression';
  readonly operand: Expression;
}

export interface ClosureExpression extends Node {
  readonly kind: 'ClosureExpression';
  readonly parameters: readonly Parameter[];
  readonly returnType: TypeExpression | undefined;
  readonly body: Expression;
}

/** A block as an expression, a body of a function, loop or branch. */
export interface Block extends Node {
  readonly kind: 'Block';
  readonly statements: readonly Statement[];
  /** The last expression when no semicolon follows it: the value of the block. */
  readonly tail: Expression | undefined;
}

export interface IfExpression extends Node {
  readonly kind: 'IfExpression';
  readonly condition: Expression;
  readonly then: Block;
  readonly otherwise: Block | IfExpression | undefined;
}

export interface MatchExpression extends Node {
  readonly kind: 'MatchExpression';
  readonly scrutinee: Expression;
  readonly arms: readonly MatchArm[];
}

export interface MatchArm extends Node {
  readonly kind: 'MatchArm';
  readonly pattern: Pattern;
  readonly guard: Expression | undefined;
  readonly body: Expression;
}

export interface ForExpression extends Node {
  readonly kind: 'ForExpression';
  /** Without the quote. */
  readonly label: Name | undefined;
  /** `parallel for`: the bodies run concurrently and the value is the array of their values. */
  readonly parallel: boolean;
  readonly pattern: Pattern;
  readonly iterable: Expression;
  readonly body: Block;
}

export interface WhileExpression extends Node {
  readonly kind: 'WhileExpression';
  readonly label: Name | undefined;
  readonly condition: Expression;
  readonly body: Block;
}

export interface LoopExpression extends Node {
  readonly kind: 'LoopExpression';
  readonly label: Name | undefined;
  readonly body: Block;
}

export interface TryExpression extends Node {
  readonly kind: 'TryExpression';
  readonly body: Block;
  readonly catches: readonly CatchClause[];
}

/** `catch { }`, `catch T { }`, `catch T(e) { }`; without a type it catches everything. */
export interface CatchClause extends Node {
  readonly kind: 'CatchClause';
  readonly type: NamedType | undefined;
  readonly binding: Name | undefined;
  readonly body: Block;
}

export interface ListenExpression extends Node {
  readonly kind: 'ListenExpression';
  readonly call: Expression;
  readonly handlers: readonly ListenHandler[];
}

export interface ListenHandler extends Node {
  readonly kind: 'ListenHandler';
  /** The message types: `"a"`, or `"a" | "b"`; none for `_`, the handler of all others. */
  readonly messages: readonly StringLiteral[];
  /** `"a" (parallel: true) => …`. */
  readonly options: readonly Argument[];
  /** Absent for `||`. */
  readonly parameter: Parameter | undefined;
  readonly returnType: TypeExpression | undefined;
  readonly body: Expression;
}

/** `race(a, b)`: the first to finish. */
export interface RaceExpression extends Node {
  readonly kind: 'RaceExpression';
  readonly contenders: readonly Expression[];
}

export interface ReturnExpression extends Node {
  readonly kind: 'ReturnExpression';
  readonly value: Expression | undefined;
}

export interface BreakExpression extends Node {
  readonly kind: 'BreakExpression';
  readonly label: Name | undefined;
  readonly value: Expression | undefined;
}

export interface ContinueExpression extends Node {
  readonly kind: 'ContinueExpression';
  readonly label: Name | undefined;
}

export interface ThrowExpression extends Node {
  readonly kind: 'ThrowExpression';
  readonly value: Expression;
}

/** Already reported; has every type and no further diagnostics. */
interface ErrorExpression extends Node {
  readonly kind: 'ErrorExpression';
}
