import { compilePattern } from '@concerto/base';
import type { IrField } from '@concerto/ir';
import { display } from './display.ts';
import { length as textLength } from './text.ts';
import { float, MAX_INT, type Value } from './value.ts';

type Rules = NonNullable<IrField['rules']>;

/** What a value that has its type still breaks. */
export function brokenRules(value: Value, rules: Rules): string[] {
  const broken: string[] = [];
  const number = numberOf(value);
  if (number !== undefined) {
    if (rules.min !== undefined && number < rules.min) broken.push(`must be at least ${rules.min}`);
    if (rules.max !== undefined && number > rules.max) broken.push(`must be at most ${rules.max}`);
  }
  const length = lengthOf(value);
  if (length !== undefined) {
    if (rules.min_length !== undefined && length < rules.min_length) {
      broken.push(`must have a length of at least ${rules.min_length}`);
    }
    if (rules.max_length !== undefined && length > rules.max_length) {
      broken.push(`must have a length of at most ${rules.max_length}`);
    }
  }
  if (rules.pattern !== undefined && typeof value === 'string' && !fitsPattern(rules.pattern, value)) {
    broken.push(`must match ${rules.pattern}`);
  }
  if (broken.length === 0) return [];
  const shown = display(value);
  const found = `, found ${shown.length > 80 ? `${shown.slice(0, 77)}...` : shown}`;
  return rules.message === undefined ? broken.map((rule) => rule + found) : [rules.message + found];
}

/** The same for whoever makes the value. */
export function ruleText({ min, max, min_length, max_length, pattern }: Rules): string | undefined {
  const parts = [
    min === undefined ? undefined : `at least ${min}`,
    max === undefined ? undefined : `at most ${max}`,
    min_length === undefined ? undefined : `length at least ${min_length}`,
    max_length === undefined ? undefined : `length at most ${max_length}`,
    pattern === undefined ? undefined : `matches ${pattern}`,
  ].filter((part) => part !== undefined);
  return parts.length === 0 ? undefined : parts.join(', ');
}

/** The value as the type when it can be read as one; otherwise itself. */
export function coerced(value: Value, type: string): Value {
  const text = typeof value === 'string' ? value.trim() : undefined;
  switch (type) {
    case 'String':
      return typeof value === 'number' || typeof value === 'boolean' || isFloat(value) ? display(value) : value;
    case 'Int': {
      if (text === undefined || !/^[+-]?\d+$/.test(text)) return value;
      return Math.abs(Number(text)) <= MAX_INT ? Number(text) : value;
    }
    case 'Float':
      return text === undefined || !/^[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?$/.test(text) ? value : float(Number(text));
    case 'Bool':
      return text !== undefined && /^(true|false)$/i.test(text) ? text.toLowerCase() === 'true' : value;
    default:
      return value;
  }
}

/** A pattern that cannot be used was refused by the checker; a module written by hand fits nothing then. */
function fitsPattern(source: string, text: string): boolean {
  const pattern = compilePattern(source);
  return pattern.ok && pattern.value.matches(text);
}

function numberOf(value: Value): number | undefined {
  if (typeof value === 'number') return value;
  if (typeof value !== 'object' || value === null) return undefined;
  if (value.kind === 'some') return numberOf(value.value);
  return value.kind === 'float' ? value.value : undefined;
}

function lengthOf(value: Value): number | undefined {
  if (typeof value === 'string') return textLength(value);
  if (typeof value !== 'object' || value === null) return undefined;
  if (value.kind === 'array') return value.items.length;
  return value.kind === 'map' ? value.entries.size : undefined;
}

function isFloat(value: Value): boolean {
  return typeof value === 'object' && value !== null && value.kind === 'float';
}
