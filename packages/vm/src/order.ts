import { messageOf } from './display.ts';
import type { Value } from './value.ts';

/** Order of numbers, strings (by code point), booleans, and arrays of these; undefined when there is none. */
export function compare(a: Value, b: Value): number | undefined {
  const x = numeric(a);
  const y = numeric(b);
  if (x !== undefined && y !== undefined) {
    if (x < y) return -1;
    if (x > y) return 1;
    return x === y ? 0 : Number.NaN;
  }
  if (typeof a === 'string' && typeof b === 'string') return compareText(a, b);
  if (typeof a === 'boolean' && typeof b === 'boolean') return Number(a) - Number(b);
  const left = asText(a);
  const right = left === undefined ? undefined : asText(b);
  if (left !== undefined && right !== undefined) return compareText(left, right);
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return undefined;
  if (a.kind === 'array' && b.kind === 'array') return compareItems(a.items, b.items);
  if (a.kind === 'some' && b.kind === 'some') return compare(a.value, b.value);
  if (a.kind === 'none' || b.kind === 'none') {
    if (a.kind === b.kind) return 0;
    if (a.kind === 'some') return 1;
    return b.kind === 'some' ? -1 : undefined;
  }
  if (a.kind === 'enum' && b.kind === 'enum' && a.type === b.type) {
    return a.variant === b.variant ? compareItems(a.payload, b.payload) : a.variant - b.variant;
  }
  return undefined;
}

/** An error is its message where a text is compared. */
function asText(value: Value): string | undefined {
  return typeof value === 'string' ? value : messageOf(value);
}

function compareItems(a: readonly Value[], b: readonly Value[]): number | undefined {
  for (let index = 0; index < a.length && index < b.length; index++) {
    const order = compare(a[index], b[index]);
    if (order !== 0) return order;
  }
  return a.length - b.length;
}

function numeric(value: Value): number | undefined {
  if (typeof value === 'number') return value;
  return typeof value === 'object' && value !== null && value.kind === 'float' ? value.value : undefined;
}

const SURROGATE = 0xd800;
const AFTER_SURROGATES = 0xe000;

/** By code point: JavaScript compares UTF-16 units, which puts characters beyond U+FFFF before U+E000. */
function compareText(a: string, b: string): number {
  const length = Math.min(a.length, b.length);
  for (let index = 0; index < length; index++) {
    const x = a.charCodeAt(index);
    const y = b.charCodeAt(index);
    if (x === y) continue;
    const xHigh = x >= SURROGATE && x < AFTER_SURROGATES;
    const yHigh = y >= SURROGATE && y < AFTER_SURROGATES;
    if (xHigh === yHigh) return x - y;
    return xHigh ? 1 : -1;
  }
  return a.length - b.length;
}
