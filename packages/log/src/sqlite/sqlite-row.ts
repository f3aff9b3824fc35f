import { assert } from '@concerto/base';

/** Rows come as arrays of unknown; the schema is STRICT, so a wrong type here is our own mistake. */
function at(row: unknown, column: number): unknown {
  assert(Array.isArray(row), 'a row is an array of columns');
  const columns: readonly unknown[] = row;
  return columns[column];
}

export function integerAt(row: unknown, column: number): number {
  const value = at(row, column);
  assert(typeof value === 'number', `column ${column} is a number`);
  return value;
}

export function textAt(row: unknown, column: number): string {
  const value = at(row, column);
  assert(typeof value === 'string', `column ${column} is a text`);
  return value;
}

export function optionalIntegerAt(row: unknown, column: number): number | undefined {
  return (at(row, column) ?? undefined) === undefined ? undefined : integerAt(row, column);
}

export function optionalTextAt(row: unknown, column: number): string | undefined {
  return (at(row, column) ?? undefined) === undefined ? undefined : textAt(row, column);
}
