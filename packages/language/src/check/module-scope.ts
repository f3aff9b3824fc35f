import type { Span } from '../source/span.ts';
import type { ConstItem, FunctionItem, TypeAliasItem } from '../syntax/item.ts';
import type { Path } from '../syntax/node.ts';
import type { ConstantRef, FunctionRef, ModuleVariable, ResourceRef } from './facts.ts';
import { type HasImpls, implOf } from './impls.ts';
import type { FieldInfo, MethodInfo, Signature, TraitInfo, Type, TypeCon, TypeParam, VariantInfo } from './types.ts';

/** What a name means in a module. */
export type Meaning =
  | FunctionMeaning
  | TypeMeaning
  | AliasMeaning
  | ConstantMeaning
  | ResourceMeaning
  | { readonly kind: 'trait'; readonly trait: TraitInfo }
  | { readonly kind: 'module'; readonly module: ModuleScope }
  | { readonly kind: 'variable'; readonly variable: ModuleVariable }
  | { readonly kind: 'variant'; readonly variant: VariantInfo }
  /** A built-in or standard function, by its name in the table. */
  | { readonly kind: 'builtin'; readonly name: string }
  /** `std`, `std::json`. */
  | { readonly kind: 'std'; readonly path: string }
  | ImportMeaning
  /** Already reported. */
  | { readonly kind: 'broken' };

export interface FunctionMeaning {
  readonly kind: 'function';
  readonly ref: FunctionRef;
  readonly item: FunctionItem;
  readonly isTest: boolean;
  signature: Signature;
}

interface TypeMeaning {
  readonly kind: 'type';
  readonly con: TypeCon;
}

export interface AliasMeaning {
  readonly kind: 'alias';
  readonly item: TypeAliasItem;
  readonly module: ModuleScope;
  params: readonly TypeParam[];
  state: 'new' | 'resolving' | 'done';
  con: TypeCon | undefined;
  type: Type | undefined;
}

interface ConstantMeaning {
  readonly kind: 'constant';
  readonly ref: ConstantRef;
  readonly item: ConstItem;
  type: Type;
}

export interface ResourceMeaning {
  readonly kind: 'resource';
  readonly ref: ResourceRef;
  /** Own type of this resource: carries its methods, and those an `impl` adds. */
  readonly con: TypeCon;
  type: Type;
}

interface ImportMeaning {
  readonly kind: 'import';
  readonly path: Path;
  readonly segments: readonly string[];
  state: 'new' | 'resolving' | 'done';
  target: Entry | undefined;
}

/** A name in a module, with who may use it. */
export interface Entry {
  readonly name: string;
  readonly meaning: Meaning;
  readonly isPublic: boolean;
  readonly module: ModuleScope | undefined;
  readonly span: Span;
  readonly file: string;
  used: boolean;
}

interface GlobImport {
  readonly isPublic: boolean;
  readonly entry: Entry;
}

export interface ModuleScope {
  readonly name: string;
  /** Empty for the entry file. */
  readonly path: string;
  readonly parent: ModuleScope | undefined;
  readonly file: string;
  readonly entries: Map<string, Entry>;
  readonly globs: GlobImport[];
}

export function createModule(name: string, parent: ModuleScope | undefined, file: string): ModuleScope {
  const prefix = parent === undefined ? '' : parent.path;
  const path = parent === undefined ? '' : join(prefix, name);
  return { name, path, parent, file, entries: new Map(), globs: [] };
}

export function join(prefix: string, name: string): string {
  return prefix === '' ? name : `${prefix}::${name}`;
}

/** A private name is visible in its own module and in those inside it. */
export function canSee(from: ModuleScope, entry: Entry): boolean {
  return entry.isPublic || entry.module === undefined || isInside(from, entry.module);
}

function isInside(from: ModuleScope, outer: ModuleScope): boolean {
  for (let module: ModuleScope | undefined = from; module !== undefined; module = module.parent) {
    if (module === outer) return true;
  }
  return false;
}

/** Fields without `pub` are private once the type has some with it. */
export function canSeeField(from: ModuleScope, field: FieldInfo): boolean {
  return field.hiddenIn === undefined || isInside(from, field.hiddenIn);
}

/**
 * Methods without `pub` are private once the type has some with it: who writes `pub` on one means the others to be
 * hidden. A type without any `pub` method hides none.
 */
export function canCall(cx: HasImpls, from: ModuleScope, method: MethodInfo): boolean {
  const { item, module, owner } = method;
  if (item === undefined || module === undefined || owner === undefined || method.trait !== undefined) return true;
  if (item.isPublic || owner.declaration?.kind === 'ToolItem' || isInside(from, module)) return true;
  for (const other of implOf(cx, owner).methods.values()) if (other.item?.isPublic === true) return false;
  return true;
}
