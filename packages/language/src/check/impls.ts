import type { MethodInfo, TraitInfo, TypeCon } from './types.ts';

/** What a program adds to a type: its own, or a built-in one. */
export interface Impl {
  /** Own methods and associated functions by name. */
  readonly methods: ReadonlyMap<string, MethodInfo>;
  /** Methods that come from `impl Trait for Type`, defaults included. */
  readonly traitMethods: ReadonlyMap<string, MethodInfo>;
  /** What it implements, with the methods of each: `Type::Trait::method`. */
  readonly traits: ReadonlyMap<TraitInfo, ReadonlyMap<string, MethodInfo>>;
  /** Of `impl From<A> for Type`, one for each `A`. */
  readonly conversions: readonly MethodInfo[];
}

interface OpenImpl extends Impl {
  readonly methods: Map<string, MethodInfo>;
  readonly traitMethods: Map<string, MethodInfo>;
  readonly traits: Map<TraitInfo, Map<string, MethodInfo>>;
  readonly conversions: MethodInfo[];
}

/** Of one program. Built-in types are the same for all programs, and what one adds to them is no other's. */
export type Impls = Map<TypeCon, OpenImpl>;

/** Whoever has them at hand. */
export interface HasImpls {
  readonly impls: Impls;
}

const NOTHING: Impl = newImpl();

function newImpl(): OpenImpl {
  return { methods: new Map(), traitMethods: new Map(), traits: new Map(), conversions: [] };
}

export function implOf({ impls }: HasImpls, con: TypeCon): Impl {
  return impls.get(con) ?? NOTHING;
}

/** To add to. */
export function openImpl({ impls }: HasImpls, con: TypeCon): OpenImpl {
  const open = impls.get(con) ?? newImpl();
  impls.set(con, open);
  return open;
}
