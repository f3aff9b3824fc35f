import { pairs, rangeLength } from '../access.ts';
import { add } from '../arithmetic.ts';
import { copyItems, share } from '../copy-on-write.ts';
import { display, typeName } from '../display.ts';
import { equal, keyValue, mapKey, putEntry } from '../equality.ts';
import { fault } from '../fault.ts';
import type { Native, Vm } from '../machine.ts';
import { accountSlots, ownIn } from '../memory.ts';
import { compare } from '../order.ts';
import {
  type ArrayValue,
  array,
  emptyMap,
  MAX_INT,
  type MapKey,
  type MapValue,
  NONE,
  type RangeValue,
  some,
  type Value,
} from '../value.ts';
import { absent, integer, list, mapping, numeric, text, wrong } from './arguments.ts';
import type { Entries } from './entry.ts';

/** The receiver of a mutating method: unshared, and put back for the caller to store. */
function ownedArray(vm: Vm, stack: Value[], at: number): ArrayValue {
  const owned = list(ownIn(vm, list(stack[at], 'the receiver')), 'the receiver');
  stack[at] = owned;
  return owned;
}
function ownedMap(vm: Vm, stack: Value[], at: number): MapValue {
  const owned = mapping(ownIn(vm, mapping(stack[at], 'the receiver')), 'the receiver');
  stack[at] = owned;
  return owned;
}

const items = (stack: readonly Value[], at: number): readonly Value[] => list(stack[at], 'the receiver').items;

export function optional(value: Value): Value {
  return value === undefined ? NONE : some(share(value));
}

/** For `added` elements more, which make `length`. */
export function room(vm: Vm, length: number, added = 1): void {
  if (length > vm.limits.size)
    throw fault('LimitError', `a collection of more than ${vm.limits.size} elements, the limit \`size\``, {
      kind: 'size',
    });
  accountSlots(vm, added);
}

/** A copy of elements, which counts. */
function copied(vm: Vm, values: readonly Value[]): Value[] {
  accountSlots(vm, values.length);
  return copyItems(values);
}

export function keyOf(value: Value): MapKey {
  const key = mapKey(value);
  if (key === undefined) throw fault('TypeError', `${typeName(value)} cannot be a key or an element of a set`);
  return key;
}

function order(a: Value, b: Value): number {
  const result = compare(a, b);
  if (result === undefined || Number.isNaN(result)) {
    if (Number.isNaN(result)) return 0;
    throw fault('TypeError', `cannot compare ${typeName(a)} and ${typeName(b)}`);
  }
  return result;
}

const slice: Native = (stack, at, count, vm) => {
  const start = Math.max(0, integer(stack[at + 1], 'the start'));
  const given = count > 2 ? stack[at + 2] : undefined;
  const end = absent(given) ? MAX_INT : integer(given, 'the end');
  return array(copied(vm, items(stack, at).slice(start, Math.max(start, end))));
};

function addNumber(total: Value, item: Value): Value {
  numeric(item, 'an element');
  return add(total, item);
}

function extreme(stack: readonly Value[], at: number, sign: number): Value {
  const all = items(stack, at);
  if (all.length === 0) return NONE;
  return optional(all.reduce((best, item) => (sign * order(item, best) > 0 ? item : best)));
}

const ARRAY = {
  'Array.len': (stack, at) => items(stack, at).length,
  'Array.is_empty': (stack, at) => items(stack, at).length === 0,
  'Array.get': (stack, at) => optional(items(stack, at)[integer(stack[at + 1], 'the index')]),
  'Array.first': (stack, at) => optional(items(stack, at)[0]),
  'Array.last': (stack, at) => optional(items(stack, at).at(-1)),
  'Array.push': (stack, at, _count, vm) => {
    const owned = ownedArray(vm, stack, at);
    room(vm, owned.items.length + 1);
    owned.items.push(share(stack[at + 1]));
    return null;
  },
  'Array.pop': (stack, at, _count, vm) => {
    const owned = ownedArray(vm, stack, at);
    return owned.items.length === 0 ? NONE : some(owned.items.pop());
  },
  'Array.insert': (stack, at, _count, vm) => {
    const owned = ownedArray(vm, stack, at);
    const index = integer(stack[at + 1], 'the index');
    if (index < 0 || index > owned.items.length) throw outside(index, owned.items.length);
    owned.items.splice(index, 0, share(stack[at + 2]));
    return null;
  },
  'Array.remove': (stack, at, _count, vm) => {
    const owned = ownedArray(vm, stack, at);
    const index = integer(stack[at + 1], 'the index');
    if (index < 0 || index >= owned.items.length) throw outside(index, owned.items.length);
    return owned.items.splice(index, 1)[0];
  },
  'Array.extend': (stack, at, _count, vm) => {
    const added = copyItems(list(stack[at + 1], 'the elements').items);
    const owned = ownedArray(vm, stack, at);
    room(vm, owned.items.length + added.length, added.length);
    for (const item of added) owned.items.push(item);
    return null;
  },
  'Array.clear': (stack, at) => {
    list(stack[at], 'the receiver');
    stack[at] = array([]);
    return null;
  },
  'Array.contains': (stack, at) => items(stack, at).some((item) => equal(item, stack[at + 1])),
  'Array.index_of': (stack, at) => {
    const index = items(stack, at).findIndex((item) => equal(item, stack[at + 1]));
    return index < 0 ? NONE : some(index);
  },
  'Array.slice': slice,
  'Array.take': (stack, at, _count, vm) =>
    array(copied(vm, items(stack, at).slice(0, Math.max(0, integer(stack[at + 1], 'the number'))))),
  'Array.skip': (stack, at, _count, vm) =>
    array(copied(vm, items(stack, at).slice(Math.max(0, integer(stack[at + 1], 'the number'))))),
  'Array.concat': (stack, at, _count, vm) => {
    const other = list(stack[at + 1], 'the other').items;
    room(vm, items(stack, at).length + other.length, 0);
    return array(copied(vm, [...items(stack, at), ...other]));
  },
  'Array.reverse': (stack, at, _count, vm) => array(copied(vm, items(stack, at)).reverse()),
  'Array.sort': (stack, at, _count, vm) => array(copied(vm, items(stack, at)).sort(order)),
  'Array.sort_by': 'prelude',
  'Array.sort_by_key': 'prelude',
  'Array.unique': (stack, at) => {
    const seen = new Map<MapKey, Value>();
    for (const item of items(stack, at)) if (!seen.has(keyOf(item))) seen.set(keyOf(item), share(item));
    return array([...seen.values()]);
  },
  'Array.join': (stack, at, count) => {
    const separator = count > 1 && !absent(stack[at + 1]) ? text(stack[at + 1], 'the separator') : '';
    return items(stack, at).map(display).join(separator);
  },
  'Array.enumerate': (stack, at) => array(items(stack, at).map((item, index) => array([index, share(item)]))),
  'Array.zip': (stack, at) => {
    const other = list(stack[at + 1], 'the other').items;
    const shorter = items(stack, at).slice(0, other.length);
    return array(shorter.map((item, index) => array([share(item), share(other[index])])));
  },
  'Array.flatten': (stack, at, _count, vm) => {
    const flat: Value[] = [];
    for (const item of items(stack, at)) {
      const inner = list(item, 'an element').items;
      room(vm, flat.length + inner.length, inner.length);
      for (const value of inner) flat.push(share(value));
    }
    return array(flat);
  },
  'Array.sum': (stack, at) => items(stack, at).reduce(addNumber, 0),
  'Array.min': (stack, at) => extreme(stack, at, -1),
  'Array.max': (stack, at) => extreme(stack, at, 1),
  'Array.map': 'prelude',
  'Array.flat_map': 'prelude',
  'Array.filter': 'prelude',
  'Array.reduce': 'prelude',
  'Array.fold': 'prelude',
  'Array.find': 'prelude',
  'Array.find_index': 'prelude',
  'Array.any': 'prelude',
  'Array.all': 'prelude',
  'Array.count': 'prelude',
  'Array.for_each': 'prelude',
  'Array.group_by': 'prelude',
} as const satisfies Entries;

function outside(index: number, length: number): Error {
  return fault('IndexError', `index ${index} is out of bounds for Array of length ${length}`, {
    kind: 'index_out_of_bounds',
  });
}

const map = (stack: readonly Value[], at: number): MapValue => mapping(stack[at], 'the receiver');
const mapHas: Native = (stack, at) => map(stack, at).entries.has(keyOf(stack[at + 1]));
const mapSet: Native = (stack, at, _count, vm) => {
  const owned = ownedMap(vm, stack, at);
  room(vm, owned.entries.size + 1);
  if (!putEntry(owned, share(stack[at + 1]), share(stack[at + 2]))) keyOf(stack[at + 1]);
  return null;
};

const MAP = {
  'Map.len': (stack, at) => map(stack, at).entries.size,
  'Map.is_empty': (stack, at) => map(stack, at).entries.size === 0,
  'Map.get': (stack, at) => optional(map(stack, at).entries.get(keyOf(stack[at + 1]))),
  'Map.get_or': (stack, at) => share(map(stack, at).entries.get(keyOf(stack[at + 1])) ?? stack[at + 2]),
  'Map.has': mapHas,
  'Map.contains_key': mapHas,
  'Map.set': mapSet,
  'Map.insert': mapSet,
  'Map.delete': (stack, at, _count, vm) => {
    const key = keyOf(stack[at + 1]);
    const owned = ownedMap(vm, stack, at);
    owned.keys?.delete(key);
    return owned.entries.delete(key);
  },
  'Map.remove': (stack, at, _count, vm) => {
    const key = keyOf(stack[at + 1]);
    const owned = ownedMap(vm, stack, at);
    const value = owned.entries.get(key);
    owned.entries.delete(key);
    owned.keys?.delete(key);
    return optional(value);
  },
  'Map.clear': (stack, at) => {
    map(stack, at);
    stack[at] = emptyMap();
    return null;
  },
  'Map.keys': (stack, at) =>
    array([...map(stack, at).entries.keys()].map((key) => share(keyValue(map(stack, at), key)))),
  'Map.values': (stack, at) => array([...map(stack, at).entries.values()].map(share)),
  'Map.entries': (stack, at) => array(pairs(map(stack, at))),
  'Map.merge': (stack, at) => {
    const merged = emptyMap();
    for (const from of [map(stack, at), mapping(stack[at + 1], 'the other')]) {
      for (const [key, value] of from.entries) putEntry(merged, keyValue(from, key), share(value));
    }
    return merged;
  },
  'Map.map': 'prelude',
  'Map.map_values': 'prelude',
  'Map.filter': 'prelude',
  'Map.for_each': 'prelude',
  'Map.find': 'prelude',
  'Map.any': 'prelude',
  'Map.all': 'prelude',
  'Map.count': 'prelude',
} as const satisfies Entries;

function range(value: Value): RangeValue {
  if (typeof value === 'object' && value !== null && value.kind === 'range') return value;
  throw wrong('the receiver', 'a Range', value);
}

const RANGE = {
  'Range.len': (stack, at) => rangeLength(range(stack[at])),
  'Range.is_empty': (stack, at) => rangeLength(range(stack[at])) === 0,
  'Range.contains': (stack, at) => {
    const value = integer(stack[at + 1], 'the number');
    const start = range(stack[at]).start;
    if (start !== null && value < start) return false;
    const { end, inclusive } = range(stack[at]);
    return end === null || (inclusive ? value <= end : value < end);
  },
  'Range.to_array': (stack, at, _count, vm) => {
    const start = range(stack[at]).start ?? 0;
    const length = rangeLength(range(stack[at]));
    room(vm, length, length);
    return array(Array.from({ length }, (_, index) => start + index));
  },
  'Range.map': 'prelude',
  'Range.filter': 'prelude',
  'Range.reduce': 'prelude',
  'Range.for_each': 'prelude',
  'Range.flat_map': 'prelude',
  'Range.fold': 'prelude',
  'Range.find': 'prelude',
  'Range.any': 'prelude',
  'Range.all': 'prelude',
  'Range.count': 'prelude',
  'Range.sum': 'prelude',
} as const satisfies Entries;

export const COLLECTIONS = { ...ARRAY, ...MAP, ...RANGE } as const satisfies Entries;

/** Used by the length of anything: `len(x)`. */
export function lengthOf(value: Value): number | undefined {
  if (typeof value !== 'object' || value === null) return undefined;
  switch (value.kind) {
    case 'array':
    case 'stack':
      return value.items.length;
    case 'queue':
      return value.items.length - value.head;
    case 'map':
      return value.entries.size;
    case 'set':
      return value.items.size;
    case 'range':
      return rangeLength(value);
    case 'hashmap':
      return value.entries.entries.size;
    case 'ledger':
      return value.entries.size;
    case 'memory':
      return value.messages.length;
    default:
      return undefined;
  }
}
