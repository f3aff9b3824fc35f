import { own } from './copy-on-write.ts';
import type { Limits, Vm } from './machine.ts';
import { Exhausted } from './unwind.ts';
import type { Value } from './value.ts';

/** What a value in a list, and an entry of a map, take, roughly; what they point to is counted by itself. */
const SLOT_BYTES = 8;
const ENTRY_BYTES = 48;
const OBJECT_BYTES = 48;

/** Shorter texts are counted wherever they are; of a longer one that is in several places only the first is. */
const SHORT_TEXT = 32;

/** Nothing is measured before so much was made, or a quarter of what may be held. */
const FIRST_MEASURE_BYTES = 16 * 1024 * 1024;

export function firstMeasure(limits: Limits): number {
  return Math.min(FIRST_MEASURE_BYTES, limits.memory / 4);
}

/**
 * What a program makes is added up roughly; when it is half as much again as the program held when it was last measured,
 * it is measured. So the time it takes is a small part of the time that making the values took.
 */
export function account(vm: Vm, bytes: number): void {
  vm.made += bytes;
  if (vm.made > vm.measureAt) measure(vm);
}

/** `slots` elements more in a list, or entries in a map. */
export function accountSlots(vm: Vm, slots: number): void {
  account(vm, slots * SLOT_BYTES);
}

/** As `own`, where a copy counts. */
export function ownIn(vm: Vm, value: Value): Value {
  const owned = own(value);
  if (owned !== value) account(vm, ownBytes(owned));
  return owned;
}

function measure(vm: Vm): void {
  const held = heldBytes(vm);
  if (held > vm.limits.memory) {
    throw new Exhausted(
      `the program's values take more than ${shownBytes(vm.limits.memory)}, its limit \`memory\``,
      'memory',
    );
  }
  vm.made = 0;
  vm.measureAt = Math.max(firstMeasure(vm.limits), held / 2);
}

function shownBytes(bytes: number): string {
  return bytes >= 1024 * 1024 ? `${Math.floor(bytes / (1024 * 1024))} MiB` : `${bytes} bytes`;
}

/** All that can be reached, each thing once; stops where the limit is passed. */
function heldBytes(vm: Vm): number {
  const seen = new Set<unknown>();
  const open: Value[] = [...vm.globals];
  for (const { stack } of vm.fibers.things()) for (const value of stack) open.push(value);
  for (const { payload } of vm.captured) open.push(payload);
  for (const mock of vm.mocks.values()) open.push(...mock.calls);
  for (const effect of vm.outbox) if ('payload' in effect) open.push(effect.payload);
  let bytes = 0;
  while (open.length > 0 && bytes <= vm.limits.memory) {
    const value = open.pop();
    // What is no text and no object is counted with the place it is in.
    if (typeof value === 'string' ? value.length === 0 : typeof value !== 'object' || value === null) continue;
    if (typeof value !== 'string' || value.length > SHORT_TEXT) {
      if (seen.has(value)) continue;
      seen.add(value);
    }
    bytes += ownBytes(value);
    if (typeof value !== 'object' || value === null) continue;
    for (const part of partsOf(value)) if (typeof part === 'string' || typeof part === 'object') open.push(part);
  }
  return bytes;
}

/** Without its parts. */
function ownBytes(value: Value): number {
  if (typeof value === 'string') return OBJECT_BYTES + 2 * value.length;
  if (typeof value !== 'object' || value === null) return SLOT_BYTES;
  switch (value.kind) {
    case 'array':
    case 'queue':
    case 'stack':
      return OBJECT_BYTES + SLOT_BYTES * value.items.length;
    case 'map':
      return OBJECT_BYTES + ENTRY_BYTES * value.entries.size;
    case 'set':
      return OBJECT_BYTES + ENTRY_BYTES * value.items.size;
    case 'struct':
      return OBJECT_BYTES + SLOT_BYTES * value.fields.length;
    default:
      return OBJECT_BYTES;
  }
}

function partsOf(value: Exclude<Value, string | number | boolean | null | undefined>): Iterable<Value> {
  switch (value.kind) {
    case 'array':
    case 'queue':
    case 'stack':
      return value.items;
    case 'map':
      return [...value.entries.keys(), ...value.entries.values()];
    case 'set':
      return value.items.values();
    case 'struct':
      return value.extra === null ? value.fields : [...value.fields, ...value.extra.values()];
    case 'enum':
      return value.payload;
    case 'some':
    case 'ok':
    case 'err':
    case 'cell':
      return [value.value];
    case 'closure':
      return value.captures;
    case 'hashmap':
      return [value.entries, ...value.scopes.values()];
    case 'ledger':
      return [...[...value.entries.values()].map((entry) => entry.value), ...value.scopes.values()];
    case 'memory':
      return value.messages.map((message) => message.content);
    case 'iterator':
      return value.over === 'items' ? value.items : [];
    default:
      return [];
  }
}
