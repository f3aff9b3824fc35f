import { copyItems, share } from './copy-on-write.ts';
import { display, messageOf, typeName } from './display.ts';
import { keyValue, mapKey, putEntry } from './equality.ts';
import { fault } from './fault.ts';
import type { Vm } from './machine.ts';
import { ownIn } from './memory.ts';
import type { LinkedFunction } from './program.ts';
import { characterAt, characters, length, slice } from './text.ts';
import {
  type ArrayValue,
  array,
  type IteratorValue,
  MAX_INT,
  type RangeValue,
  type StructValue,
  stringKey,
  type Value,
} from './value.ts';

/** Reading and writing parts of values, where the interpreter's fast paths do not apply. */

export function getField(fn: LinkedFunction, pc: number, object: Value, name: string): Value {
  if (typeof object === 'object' && object !== null) {
    switch (object.kind) {
      case 'struct': {
        const slot = object.type.slots.get(name);
        if (slot !== undefined) {
          fn.cacheTypes[pc] = object.type;
          fn.cacheSlots[pc] = slot;
          return object.fields[slot];
        }
        const extra = object.extra?.get(name);
        if (extra !== undefined) return extra;
        break;
      }
      case 'map':
        return object.entries.get(stringKey(name)) ?? null;
      case 'enum': {
        const slot = object.type.variants[object.variant]?.fields?.indexOf(name) ?? -1;
        if (slot >= 0) return object.payload[slot];
        break;
      }
      case 'range':
        if (name === 'start') return object.start;
        if (name === 'end') return object.end;
        if (name === 'inclusive') return object.inclusive;
        break;
      case 'ref':
      case 'hashmap':
      case 'ledger':
      case 'memory':
        if (name === 'name') return object.name;
        break;
      default:
        break;
    }
  }
  const message = name === 'message' ? ownMessage(object) : undefined;
  if (message !== undefined) return message;
  throw missingField(object, name);
}

/** Every error has a `message`: one of the program's own that keeps none shows itself. */
function ownMessage(object: Value): string | undefined {
  if (typeof object !== 'object' || object === null || (object.kind !== 'struct' && object.kind !== 'enum'))
    return undefined;
  return object.type.parents.includes('Error') ? display(object) : undefined;
}

function missingField(object: Value, name: string): Error {
  if (object === null || object === undefined) return fault('FieldError', `cannot read field '${name}' of nil`);
  return fault('FieldError', `${typeName(object)} has no field '${name}'`);
}

export function getIndex(object: Value, index: Value): Value {
  if (typeof index === 'object' && index !== null && index.kind === 'range') return sliceOf(object, index);
  if (typeof object === 'string') {
    const character = typeof index === 'number' ? characterAt(object, index) : undefined;
    if (character === undefined) throw badIndex(index, 'String', length(object));
    return character;
  }
  if (typeof object === 'object' && object !== null) {
    switch (object.kind) {
      case 'array':
      case 'stack': {
        if (typeof index !== 'number' || index < 0 || index >= object.items.length) {
          throw badIndex(index, typeName(object), object.items.length);
        }
        return object.items[index];
      }
      case 'map': {
        const key = mapKey(index);
        return (key === undefined ? undefined : object.entries.get(key)) ?? null;
      }
      case 'struct': {
        if (typeof index !== 'string') return partOfMessage(object, index);
        const slot = object.type.slots.get(index);
        if (slot !== undefined) return object.fields[slot];
        const extra = object.extra?.get(index);
        if (extra !== undefined) return extra;
        throw missingField(object, index);
      }
      case 'range': {
        const length = rangeLength(object);
        if (typeof index !== 'number' || index < 0 || index >= length) throw badIndex(index, 'Range', length);
        return (object.start ?? 0) + index;
      }
      default:
        break;
    }
  }
  throw fault('TypeError', `${typeName(object)} cannot be indexed`);
}

function partOfMessage(object: Value, index: Value): Value {
  const message = messageOf(object);
  if (message === undefined) throw fault('TypeError', `${typeName(object)} cannot be indexed`);
  return getIndex(message, index);
}

function badIndex(index: Value, type: string, length: number): Error {
  if (typeof index !== 'number')
    return fault('TypeError', `the index of ${type} must be an Int, not ${typeName(index)}`);
  return fault('IndexError', `index ${index} is out of bounds for ${type} of length ${length}`, {
    kind: 'index_out_of_bounds',
  });
}

/** Bounds outside are moved to the nearest end. */
function sliceOf(object: Value, range: RangeValue): Value {
  const start = Math.max(0, range.start ?? 0);
  const last = range.end === null ? MAX_INT : range.end + (range.inclusive ? 1 : 0);
  if (typeof object === 'string') return slice(object, start, last);
  if (typeof object === 'object' && object !== null && object.kind === 'array') {
    return array(copyItems(object.items.slice(start, Math.max(start, last))));
  }
  const message = messageOf(object);
  if (message !== undefined) return slice(message, start, last);
  throw fault('TypeError', `${typeName(object)} cannot be sliced`);
}

export function setField(owner: Value, name: string, value: Value): void {
  if (typeof owner === 'object' && owner !== null) {
    if (owner.kind === 'struct') {
      const slot = owner.type.slots.get(name);
      if (slot !== undefined) {
        owner.fields[slot] = value;
        return;
      }
      if (owner.extra?.has(name)) {
        owner.extra.set(name, value);
        return;
      }
    }
    if (owner.kind === 'map') {
      owner.entries.set(stringKey(name), value);
      return;
    }
  }
  throw missingField(owner, name);
}

export function setIndex(owner: Value, index: Value, value: Value): void {
  if (typeof owner === 'object' && owner !== null) {
    switch (owner.kind) {
      case 'array':
        if (typeof index !== 'number' || index < 0 || index >= owner.items.length) {
          throw badIndex(index, 'Array', owner.items.length);
        }
        owner.items[index] = value;
        return;
      case 'map':
        if (!putEntry(owner, index, value)) throw fault('TypeError', `${typeName(index)} cannot be a key`);
        return;
      case 'struct':
        if (typeof index === 'string') {
          setField(owner, index, value);
          return;
        }
        break;
      default:
        break;
    }
  }
  throw fault('TypeError', `cannot assign to an element of ${typeName(owner)}`);
}

/** The container in a field, unshared; the owner now holds it. */
export function ownField(vm: Vm, owner: Value, name: string): Value {
  if (typeof owner === 'object' && owner !== null) {
    if (owner.kind === 'struct') {
      const slot = owner.type.slots.get(name);
      if (slot !== undefined) {
        const child = ownIn(vm, owner.fields[slot]);
        owner.fields[slot] = child;
        return child;
      }
    }
    if (owner.kind === 'map') return ownIndex(vm, owner, name);
  }
  throw missingField(owner, name);
}

export function ownIndex(vm: Vm, owner: Value, index: Value): Value {
  const child = getIndex(owner, index);
  const owned = ownIn(vm, child);
  if (owned !== child) setIndex(owner, index, owned);
  return owned;
}

export function rangeLength(range: RangeValue): number {
  const start = range.start ?? 0;
  if (range.end === null) return MAX_INT - start;
  return Math.max(0, range.end - start + (range.inclusive ? 1 : 0));
}

export function iterate(value: Value): IteratorValue {
  if (typeof value === 'string') return { kind: 'iterator', over: 'items', items: characters(value), next: 0 };
  if (typeof value === 'object' && value !== null) {
    switch (value.kind) {
      case 'array':
      case 'stack':
        share(value);
        return { kind: 'iterator', over: 'items', items: value.items, next: 0 };
      case 'queue':
        share(value);
        return { kind: 'iterator', over: 'items', items: value.items, next: value.head };
      case 'set':
        return { kind: 'iterator', over: 'items', items: [...value.items.values()], next: 0 };
      case 'map':
        return { kind: 'iterator', over: 'items', items: pairs(value), next: 0 };
      case 'hashmap':
        return { kind: 'iterator', over: 'items', items: pairs(value.entries), next: 0 };
      case 'range': {
        const start = value.start ?? 0;
        return { kind: 'iterator', over: 'ints', next: start, end: start + rangeLength(value) };
      }
      default:
        break;
    }
  }
  const message = messageOf(value);
  if (message !== undefined) return iterate(message);
  throw fault('TypeError', `${typeName(value)} is not iterable`);
}

export function pairs(map: Extract<Value, { kind: 'map' }>): ArrayValue[] {
  return [...map.entries].map(([key, item]) => array([keyValue(map, key), share(item)]));
}

/** Puts the checked bounds of an Int loop into place; the limit is exclusive. */
export function rangeBounds(start: Value, end: Value, inclusive: boolean): { start: number; limit: number } {
  const from = start ?? 0;
  if (typeof from !== 'number') throw fault('TypeError', `a range needs Ints, not ${typeName(start)}`);
  if (end === null || end === undefined) return { start: from, limit: MAX_INT };
  if (typeof end !== 'number') throw fault('TypeError', `a range needs Ints, not ${typeName(end)}`);
  return { start: from, limit: inclusive ? end + 1 : end };
}

export function makeRange(start: Value, end: Value, inclusive: boolean): RangeValue {
  const bound = (value: Value): number | null => {
    if (value === null || value === undefined || typeof value === 'number') return value ?? null;
    throw fault('TypeError', `a range needs Ints, not ${typeName(value)}`);
  };
  return { kind: 'range', start: bound(start), end: bound(end), inclusive };
}

export function makeMap(stack: readonly Value[], at: number, count: number): Value {
  const map: Value = { kind: 'map', entries: new Map(), keys: null, shared: false };
  for (let index = 0; index < count; index++) {
    const key = stack[at + 2 * index];
    if (!putEntry(map, key, stack[at + 2 * index + 1])) throw fault('TypeError', `${typeName(key)} cannot be a key`);
  }
  return map;
}

export function concat(stack: readonly Value[], at: number, count: number): string {
  let text = '';
  for (let index = 0; index < count; index++) {
    const part = stack[at + index];
    text += typeof part === 'string' ? part : display(part);
  }
  return text;
}

/** The inside of Some, Ok and Err; other values are themselves. */
export function unwrap(value: Value): Value {
  if (typeof value !== 'object' || value === null) return value;
  if (value.kind === 'some' || value.kind === 'ok' || value.kind === 'err') return share(value.value);
  return value;
}

export function isNone(value: Value): boolean {
  return value === null || value === undefined || (typeof value === 'object' && value.kind === 'none');
}

export function isResult(value: Value): boolean {
  return typeof value === 'object' && value !== null && (value.kind === 'ok' || value.kind === 'err');
}

/** A bare value counts as Ok; an Option or nil is none. */
export function isOkOrBare(value: Value): boolean {
  if (typeof value !== 'object') return value !== undefined;
  return value !== null && value.kind !== 'err' && value.kind !== 'some' && value.kind !== 'none';
}

export function isStructOf(value: Value, type: StructValue['type']): boolean {
  return typeof value === 'object' && value !== null && value.kind === 'struct' && value.type === type;
}

/** Whether a catch clause for this type takes the value. */
export function hasType(value: Value, name: string): boolean {
  if (name === 'Any') return true;
  if (typeof value === 'object' && value !== null) {
    if (value.kind === 'struct') {
      const { type } = value;
      if (name === 'Error' && type.kind === 'error') return true;
      return type.name === name || type.parents.includes(name);
    }
    if (value.kind === 'enum') {
      const variant = value.type.variants[value.variant]?.name ?? '';
      const { type } = value;
      return type.name === name || `${type.name}::${variant}` === name || type.parents.includes(name);
    }
  }
  return typeName(value) === name;
}
