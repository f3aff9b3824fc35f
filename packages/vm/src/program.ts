import { assert } from '@concerto/base';
import {
  BUILTIN_STRUCTS,
  type BuiltinStructName,
  type IrConstant,
  type IrFunction,
  type IrListen,
  type IrModule,
  type IrStruct,
  isBuiltin,
  parseType,
} from '@concerto/ir';
import { builtinType } from './fault.ts';
import { type FittedParameter, fits } from './fit.ts';
import { fromJson } from './json.ts';
import type { Implementation } from './machine.ts';
import { newHashMap, newLedger, newMemory } from './stores.ts';
import type { EnumType, StoreValue, StructType, Value } from './value.ts';

/** A function ready to run. */
export interface LinkedFunction {
  /** Its place in `Program.functions`: what a snapshot calls it by. */
  readonly index: number;
  readonly name: string;
  readonly file: string | undefined;
  readonly params: number;
  /** Parameters without a default. */
  readonly required: number;
  readonly captures: number;
  readonly registers: number;
  readonly mutSelf: boolean;
  /** Parameters that a caller who does not know their types must fit its arguments to; null when there are none. */
  readonly fitted: readonly FittedParameter[] | null;
  readonly code: Int32Array;
  readonly handlers: IrFunction['handlers'];
  readonly positions: readonly number[];
  readonly unit: Unit;
  /** Field access remembers, by offset, the struct type it met last and the slot it found there. */
  readonly cacheTypes: (StructType | null)[];
  readonly cacheSlots: number[];
}

/** The tables the operands of a module's functions index. */
interface Unit {
  readonly constants: Value[];
  readonly builtins: readonly Implementation[];
  readonly structs: readonly StructType[];
  readonly enums: readonly EnumType[];
  readonly listens: readonly IrListen[];
  readonly functions: LinkedFunction[];
}

export interface Program {
  readonly module: IrModule;
  /** The module's functions, then the prelude's, then one for each pipeline. */
  readonly functions: readonly LinkedFunction[];
  readonly unit: Unit;
  readonly structs: ReadonlyMap<string, StructType>;
  readonly enums: ReadonlyMap<string, EnumType>;
  /** Type name to method name. */
  readonly methods: ReadonlyMap<string, ReadonlyMap<string, LinkedFunction>>;
  /** Prelude functions by built-in name (`Array.map`, `$listen`). */
  readonly prelude: ReadonlyMap<string, LinkedFunction>;
  /** How many module variables there are. */
  readonly globals: number;
  /** The declared hashmaps, ledgers and memories, as `hashmap NAME` … */
  readonly stores: ReadonlyMap<string, StoreValue>;
}

/**
 * Turns a checked module and the prelude into what the interpreter runs. A program belongs to one VM: its stores are in it,
 * and its functions remember what they met.
 */
export function link(module: IrModule, prelude: IrModule, resolve: (name: string) => Implementation): Program {
  const functions: LinkedFunction[] = [];
  const structs = linkStructs(module);
  const enums = new Map(module.enums.map((type) => [type.name, linkEnum(type, module.traits[type.name] ?? [])]));
  const stores = declaredStores(module);
  const tables = { structs, enums, functions, stores, resolve };
  const unit = linkUnit(module, tables);
  const preludeUnit = linkUnit(prelude, tables);
  const methods = new Map(
    Object.entries(module.methods).map(([type, table]) => [
      type,
      new Map(Object.entries(table).map(([name, index]) => [name, at(unit.functions, index)])),
    ]),
  );
  const byName = new Map(preludeUnit.functions.map((fn) => [fn.name, fn]));
  return { module, functions, unit, structs, enums, methods, prelude: byName, globals: module.globals.length, stores };
}

interface LinkTables {
  readonly structs: ReadonlyMap<string, StructType>;
  readonly enums: ReadonlyMap<string, EnumType>;
  readonly functions: LinkedFunction[];
  readonly stores: ReadonlyMap<string, StoreValue>;
  readonly resolve: (name: string) => Implementation;
}

function declaredStores(module: IrModule): Map<string, StoreValue> {
  const stores = new Map<string, StoreValue>();
  for (const { name } of module.hashmaps) stores.set(`hashmap ${name}`, newHashMap(name));
  for (const { name } of module.ledgers) stores.set(`ledger ${name}`, newLedger(name));
  for (const { name, maxMessages } of module.memories)
    stores.set(`memory ${name}`, newMemory(name, maxMessages ?? null));
  return stores;
}

function linkUnit(module: IrModule, tables: LinkTables): Unit {
  const unit: Unit = {
    constants: [],
    builtins: module.builtins.map(tables.resolve),
    structs: module.structs.map((type) => known(tables.structs.get(type.name))),
    enums: module.enums.map((type) => known(tables.enums.get(type.name))),
    listens: module.listens,
    functions: [],
  };
  for (const fn of module.functions) {
    const linked = linkFunction(fn, tables.functions.length, unit, module.files);
    unit.functions.push(linked);
    tables.functions.push(linked);
  }
  for (const constant of module.constants) unit.constants.push(linkConstant(constant, unit, tables));
  return unit;
}

function linkFunction(fn: IrFunction, index: number, unit: Unit, files: readonly string[]): LinkedFunction {
  return {
    index,
    name: fn.name,
    file: fn.file === undefined ? undefined : files[fn.file],
    params: fn.params.length,
    required: fn.required ?? fn.params.length,
    captures: fn.captures,
    registers: fn.registers,
    mutSelf: fn.mutSelf === true,
    fitted: fittedParameters(fn.params),
    code: Int32Array.from(fn.code),
    handlers: fn.handlers,
    positions: fn.positions,
    unit,
    cacheTypes: Array.from({ length: fn.code.length }, () => null),
    cacheSlots: Array.from({ length: fn.code.length }, () => 0),
  };
}

/** Most functions have none: their types are not even parsed. */
function fittedParameters(params: IrFunction['params']): FittedParameter[] | null {
  const fitted: FittedParameter[] = [];
  params.forEach(({ type }, index) => {
    if (type === undefined || !/\b(?:Float|Option)\b/.test(type)) return;
    const parsed = parseType(type);
    if (fits(parsed)) fitted.push({ index, type: parsed });
  });
  return fitted.length === 0 ? null : fitted;
}

function linkConstant(constant: IrConstant, unit: Unit, tables: LinkTables): Value {
  switch (constant.kind) {
    case 'nil':
      return null;
    case 'bool':
    case 'int':
    case 'string':
      return constant.value;
    case 'float':
      return { kind: 'float', value: constant.value };
    case 'type':
      return { kind: 'type', text: constant.value, type: parseType(constant.value) };
    case 'function':
      return { kind: 'closure', target: at(unit.functions, constant.index), captures: [] };
    case 'builtin':
      assert(isBuiltin(constant.name), `a built-in called ${constant.name}`);
      return { kind: 'builtin', name: constant.name };
    case 'hashmap':
    case 'ledger':
    case 'memory':
      return known(tables.stores.get(`${constant.kind} ${constant.name}`));
    default:
      return { kind: 'ref', of: constant.kind, name: constant.name };
  }
}

function linkStructs(module: IrModule): Map<string, StructType> {
  const types = new Map<string, StructType>();
  for (const name of Object.keys(BUILTIN_STRUCTS)) if (isBuiltinStruct(name)) types.set(name, builtinType(name));
  for (const type of module.structs) {
    if (!isBuiltinStruct(type.name)) types.set(type.name, linkStruct(type, module.traits[type.name] ?? []));
  }
  return types;
}

function isBuiltinStruct(name: string): name is BuiltinStructName {
  return Object.hasOwn(BUILTIN_STRUCTS, name);
}

function linkStruct(type: IrStruct, parents: readonly string[]): StructType {
  const fields = type.fields.map((field) => ({
    name: field.name,
    type: field.type,
    optional: field.optional === true,
    default: field.default === undefined ? undefined : fromJson(field.default),
    description: field.description,
    hidden: false,
    rules: field.rules,
  }));
  const slots = new Map(fields.map((field, slot) => [field.name, slot]));
  return { name: type.name, kind: type.kind, params: type.params ?? [], fields, slots, parents, modes: type.modes };
}

function linkEnum(type: IrModule['enums'][number], parents: readonly string[]): EnumType {
  return {
    name: type.name,
    parents,
    variants: type.variants.map((variant) => ({
      name: variant.name,
      fields: variant.fields ?? null,
      size: variant.size,
      types: variant.types ?? [],
    })),
  };
}

function known<T>(value: T | undefined): T {
  assert(value !== undefined, 'a type that was just linked');
  return value;
}

export function at<T>(items: readonly T[], index: number): T {
  const item = items[index];
  assert(item !== undefined, 'an index the validator has checked');
  return item;
}

/** Tells programs apart whose code differs, the prelude's included: a snapshot only fits the code it was taken from. */
export function fingerprint(program: Program): number {
  let hash = 0x811c9dc5;
  const mix = (value: number): void => {
    hash = Math.imul(hash ^ value, 0x01000193) >>> 0;
  };
  for (const fn of program.functions) {
    mix(fn.registers);
    for (const word of fn.code) mix(word);
  }
  return hash;
}
