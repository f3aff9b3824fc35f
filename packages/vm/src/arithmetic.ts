import { display, messageOf, typeName } from './display.ts';
import { fault } from './fault.ts';
import { compare } from './order.ts';
import { float, MAX_INT, type Value } from './value.ts';

/** What the interpreter's fast paths leave over: Floats, mixed operands, strings, and every fault. */

export function add(a: Value, b: Value): Value {
  if (typeof a === 'number' && typeof b === 'number') return int(a + b, '+');
  if (typeof a === 'string') return a + (typeof b === 'string' ? b : display(b));
  if (typeof b === 'string') return display(a) + b;
  if (isArray(a) && isArray(b)) return { kind: 'array', items: [...a.items, ...b.items], shared: false };
  const left = messageOf(a);
  const right = left === undefined ? undefined : messageOf(b);
  if (left !== undefined && right !== undefined) return left + right;
  return float(number(a, '+', a, b) + number(b, '+', a, b));
}

export function subtract(a: Value, b: Value): Value {
  if (typeof a === 'number' && typeof b === 'number') return int(a - b, '-');
  return float(number(a, '-', a, b) - number(b, '-', a, b));
}

export function multiply(a: Value, b: Value): Value {
  if (typeof a === 'number' && typeof b === 'number') return int(a * b, '*');
  return float(number(a, '*', a, b) * number(b, '*', a, b));
}

export function divide(a: Value, b: Value): Value {
  if (typeof a === 'number' && typeof b === 'number') {
    if (b === 0) throw fault('DivisionError', 'division by zero', { kind: 'division_by_zero' });
    // A quotient near 2^53 may round up to the next whole number; the remainder is always exact.
    return positiveZero((a - (a % b)) / b);
  }
  return float(number(a, '/', a, b) / number(b, '/', a, b));
}

export function remainder(a: Value, b: Value): Value {
  if (typeof a === 'number' && typeof b === 'number') {
    if (b === 0) throw fault('DivisionError', 'remainder by zero', { kind: 'division_by_zero' });
    return positiveZero(a % b);
  }
  return float(number(a, '%', a, b) % number(b, '%', a, b));
}

export function power(a: Value, b: Value): Value {
  if (typeof a === 'number' && typeof b === 'number') {
    if (b >= 0) return intPower(a, b);
    throw fault('RuntimeError', `${a} ** ${b} is no Int: write a Float before a negative exponent`, {
      kind: 'negative_exponent',
    });
  }
  return float(number(a, '**', a, b) ** number(b, '**', a, b));
}

/** By squaring, so that each step is exact or an overflow; `**` on numbers rounds. */
function intPower(base: number, exponent: number): number {
  if (base === 0 || base === 1) return exponent === 0 ? 1 : base;
  if (base === -1) return exponent % 2 === 0 ? 1 : -1;
  let result = 1;
  for (let count = 0; count < exponent; count++) result = int(result * base, '**');
  return result;
}

export function negate(a: Value): Value {
  if (typeof a === 'number') return positiveZero(-a);
  if (typeof a === 'object' && a !== null && a.kind === 'float') return float(-a.value);
  throw fault('TypeError', `cannot negate ${typeName(a)}`);
}

export function less(a: Value, b: Value): boolean {
  if (typeof a === 'number' && typeof b === 'number') return a < b;
  return order(a, b, '<') < 0;
}

export function lessOrEqual(a: Value, b: Value): boolean {
  if (typeof a === 'number' && typeof b === 'number') return a <= b;
  return order(a, b, '<=') <= 0;
}

function order(a: Value, b: Value, operator: string): number {
  const result = compare(a, b);
  if (result === undefined) throw fault('TypeError', `cannot compare ${typeName(a)} ${operator} ${typeName(b)}`);
  return result;
}

/** Int has no negative zero. */
function positiveZero(value: number): number {
  return value === 0 ? 0 : value;
}

function int(value: number, operator: string): number {
  if (value > MAX_INT || value < -MAX_INT) {
    throw fault('OverflowError', `the result of ${operator} is outside the range of Int`);
  }
  return value === 0 ? 0 : value;
}

export function overflow(operator: string): never {
  throw fault('OverflowError', `the result of ${operator} is outside the range of Int`);
}

/** One of both operands as a number; a fault names them as they are written. */
function number(value: Value, operator: string, left: Value, right: Value): number {
  if (typeof value === 'number') return value;
  if (typeof value === 'object' && value !== null && value.kind === 'float') return value.value;
  throw fault('TypeError', `${operator} needs numbers, not ${typeName(left)} and ${typeName(right)}`);
}

function isArray(value: Value): value is Extract<Value, { kind: 'array' }> {
  return typeof value === 'object' && value !== null && value.kind === 'array';
}
