import { pairs } from '../access.ts';
import { share } from '../copy-on-write.ts';
import { display, typeName } from '../display.ts';
import { keyValue, mapKey } from '../equality.ts';
import { builtinType, fault } from '../fault.ts';
import { newHashMap, newLedger, remember } from '../stores.ts';
import {
  array,
  type HashMapStore,
  type LedgerStore,
  type MapKey,
  type MapValue,
  type MemoryStore,
  NONE,
  some,
  struct,
  type Value,
} from '../value.ts';
import { integer, list, text, wrong } from './arguments.ts';
import type { Entries } from './entry.ts';

/** Values put into a store and taken out of it are copies: they are marked, so that a later change copies them. */

export function memoryOf(value: Value): MemoryStore {
  if (typeof value === 'object' && value !== null && value.kind === 'memory') return value;
  throw wrong('the memory', 'a Memory', value);
}

export function hashMap(value: Value): HashMapStore {
  if (typeof value === 'object' && value !== null && value.kind === 'hashmap') return value;
  throw wrong('the receiver', 'a HashMap', value);
}

function ledger(value: Value): LedgerStore {
  if (typeof value === 'object' && value !== null && value.kind === 'ledger') return value;
  throw wrong('the receiver', 'a Ledger', value);
}

function messages(memory: MemoryStore, from: number): Value {
  const type = builtinType('Message');
  return array(memory.messages.slice(from).map(({ role, content }) => struct(type, [role, content])));
}

const MEMORY = {
  'MemoryRef.append': (stack, at) => {
    remember(memoryOf(stack[at]), text(stack[at + 1], 'the role'), display(stack[at + 2]));
    return null;
  },
  'MemoryRef.messages': (stack, at) => messages(memoryOf(stack[at]), 0),
  'MemoryRef.last': (stack, at) => {
    const memory = memoryOf(stack[at]);
    const count = Math.max(0, integer(stack[at + 1], 'the number of messages'));
    return messages(memory, Math.max(0, memory.messages.length - count));
  },
  'MemoryRef.len': (stack, at) => memoryOf(stack[at]).messages.length,
  'MemoryRef.is_empty': (stack, at) => memoryOf(stack[at]).messages.length === 0,
  'MemoryRef.clear': (stack, at) => {
    memoryOf(stack[at]).messages = [];
    return null;
  },
} as const satisfies Entries;

const entriesOf = (stack: readonly Value[], at: number): MapValue => hashMap(stack[at]).entries;

export function storeKey(value: Value): MapKey {
  const key = mapKey(value);
  if (key === undefined) throw fault('HashMapError', `${typeName(value)} cannot be a key`);
  return key;
}

const HASHMAP = {
  'HashMapRef.set': 'prelude',
  'HashMapRef.get': (stack, at) => {
    const value = entriesOf(stack, at).entries.get(storeKey(stack[at + 1]));
    return value === undefined ? NONE : some(share(value));
  },
  'HashMapRef.get_or': (stack, at) => share(entriesOf(stack, at).entries.get(storeKey(stack[at + 1])) ?? stack[at + 2]),
  'HashMapRef.has': (stack, at) => entriesOf(stack, at).entries.has(storeKey(stack[at + 1])),
  'HashMapRef.delete': 'prelude',
  'HashMapRef.keys': (stack, at) => {
    const map = entriesOf(stack, at);
    return array([...map.entries.keys()].map((key) => share(keyValue(map, key))));
  },
  'HashMapRef.values': (stack, at) => array([...entriesOf(stack, at).entries.values()].map(share)),
  'HashMapRef.entries': (stack, at) => array(pairs(entriesOf(stack, at))),
  'HashMapRef.len': (stack, at) => entriesOf(stack, at).entries.size,
  'HashMapRef.is_empty': (stack, at) => entriesOf(stack, at).entries.size === 0,
  'HashMapRef.clear': 'prelude',
  'HashMapRef.set_many': 'prelude',
  'HashMapRef.get_many': (stack, at) => {
    const { entries } = entriesOf(stack, at);
    return array(
      list(stack[at + 1], 'the keys').items.map((key) => {
        const value = entries.get(storeKey(key));
        return value === undefined ? NONE : some(share(value));
      }),
    );
  },
  'HashMapRef.query': 'prelude',
  'HashMapRef.find': 'prelude',
  'HashMapRef.any': 'prelude',
  'HashMapRef.all': 'prelude',
  'HashMapRef.count': 'prelude',
  'HashMapRef.on_change': (stack, at) => {
    hashMap(stack[at]).listeners.push({ key: storeKey(stack[at + 1]), call: stack[at + 2] });
    return null;
  },
  'HashMapRef.on_any_change': (stack, at) => {
    hashMap(stack[at]).listeners.push({ key: undefined, call: stack[at + 1] });
    return null;
  },
  'HashMapRef.scope': (stack, at) => {
    const store = hashMap(stack[at]);
    const prefix = text(stack[at + 1], 'the prefix');
    const known = store.scopes.get(prefix);
    if (known !== undefined) return known;
    const scope = newHashMap(`${store.name}::${prefix}`);
    store.scopes.set(prefix, scope);
    return scope;
  },
} as const satisfies Entries;

/** Lower-case words; punctuation is deleted and does not split. */
function words(value: string): string[] {
  return value
    .split(/\s+/)
    .map((word) => word.replace(/[^\p{L}\p{N}_-]/gu, '').toLowerCase())
    .filter((word) => word !== '');
}

function keyList(value: Value): string[] {
  if (typeof value === 'object' && value !== null && value.kind === 'array') return value.items.map(display);
  return [display(value)];
}

function entry(identifier: string, item: { keys: readonly string[]; value: Value }): Value {
  return struct(builtinType('LedgerEntry'), [identifier, array([...item.keys]), share(item.value)]);
}

function select(store: LedgerStore, keep: (identifier: string, keys: readonly string[]) => boolean): Value {
  const found = [...store.entries].filter(([identifier, item]) => keep(identifier, item.keys));
  return array(found.map(([identifier, item]) => entry(identifier, item)));
}

function withKeys(stack: readonly Value[], at: number, all: boolean): Value {
  const wanted = keyList(stack[at + 1]).map((key) => key.toLowerCase());
  return select(ledger(stack[at]), (_, keys) => {
    const own = new Set(keys.map((key) => key.toLowerCase()));
    return all ? wanted.every((key) => own.has(key)) : wanted.some((key) => own.has(key));
  });
}

const LEDGER = {
  'LedgerRef.insert': (stack, at) => {
    const identifier = text(stack[at + 1], 'the identifier');
    ledger(stack[at]).entries.set(identifier, { keys: keyList(stack[at + 2]), value: share(stack[at + 3]) });
    return null;
  },
  'LedgerRef.query': (stack, at) => ledger(stack[at]),
  'LedgerRef.from_identifier': (stack, at) => {
    const wanted = words(text(stack[at + 1], 'the text'));
    if (wanted.length === 0) return array([]);
    return select(ledger(stack[at]), (identifier) => {
      const own = new Set(words(identifier));
      return wanted.every((word) => own.has(word));
    });
  },
  'LedgerRef.from_key': (stack, at) => {
    const wanted = display(stack[at + 1]).toLowerCase();
    return select(ledger(stack[at]), (_, keys) => keys.some((key) => key.toLowerCase() === wanted));
  },
  'LedgerRef.from_any_keys': (stack, at) => withKeys(stack, at, false),
  'LedgerRef.from_exact_keys': (stack, at) => withKeys(stack, at, true),
  'LedgerRef.update': (stack, at) => {
    const known = ledger(stack[at]).entries.get(display(stack[at + 1]));
    if (known === undefined) return false;
    known.value = share(stack[at + 2]);
    return true;
  },
  'LedgerRef.update_keys': (stack, at) => {
    const known = ledger(stack[at]).entries.get(display(stack[at + 1]));
    if (known === undefined) return false;
    known.keys = keyList(stack[at + 2]);
    return true;
  },
  'LedgerRef.delete': (stack, at) => ledger(stack[at]).entries.delete(display(stack[at + 1])),
  'LedgerRef.len': (stack, at) => ledger(stack[at]).entries.size,
  'LedgerRef.is_empty': (stack, at) => ledger(stack[at]).entries.size === 0,
  'LedgerRef.clear': (stack, at) => {
    ledger(stack[at]).entries.clear();
    return null;
  },
  'LedgerRef.entries': (stack, at) => select(ledger(stack[at]), () => true),
  'LedgerRef.identifiers': (stack, at) => array([...ledger(stack[at]).entries.keys()]),
  'LedgerRef.scope': (stack, at) => {
    const store = ledger(stack[at]);
    const prefix = text(stack[at + 1], 'the prefix');
    const known = store.scopes.get(prefix);
    if (known !== undefined) return known;
    const scope = newLedger(`${store.name}::${prefix}`);
    store.scopes.set(prefix, scope);
    return scope;
  },
} as const satisfies Entries;

export const STORES = { ...MEMORY, ...HASHMAP, ...LEDGER } as const satisfies Entries;
