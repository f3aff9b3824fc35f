import type { BuiltinName, IrField, IrStruct, TypeExpr } from '@concerto/ir';
import type { LinkedFunction } from './program.ts';

/**
 * What a register holds. Int is a JavaScript number (always a safe integer), so that loops and calls run on plain numbers;
 * Float is wrapped. nil is null; undefined is the mark of an argument that was not given, and of a module variable whose
 * initialiser has not run.
 */
export type Value = null | undefined | boolean | number | string | ObjectValue;

export type ObjectValue =
  | FloatValue
  | ArrayValue
  | MapValue
  | StructValue
  | EnumValue
  | SomeValue
  | NoneValue
  | OkValue
  | ErrValue
  | RangeValue
  | ClosureValue
  | BuiltinValue
  | RefValue
  | StoreValue
  | BuilderValue
  | TypeValue
  | SetValue
  | QueueValue
  | StackValue
  | CellValue
  | IteratorValue;

/** Containers carry the mark of copy-on-write: `shared` means that more than one place may refer to it. */
export interface ArrayValue {
  readonly kind: 'array';
  items: Value[];
  shared: boolean;
}
/** Keys are held as `mapKey` encodes them; `keys` has the original of those that JavaScript cannot hold. */
export interface MapValue {
  readonly kind: 'map';
  entries: Map<MapKey, Value>;
  keys: Map<MapKey, Value> | null;
  shared: boolean;
}
export interface StructValue {
  readonly kind: 'struct';
  readonly type: StructType;
  fields: Value[];
  /** Properties beyond the declared ones, which JSON brought. */
  extra: Map<string, Value> | null;
  shared: boolean;
}
export interface SetValue {
  readonly kind: 'set';
  items: Map<MapKey, Value>;
  shared: boolean;
}
/** `head` is how many have left: taking from the front must not move the rest. */
export interface QueueValue {
  readonly kind: 'queue';
  items: Value[];
  head: number;
  shared: boolean;
}
export interface StackValue {
  readonly kind: 'stack';
  items: Value[];
  shared: boolean;
}

export interface FloatValue {
  readonly kind: 'float';
  readonly value: number;
}
export interface EnumValue {
  readonly kind: 'enum';
  readonly type: EnumType;
  readonly variant: number;
  readonly payload: readonly Value[];
}
export interface SomeValue {
  readonly kind: 'some';
  readonly value: Value;
}
export interface NoneValue {
  readonly kind: 'none';
}
export interface OkValue {
  readonly kind: 'ok';
  readonly value: Value;
}
export interface ErrValue {
  readonly kind: 'err';
  readonly value: Value;
}
/** null: open. */
export interface RangeValue {
  readonly kind: 'range';
  readonly start: number | null;
  readonly end: number | null;
  readonly inclusive: boolean;
}
export interface ClosureValue {
  readonly kind: 'closure';
  readonly target: LinkedFunction;
  readonly captures: readonly Value[];
}
export interface BuiltinValue {
  readonly kind: 'builtin';
  readonly name: BuiltinName;
}
/** Something declared: a model, an agent … */
export interface RefValue {
  readonly kind: 'ref';
  readonly of: 'model' | 'agent' | 'pipeline' | 'schema' | 'mcp' | 'session';
  readonly name: string;
}
/** A hashmap, ledger or memory: identity, not a value. */
export type StoreValue = HashMapStore | LedgerStore | MemoryStore;
export interface HashMapStore {
  readonly kind: 'hashmap';
  readonly name: string;
  entries: MapValue;
  readonly scopes: Map<string, HashMapStore>;
  /** Of the file it is kept in; null for one that ends with the program. */
  path: string | null;
  /** Whom to tell when an entry changes; without a key of every change. */
  readonly listeners: { readonly key: MapKey | undefined; readonly call: Value }[];
}
export interface LedgerStore {
  readonly kind: 'ledger';
  readonly name: string;
  readonly entries: Map<string, { keys: readonly string[]; value: Value }>;
  readonly scopes: Map<string, LedgerStore>;
}
export interface MemoryStore {
  readonly kind: 'memory';
  readonly name: string;
  readonly limit: number | null;
  messages: { role: string; content: string }[];
}
/** A model or agent with options; each `with_…` makes a new one. */
interface BuilderValue {
  readonly kind: 'builder';
  readonly target: RefValue;
  readonly options: BuilderOptions;
}
export interface BuilderOptions {
  readonly memory?: MemoryStore;
  readonly remember?: boolean;
  readonly tools?: readonly Value[];
  readonly withoutTools?: boolean;
  readonly context?: Value;
  readonly system?: string;
  readonly temperature?: number;
  readonly timeout?: number;
}
export interface TypeValue {
  readonly kind: 'type';
  readonly text: string;
  readonly type: TypeExpr;
}
/** A captured variable. */
interface CellValue {
  readonly kind: 'cell';
  value: Value;
}
/** A loop over the value something had when it began. */
export type IteratorValue =
  | { readonly kind: 'iterator'; readonly over: 'items'; readonly items: readonly Value[]; next: number }
  | { readonly kind: 'iterator'; readonly over: 'ints'; next: number; readonly end: number };

export type MapKey = string | number | boolean | null;

export interface StructType {
  readonly name: string;
  readonly kind: 'struct' | 'schema' | 'tool' | 'error';
  /** Type parameters, as the types of the fields name them. */
  readonly params: readonly string[];
  readonly fields: readonly StructField[];
  readonly slots: ReadonlyMap<string, number>;
  /** What also catches it: the error types above, the traits it implements. */
  readonly parents: readonly string[];
  readonly modes?: IrStruct['modes'];
}
interface StructField {
  readonly name: string;
  readonly type: string;
  readonly optional: boolean;
  readonly default: Value;
  readonly description: string | undefined;
  /** Not part of the display and JSON forms. */
  readonly hidden: boolean;
  readonly rules?: IrField['rules'];
}
export interface EnumType {
  readonly name: string;
  /** Traits it implements. */
  readonly parents: readonly string[];
  readonly variants: readonly {
    readonly name: string;
    readonly fields: readonly string[] | null;
    readonly size: number;
    /** Of what it carries; empty when the module does not say. */
    readonly types: readonly string[];
  }[];
}

export const NONE: NoneValue = { kind: 'none' };

/** Ints never leave this range; leaving it is an OverflowError. */
export const MAX_INT = Number.MAX_SAFE_INTEGER;

export function float(value: number): FloatValue {
  return { kind: 'float', value };
}

export function array(items: Value[]): ArrayValue {
  return { kind: 'array', items, shared: false };
}

export function emptyMap(): MapValue {
  return { kind: 'map', entries: new Map(), keys: null, shared: false };
}

/** A map with string keys in the order given. */
export function record(entries: Readonly<Record<string, Value>>): MapValue {
  const map = emptyMap();
  for (const [key, value] of Object.entries(entries)) map.entries.set(stringKey(key), value);
  return map;
}

export function struct(type: StructType, fields: Value[]): StructValue {
  return { kind: 'struct', type, fields, extra: null, shared: false };
}

export function some(value: Value): SomeValue {
  return { kind: 'some', value };
}

export function okValue(value: Value): OkValue {
  return { kind: 'ok', value };
}

export function errValue(value: Value): ErrValue {
  return { kind: 'err', value };
}

/** A string key that begins like an encoded key is marked, so that the two cannot meet. */
export function stringKey(text: string): string {
  return text.charCodeAt(0) === 0 ? `\u0000s${text}` : text;
}

/** Truthiness: nil, false, 0, 0.0, "", empty collections, None and Err are false. */
export function truthy(value: Value): boolean {
  if (typeof value === 'boolean') return value;
  if (typeof value === 'number') return value !== 0;
  if (typeof value === 'string') return value !== '';
  if (value === null || value === undefined) return false;
  switch (value.kind) {
    case 'float':
      return value.value !== 0 && !Number.isNaN(value.value);
    case 'array':
    case 'stack':
      return value.items.length > 0;
    case 'queue':
      return value.items.length > value.head;
    case 'map':
      return value.entries.size > 0;
    case 'set':
      return value.items.size > 0;
    case 'none':
    case 'err':
      return false;
    default:
      return true;
  }
}
