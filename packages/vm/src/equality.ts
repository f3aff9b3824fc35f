import type { MapKey, MapValue, StructValue, Value } from './value.ts';
import { stringKey } from './value.ts';

/**
 * Structural equality. Int equals a Float of the same value; errors, stores and functions equal only themselves. A present
 * optional field is held without its Some, so Some(v) equals a bare v.
 */
export function equal(a: Value, b: Value): boolean {
  if (a === b) return true;
  if (isSome(a) !== isSome(b)) return isSome(a) ? equal(a.value, b) : isSome(b) && equal(a, b.value);
  if (typeof a === 'number') return typeof b === 'object' && b !== null && b.kind === 'float' && b.value === a;
  if (typeof a !== 'object' || a === null) return false;
  if (typeof b === 'number') return a.kind === 'float' && a.value === b;
  if (typeof b !== 'object' || b === null) return false;
  switch (a.kind) {
    case 'float':
      return b.kind === 'float' && a.value === b.value;
    case 'array':
      return b.kind === 'array' && sameItems(a.items, b.items);
    case 'stack':
      return b.kind === 'stack' && sameItems(a.items, b.items);
    case 'queue':
      return b.kind === 'queue' && sameItems(a.items.slice(a.head), b.items.slice(b.head));
    case 'set':
      return b.kind === 'set' && a.items.size === b.items.size && [...a.items.keys()].every((key) => b.items.has(key));
    case 'map':
      return b.kind === 'map' && sameMaps(a, b);
    case 'struct':
      return b.kind === 'struct' && sameStructs(a, b);
    case 'enum':
      return b.kind === 'enum' && a.type === b.type && a.variant === b.variant && sameItems(a.payload, b.payload);
    case 'some':
      return b.kind === 'some' && equal(a.value, b.value);
    case 'none':
      return b.kind === 'none';
    case 'ok':
      return b.kind === 'ok' && equal(a.value, b.value);
    case 'err':
      return b.kind === 'err' && equal(a.value, b.value);
    case 'range':
      return b.kind === 'range' && a.start === b.start && a.end === b.end && a.inclusive === b.inclusive;
    case 'ref':
      return b.kind === 'ref' && a.of === b.of && a.name === b.name;
    case 'builtin':
      return b.kind === 'builtin' && a.name === b.name;
    case 'type':
      return b.kind === 'type' && a.text === b.text;
    case 'closure':
      return b.kind === 'closure' && a.target === b.target && a.captures.length === 0 && b.captures.length === 0;
    case 'hashmap':
    case 'ledger':
    case 'memory':
    case 'builder':
    case 'cell':
    case 'iterator':
      return false;
  }
}

function isSome(value: Value): value is Extract<Value, { kind: 'some' }> {
  return typeof value === 'object' && value !== null && value.kind === 'some';
}

function sameItems(a: readonly Value[], b: readonly Value[]): boolean {
  return a.length === b.length && a.every((item, index) => equal(item, b[index]));
}

function sameMaps(a: MapValue, b: MapValue): boolean {
  if (a.entries.size !== b.entries.size) return false;
  for (const [key, value] of a.entries) if (!b.entries.has(key) || !equal(value, b.entries.get(key))) return false;
  return true;
}

function sameStructs(a: StructValue, b: StructValue): boolean {
  return a.type === b.type && a.type.kind !== 'error' && sameItems(a.fields, b.fields);
}

/** Order of numbers, strings (by code point), booleans, and arrays of these; undefined when there is none. */
export function compare(a: Value, b: Value): number | undefined {
  const x = numeric(a);
  const y = numeric(b);
  if (x !== undefined && y !== undefined) {
    if (x < y) return -1;
    if (x > y) return 1;
    return x === y ? 0 : Number.NaN;
  }
  if (typeof a === 'string' && typeof b === 'string') return compareText(a, b);
  if (typeof a === 'boolean' && typeof b === 'boolean') return Number(a) - Number(b);
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return undefined;
  if (a.kind === 'array' && b.kind === 'array') return compareItems(a.items, b.items);
  if (a.kind === 'some' && b.kind === 'some') return compare(a.value, b.value);
  if (a.kind === 'none' || b.kind === 'none') {
    if (a.kind === b.kind) return 0;
    if (a.kind === 'some') return 1;
    return b.kind === 'some' ? -1 : undefined;
  }
  if (a.kind === 'enum' && b.kind === 'enum' && a.type === b.type) {
    return a.variant === b.variant ? compareItems(a.payload, b.payload) : a.variant - b.variant;
  }
  return undefined;
}

function compareItems(a: readonly Value[], b: readonly Value[]): number | undefined {
  for (let index = 0; index < a.length && index < b.length; index++) {
    const order = compare(a[index], b[index]);
    if (order !== 0) return order;
  }
  return a.length - b.length;
}

function numeric(value: Value): number | undefined {
  if (typeof value === 'number') return value;
  return typeof value === 'object' && value !== null && value.kind === 'float' ? value.value : undefined;
}

const SURROGATE = 0xd800;
const AFTER_SURROGATES = 0xe000;

/** By code point: JavaScript compares UTF-16 units, which puts characters beyond U+FFFF before U+E000. */
function compareText(a: string, b: string): number {
  const length = Math.min(a.length, b.length);
  for (let index = 0; index < length; index++) {
    const x = a.charCodeAt(index);
    const y = b.charCodeAt(index);
    if (x === y) continue;
    const xHigh = x >= SURROGATE && x < AFTER_SURROGATES;
    const yHigh = y >= SURROGATE && y < AFTER_SURROGATES;
    if (xHigh === yHigh) return x - y;
    return xHigh ? 1 : -1;
  }
  return a.length - b.length;
}

/** What identifies the value as a key; undefined for values that cannot be keys. Equal values have the same. */
export function mapKey(value: Value): MapKey | undefined {
  if (typeof value === 'string') return stringKey(value);
  if (typeof value === 'number' || typeof value === 'boolean' || value === null) return value;
  if (value === undefined) return undefined;
  if (value.kind === 'float') return value.value;
  const text = keyText(value);
  return text === undefined ? undefined : `\u0000${text}`;
}

function keyText(value: Value): string | undefined {
  if (typeof value === 'string') return JSON.stringify(value);
  if (typeof value !== 'object' || value === null) return value === undefined ? undefined : String(value);
  switch (value.kind) {
    case 'float':
      return String(value.value);
    case 'array':
      return listText('[', value.items);
    case 'enum':
      return listText(`${value.type.name}::${value.variant}(`, value.payload);
    case 'struct':
      return value.type.kind === 'error' ? undefined : listText(`${value.type.name}{`, value.fields);
    case 'some':
      return listText('Some(', [value.value]);
    case 'none':
      return 'None';
    case 'ok':
      return listText('Ok(', [value.value]);
    case 'err':
      return listText('Err(', [value.value]);
    case 'range':
      return `${value.start}${value.inclusive ? '..=' : '..'}${value.end}`;
    case 'ref':
      return `<${value.of} ${value.name}>`;
    default:
      return undefined;
  }
}

function listText(open: string, items: readonly Value[]): string | undefined {
  const parts: string[] = [];
  for (const item of items) {
    const text = keyText(item);
    if (text === undefined) return undefined;
    parts.push(text);
  }
  return `${open}${parts.join(',')}`;
}

/** The key as the program wrote it. */
export function keyValue(map: MapValue, key: MapKey): Value {
  const original = map.keys?.get(key);
  if (original !== undefined) return original;
  if (typeof key === 'number') return Number.isSafeInteger(key) ? key : { kind: 'float', value: key };
  return typeof key === 'string' && key.startsWith('\u0000s') ? key.slice(2) : key;
}

/** Sets an entry of an unshared map. */
export function putEntry(map: MapValue, key: Value, value: Value): boolean {
  const encoded = mapKey(key);
  if (encoded === undefined) return false;
  map.entries.set(encoded, value);
  if (typeof key === 'object' && key !== null && key.kind !== 'float') {
    map.keys ??= new Map();
    map.keys.set(encoded, key);
  }
  return true;
}
