import type { MapKey, MapValue, StructValue, Value } from './value.ts';
import { stringKey } from './value.ts';

/**
 * Structural equality. Int equals a Float of the same value; errors, stores and functions equal only themselves. A present
 * optional field is held without its Some, so Some(v) equals a bare v; what is absent is never held so.
 */
export function equal(a: Value, b: Value): boolean {
  if (a === b) return true;
  if (isSome(a) && !isSome(b)) return !isAbsent(b) && equal(a.value, b);
  if (isSome(b) && !isSome(a)) return !isAbsent(a) && equal(a, b.value);
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

function isAbsent(value: Value): boolean {
  return value === null || (typeof value === 'object' && value.kind === 'none');
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
