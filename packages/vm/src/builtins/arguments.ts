import { messageOf, typeName } from '../display.ts';
import { fault } from '../fault.ts';
import type { ArrayValue, MapValue, QueueValue, SetValue, StackValue, Value } from '../value.ts';

/** Reads an argument of the expected type, or raises what a caller can understand. */

export function wrong(what: string, expected: string, value: Value): Error {
  return fault('TypeError', `${what} must be ${expected}, not ${typeName(value)}`, { kind: 'argument' });
}

export function text(value: Value, what: string): string {
  const given = typeof value === 'string' ? value : messageOf(value);
  if (given === undefined) throw wrong(what, 'a String', value);
  return given;
}

export function integer(value: Value, what: string): number {
  if (typeof value === 'number') return value;
  throw wrong(what, 'an Int', value);
}

/** Int or Float as a number. */
export function numeric(value: Value, what: string): number {
  if (typeof value === 'number') return value;
  if (typeof value === 'object' && value !== null && value.kind === 'float') return value.value;
  throw wrong(what, 'a number', value);
}

export function list(value: Value, what: string): ArrayValue {
  if (typeof value === 'object' && value !== null && value.kind === 'array') return value;
  throw wrong(what, 'an Array', value);
}

export function mapping(value: Value, what: string): MapValue {
  if (typeof value === 'object' && value !== null && value.kind === 'map') return value;
  throw wrong(what, 'a Map', value);
}

export function setOf(value: Value, what: string): SetValue {
  if (typeof value === 'object' && value !== null && value.kind === 'set') return value;
  throw wrong(what, 'a Set', value);
}

export function queue(value: Value): QueueValue {
  if (typeof value === 'object' && value !== null && value.kind === 'queue') return value;
  throw wrong('the receiver', 'a Queue', value);
}

export function stackOf(value: Value): StackValue {
  if (typeof value === 'object' && value !== null && value.kind === 'stack') return value;
  throw wrong('the receiver', 'a Stack', value);
}

/** An optional argument that was not given, or is nil. */
export function absent(value: Value): value is null | undefined {
  return value === null || value === undefined;
}
