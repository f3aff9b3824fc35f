import { parseType } from '@concerto/ir';
import { share } from '../copy-on-write.ts';
import { display } from '../display.ts';
import { keyValue, putEntry } from '../equality.ts';
import { fault } from '../fault.ts';
import { parseJson, stringify } from '../json.ts';
import type { RequestFinish, RequestStart, Vm } from '../machine.ts';
import { conform } from '../schema.ts';
import { newHashMap } from '../stores.ts';
import { array, emptyMap, type HashMapStore, type MapValue, type Value } from '../value.ts';
import { text } from './arguments.ts';
import type { Entries } from './entry.ts';
import { hashMap, storeKey } from './stores.ts';

/** A hashmap that outlives the program: an object of its entries, or pairs when a key is not a text. */

const load = (path: Value): ReturnType<RequestStart> => ({
  request: { kind: 'file', op: 'load', path: text(path, 'the path') },
});

/** A test leaves no files, and finds none. */
function unkept(vm: Vm): boolean {
  return vm.capture;
}

export const PERSISTENCE = {
  'HashMap::with_persistence': {
    start: ([path], vm) => (unkept(vm) ? { value: newHashMap('hashmap') } : load(path)),
    finish: (answer, [path], vm) => keep(vm, newHashMap('hashmap'), text(path, 'the path'), answer),
  },
  'HashMapRef.with_persistence': {
    start: ([store, path], vm) => (unkept(vm) ? { value: hashMap(store) } : load(path)),
    finish: (answer, [store, path], vm) => keep(vm, hashMap(store), text(path, 'the path'), answer),
  },
} as const satisfies Entries;

function keep(vm: Vm, store: HashMapStore, path: string, answer: Parameters<RequestFinish>[0]): Value {
  if (!answer.ok) throw fault('HashMapError', answer.error.message, { kind: 'persistence' });
  store.path = path;
  if (typeof answer.value !== 'string') return store;
  const parsed = parseJson(answer.value);
  const problem = parsed.ok ? undefined : parsed.error;
  const entries = parsed.ok ? readEntries(parsed.value) : undefined;
  if (entries === undefined) {
    throw fault('HashMapError', `${path}: not what a hashmap writes${problem === undefined ? '' : `: ${problem}`}`, {
      kind: 'persistence',
    });
  }
  // What the program has put in before it asked for the file counts, and is written with the next change.
  const own = store.entries;
  store.entries = typed(vm, store, entries, path);
  for (const [key, value] of own.entries) putEntry(store.entries, share(keyValue(own, key)), share(value));
  return store;
}

function readEntries(value: Value): MapValue | undefined {
  if (typeof value !== 'object' || value === null) return undefined;
  if (value.kind === 'map') return value;
  if (value.kind !== 'array') return undefined;
  const entries = emptyMap();
  for (const pair of value.items) {
    if (typeof pair !== 'object' || pair === null || pair.kind !== 'array' || pair.items.length !== 2) return undefined;
    const [key = null, item = null] = pair.items;
    storeKey(key);
    putEntry(entries, key, item);
  }
  return entries;
}

/** Values of a declared hashmap are of its type again. */
function typed(vm: Vm, store: HashMapStore, entries: MapValue, path: string): MapValue {
  const declared = vm.program.module.hashmaps.find(({ name }) => name === store.name);
  if (declared === undefined) return entries;
  const [keys, values] = [parseType(declared.key), parseType(declared.value)];
  const result = emptyMap();
  for (const [encoded, value] of entries.entries) {
    const key = keyValue(entries, encoded);
    const fitted = [conform(vm, key, keys), conform(vm, value, values)] as const;
    for (const part of fitted) {
      if (part.ok) continue;
      const problem = `${path}: ${display(key)}: ${part.error.join('; ')}`;
      throw fault('HashMapError', problem, { kind: 'persistence' });
    }
    const [first, second] = fitted;
    if (first.ok && second.ok) putEntry(result, first.value, second.value);
  }
  return result;
}

/** store → nil. Goes on at once when it is kept nowhere. */
export const save: { readonly start: RequestStart; readonly finish: RequestFinish } = {
  start: ([value]) => {
    const store = hashMap(value);
    if (store.path === null) return { value: null };
    return { request: { kind: 'file', op: 'replace', path: store.path, text: `${written(store.entries)}\n` } };
  },
  finish: (answer) => {
    if (!answer.ok) throw fault('HashMapError', answer.error.message, { kind: 'persistence' });
    return null;
  },
};

function written(map: MapValue): string {
  const keys = [...map.entries.keys()].map((key) => keyValue(map, key));
  if (keys.every((key) => typeof key === 'string')) return stringify(map, 2);
  return stringify(array([...map.entries].map(([key, value]) => array([keyValue(map, key), value]))), 2);
}
