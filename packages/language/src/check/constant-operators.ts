import { err, ok, type Result } from '@concerto/base';
import type { BinaryExpression } from '../syntax/expression.ts';
import type { ConstantValue } from './facts.ts';

type Operator = BinaryExpression['operator'];

/** An error is what is wrong; empty when that is already told. */
type Outcome = Result<ConstantValue, string>;

export const OUT_OF_RANGE = 'the value is outside the range of `Int`';

/** Without a fraction; undefined when no Int has that value. */
export function toInt(value: number): ConstantValue | undefined {
  const integer = Math.trunc(value);
  return Number.isSafeInteger(integer) ? { kind: 'int', value: integer + 0 } : undefined;
}

/** As at run time: numbers by their value, and maps in any order. */
export function equalConstants(left: ConstantValue, right: ConstantValue): boolean {
  const [a, b] = [numberOf(left), numberOf(right)];
  if (a !== undefined && b !== undefined) return a === b;
  if ('items' in left && 'items' in right) return equalItems(left.items, right.items);
  if (left.kind === 'map' && right.kind === 'map') {
    const others = new Map(right.entries);
    return (
      left.entries.length === others.size && left.entries.every(([key, item]) => equalEntry(item, others.get(key)))
    );
  }
  if (left.kind === 'struct' && right.kind === 'struct') {
    const others = new Map(right.fields);
    return left.path === right.path && left.fields.every(([name, item]) => equalEntry(item, others.get(name)));
  }
  if (left.kind === 'variant' && right.kind === 'variant') {
    return left.variant === right.variant && equalItems(left.fields, right.fields);
  }
  if ((left.kind === 'some' || left.kind === 'ok' || left.kind === 'err') && left.kind === right.kind) {
    return equalConstants(left.value, right.value);
  }
  return JSON.stringify(left) === JSON.stringify(right);
}

function equalItems(left: readonly ConstantValue[], right: readonly ConstantValue[]): boolean {
  return left.length === right.length && left.every((item, index) => equalEntry(item, right[index]));
}

function equalEntry(left: ConstantValue, right: ConstantValue | undefined): boolean {
  return right !== undefined && equalConstants(left, right);
}

function numberOf(value: ConstantValue): number | undefined {
  return value.kind === 'int' || value.kind === 'float' ? value.value : undefined;
}

/** Arithmetic, joining and order. */
export function combine(operator: Operator, left: ConstantValue, right: ConstantValue): Outcome {
  if (left.kind === 'string' && right.kind === 'string') {
    if (operator === '+') return ok({ kind: 'string', value: left.value + right.value });
    return order(operator, Math.sign(compareText(left.value, right.value)));
  }
  const [a, b] = [numberOf(left), numberOf(right)];
  if (a === undefined || b === undefined) return err('');
  if (operator === '<' || operator === '>' || operator === '<=' || operator === '>=') {
    return Number.isNaN(a) || Number.isNaN(b) ? ok({ kind: 'bool', value: false }) : order(operator, Math.sign(a - b));
  }
  return arithmetic(operator, { a, b, isInt: left.kind === 'int' && right.kind === 'int' });
}

function compareText(left: string, right: string): number {
  const [a, b] = [Array.from(left), Array.from(right)];
  for (let index = 0; index < Math.min(a.length, b.length); index++) {
    const difference = (a[index]?.codePointAt(0) ?? 0) - (b[index]?.codePointAt(0) ?? 0);
    if (difference !== 0) return difference;
  }
  return a.length - b.length;
}

function order(operator: Operator, sign: number): Outcome {
  switch (operator) {
    case '<':
      return ok({ kind: 'bool', value: sign < 0 });
    case '<=':
      return ok({ kind: 'bool', value: sign <= 0 });
    case '>':
      return ok({ kind: 'bool', value: sign > 0 });
    case '>=':
      return ok({ kind: 'bool', value: sign >= 0 });
    default:
      return err('');
  }
}

function arithmetic(
  operator: Operator,
  { a, b, isInt }: { readonly a: number; readonly b: number; readonly isInt: boolean },
): Outcome {
  if (isInt && b === 0 && (operator === '/' || operator === '%')) return err('division by zero');
  if (isInt && operator === '**' && b < 0) return err('a negative exponent needs a Float before it');
  const value = calculate(operator, a, b);
  if (value === undefined) return err('');
  if (!isInt) return ok({ kind: 'float', value });
  const integer = toInt(value);
  return integer === undefined ? err(OUT_OF_RANGE) : ok(integer);
}

function calculate(operator: Operator, a: number, b: number): number | undefined {
  switch (operator) {
    case '+':
      return a + b;
    case '-':
      return a - b;
    case '*':
      return a * b;
    case '/':
      return a / b;
    case '%':
      return a % b;
    case '**':
      return a ** b;
    default:
      return undefined;
  }
}
