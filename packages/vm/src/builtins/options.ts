import { share } from '../copy-on-write.ts';
import { display } from '../display.ts';
import { errorValue, fault } from '../fault.ts';
import { errValue, NONE, okValue, some, type Value } from '../value.ts';
import type { Entries } from './entry.ts';

/** Option and Result. A bare value counts as present: an optional field holds its value without `Some`. */

function present(value: Value): boolean {
  return !(value === null || value === undefined || (typeof value === 'object' && value.kind === 'none'));
}

function inside(value: Value): Value {
  return share(typeof value === 'object' && value !== null && value.kind === 'some' ? value.value : value);
}

function isErr(value: Value): value is Extract<Value, { kind: 'err' }> {
  return typeof value === 'object' && value !== null && value.kind === 'err';
}

function okInside(value: Value): Value {
  return share(typeof value === 'object' && value !== null && value.kind === 'ok' ? value.value : value);
}

/** An error with a text before its message, and the error itself as its source. */
function withContext(error: Value, context: Value): Value {
  return errorValue('RuntimeError', `${display(context)}: ${display(error)}`, {
    kind: 'context',
    source: share(error),
  });
}

export const OPTIONS = {
  'Option.unwrap': (stack, at) => {
    if (!present(stack[at])) throw fault('UnwrapError', 'unwrap on None');
    return inside(stack[at]);
  },
  'Option.expect': (stack, at) => {
    if (!present(stack[at])) throw fault('UnwrapError', display(stack[at + 1]));
    return inside(stack[at]);
  },
  'Option.is_some': (stack, at) => present(stack[at]),
  'Option.is_none': (stack, at) => !present(stack[at]),
  'Option.unwrap_or': (stack, at) => (present(stack[at]) ? inside(stack[at]) : share(stack[at + 1])),
  'Option.unwrap_or_else': 'prelude',
  'Option.map': 'prelude',
  'Option.and_then': 'prelude',
  'Option.filter': 'prelude',
  'Option.or': (stack, at) => (present(stack[at]) ? share(stack[at]) : share(stack[at + 1])),
  'Option.or_else': 'prelude',
  'Option.ok_or': (stack, at) => (present(stack[at]) ? okValue(inside(stack[at])) : errValue(share(stack[at + 1]))),

  'Result.unwrap': (stack, at) => {
    const value = stack[at];
    if (isErr(value))
      throw fault('UnwrapError', `unwrap on Err: ${display(value.value)}`, { source: share(value.value) });
    return okInside(value);
  },
  'Result.expect': (stack, at) => {
    const value = stack[at];
    if (isErr(value)) {
      const message = `${display(stack[at + 1])}: ${display(value.value)}`;
      throw fault('UnwrapError', message, { source: share(value.value) });
    }
    return okInside(value);
  },
  'Result.unwrap_err': (stack, at) => {
    const value = stack[at];
    if (!isErr(value)) throw fault('UnwrapError', `unwrap_err on Ok: ${display(okInside(value))}`);
    return share(value.value);
  },
  'Result.is_ok': (stack, at) => !isErr(stack[at]),
  'Result.is_err': (stack, at) => isErr(stack[at]),
  'Result.ok': (stack, at) => (isErr(stack[at]) ? NONE : some(okInside(stack[at]))),
  'Result.err': (stack, at) => {
    const value = stack[at];
    return isErr(value) ? some(share(value.value)) : NONE;
  },
  'Result.unwrap_or': (stack, at) => (isErr(stack[at]) ? share(stack[at + 1]) : okInside(stack[at])),
  'Result.unwrap_or_else': 'prelude',
  'Result.map': 'prelude',
  'Result.map_err': 'prelude',
  'Result.and_then': 'prelude',
  'Result.or_else': 'prelude',
  'Result.context': (stack, at) => {
    const value = stack[at];
    return isErr(value) ? errValue(withContext(value.value, stack[at + 1])) : stack[at];
  },
  'Error.context': (stack, at) => withContext(stack[at], stack[at + 1]),
} as const satisfies Entries;
