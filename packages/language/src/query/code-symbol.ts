import type { Type } from '../check/types.ts';
import type { Span } from '../source/span.ts';
import type { SyntaxNode } from './syntax-node.ts';

export type SymbolKind =
  | 'function'
  | 'method'
  | 'struct'
  | 'schema'
  | 'enum'
  | 'variant'
  | 'trait'
  | 'type'
  | 'type parameter'
  | 'field'
  | 'constant'
  | 'variable'
  | 'parameter'
  | 'self'
  | 'label'
  | 'model'
  | 'agent'
  | 'connection'
  | 'tool'
  | 'mcp'
  | 'store'
  | 'pipeline'
  | 'stage'
  | 'module';

export interface Place {
  readonly file: string;
  readonly span: Span;
}

/** Something a name can mean. What is built in has no declaration. */
export interface CodeSymbol {
  readonly kind: SymbolKind;
  readonly name: string;
  readonly declaration: Declaration | undefined;
  /** Name in the table of built-ins, such as `Array.push`; of a built-in type its name; `std::json` for a module. */
  readonly builtin: string | undefined;
  /** Of variables and fields. */
  readonly type: Type | undefined;
  /** The method of the trait that this one implements: they are renamed together. */
  implements: CodeSymbol | undefined;
}

interface Declaration extends Place {
  readonly node: SyntaxNode;
  /** Where `mod name;` leads. */
  readonly target?: string | undefined;
}

/** A place where a symbol is named. */
export interface Reference extends Place {
  readonly symbol: CodeSymbol;
  readonly text: string;
  readonly isDeclaration: boolean;
  /** In `Point { x }` the one name is the field's and the variable's: what this reference is of the two. */
  readonly shorthand?: 'field' | 'value';
}

/** The same for a trait's method and all that implement it. */
export function familyOf(symbol: CodeSymbol): CodeSymbol {
  return symbol.implements ?? symbol;
}
