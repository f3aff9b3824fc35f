import type { FunctionItem, Item, Parameter } from '../syntax/item.ts';
import type { FunctionRef, VariantRef } from './facts.ts';
import type { Entry, ModuleScope } from './module-scope.ts';

/**
 * The types the checker reasons with. Everything nominal or built in is a constructor with arguments, so unification
 * has one structural case. `any` is the gradual type: it fits everywhere and its operations are decided at run time.
 * `error` stands where a mistake was already reported and silences what follows from it.
 */
export type Type = AnyType | ErrorType | NeverType | AppliedType | ParamType | VarType;

export interface AnyType {
  readonly kind: 'any';
}
export interface ErrorType {
  readonly kind: 'error';
}
export interface NeverType {
  readonly kind: 'never';
}
export interface AppliedType {
  readonly kind: 'applied';
  readonly con: TypeCon;
  readonly args: readonly Type[];
}
/** A generic parameter inside the declaration that introduces it. */
interface ParamType {
  readonly kind: 'param';
  readonly param: TypeParam;
}
/** An inference variable; `bound` is set once, except for a soft one, which widens to `any` on a conflicting write. */
export interface VarType {
  readonly kind: 'var';
  bound: Type | undefined;
  readonly soft: boolean;
}

export interface TypeParam {
  readonly name: string;
  bounds: readonly TraitInfo[];
  /** Of a built-in: only Int and Float. */
  readonly isNumber?: boolean;
}

export type TypeFamily =
  | 'scalar'
  | 'container'
  | 'tuple'
  | 'function'
  | 'literals'
  | 'union'
  | 'struct'
  | 'schema'
  | 'enum'
  | 'trait'
  | 'failure'
  | 'object'
  | 'declared';

/** What a type name stands for. Declarations fill the tables after every name is known. */
export interface TypeCon {
  readonly name: string;
  readonly family: TypeFamily;
  params: readonly TypeParam[];
  /** The allowed texts of a string-literal union. */
  readonly values?: readonly string[];
  /** Fields of structs, schemas, errors and built-in records; undefined when the type has none. */
  fields: Map<string, FieldInfo> | undefined;
  /** Reading an undeclared field is allowed and gives `any`. */
  readonly open?: boolean;
  variants: Map<string, VariantInfo> | undefined;
  /** The trait behind a trait used as a type. */
  trait?: TraitInfo;
  /** Unique text for tables of the compiler: module path and name. */
  readonly path: string;
  /** Where it was declared; undefined for built-in types. */
  readonly declaration?: Item;
  /** The built-in type of a declared resource: `ModelRef` for a model. */
  base?: AppliedType;
}

export interface FieldInfo {
  readonly name: string;
  readonly type: Type;
  readonly optional: boolean;
  readonly hasDefault: boolean;
  /** The module that hides it from those outside. */
  readonly hiddenIn?: ModuleScope;
}

export interface VariantInfo {
  readonly name: string;
  readonly owner: TypeCon;
  readonly shape: 'unit' | 'tuple' | 'struct';
  /** Tuple variants use the names 0, 1, …. */
  fields: Map<string, FieldInfo>;
  readonly index: number;
  /** What the facts say of it, made once. */
  ref?: VariantRef;
  /** As a name of its enum, made once. */
  entry?: Entry;
  /** The signature of its constructor, made once. */
  signature?: Signature;
}

export interface ParamInfo {
  readonly name: string;
  readonly type: Type;
  readonly hasDefault: boolean;
  readonly variadic?: boolean;
  readonly node: Parameter | undefined;
}

export interface Signature {
  readonly typeParams: readonly TypeParam[];
  readonly params: readonly ParamInfo[];
  readonly result: Type;
  readonly isAsync: boolean;
}

export interface MethodInfo {
  readonly name: string;
  readonly signature: Signature;
  readonly receiver: 'none' | 'self' | 'mut-self';
  readonly owner: TypeCon | undefined;
  readonly trait?: TraitInfo;
  readonly hasBody: boolean;
  /** The declared function; undefined for built-in methods and for signatures without a body. */
  readonly ref: FunctionRef | undefined;
  readonly item?: FunctionItem;
  /** Where the `impl` is; undefined for built-in methods. */
  readonly module?: ModuleScope;
}

export interface TraitInfo {
  readonly name: string;
  readonly path: string;
  /** Required and default methods by name. */
  readonly methods: Map<string, MethodInfo>;
  readonly con: TypeCon;
  typeParams: readonly TypeParam[];
  /** The implementing type while the trait's own signatures and default bodies are checked. */
  readonly self: TypeParam;
  /** False for the traits that are built in and require nothing. */
  readonly declared: boolean;
}

export const ANY: AnyType = { kind: 'any' };
export const ERROR: ErrorType = { kind: 'error' };
export const NEVER: NeverType = { kind: 'never' };

export function typeCon(name: string, family: TypeFamily, extra: Partial<TypeCon> = {}): TypeCon {
  return {
    name,
    family,
    params: [],
    fields: undefined,
    variants: undefined,
    path: name,
    ...extra,
  };
}

export function typeParam(name: string): TypeParam {
  return { name, bounds: [] };
}

export function applied(con: TypeCon, args: readonly Type[] = []): AppliedType {
  return { kind: 'applied', con, args };
}

const scalar = (name: string) => typeCon(name, 'scalar');
const container = (name: string, ...params: string[]) => typeCon(name, 'container', { params: params.map(typeParam) });

/** Constructors the checker itself must recognise; the rest comes from the built-in table. */
export const CON = {
  Int: scalar('Int'),
  Float: scalar('Float'),
  String: scalar('String'),
  Bool: scalar('Bool'),
  Nil: scalar('Nil'),
  Range: scalar('Range'),
  Array: container('Array', 'T'),
  Map: container('Map', 'K', 'V'),
  Option: container('Option', 'T'),
  Result: container('Result', 'T', 'E'),
  Tuple: typeCon('Tuple', 'tuple'),
  Function: typeCon('Function', 'function'),
  Union: typeCon('Union', 'union'),
} as const;

export const INT = applied(CON.Int);
export const FLOAT = applied(CON.Float);
export const STRING = applied(CON.String);
export const BOOL = applied(CON.Bool);
export const NIL = applied(CON.Nil);
export const RANGE = applied(CON.Range);

export const arrayOf = (element: Type) => applied(CON.Array, [element]);
export const mapOf = (key: Type, value: Type) => applied(CON.Map, [key, value]);
export const optionOf = (inner: Type) => applied(CON.Option, [inner]);
export const resultOf = (okType: Type, errType: Type) => applied(CON.Result, [okType, errType]);
export const tupleOf = (items: readonly Type[]) => applied(CON.Tuple, items);
/** The last argument is the result. */
export const functionOf = (params: readonly Type[], result: Type) => applied(CON.Function, [...params, result]);
export const unionOf = (members: readonly Type[]) => applied(CON.Union, members);

export function literalUnion(values: readonly string[]): AppliedType {
  return applied(typeCon(values.map((value) => JSON.stringify(value)).join(' | '), 'literals', { values }));
}

export function freshVar(soft = false, bound?: Type): VarType {
  return { kind: 'var', bound, soft };
}

/** Follows bound variables to what they stand for. */
export function prune(type: Type): Type {
  let current = type;
  while (current.kind === 'var' && current.bound !== undefined) current = current.bound;
  return current;
}

declare const ofCon: unique symbol;

/** Only a mark for the compiler: without it, a failed `isCon` would seem to rule out every applied type. */
interface OfCon extends AppliedType {
  readonly [ofCon]: true;
}

export function isCon(type: Type, con: TypeCon): type is OfCon {
  return type.kind === 'applied' && type.con === con;
}

/** True when nothing can be said about the value before it runs. */
export function isDynamic(type: Type): boolean {
  return type.kind === 'any' || type.kind === 'error' || type.kind === 'var' || isCon(type, CON.Union);
}

/** The name of a built-in type; empty for everything else, also for what a program calls `Set` or `AgentRef` itself. */
export function builtinName(type: Type): string {
  return type.kind === 'applied' && type.con.declaration === undefined ? type.con.name : '';
}

/** The built-in type that a value can be used as: `AgentRef` of an agent, whatever the agent is called. */
export function kindOf(type: Type): string {
  return type.kind === 'applied' ? (type.con.base?.con.name ?? builtinName(type)) : '';
}

export function isStringLike(type: Type): boolean {
  return type.kind === 'applied' && (type.con === CON.String || type.con.family === 'literals');
}

export function isNumber(type: Type): boolean {
  return isCon(type, CON.Int) || isCon(type, CON.Float);
}

export type Substitution = ReadonlyMap<TypeParam, Type>;

export function substitute(type: Type, map: Substitution): Type {
  if (map.size === 0) return type;
  switch (type.kind) {
    case 'param':
      return map.get(type.param) ?? type;
    case 'var':
      return type.bound === undefined || type.soft ? type : substitute(type.bound, map);
    case 'applied': {
      if (type.args.length === 0) return type;
      return { kind: 'applied', con: type.con, args: type.args.map((arg) => substitute(arg, map)) };
    }
    case 'any':
    case 'error':
    case 'never':
      return type;
  }
}

const NO_ARGUMENTS: Substitution = new Map();

/** The substitution that a value of this type gives to its constructor's parameters. */
export function argumentsOf(type: AppliedType): Substitution {
  if (type.con.params.length === 0) return NO_ARGUMENTS;
  const map = new Map<TypeParam, Type>();
  type.con.params.forEach((param, index) => map.set(param, type.args[index] ?? ANY));
  return map;
}

export function showType(raw: Type, depth = 0): string {
  const type = prune(raw);
  if (depth > 6) return '…';
  switch (type.kind) {
    case 'any':
      return 'Any';
    case 'error':
      return '<error>';
    case 'never':
      return 'Never';
    case 'var':
      return '_';
    case 'param':
      return type.param.name;
    case 'applied':
      return showApplied(type, depth + 1);
  }
}

function showApplied(type: AppliedType, depth: number): string {
  const args = type.args.map((arg) => showType(arg, depth));
  if (type.con === CON.Tuple) return `(${args.join(', ')})`;
  if (type.con === CON.Union) return args.join(' | ');
  if (type.con === CON.Function) {
    const result = args[args.length - 1] ?? 'Nil';
    const params = args.slice(0, -1).join(', ');
    return result === 'Nil' ? `fn(${params})` : `fn(${params}) -> ${result}`;
  }
  return args.length === 0 ? type.con.name : `${type.con.name}<${args.join(', ')}>`;
}
