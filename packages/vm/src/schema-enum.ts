import type { Json } from '@concerto/base';
import { type EnumType, stringKey, type Value } from './value.ts';

/** An enum value in JSON: `"Name"`, `{"Name": value}`, `{"Name": [a, b]}` or `{"Name": {field: value}}`. */
export interface FoundVariant {
  readonly index: number;
  readonly name: string;
  readonly parts: readonly { readonly value: Value; readonly type: string }[];
}

export function readVariant(type: EnumType, value: Value): FoundVariant | undefined {
  if (typeof value === 'string') {
    const index = type.variants.findIndex((variant) => variant.name === value && variant.size === 0);
    return index === -1 ? undefined : { index, name: value, parts: [] };
  }
  if (typeof value !== 'object' || value === null || value.kind !== 'map' || value.entries.size !== 1) return undefined;
  for (const [key, data] of value.entries) {
    const index = type.variants.findIndex((variant) => variant.name === key && variant.size > 0);
    const variant = type.variants[index];
    const values = variant && payloadOf(variant, data);
    if (variant === undefined || values === undefined) return undefined;
    const parts = values.map((part, at) => ({ value: part, type: variant.types[at] ?? 'Any' }));
    return { index, name: variant.name, parts };
  }
  return undefined;
}

function payloadOf(variant: EnumType['variants'][number], data: Value): readonly Value[] | undefined {
  if (variant.fields !== null) {
    if (typeof data !== 'object' || data === null || data.kind !== 'map') return undefined;
    return variant.fields.map((field) => data.entries.get(stringKey(field)));
  }
  if (variant.size === 1) return [data];
  const fits = typeof data === 'object' && data !== null && data.kind === 'array' && data.items.length === variant.size;
  return fits ? data.items : undefined;
}

export function describeEnum(type: EnumType, describe: (type: string) => Json): Json {
  const units = type.variants.filter((variant) => variant.size === 0).map((variant) => variant.name);
  if (units.length === type.variants.length) return { type: 'string', enum: units };
  const plain: Json[] = units.length === 0 ? [] : [{ type: 'string', enum: units }];
  const carrying = type.variants.filter((variant) => variant.size > 0);
  return { anyOf: [...plain, ...carrying.map((variant) => describeVariant(variant, describe))] };
}

function describeVariant(variant: EnumType['variants'][number], describe: (type: string) => Json): Json {
  const parts = Array.from({ length: variant.size }, (_, at) => describe(variant.types[at] ?? 'Any'));
  const { fields } = variant;
  const [only = {}] = parts;
  const tuple = variant.size === 1 ? only : { type: 'array', prefixItems: parts, minItems: variant.size };
  const payload = fields === null ? tuple : object(fields, parts);
  return object([variant.name], [payload]);
}

function object(names: readonly string[], schemas: readonly Json[]): Json {
  const properties = Object.fromEntries(names.map((name, at) => [name, schemas[at] ?? {}]));
  return { type: 'object', properties, required: [...names], additionalProperties: false };
}
