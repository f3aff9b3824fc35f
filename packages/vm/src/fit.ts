import type { TypeExpr } from '@concerto/ir';
import { isNone } from './access.ts';
import { copyItems, share } from './copy-on-write.ts';
import type { Vm } from './machine.ts';
import { accountSlots } from './memory.ts';
import { array, float, type MapValue, NONE, okValue, some, type Value } from './value.ts';

/**
 * The value as a place of this type holds it, for what nobody knew the type of before it ran: an Int as a Float, nil as
 * None, a bare value as Some, in the parts of containers too. What has another form stays as it is.
 */
export function fit(vm: Vm, value: Value, type: TypeExpr): Value {
  if (type.kind === 'tuple') return fitTuple(vm, value, type.items);
  if (type.kind !== 'name') return value;
  const [first] = type.args;
  switch (type.name) {
    case 'Float':
      return typeof value === 'number' ? float(value) : value;
    case 'Option':
      return fitOption(vm, value, first);
    case 'Array':
      return first === undefined ? value : fitArray(vm, value, first);
    case 'Map': {
      const [, inner] = type.args;
      return inner === undefined ? value : fitMap(vm, value, inner);
    }
    case 'Result':
      return first === undefined ? value : fitOk(vm, value, first);
    default:
      return value;
  }
}

/** Whether `fit` may change a value for a place of this type. */
export function fits(type: TypeExpr): boolean {
  if (type.kind === 'tuple') return type.items.some(fits);
  if (type.kind !== 'name') return false;
  switch (type.name) {
    case 'Float':
    case 'Option':
      return true;
    case 'Array':
    case 'Result':
      return type.args[0] !== undefined && fits(type.args[0]);
    case 'Map':
      return type.args[1] !== undefined && fits(type.args[1]);
    default:
      return false;
  }
}

function fitOption(vm: Vm, value: Value, inner: TypeExpr | undefined): Value {
  if (isNone(value)) return NONE;
  if (typeof value !== 'object' || value === null || value.kind !== 'some') {
    return some(inner === undefined ? value : fit(vm, value, inner));
  }
  const changed = inner === undefined ? value.value : fit(vm, value.value, inner);
  return changed === value.value ? value : some(changed);
}

function fitTuple(vm: Vm, value: Value, types: readonly TypeExpr[]): Value {
  if (typeof value !== 'object' || value === null || value.kind !== 'array') return value;
  if (value.items.length !== types.length) return value;
  return changedItems(vm, value, (item, index) => {
    const type = types[index];
    return type === undefined ? item : fit(vm, item, type);
  });
}

function fitArray(vm: Vm, value: Value, inner: TypeExpr): Value {
  if (typeof value !== 'object' || value === null || value.kind !== 'array') return value;
  return changedItems(vm, value, (item) => fit(vm, item, inner));
}

/** A copy, which counts as memory. */
function copied(vm: Vm, items: readonly Value[]): Value[] {
  accountSlots(vm, items.length);
  return copyItems(items);
}

/** The array itself when nothing in it changes. */
function changedItems(
  vm: Vm,
  value: Extract<Value, { readonly kind: 'array' }>,
  change: (item: Value, index: number) => Value,
): Value {
  let changed: Value[] | undefined;
  value.items.forEach((item, index) => {
    const next = change(item, index);
    if (next === item) return;
    changed ??= copied(vm, value.items);
    changed[index] = next;
  });
  return changed === undefined ? value : array(changed);
}

function fitMap(vm: Vm, value: Value, inner: TypeExpr): Value {
  if (typeof value !== 'object' || value === null || value.kind !== 'map') return value;
  let changed: MapValue | undefined;
  for (const [key, item] of value.entries) {
    const next = fit(vm, item, inner);
    if (next === item) continue;
    changed ??= copyOf(vm, value);
    changed.entries.set(key, next);
  }
  return changed ?? value;
}

function copyOf(vm: Vm, map: MapValue): MapValue {
  accountSlots(vm, map.entries.size);
  for (const item of map.entries.values()) share(item);
  return { kind: 'map', entries: new Map(map.entries), keys: map.keys && new Map(map.keys), shared: false };
}

function fitOk(vm: Vm, value: Value, inner: TypeExpr): Value {
  if (typeof value !== 'object' || value === null || value.kind !== 'ok') return value;
  const changed = fit(vm, value.value, inner);
  return changed === value.value ? value : okValue(changed);
}

/** A parameter whose arguments may have to change. */
export interface FittedParameter {
  readonly index: number;
  readonly type: TypeExpr;
}

/** The arguments of a call that did not know its callee; one that was not given stays so. */
export function fitArguments(vm: Vm, stack: Value[], window: number, parameters: readonly FittedParameter[]): void {
  for (const { index, type } of parameters) {
    const value = stack[window + index];
    if (value !== undefined) stack[window + index] = fit(vm, value, type);
  }
}
