import { copyItems, share } from '../copy-on-write.ts';
import type { Native, Vm } from '../machine.ts';
import { ownIn } from '../memory.ts';
import { array, NONE, type QueueValue, type SetValue, type StackValue, some, type Value } from '../value.ts';
import { list, queue, setOf, stackOf } from './arguments.ts';
import { keyOf, optional, room } from './collections.ts';
import type { Entries } from './entry.ts';

/** The receiver of a mutating method: unshared, and put back for the caller to store. */
function ownedSet(vm: Vm, stack: Value[], at: number): SetValue {
  const owned = setOf(ownIn(vm, setOf(stack[at], 'the receiver')), 'the receiver');
  stack[at] = owned;
  return owned;
}
function ownedQueue(vm: Vm, stack: Value[], at: number): QueueValue {
  const owned = queue(ownIn(vm, queue(stack[at])));
  stack[at] = owned;
  return owned;
}
function ownedStack(vm: Vm, stack: Value[], at: number): StackValue {
  const owned = stackOf(ownIn(vm, stackOf(stack[at])));
  stack[at] = owned;
  return owned;
}

function newSet(values: Iterable<Value>): SetValue {
  const set: SetValue = { kind: 'set', items: new Map(), shared: false };
  for (const value of values) if (!set.items.has(keyOf(value))) set.items.set(keyOf(value), share(value));
  return set;
}

const setHas: Native = (stack, at) => setOf(stack[at], 'the receiver').items.has(keyOf(stack[at + 1]));
const setAdd: Native = (stack, at, _count, vm) => {
  const key = keyOf(stack[at + 1]);
  const owned = ownedSet(vm, stack, at);
  if (owned.items.has(key)) return false;
  owned.items.set(key, share(stack[at + 1]));
  return true;
};
const setDelete: Native = (stack, at, _count, vm) => ownedSet(vm, stack, at).items.delete(keyOf(stack[at + 1]));

/** The elements of the receiver that the other has, or has not. */
function those(stack: readonly Value[], at: number, inOther: boolean): SetValue {
  const other = setOf(stack[at + 1], 'the other').items;
  const kept = [...setOf(stack[at], 'the receiver').items].filter(([key]) => other.has(key) === inOther);
  return newSet(kept.map(([, value]) => value));
}

const SETS = {
  'Set.len': (stack, at) => setOf(stack[at], 'the receiver').items.size,
  'Set.is_empty': (stack, at) => setOf(stack[at], 'the receiver').items.size === 0,
  'Set.contains': setHas,
  'Set.has': setHas,
  'Set.insert': setAdd,
  'Set.add': setAdd,
  'Set.remove': setDelete,
  'Set.delete': setDelete,
  'Set.clear': (stack, at) => {
    setOf(stack[at], 'the receiver');
    stack[at] = newSet([]);
    return null;
  },
  'Set.union': (stack, at) =>
    newSet([...setOf(stack[at], 'the receiver').items.values(), ...setOf(stack[at + 1], 'the other').items.values()]),
  'Set.intersection': (stack, at) => those(stack, at, true),
  'Set.difference': (stack, at) => those(stack, at, false),
  'Set.is_subset': (stack, at) => those(stack, at, false).items.size === 0,
  'Set.to_array': (stack, at) => array([...setOf(stack[at], 'the receiver').items.values()].map(share)),
  'std::collections::Set::new': () => newSet([]),
  'std::collections::Set::from': (stack, at) => newSet(list(stack[at], 'the elements').items),
} as const satisfies Entries;

const enqueue: Native = (stack, at, _count, vm) => {
  const owned = ownedQueue(vm, stack, at);
  room(vm, owned.items.length + 1);
  owned.items.push(share(stack[at + 1]));
  return null;
};
/** Drops what has left once it is half of the list, so that a long-lived queue does not keep it. */
const dequeue: Native = (stack, at, _count, vm) => {
  const owned = ownedQueue(vm, stack, at);
  if (owned.head >= owned.items.length) return NONE;
  const value = owned.items[owned.head];
  owned.items[owned.head++] = null;
  if (owned.head > 32 && owned.head * 2 > owned.items.length) {
    owned.items = owned.items.slice(owned.head);
    owned.head = 0;
  }
  return some(value);
};
const newQueue = (values: Value[]): QueueValue => ({ kind: 'queue', items: values, head: 0, shared: false });
const newStack = (values: Value[]): StackValue => ({ kind: 'stack', items: values, shared: false });
const queued = (stack: readonly Value[], at: number): Value[] => queue(stack[at]).items.slice(queue(stack[at]).head);

const QUEUES_AND_STACKS = {
  'Queue.len': (stack, at) => queue(stack[at]).items.length - queue(stack[at]).head,
  'Queue.is_empty': (stack, at) => queue(stack[at]).items.length === queue(stack[at]).head,
  'Queue.enqueue': enqueue,
  'Queue.push': enqueue,
  'Queue.dequeue': dequeue,
  'Queue.pop': dequeue,
  'Queue.peek': (stack, at) => optional(queued(stack, at)[0]),
  'Queue.rest': (stack, at) => newQueue(copyItems(queued(stack, at).slice(1))),
  'Queue.clear': (stack, at) => {
    queue(stack[at]);
    stack[at] = newQueue([]);
    return null;
  },
  'Queue.to_array': (stack, at) => array(copyItems(queued(stack, at))),
  'std::collections::Queue::new': () => newQueue([]),
  'std::collections::Queue::from': (stack, at) => newQueue(copyItems(list(stack[at], 'the elements').items)),
  'Stack.len': (stack, at) => stackOf(stack[at]).items.length,
  'Stack.is_empty': (stack, at) => stackOf(stack[at]).items.length === 0,
  'Stack.push': (stack, at, _count, vm) => {
    const owned = ownedStack(vm, stack, at);
    room(vm, owned.items.length + 1);
    owned.items.push(share(stack[at + 1]));
    return null;
  },
  'Stack.pop': (stack, at, _count, vm) => {
    const owned = ownedStack(vm, stack, at);
    return owned.items.length === 0 ? NONE : some(owned.items.pop());
  },
  'Stack.peek': (stack, at) => optional(stackOf(stack[at]).items.at(-1)),
  'Stack.rest': (stack, at) => newStack(copyItems(stackOf(stack[at]).items.slice(0, -1))),
  'Stack.clear': (stack, at) => {
    stackOf(stack[at]);
    stack[at] = newStack([]);
    return null;
  },
  'Stack.to_array': (stack, at) => array(copyItems(stackOf(stack[at]).items)),
  'std::collections::Stack::new': () => newStack([]),
  'std::collections::Stack::from': (stack, at) => newStack(copyItems(list(stack[at], 'the elements').items)),
} as const satisfies Entries;

export const SETS_AND_QUEUES = { ...SETS, ...QUEUES_AND_STACKS } as const satisfies Entries;
