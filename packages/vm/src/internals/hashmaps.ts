import { mapping } from '../builtins/arguments.ts';
import { save } from '../builtins/persistence.ts';
import { hashMap, storeKey } from '../builtins/stores.ts';
import { own, share } from '../copy-on-write.ts';
import { keyValue, putEntry } from '../equality.ts';
import type { Native } from '../machine.ts';
import { array, emptyMap, type HashMapStore, type MapValue, type Value } from '../value.ts';

/** Changes of a hashmap. Each gives [result, calls]: what to return, and [function, arguments] for each listener. */

/** A shared map inside a store must be copied before it changes, as in any place. */
function entriesOf(store: HashMapStore): MapValue {
  store.entries = mapping(own(store.entries), 'the entries');
  return store.entries;
}

/** The calls that tell of one change. */
function tell(store: HashMapStore, key: Value, before: Value, after: Value): Value[] {
  const encoded = storeKey(key);
  return store.listeners
    .filter((listener) => listener.key === undefined || listener.key === encoded)
    .map(({ key: only, call }) => {
      const values = [before ?? null, after ?? null].map(share);
      return array([call, array(only === undefined ? [share(key), ...values] : values)]);
    });
}

function put(store: HashMapStore, key: Value, value: Value): Value[] {
  const entries = entriesOf(store);
  const before = entries.entries.get(storeKey(key));
  putEntry(entries, share(key), share(value));
  return tell(store, key, before, value);
}

function remove(store: HashMapStore, key: Value): { readonly known: boolean; readonly calls: Value[] } {
  const entries = entriesOf(store);
  const encoded = storeKey(key);
  const before = entries.entries.get(encoded);
  const known = entries.entries.delete(encoded);
  entries.keys?.delete(encoded);
  return { known, calls: known ? tell(store, key, before, null) : [] };
}

const set: Native = (stack, at) => array([null, array(put(hashMap(stack[at]), stack[at + 1], stack[at + 2]))]);

const setMany: Native = (stack, at) => {
  const from = mapping(stack[at + 1], 'the entries');
  const store = hashMap(stack[at]);
  const calls = [...from.entries].flatMap(([key, value]) => put(store, keyValue(from, key), value));
  return array([null, array(calls)]);
};

const deleteKey: Native = (stack, at) => {
  const { known, calls } = remove(hashMap(stack[at]), stack[at + 1]);
  return array([known, array(calls)]);
};

const clear: Native = (stack, at) => {
  const store = hashMap(stack[at]);
  const before = store.entries;
  store.entries = emptyMap();
  const calls = [...before.entries].flatMap(([key, value]) => tell(store, keyValue(before, key), value, null));
  return array([null, array(calls)]);
};

export const HASHMAP_INTERNALS = {
  $hashmap_set: set,
  $hashmap_set_many: setMany,
  $hashmap_delete: deleteKey,
  $hashmap_clear: clear,
  $hashmap_save: save,
};
