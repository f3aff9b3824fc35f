import type { Expression } from '../syntax/expression.ts';
import type { ConstItem, FunctionItem, Item, McpItem, Parameter, StatementItem } from '../syntax/item.ts';
import type { NodeId } from '../syntax/node.ts';
import type { McpToolShape } from './check-mcp.ts';
import { NodeTable } from './node-table.ts';
import { ANY, prune, type Type, type TypeCon } from './types.ts';
import type { Coercion } from './unify.ts';

/**
 * What the checker found out, beside the tree: the compiler reads these tables and infers nothing again. Node ids are
 * unique among all files of a program, so one set of tables serves all. In a program without errors every name, call
 * and pattern has an entry; with errors some are missing or say `unresolved`.
 */
export interface Facts {
  /** NameExpression, PathExpression, the head of a StructExpression (by its own id), MockStatement. */
  readonly names: NodeTable<ResolvedName>;
  /** The type of every expression before its coercion. Read it with `typeOf`. */
  readonly types: NodeTable<Type>;
  /** CallExpression, MethodCallExpression, and PipeExpression (whose right side has no entry of its own). */
  readonly calls: NodeTable<ResolvedCall>;
  /** What must happen to the value of this expression before it goes where it is used. */
  readonly coercions: Map<NodeId, Coercion>;
  /** BindingPattern, PathPattern, ConstructorPattern, StructPattern. */
  readonly patterns: Map<NodeId, ResolvedPattern>;
  /**
   * Variables by the node that introduces them: BindingPattern, RestPattern, Parameter, SelfParameter, CatchClause,
   * ValueStage. The alternatives of an or-pattern share one Local for each name.
   */
  readonly locals: Map<NodeId, Local>;
  /** FunctionItem, ClosureExpression, ListenHandler, FunctionStage, ValueStage. */
  readonly functions: Map<NodeId, FunctionFacts>;
  /** CatchClause. */
  readonly catches: Map<NodeId, CatchTest>;
  /** PropagateExpression: what is inspected, and what leaves when it fails outside every `try` of the function. */
  readonly propagations: Map<NodeId, Propagation>;
  /** Ends of chains `a?.b.c` that give None, or nil where nothing is known of the type, when `a` has no value. */
  readonly chains: Map<NodeId, 'option' | 'dynamic'>;
  /** BinaryExpression `??`: `keep` leaves `Some(v)` as it is because the whole is an Option again. */
  readonly coalesces: Map<NodeId, 'unwrap' | 'keep'>;
  /** CastExpression. */
  readonly casts: Map<NodeId, TypeTag>;
  /** `execute_with_schema<T>`, `parse_schema<T>` and the like: by the call's id. Also a typed handler's parameter by its id. */
  readonly schemaArguments: Map<NodeId, TypeTag>;
  /**
   * ExpressionStatements inside a `try`, and unused tails of blocks there (by the tail's id), whose value is dropped and
   * may be `Err`: it is raised to the catches.
   */
  readonly raisedWhenErr: Set<NodeId>;
  /**
   * Calls that start without being waited for: elements of `await (…)`, contenders of `race`. Every other call of
   * something async is awaited on the spot (D16), with or without `await` around it.
   */
  readonly spawned: Set<NodeId>;
  /** Values of constants, and of constant expressions in config fields and decorators, by the expression's id. */
  readonly constants: Map<NodeId, ConstantValue>;
  /** Structs, schemas, enums and traits in the order of declaration. */
  readonly declaredTypes: DeclaredType[];
  /** All functions with a body: free ones, methods, trait defaults, local ones; not closures, handlers, stages. */
  readonly declaredFunctions: FunctionRef[];
  /**
   * For dispatch at run time: by the path of a type (also `Int`, `Array`, a model's or tool's path), method name to
   * function; own methods first, then those of implemented traits, then the traits' defaults. What a trait has is there
   * once more under `traitMethodName`: two traits may have methods of one name.
   */
  readonly methodTables: Map<string, Map<string, FunctionRef>>;
  /** By the path of a type, the paths of the traits it implements. */
  readonly traitsOf: Map<string, string[]>;
  readonly tests: FunctionRef[];
  readonly declaredConstants: ConstantRef[];
  /** Models, agents, tools, mcp servers, stores, pipelines, old connections; each with its unique path. */
  /** Functions with `@supervisor`. */
  readonly supervisors: FunctionRef[];
  readonly resources: ResourceRef[];
  /** By `mcp` block, the tools that its server has and the block does not declare. */
  readonly askedTools: Map<McpItem, readonly McpToolShape[]>;
  /** By signature in an `mcp` block, what a call gives when it does not fail. */
  readonly mcpResults: Map<FunctionItem, Type>;
  /** Top-level statements in the order they run: modules before those that declare them, then the entry file. */
  readonly topLevel: TopLevelStatement[];
  readonly moduleVariables: ModuleVariable[];
  /** The `main` of the entry file. */
  main: FunctionRef | undefined;
}

/** A variable of a function, closure, handler, stage or of the top level of a block. */
export interface Local {
  /** The node that introduces it. */
  readonly id: NodeId;
  readonly name: string;
  readonly mutable: boolean;
  /** Id of the FunctionItem, ClosureExpression, ListenHandler or stage it belongs to; 0 for top-level blocks. */
  readonly owner: NodeId;
  type: Type;
  /** Used by an inner closure or handler: it must live in a cell. */
  captured: boolean;
  /** Assigned, or changed through a place, after its declaration. */
  mutated: boolean;
  used: boolean;
}

/** A `let` at the top level of a file or module. */
export interface ModuleVariable {
  readonly id: NodeId;
  /** Unique: module path and name, and `#n` for a second binding of the same name. */
  readonly path: string;
  readonly name: string;
  readonly mutable: boolean;
  type: Type;
  used: boolean;
}

export interface TopLevelStatement {
  readonly item: StatementItem;
  readonly file: string;
}

export interface FunctionRef {
  /** Unique: `area`, `shapes::area`, `Rect::area`, `Rect::Shape::area` (of an impl), `Shape::area` (a default). */
  readonly path: string;
  readonly item: FunctionItem;
  readonly file: string;
  /** The type or trait it is a method of. */
  readonly owner: string | undefined;
  readonly isAsync: boolean;
  readonly receiver: 'none' | 'self' | 'mut-self';
}

export interface ConstantRef {
  readonly path: string;
  readonly item: ConstItem;
  readonly file: string;
}

export type ResourceKind =
  | 'model'
  | 'agent'
  | 'tool'
  | 'mcp'
  | 'hashmap'
  | 'ledger'
  | 'memory'
  | 'pipeline'
  | 'connection';

export interface ResourceRef {
  readonly kind: ResourceKind;
  readonly path: string;
  readonly item: Extract<
    Item,
    { kind: 'ModelItem' | 'AgentItem' | 'ToolItem' | 'McpItem' | 'StoreItem' | 'PipelineItem' | 'ConnectionItem' }
  >;
  readonly file: string;
}

export interface DeclaredType {
  readonly kind: 'struct' | 'schema' | 'enum' | 'trait';
  readonly path: string;
  /** As shown by `typeof` and in displays. */
  readonly name: string;
  readonly con: TypeCon;
  readonly item: Extract<Item, { kind: 'StructItem' | 'SchemaItem' | 'EnumItem' | 'TraitItem' }>;
  readonly file: string;
}

export interface VariantRef {
  /** `path` of the enum. */
  readonly enum: string;
  readonly name: string;
  readonly shape: 'unit' | 'tuple' | 'struct';
  /** Field names in declaration order; `0`, `1`, … for a tuple. */
  readonly fields: readonly string[];
  readonly index: number;
}

export type ResolvedName =
  | { readonly kind: 'local'; readonly local: Local }
  | { readonly kind: 'module-variable'; readonly variable: ModuleVariable }
  | { readonly kind: 'function'; readonly function: FunctionRef }
  /** `Trait::method`: which function it is shows by the receiver. */
  | { readonly kind: 'trait-method'; readonly trait: string; readonly function: Pick<FunctionRef, 'item'> }
  | { readonly kind: 'constant'; readonly constant: ConstantRef }
  | { readonly kind: 'variant'; readonly variant: VariantRef }
  | { readonly kind: 'struct'; readonly path: string; readonly name: string; readonly fields: readonly string[] }
  | { readonly kind: 'schema'; readonly path: string; readonly name: string; readonly fields: readonly string[] }
  /** `print`, `Ok`, `None`, `ToolError::new`, `Memory::new`, `std::json::parse`, `std::collections::Set::from`. */
  | { readonly kind: 'builtin'; readonly name: string }
  | { readonly kind: 'resource'; readonly resource: ResourceRef }
  /** `Session` in a test: the session of `mock Session`. */
  | { readonly kind: 'session' }
  /** A bare word that names something outside the program: `provider: local`, `connector: echo`. */
  | { readonly kind: 'external'; readonly name: string }
  | { readonly kind: 'unresolved' };

/** Where the value of one parameter comes from, in the order of the parameters. */
export type ArgumentSource =
  /** Index into the call's `arguments`; they are evaluated in source order. */
  | { readonly kind: 'argument'; readonly index: number }
  /** The left side of a pipe. */
  | { readonly kind: 'piped' }
  /** Not given: the parameter's default. */
  | { readonly kind: 'default'; readonly parameter: Parameter | undefined };

export type CallTarget =
  /** A declared function, or an associated function by path. */
  | { readonly kind: 'function'; readonly function: FunctionRef }
  /** A declared method: the receiver goes first. */
  | { readonly kind: 'method'; readonly function: FunctionRef }
  /** A method known only by its trait (bounded generic, trait as a type): found by the run-time type of the receiver. */
  | { readonly kind: 'trait-method'; readonly trait: string; readonly method: string }
  /** Of a tool: `Tool.m(…)` and `Tool::m(…)`; the tool itself is `self`. */
  | { readonly kind: 'tool-method'; readonly resource: ResourceRef; readonly function: FunctionRef }
  /** Built-in method by receiver type (`Array`, `String`, `ModelRef`, `Builder`, …) and name, as in the built-in table. */
  | { readonly kind: 'builtin-method'; readonly receiver: string; readonly method: string }
  /** Nothing is known about the receiver: decided at run time. */
  | { readonly kind: 'dynamic-method'; readonly method: string }
  /** A field that holds a function: `object.field(…)`. */
  | { readonly kind: 'field' }
  | { readonly kind: 'builtin'; readonly name: string }
  | { readonly kind: 'variant'; readonly variant: VariantRef }
  /** `Model("…")`, which is `Model.execute("…")`. */
  | { readonly kind: 'model-call' }
  /** The callee is an expression that gives a function. */
  | { readonly kind: 'value' }
  | { readonly kind: 'unresolved' };

export interface ResolvedCall {
  readonly target: CallTarget;
  readonly arguments: readonly ArgumentSource[];
  /** May have to wait: an async function, a tool, or a dynamic callee. */
  readonly isAsync: boolean;
  /** The receiver is a place that gets the changed `self` back (`mut self`, `push`, …). */
  readonly writesBack: boolean;
}

export type ResolvedPattern =
  | { readonly kind: 'binding'; readonly local: Local | ModuleVariable }
  | { readonly kind: 'constant'; readonly constant: ConstantRef }
  | { readonly kind: 'variant'; readonly variant: VariantRef }
  | { readonly kind: 'struct'; readonly path: string; readonly name: string }
  /** `known`: the type of what is matched is an Option or a Result. */
  | { readonly kind: 'ok' | 'err' | 'some' | 'none'; readonly known?: boolean }
  /** An error type of the language by name, with its fields: `AgentError { kind, .. }`. */
  | { readonly kind: 'failure'; readonly name: string }
  | { readonly kind: 'unresolved' };

export interface FunctionFacts {
  /** Variables of enclosing functions, in the order of first use. */
  readonly captures: Local[];
  /** `nil`: the body's value is dropped. */
  readonly result: 'value' | 'nil';
  /** What `throw` and `?` leave with, outside every `try`: `Err(e)`, `None`, or the error is raised further. */
  readonly failure: 'result' | 'option' | 'raise';
  readonly isAsync: boolean;
}

export type CatchTest =
  | { readonly kind: 'all' }
  /** Any error value of the language or the runtime (`catch Error(e)`). */
  | { readonly kind: 'error' }
  /** By the name `typeof` gives: a primitive, a struct, an enum or an error type with its sub-kinds. */
  | { readonly kind: 'type'; readonly name: string; readonly path: string }
  | { readonly kind: 'variant'; readonly variant: VariantRef };

export interface Propagation {
  readonly operand: 'result' | 'option' | 'dynamic';
  /** `chain`: nothing leaves; what follows in `a?.b.c` is left out. */
  readonly leavesWith: 'result' | 'option' | 'raise' | 'chain';
  /** The function's error type when `impl From<…>` converts errors into it. */
  readonly converts?: Type;
}

/** A type as data: for casts, schemas, JSON Schema and run-time validation. */
export type TypeTag =
  | { readonly kind: 'any' | 'int' | 'float' | 'string' | 'bool' | 'nil' | 'range' | 'function' }
  | { readonly kind: 'literals'; readonly values: readonly string[] }
  | { readonly kind: 'array' | 'option'; readonly element: TypeTag }
  | { readonly kind: 'map'; readonly key: TypeTag; readonly value: TypeTag }
  | { readonly kind: 'result'; readonly ok: TypeTag; readonly err: TypeTag }
  | { readonly kind: 'tuple' | 'union'; readonly members: readonly TypeTag[] }
  | {
      readonly kind: 'struct' | 'schema' | 'enum' | 'trait';
      readonly path: string;
      readonly arguments: readonly TypeTag[];
    }
  /** Built-in nominal types: `Response`, `AgentError`, `ModelRef`, … */
  | { readonly kind: 'builtin'; readonly name: string };

export type ConstantValue =
  | { readonly kind: 'int' | 'float'; readonly value: number }
  | { readonly kind: 'string'; readonly value: string }
  | { readonly kind: 'bool'; readonly value: boolean }
  | { readonly kind: 'nil' | 'none' }
  | { readonly kind: 'array' | 'tuple'; readonly items: readonly ConstantValue[] }
  | { readonly kind: 'map'; readonly entries: readonly (readonly [string, ConstantValue])[] }
  | { readonly kind: 'struct'; readonly path: string; readonly fields: readonly (readonly [string, ConstantValue])[] }
  | { readonly kind: 'variant'; readonly variant: VariantRef; readonly fields: readonly ConstantValue[] }
  | { readonly kind: 'some' | 'ok' | 'err'; readonly value: ConstantValue }
  | { readonly kind: 'range'; readonly start: number; readonly end: number; readonly inclusive: boolean };

/** `size`: one more than the highest node id of the program. */
export function createFacts(size = 0): Facts {
  return {
    names: new NodeTable(size),
    types: new NodeTable(size),
    calls: new NodeTable(size),
    coercions: new Map(),
    patterns: new Map(),
    locals: new Map(),
    functions: new Map(),
    catches: new Map(),
    propagations: new Map(),
    chains: new Map(),
    coalesces: new Map(),
    casts: new Map(),
    schemaArguments: new Map(),
    raisedWhenErr: new Set(),
    spawned: new Set(),
    constants: new Map(),
    declaredTypes: [],
    declaredFunctions: [],
    methodTables: new Map(),
    traitsOf: new Map(),
    tests: [],
    declaredConstants: [],
    supervisors: [],
    resources: [],
    askedTools: new Map(),
    mcpResults: new Map(),
    topLevel: [],
    moduleVariables: [],
    main: undefined,
  };
}

/** Under which a method that is known by its trait is looked up. */
export function traitMethodName(trait: string, method: string): string {
  return `${trait}::${method}`;
}

/** The type of an expression with every inference variable followed; `Any` when nothing is known. */
export function typeOf(facts: Facts, expression: Expression): Type {
  const type = prune(facts.types.get(expression.id) ?? ANY);
  return type.kind === 'var' ? ANY : type;
}
