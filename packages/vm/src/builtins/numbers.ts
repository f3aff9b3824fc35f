import { power } from '../arithmetic.ts';
import { truncated } from '../cast.ts';
import { display, typeName } from '../display.ts';
import { fault } from '../fault.ts';
import type { Native } from '../machine.ts';
import { compare } from '../order.ts';
import { float, type Value } from '../value.ts';
import { numeric } from './arguments.ts';
import type { Entries } from './entry.ts';

const abs: Native = (stack, at) => {
  const value = stack[at];
  return typeof value === 'number' ? Math.abs(value) : float(Math.abs(numeric(value, 'the number')));
};
const sqrt: Native = (stack, at) => float(Math.sqrt(numeric(stack[at], 'the number')));
const pow: Native = (stack, at) => power(stack[at], stack[at + 1]);
/** Of any two numbers: a Float for a negative exponent too. */
const anyPow: Native = (stack, at) => {
  const [base, exponent] = [stack[at], stack[at + 1]];
  return typeof base === 'number' && typeof exponent === 'number' && exponent < 0
    ? float(base ** exponent)
    : power(base, exponent);
};
const toText: Native = (stack, at) => display(stack[at]);

function order(a: Value, b: Value): number {
  const result = compare(a, b);
  if (result === undefined) throw fault('TypeError', `cannot compare ${typeName(a)} and ${typeName(b)}`);
  return result;
}

const min: Native = (stack, at) => (order(stack[at], stack[at + 1]) <= 0 ? stack[at] : stack[at + 1]);
const max: Native = (stack, at) => (order(stack[at], stack[at + 1]) >= 0 ? stack[at] : stack[at + 1]);
const clamp: Native = (stack, at) => {
  if (order(stack[at + 1], stack[at + 2]) > 0) throw fault('RuntimeError', 'the lower bound is above the upper one');
  if (order(stack[at], stack[at + 1]) < 0) return stack[at + 1];
  return order(stack[at], stack[at + 2]) > 0 ? stack[at + 2] : stack[at];
};

/** Half away from zero; JavaScript rounds half up. */
function halfAway(value: number): number {
  const rounded = Math.round(Math.abs(value));
  return value < 0 ? -rounded : rounded;
}

const rounding =
  (how: (value: number) => number): Native =>
  (stack, at) => {
    const value = stack[at];
    return typeof value === 'number' ? value : truncated(how(numeric(value, 'the number')), 'Int');
  };

const floatOf =
  (how: (value: number) => number): Native =>
  (stack, at) =>
    float(how(numeric(stack[at], 'the number')));

export const NUMBERS = {
  'Int.to_string': toText,
  'Int.to_float': (stack, at) => float(numeric(stack[at], 'the number')),
  'Int.abs': abs,
  'Int.sqrt': sqrt,
  'Int.pow': pow,
  'Int.min': min,
  'Int.max': max,
  'Int.clamp': clamp,
  'Float.to_string': toText,
  'Float.to_int': rounding(Math.trunc),
  'Float.abs': abs,
  'Float.sqrt': sqrt,
  'Float.pow': pow,
  'Float.round': rounding(halfAway),
  'Float.floor': rounding(Math.floor),
  'Float.ceil': rounding(Math.ceil),
  'Float.min': min,
  'Float.max': max,
  'Float.is_nan': (stack, at) => Number.isNaN(numeric(stack[at], 'the number')),
  'Bool.to_string': toText,
  'Nil.to_string': toText,
  'Any.to_string': toText,
  'Error.to_string': toText,

  'std::math::abs': abs,
  'std::math::min': min,
  'std::math::max': max,
  'std::math::clamp': clamp,
  'std::math::round': rounding(halfAway),
  'std::math::floor': rounding(Math.floor),
  'std::math::ceil': rounding(Math.ceil),
  'std::math::trunc': rounding(Math.trunc),
  'std::math::pow': anyPow,
  'std::math::sqrt': sqrt,
  'std::math::log': floatOf(Math.log),
  'std::math::exp': floatOf(Math.exp),
  'std::math::sin': floatOf(Math.sin),
  'std::math::cos': floatOf(Math.cos),
  'std::math::pi': () => float(Math.PI),
} as const satisfies Entries;
