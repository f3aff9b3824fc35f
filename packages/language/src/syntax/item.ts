import type { Block, Expression } from './expression.ts';
import type { Name, Node, OldSpelling, Path } from './node.ts';
import type { Statement } from './statement.ts';
import type { NamedType, TypeExpression } from './type-expression.ts';

export type Item =
  | FunctionItem
  | ModelItem
  | AgentItem
  | ConnectionItem
  | ToolItem
  | McpItem
  | SchemaItem
  | StructItem
  | EnumItem
  | TraitItem
  | ImplItem
  | PipelineItem
  | UseItem
  | ModuleItem
  | ConstItem
  | TypeAliasItem
  | StoreItem
  | StatementItem
  | ErrorItem;

export interface ItemNode extends Node {
  readonly decorators: readonly Decorator[];
  readonly isPublic: boolean;
  /** Text of the `///` lines above, joined by line breaks. */
  readonly doc: string | undefined;
}

export interface Decorator extends Node {
  readonly kind: 'Decorator';
  readonly name: Name;
  readonly arguments: readonly DecoratorArgument[];
}

export interface DecoratorArgument extends Node {
  readonly kind: 'DecoratorArgument';
  readonly label: Name | undefined;
  readonly value: Expression;
}

export interface GenericParameter extends Node {
  readonly kind: 'GenericParameter';
  readonly name: Name;
  /** `T: A + B`. */
  readonly bounds: readonly NamedType[];
}

export interface SelfParameter extends Node {
  readonly kind: 'SelfParameter';
  readonly mutable: boolean;
}

/** Of a function, closure, stage, pipeline or handler. */
export interface Parameter extends Node {
  readonly kind: 'Parameter';
  readonly decorators: readonly Decorator[];
  readonly name: Name;
  readonly type: TypeExpression | undefined;
  readonly defaultValue: Expression | undefined;
}

/** A function, a method or a bodyless signature. */
export interface FunctionItem extends ItemNode {
  readonly kind: 'FunctionItem';
  readonly isAsync: boolean;
  readonly name: Name;
  readonly generics: readonly GenericParameter[];
  readonly self: SelfParameter | undefined;
  readonly parameters: readonly Parameter[];
  readonly returnType: TypeExpression | undefined;
  readonly body: Block | undefined;
  readonly oldSpelling: OldSpelling | undefined;
}

/** `name: value` in a model, agent, tool, mcp, connection or mock. */
export interface ConfigField extends Node {
  readonly kind: 'ConfigField';
  readonly name: Name;
  readonly value: Expression;
  readonly oldSpelling: OldSpelling | undefined;
}

/** In an old `model:` field the name already reads `base`. */
export interface ModelItem extends ItemNode {
  readonly kind: 'ModelItem';
  readonly name: Name;
  readonly fields: readonly ConfigField[];
  readonly oldSpelling: OldSpelling | undefined;
}

export interface AgentItem extends ItemNode {
  readonly kind: 'AgentItem';
  readonly name: Name;
  readonly fields: readonly ConfigField[];
  readonly oldSpelling: OldSpelling | undefined;
}

/** The old `connect NAME { … }`. */
export interface ConnectionItem extends ItemNode {
  readonly kind: 'ConnectionItem';
  readonly name: Name;
  readonly fields: readonly ConfigField[];
  readonly oldSpelling: OldSpelling;
}

export interface ToolItem extends ItemNode {
  readonly kind: 'ToolItem';
  readonly name: Name;
  /** `tool X impl Trait`. */
  readonly trait: NamedType | undefined;
  readonly fields: readonly ConfigField[];
  readonly state: readonly FieldDeclaration[];
  readonly methods: readonly FunctionItem[];
}

/** Its methods have no body. */
export interface McpItem extends ItemNode {
  readonly kind: 'McpItem';
  readonly name: Name;
  readonly fields: readonly ConfigField[];
  readonly methods: readonly FunctionItem[];
}

export interface FieldDeclaration extends ItemNode {
  readonly kind: 'FieldDeclaration';
  readonly name: Name;
  /** `name?: T`. */
  readonly optional: boolean;
  readonly type: TypeExpression;
  readonly defaultValue: Expression | undefined;
}

export interface SchemaItem extends ItemNode {
  readonly kind: 'SchemaItem';
  readonly name: Name;
  readonly generics: readonly GenericParameter[];
  readonly fields: readonly FieldDeclaration[];
}

export interface StructItem extends ItemNode {
  readonly kind: 'StructItem';
  readonly name: Name;
  readonly generics: readonly GenericParameter[];
  readonly fields: readonly FieldDeclaration[];
}

export interface EnumItem extends ItemNode {
  readonly kind: 'EnumItem';
  readonly name: Name;
  readonly generics: readonly GenericParameter[];
  readonly variants: readonly EnumVariant[];
}

export interface EnumVariant extends ItemNode {
  readonly kind: 'EnumVariant';
  readonly name: Name;
  readonly payload: VariantPayload;
}

export type VariantPayload =
  | { readonly kind: 'UnitPayload' }
  | { readonly kind: 'TuplePayload'; readonly types: readonly TypeExpression[] }
  | { readonly kind: 'StructPayload'; readonly fields: readonly FieldDeclaration[] };

/** A method without a body is required; one with a body is a default. */
export interface TraitItem extends ItemNode {
  readonly kind: 'TraitItem';
  readonly name: Name;
  readonly generics: readonly GenericParameter[];
  readonly methods: readonly FunctionItem[];
}

export interface ImplItem extends ItemNode {
  readonly kind: 'ImplItem';
  readonly generics: readonly GenericParameter[];
  /** Absent for an inherent `impl T`. */
  readonly trait: NamedType | undefined;
  readonly target: NamedType;
  readonly methods: readonly FunctionItem[];
}

export interface PipelineItem extends ItemNode {
  readonly kind: 'PipelineItem';
  readonly name: Name;
  readonly parameter: Parameter | undefined;
  readonly returnType: TypeExpression | undefined;
  readonly stages: readonly Stage[];
}

export type Stage = FunctionStage | ValueStage;

/** `stage x(input: T) -> U { … }`. */
export interface FunctionStage extends ItemNode {
  readonly kind: 'FunctionStage';
  readonly name: Name;
  readonly parameters: readonly Parameter[];
  readonly returnType: TypeExpression | undefined;
  readonly body: Block;
}

/** `stage x = expression;` */
export interface ValueStage extends ItemNode {
  readonly kind: 'ValueStage';
  readonly name: Name;
  readonly value: Expression;
}

export interface UseItem extends ItemNode {
  readonly kind: 'UseItem';
  readonly tree: UseTree;
}

export type UseTree = UseName | UseGlob | UseGroup;

/** `a::b` or `a::b as c`. */
interface UseName extends Node {
  readonly kind: 'UseName';
  readonly path: Path;
  readonly alias: Name | undefined;
}

/** `a::*`. */
interface UseGlob extends Node {
  readonly kind: 'UseGlob';
  readonly prefix: Path;
}

/** `a::{b, c::d}`; the paths inside are relative to the prefix, and `self` there is the prefix itself. */
interface UseGroup extends Node {
  readonly kind: 'UseGroup';
  readonly prefix: Path;
  readonly trees: readonly UseTree[];
}

/** `mod x { … }`, or `mod x;` for another file (then without items). */
export interface ModuleItem extends ItemNode {
  readonly kind: 'ModuleItem';
  readonly name: Name;
  readonly items: readonly Item[] | undefined;
}

export interface ConstItem extends ItemNode {
  readonly kind: 'ConstItem';
  readonly name: Name;
  /** Always written in a correct program; the parser reports when it is missing. */
  readonly type: TypeExpression | undefined;
  readonly value: Expression;
}

export interface TypeAliasItem extends ItemNode {
  readonly kind: 'TypeAliasItem';
  readonly name: Name;
  readonly generics: readonly GenericParameter[];
  readonly type: TypeExpression;
}

export type StoreKind = 'hashmap' | 'ledger' | 'memory';

export interface StoreItem extends ItemNode {
  readonly kind: 'StoreItem';
  readonly store: StoreKind;
  readonly name: Name;
  readonly type: TypeExpression | undefined;
  readonly value: Expression;
  readonly oldSpelling: OldSpelling | undefined;
}

/** A `let` or another statement at the top level of a file or module. */
export interface StatementItem extends ItemNode {
  readonly kind: 'StatementItem';
  readonly statement: Statement;
}

/** Already reported. */
interface ErrorItem extends ItemNode {
  readonly kind: 'ErrorItem';
}
