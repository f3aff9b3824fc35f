import { list, mapping } from '../builtins/arguments.ts';
import { share } from '../copy-on-write.ts';
import { typeName } from '../display.ts';
import { mapKey, putEntry } from '../equality.ts';
import { fault } from '../fault.ts';
import type { Native } from '../machine.ts';
import { compare } from '../order.ts';
import { array, type Value } from '../value.ts';

/** Steps of the prelude's collection methods. */

/** array, value: the array is the prelude's own, and the value is new or already marked. */
const push: Native = (stack, at) => {
  list(stack[at], 'the result').items.push(stack[at + 1]);
  return null;
};

/** map, key, item: adds the item to the list under the key. */
const group: Native = (stack, at) => {
  const map = mapping(stack[at], 'the result');
  const key = mapKey(stack[at + 1]);
  if (key === undefined) throw fault('TypeError', `${typeName(stack[at + 1])} cannot be a key`);
  const known = map.entries.get(key);
  if (typeof known === 'object' && known !== null && known.kind === 'array') known.items.push(share(stack[at + 2]));
  else putEntry(map, share(stack[at + 1]), array([share(stack[at + 2])]));
  return null;
};

/** What a comparison said: negative, or true, when the first comes first. */
const before: Native = (stack, at) => {
  const value = stack[at];
  if (typeof value === 'number') return value < 0;
  if (typeof value === 'boolean') return value;
  if (typeof value === 'object' && value !== null && value.kind === 'float') return value.value < 0;
  throw fault('TypeError', `a comparison gives an Int or a Bool, not ${typeName(value)}`);
};

/** array, keys → the array sorted by its keys; stable. */
const sortByKeys: Native = (stack, at) => {
  const keys = list(stack[at + 1], 'the keys').items;
  const order = (a: Value, b: Value): number => {
    const result = compare(a, b);
    if (result === undefined) throw fault('TypeError', `cannot compare ${typeName(a)} and ${typeName(b)}`);
    return Number.isNaN(result) ? 0 : result;
  };
  const pairs = list(stack[at], 'the array').items.map((item, index) => ({ item, key: keys[index] }));
  pairs.sort((a, b) => order(a.key, b.key));
  return array(pairs.map(({ item }) => share(item)));
};

export const COLLECTION_INTERNALS = { $push: push, $group: group, $before: before, $sort_by_keys: sortByKeys };
