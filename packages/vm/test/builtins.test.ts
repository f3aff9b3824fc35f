import { BUILTIN_NAMES, type BuiltinName, builtinSpec } from '@concerto/ir';
import { describe, expect, test } from 'vitest';
import { display } from '../src/display.ts';
import type { Request } from '../src/effects.ts';
import { array, emptyMap, errValue, NONE, type Value } from '../src/value.ts';
import { type Argument, type Callback, type CallbackMark, ints, model, type RawRow, row } from './builtin-values.ts';
import { COLLECTIONS, OPTIONS } from './collection-rows.ts';
import { NUMBERS, TEXT } from './scalar-rows.ts';
import { execute, ProgramBuilder } from './support.ts';
import { BUILDERS, FUNCTION_ROWS, STORES, WORLD } from './world-rows.ts';

/** Tested by their own files: they take several turns with the world. */
const ELSEWHERE: readonly BuiltinName[] = [
  'panic',
  // packages/language/test/time.conc
  'every',
  'ModelRef.execute',
  'ModelRef.chat',
  'ModelRef.stream',
  'ModelRef.execute_with_schema',
  'AgentRef.execute',
  'AgentRef.execute_with_schema',
  'Builder.execute',
  'Builder.chat',
  'Builder.stream',
  'Builder.execute_with_schema',
  'PipelineRef.run',
];

const ROWS = [...TEXT, ...NUMBERS, ...COLLECTIONS, ...OPTIONS, ...FUNCTION_ROWS, ...WORLD, ...STORES, ...BUILDERS];

/** A program that calls the row with the values in its module variables, and keeps the receiver. */
function runRow({ name, args, answer }: RawRow): { gives: string; leaves: string; asked: Request | undefined } {
  const program = new ProgramBuilder();
  const callbacks = defineCallbacks(program);
  const values = args();
  program.module.structs.push({
    name: 'Note',
    kind: 'schema',
    fields: [
      { name: 'title', type: 'String' },
      { name: 'stars', type: 'Int', default: 3 },
      { name: 'body', type: 'String', optional: true },
    ],
  });
  values.forEach((_, index) => program.global(`g${index}`));
  const receiver = program.global('receiver');
  program.fn('main', { registers: 20 }, (f) => {
    values.forEach((value, index) => {
      if (isCallback(value)) f.constant(2 + index, { kind: 'function', index: callbacks[value.callback] });
      else f.emit('PeekGlobal', 2 + index, index);
    });
    f.builtin(0, name, 2, values.length);
    f.emit('StoreGlobal', receiver, 2);
    f.emit('Return', 0);
  });
  let asked: Request | undefined;
  let leaves = '';
  const ran = execute(program.build(), {
    prepare: (vm) => {
      values.forEach((value, index) => {
        if (!isCallback(value)) vm.globals[index] = value;
      });
      keep = vm.globals;
    },
    world: (request) => {
      asked = request;
      return answer;
    },
  });
  if (ran.status.status === 'failed') throw new Error(ran.status.failure.message);
  leaves = display(keep[receiver]);
  return { gives: ran.status.status === 'done' ? display(ran.status.value) : ran.status.status, leaves, asked };
}
let keep: Value[] = [];

function isCallback(value: Argument): value is CallbackMark {
  return typeof value === 'object' && value !== null && 'callback' in value;
}

function defineCallbacks(program: ProgramBuilder): Record<Callback, number> {
  const one = (name: Callback, body: Parameters<ProgramBuilder['fn']>[2]) =>
    program.fn(name, { params: 1, registers: 6 }, body);
  const two = (name: Callback, body: Parameters<ProgramBuilder['fn']>[2]) =>
    program.fn(name, { params: 2, registers: 6 }, body);
  return {
    double: one('double', (f) => {
      f.emit('MulInt', 1, 0, 2);
      f.emit('Return', 1);
    }),
    even: one('even', (f) => {
      f.emit('ModInt', 1, 0, 2);
      f.emit('Not', 1, 1);
      f.emit('Return', 1);
    }),
    parity: one('parity', (f) => {
      f.emit('ModInt', 1, 0, 2);
      f.emit('Return', 1);
    }),
    half: one('half', (f) => {
      const odd = f.label();
      f.emit('ModInt', 1, 0, 2);
      f.emit('JumpIf', 1, odd);
      f.emit('LoadInt', 2, 2);
      f.emit('Div', 1, 0, 2);
      f.emit('MakeSome', 1, 1);
      f.emit('Return', 1);
      f.place(odd);
      f.emit('LoadNone', 1);
      f.emit('Return', 1);
    }),
    twice: one('twice', (f) => {
      f.emit('Move', 1, 0);
      f.emit('Move', 2, 0);
      f.emit('MakeArray', 1, 1, 2);
      f.emit('Return', 1);
    }),
    text: one('text', (f) => {
      f.string(1, 'text ');
      f.emit('Add', 1, 1, 0);
      f.emit('Return', 1);
    }),
    add: two('add', (f) => {
      f.emit('Add', 2, 0, 1);
      f.emit('Return', 2);
    }),
    backwards: two('backwards', (f) => {
      f.emit('Sub', 2, 1, 0);
      f.emit('Return', 2);
    }),
    pair: two('pair', (f) => {
      f.emit('MakeArray', 2, 0, 2);
      f.emit('Return', 2);
    }),
    keyIsA: two('keyIsA', (f) => {
      f.string(2, 'a');
      f.emit('Eq', 2, 0, 2);
      f.emit('Return', 2);
    }),
    three: program.fn('three', { params: 0, registers: 2 }, (f) => {
      f.emit('LoadInt', 0, 3);
      f.emit('Return', 0);
    }),
    none: program.fn('none', { params: 0, registers: 2 }, (f) => {
      f.emit('LoadNone', 0);
      f.emit('Return', 0);
    }),
  };
}

describe('built-ins', () => {
  test.each(ROWS.map((entry, index) => ({ title: `${entry.name} #${index}`, entry })))('$title', ({ entry }) => {
    expect(runRow(entry)).toMatchObject({
      gives: entry.gives,
      ...(entry.leaves === undefined ? {} : { leaves: entry.leaves }),
      ...(entry.asks === undefined ? {} : { asked: entry.asks }),
    });
  });

  test('every row has a behaviour here or in a file of its own', () => {
    const tested = new Set<string>([...ROWS.map(({ name }) => name), ...ELSEWHERE]);
    expect(BUILTIN_NAMES.filter((name) => !tested.has(name))).toEqual([]);
  });

  test('a mutating method leaves a shared receiver as it was', () => {
    const shared = array([1]);
    shared.shared = true;
    const { leaves } = runRow(row('Array.push', [shared, 2], 'nil'));
    expect(leaves).toBe('[1, 2]');
    expect(display(shared)).toBe('[1]');
  });

  test.each<[string, RawRow, string]>([
    ['unwrap of None', row('Option.unwrap', [NONE], ''), 'unwrap on None'],
    ['unwrap of Err', row('Result.unwrap', [errValue('no')], ''), 'unwrap on Err: no'],
    ['a wrong type', row('String.repeat', ['x', 'y'], ''), 'the number of times must be an Int, not String'],
    ['a wrong receiver', row('Array.push', ['x', 1], ''), 'the receiver must be an Array, not String'],
    ['too few arguments', row('String.repeat', ['x'], ''), 'String.repeat takes 2 arguments, 1 given'],
    ['no pattern', row('String.matches', ['x', 'a('], ''), '"a(": this is not a regular expression'],
    ['an index outside', row('Array.remove', [ints(1), 3], ''), 'index 3 is out of bounds for Array of length 1'],
    ['things without an order', row('Array.sort', [array([1, 'a'])], ''), 'cannot compare'],
    ['a key that is none', row('Map.set', [emptyMap(), model, 1, 1], ''), 'takes 3 arguments'],
    ['an assertion', row('assert', [false, 'nope'], ''), 'assertion failed: nope'],
    ['unequal values', row('assert_eq', [1, 2], ''), 'assertion failed: left == right\n  left:  1\n  right: 2'],
    ['equal values', row('assert_ne', [1, 1], ''), 'assertion failed: left != right'],
    ['a low bound above', row('std::math::random_int', [5, 1], ''), 'the lower bound is above the upper one'],
  ])('%s is a fault with a message', (_, entry, message) => {
    expect(() => runRow(entry)).toThrow(message);
  });

  test('rows that leave the program are marked as effects', () => {
    const unmarked = ROWS.filter(({ name, answer }) => answer !== undefined && builtinSpec(name).effect !== true);
    expect(unmarked.map(({ name }) => name)).toEqual([]);
  });
});
