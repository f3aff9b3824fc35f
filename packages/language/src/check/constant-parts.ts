import { err, ok, type Result } from '@concerto/base';
import type { ConstantValue } from './facts.ts';

/** A part of a constant, as at run time; an error is what is wrong with it, empty when that is already told. */
type Part = Result<ConstantValue, string>;

const NIL: ConstantValue = { kind: 'nil' };

export function fieldOf(value: ConstantValue, name: string): Part {
  if (value.kind === 'map') return ok(entryOf(value.entries, name) ?? NIL);
  const field = value.kind === 'struct' ? entryOf(value.fields, name) : undefined;
  return field === undefined ? err('this is not constant') : ok(field);
}

function entryOf(entries: readonly (readonly [string, ConstantValue])[], name: string): ConstantValue | undefined {
  return entries.find(([key]) => key === name)?.[1];
}

export function elementOf(value: ConstantValue, index: number): Part {
  switch (value.kind) {
    case 'array':
    case 'tuple':
      return partAt(value.items, index, (item) => item);
    case 'string':
      return partAt(Array.from(value.value), index, (character) => ({ kind: 'string', value: character }));
    case 'range': {
      const { start, end, inclusive } = value;
      const length = Math.max(0, end - start + (inclusive ? 1 : 0));
      return index < 0 || index >= length ? outOfBounds(index, length) : ok({ kind: 'int', value: start + index });
    }
    default:
      return err('this is not constant');
  }
}

function partAt<T>(items: readonly T[], index: number, make: (item: T) => ConstantValue): Part {
  const item = items[index];
  return item === undefined ? outOfBounds(index, items.length) : ok(make(item));
}

function outOfBounds(index: number, length: number): Part {
  return err(`index ${index} is out of bounds for a length of ${length}`);
}

export interface Slice {
  readonly start: number | undefined;
  readonly end: number | undefined;
  readonly inclusive: boolean;
}

/** Bounds outside are moved to the nearest end. */
export function sliceOf(value: ConstantValue, slice: Slice): Part {
  const start = Math.max(0, slice.start ?? 0);
  const end = slice.end === undefined ? undefined : Math.max(start, slice.end + (slice.inclusive ? 1 : 0));
  if (value.kind === 'array') return ok({ kind: 'array', items: value.items.slice(start, end) });
  if (value.kind === 'string') return ok({ kind: 'string', value: Array.from(value.value).slice(start, end).join('') });
  return err('this is not constant');
}
