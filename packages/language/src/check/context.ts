import type { Program } from '../modules/program.ts';
import type { Span } from '../source/span.ts';
import type { Expression } from '../syntax/expression.ts';
import type { FunctionItem, Item } from '../syntax/item.ts';
import type { NodeId } from '../syntax/node.ts';
import type { Builtins } from './builtins.ts';
import type { McpAnswers } from './check-mcp.ts';
import type { Evaluation } from './evaluate-constant.ts';
import type { Facts, Local, ModuleVariable } from './facts.ts';
import type { Impls } from './impls.ts';
import type { Entry, ModuleScope } from './module-scope.ts';
import type { Reporter } from './report.ts';
import type { AppliedType, Signature, Type, TypeCon, TypeParam } from './types.ts';

/** What the checker has to know of `Concerto.toml`; without it, names of connections and connectors are not checked. */
export interface ManifestNames {
  readonly connections: ReadonlySet<string>;
  readonly agents: ReadonlySet<string>;
  readonly mcp: ReadonlySet<string>;
}

/** Shared by everything that checks one program. */
export interface Context {
  readonly program: Program;
  readonly manifest: ManifestNames | undefined;
  readonly mcpServers: McpAnswers;
  readonly facts: Facts;
  readonly report: Reporter;
  readonly builtins: Builtins;
  /** What the program adds to types. */
  readonly impls: Impls;
  readonly root: ModuleScope;
  /** The module of each file that is part of the program. */
  readonly fileModules: Map<string, ModuleScope>;
  /** Built-in names that were looked up. */
  readonly builtinEntries: Map<string, Entry>;
  /** Names that are being looked for in what a module imports with `*`. */
  readonly globSearches: Map<ModuleScope, Set<string>>;
  /** How many names were offered for comparison with unknown ones. */
  readonly compared: { names: number };
  /** Paths given out, so that local items get unique ones. */
  readonly paths: Set<string>;
  /** Bodies to check once every signature of the program is known. */
  readonly functionBodies: FunctionBody[];
  /** Constants, pipelines, models, statements: checked after the signatures are known. */
  readonly otherItems: { readonly item: Item; readonly module: ModuleScope }[];
  /** What a pipeline whose last stage is an expression gives. */
  readonly pipelineOutputs: Map<Item, Type>;
  /** Fields of structs with their default expressions, by path, for constants. */
  readonly structDefaults: Map<string, readonly { readonly name: string; readonly value: Expression | undefined }[]>;
  /** Set once the constants can be evaluated. */
  readonly evaluation: { current: Evaluation | undefined };
  /** Questions about inferred types that are asked when a body is done. */
  readonly later: (() => void)[];
  /** Variables to warn about when nothing used them. */
  readonly watched: WatchedLocal[];
  /** The type constructors of structs, schemas, enums, traits and resources by their declaration. */
  readonly declaredCons: Map<Item, TypeCon>;
  readonly signatures: Map<FunctionItem, Signature>;
  /** The signature of `run` by a pipeline's type. */
  readonly pipelineRuns: Map<TypeCon, () => Signature>;
  /** Makes a module variable of a `let` at the top level. */
  readonly declareGlobal: DeclareGlobal;
  /** Expressions whose value nobody reads. */
  readonly unused: Set<NodeId>;
  /** Expressions whose value is a stage's: branches of its last `if`, `match` or `try`. */
  readonly stageResults: Set<NodeId>;
  /** Variables that hold a message of an agent and have no type, with the types of message they may hold. */
  readonly messages: Map<Local, readonly string[]>;
  /** How many parts a type has, of those without unknown ones. */
  readonly typeSizes: WeakMap<AppliedType, number>;
  /** Names of all declared `mut self` methods. */
  readonly mutatingMethods: Set<string>;
  /** Where a variable was declared, for labels. */
  readonly declarations: Map<NodeId, { readonly span: Span; readonly file: string }>;
  /** Variables declared without a value; `told`: that one has none was reported. */
  readonly uninitialized: Map<Local, 'new' | 'assigned' | 'told'>;
  /** Where the variables around the items of a block are, which those items must not use. */
  readonly enclosing: Map<ModuleScope, BlockScope>;
  /** The nameless module of each block that has items, by the first of them. */
  readonly blockModules: Map<Item, ModuleScope>;
  /** Connections declared in the source by the old `connect`. */
  readonly connections: Set<string>;
}

interface WatchedLocal {
  readonly local: Local;
  readonly what: 'variable' | 'parameter';
  readonly span: Span;
  readonly file: string;
}

export type DeclareGlobal = (
  body: Body,
  variable: {
    readonly id: NodeId;
    readonly name: string;
    readonly span: Span;
    readonly type: Type;
    readonly mutable: boolean;
  },
) => ModuleVariable;

/** A function whose signature is known and whose body is still to be checked. */
export interface FunctionBody {
  readonly item: FunctionItem;
  readonly scope: TypeScope;
  readonly self: Type | undefined;
  readonly kind: 'function' | 'test' | 'tool';
}

/** Names in scope while a type is read: generic parameters by name, and `Self`. */
export interface TypeScope {
  readonly module: ModuleScope;
  readonly params: ReadonlyMap<string, TypeParam>;
  readonly self: Type | undefined;
}

export interface BlockScope {
  readonly parent: BlockScope | undefined;
  locals: Map<string, Local> | undefined;
  /** Items declared in this block. */
  items: ModuleScope | undefined;
  /** Of a function: the scope belongs to its parameters. Inner functions of kind `item` do not see beyond it. */
  readonly owner: FunctionScope;
}

export interface LoopScope {
  readonly label: string | undefined;
  readonly kind: 'loop' | 'while' | 'for' | 'parallel';
  breakType: Type | undefined;
  /** `break` without a value, or the end of the loop, was seen. */
  breaksEmpty: boolean;
  hasBreak: boolean;
  /** Variables that may have no value at one of its `break`s. */
  unset: ReadonlySet<Local> | undefined;
}

type FunctionKind = 'function' | 'test' | 'tool' | 'stage' | 'handler' | 'closure' | 'top';

export interface FunctionScope {
  readonly id: NodeId;
  readonly kind: FunctionKind;
  readonly parent: FunctionScope | undefined;
  readonly isAsync: boolean;
  /** What `return` and the tail must fit; undefined while a closure's is still being inferred. */
  readonly returnType: Type;
  /** Written by the author, as opposed to inferred. */
  readonly returnDeclared: boolean;
  /** What an error becomes when it leaves: see FunctionFacts. `undefined`: it must not leave. */
  readonly failure: 'result' | 'option' | 'infer' | undefined;
  readonly errorType: Type;
  readonly loops: LoopScope[];
  /** Of a handler: what its `listen` gives when it succeeds, which `break v` must fit. */
  readonly sessionResult: Type | undefined;
  /** For each enclosing `try` body: does it take every error? */
  readonly tries: boolean[];
  readonly captures: Local[];
  /** `?` and `throw` in a closure whose result is inferred; settled when the body is known. */
  readonly propagations: { readonly node: Expression; readonly operand: 'result' | 'option' | 'throw' }[];
  /** Name of the enclosing declaration, for the paths of local items. */
  readonly path: string;
}

/** The checker's state inside one body. `scope` and `fn` change as it walks. */
export interface Body {
  readonly cx: Context;
  module: ModuleScope;
  types: TypeScope;
  scope: BlockScope;
  fn: FunctionScope;
  /** The receiver's type in a method. */
  readonly self: Type | undefined;
  /** After `return`, `break`, `throw` or a call that never returns. */
  diverges: boolean;
  /** Of the variables declared without a value, those that may have none here. */
  unset: ReadonlySet<Local>;
  /** The chain `a?.b.c` that is being checked: which `?` are part of it, and whether one of them gives up on the rest. */
  chain: { readonly links: ReadonlySet<NodeId>; isCut: boolean } | undefined;
  /** How deep the walk is. */
  depth: number;
  /** Type of an expression; `expected` is a hint that literals and closures adapt to. */
  check(node: Expression, expected?: Type): Type;
}
