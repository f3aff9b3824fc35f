import { BUILTIN_STRUCTS, type BuiltinStruct, type BuiltinStructName } from '@concerto/ir';
import type { StructType, StructValue, Value } from './value.ts';

/** A fault on its way to the nearest handler; `value` is what a catch clause sees. */
export class Fault extends Error {
  readonly code = 'fault';
  readonly value: Value;
  constructor(value: Value) {
    super('fault');
    this.name = 'Fault';
    this.value = value;
  }
}

const types = new Map<string, StructType>();

/** The built-in struct types; a module's struct of the same name is the same type. */
export function builtinType(name: BuiltinStructName): StructType {
  const known = types.get(name);
  if (known !== undefined) return known;
  const spec: BuiltinStruct = BUILTIN_STRUCTS[name];
  const fields = Object.entries(spec.fields).map(([field, type]) => ({
    name: field,
    type,
    optional: false,
    default: null,
    description: undefined,
    hidden: spec.hidden?.includes(field) === true,
  }));
  const type: StructType = {
    name,
    kind: spec.kind,
    fields,
    slots: new Map(fields.map((field, slot) => [field.name, slot])),
    params: [],
    parents: spec.parent === undefined ? [] : [spec.parent],
  };
  types.set(name, type);
  return type;
}

/** The error values' kinds are the type's name in small letters unless said otherwise. */
export interface ErrorParts {
  readonly kind?: string;
  readonly source?: Value;
  readonly errorCode?: Value;
  readonly details?: Value;
  readonly agent?: string;
}

export function errorValue(name: BuiltinStructName, message: string, parts: ErrorParts = {}): StructValue {
  const type = builtinType(name);
  const kind = parts.kind ?? name.replace(/Error$/, '').toLowerCase();
  const fields: Value[] = [kind, message, parts.source ?? null, parts.errorCode ?? null, parts.details ?? null];
  if (type.slots.has('agent')) fields.push(parts.agent ?? '');
  return { kind: 'struct', type, fields, extra: null, shared: false };
}

export function fault(name: BuiltinStructName, message: string, parts: ErrorParts = {}): Fault {
  return new Fault(errorValue(name, message, parts));
}

/** A field of a built-in struct. */
export function field(value: StructValue, name: string): Value {
  const slot = value.type.slots.get(name);
  return slot === undefined ? undefined : value.fields[slot];
}
