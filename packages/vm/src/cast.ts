import type { TypeExpr } from '@concerto/ir';
import { hasType } from './access.ts';
import { display, typeName } from './display.ts';
import { fault } from './fault.ts';
import { fit } from './fit.ts';
import type { Vm } from './machine.ts';
import { float, MAX_INT, truthy, type Value } from './value.ts';

/** `value as type`. */
export function cast(vm: Vm, value: Value, type: TypeExpr): Value {
  if (type.kind !== 'name') return value;
  switch (type.name) {
    case 'Int':
      return toInt(value);
    case 'Float':
      return toFloat(value);
    case 'String':
      return display(value);
    case 'Bool':
      return truthy(value);
    case 'Any':
      return value;
    default:
      if (hasType(value, type.name)) return fit(vm, value, type);
      throw failed(value, type.name);
  }
}

function toInt(value: Value): Value {
  if (typeof value === 'number') return value;
  if (typeof value === 'boolean') return value ? 1 : 0;
  if (typeof value === 'string') {
    const parsed = parseInteger(value);
    if (parsed === undefined) throw failed(value, 'Int');
    return parsed;
  }
  if (typeof value === 'object' && value !== null && value.kind === 'float') return truncated(value.value, 'Int');
  throw failed(value, 'Int');
}

function toFloat(value: Value): Value {
  if (typeof value === 'number') return float(value);
  if (typeof value === 'boolean') return float(value ? 1 : 0);
  if (typeof value === 'string') {
    const parsed = parseFloatText(value);
    if (parsed === undefined) throw failed(value, 'Float');
    return float(parsed);
  }
  if (typeof value === 'object' && value !== null && value.kind === 'float') return value;
  throw failed(value, 'Float');
}

export function truncated(value: number, what: string): number {
  const whole = Math.trunc(value);
  if (Number.isNaN(whole) || Math.abs(whole) > MAX_INT) {
    throw Number.isFinite(whole)
      ? fault('OverflowError', `${display(float(value))} is outside the range of ${what}`)
      : fault('CastError', `${display(float(value))} has no ${what}`);
  }
  return whole === 0 ? 0 : whole;
}

/** Decimal digits with an optional sign; undefined when it is something else or too large. */
export function parseInteger(text: string): number | undefined {
  const trimmed = text.trim();
  if (!/^[+-]?\d+$/.test(trimmed)) return undefined;
  const value = Number(trimmed);
  if (Math.abs(value) > MAX_INT) return undefined;
  return value === 0 ? 0 : value;
}

export function parseFloatText(text: string): number | undefined {
  const trimmed = text.trim();
  if (/^[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?$/.test(trimmed)) return Number(trimmed);
  if (/^[+-]?inf(inity)?$/i.test(trimmed)) return trimmed.startsWith('-') ? -Infinity : Infinity;
  return /^nan$/i.test(trimmed) ? Number.NaN : undefined;
}

function failed(value: Value, type: string): Error {
  const shown = typeof value === 'string' ? JSON.stringify(value) : typeName(value);
  return fault('CastError', `cannot cast ${shown} to ${type}`);
}
