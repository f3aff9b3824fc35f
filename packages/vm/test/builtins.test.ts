import { BUILTIN_NAMES, type BuiltinName, builtinSpec, parseType } from '@concerto/ir';
import { describe, expect, test } from 'vitest';
import { display } from '../src/display.ts';
import type { Answer, Request } from '../src/effects.ts';
import { errorValue } from '../src/fault.ts';
import { newHashMap, newLedger, newMemory, remember } from '../src/stores.ts';
import {
  array,
  type BuiltinValue,
  emptyMap,
  errValue,
  float,
  NONE,
  okValue,
  record,
  some,
  type Value,
} from '../src/value.ts';
import { execute, ProgramBuilder } from './support.ts';

/** One behaviour of one row: arguments, what comes back (display form), and for mutating methods the receiver afterwards. */
interface Row {
  readonly name: BuiltinName;
  readonly args: () => readonly Value[];
  readonly gives: string;
  readonly leaves?: string;
  readonly answer?: Answer;
  readonly asks?: Partial<Record<string, unknown>>;
}

const ok = (value: Extract<Answer, { ok: true }>['value']): Answer => ({ ok: true, value });
const no = (message: string): Answer => ({ ok: false, error: { message } });
const ints = (...values: number[]): Value => array(values);
const builtin = (name: BuiltinName): BuiltinValue => ({ kind: 'builtin', name });
const type = (text: string): Value => ({ kind: 'type', text, type: parseType(text) });
const set = (...items: string[]): Value => ({
  kind: 'set',
  items: new Map(items.map((item) => [item, item])),
  shared: false,
});
const queue = (...items: Value[]): Value => ({ kind: 'queue', items, head: 0, shared: false });
const stack = (...items: Value[]): Value => ({ kind: 'stack', items, shared: false });
const range = (start: number, end: number): Value => ({ kind: 'range', start, end, inclusive: false });
const model: Value = { kind: 'ref', of: 'model', name: 'M' };
const agent: Value = { kind: 'ref', of: 'agent', name: 'A' };
const server: Value = { kind: 'ref', of: 'mcp', name: 'S' };
const builder: Value = { kind: 'builder', target: { kind: 'ref', of: 'model', name: 'M' }, options: {} };
const memory = (): Value => {
  const store = newMemory('m', null);
  remember(store, 'user', 'hi');
  remember(store, 'assistant', 'ho');
  return store;
};
const ledger = (): Value => {
  const store = newLedger('l');
  store.entries.set('Deploy guide, v1.2', { keys: ['Ops'], value: 1 });
  store.entries.set('Style rules', { keys: ['docs', 'ops'], value: 2 });
  return store;
};
const hashMap = (): Value => {
  const store = newHashMap('h');
  store.entries = record({ a: 1, b: 2 });
  return store;
};
const prompt = (): Value => ({
  kind: 'struct',
  type: {
    name: 'Prompt',
    kind: 'struct',
    parents: [],
    slots: new Map([
      ['system', 0],
      ['context', 1],
      ['messages', 2],
    ]),
    fields: ['system', 'context', 'messages'].map((name) => ({
      name,
      type: 'Any',
      optional: false,
      default: null,
      description: undefined,
      hidden: false,
    })),
  },
  fields: [null, null, array([])],
  extra: null,
  shared: false,
});
/** Functions of the test module, called by name. */
const FUNCTIONS = [
  'double',
  'even',
  'add',
  'pair',
  'parity',
  'backwards',
  'half',
  'keyIsA',
  'text',
  'twice',
  'three',
  'none',
] as const;
type Callback = (typeof FUNCTIONS)[number];
interface CallbackMark {
  readonly callback: Callback;
}
const call = (callback: Callback): CallbackMark => ({ callback });

type Argument = Value | CallbackMark;
const row = (
  name: BuiltinName,
  args: readonly Argument[] | (() => readonly Argument[]),
  gives: string,
  more: Partial<Row> = {},
): RawRow => ({
  name,
  args: typeof args === 'function' ? args : () => args,
  gives,
  ...more,
});
interface RawRow extends Omit<Row, 'args'> {
  readonly args: () => readonly Argument[];
}

const TEXT: readonly RawRow[] = [
  row('String.len', ['né😀'], '3'),
  row('String.is_empty', [''], 'true'),
  row('String.contains', ['abc', 'bc'], 'true'),
  row('String.starts_with', ['abc', 'ab'], 'true'),
  row('String.ends_with', ['abc', 'ab'], 'false'),
  row('String.index_of', ['😀abc', 'b'], 'Some(2)'),
  row('String.index_of', ['abc', 'z'], 'None'),
  row('String.trim', ['  x '], 'x'),
  row('String.trim_start', ['  x '], 'x '),
  row('String.trim_end', ['  x '], '  x'),
  row('String.to_uppercase', ['aé'], 'AÉ'),
  row('String.to_lowercase', ['AÉ'], 'aé'),
  row('String.to_upper', ['a'], 'A'),
  row('String.to_lower', ['A'], 'a'),
  row('String.split', ['a,b,,c', ','], '[a, b, , c]'),
  row('String.split', ['añ', ''], '[a, ñ]'),
  row('String.lines', ['a\nb\r\nc\n'], '[a, b, c]'),
  row('String.chars', ['a😀'], '[a, 😀]'),
  row('String.replace', ['a-b-c', '-', '$&'], 'a$&b$&c'),
  row('String.repeat', ['ab', 3], 'ababab'),
  row('String.repeat', ['ab', -1], ''),
  row('String.reverse', ['añ😀'], '😀ña'),
  row('String.substring', ['héllo', 1, 3], 'él'),
  row('String.substring', ['abc', 1], 'bc'),
  row('String.slice', ['abc', -5, 99], 'abc'),
  row('String.get', ['a😀', 1], 'Some(😀)'),
  row('String.get', ['a', 1], 'None'),
  row('String.parse_int', ['-42'], 'Ok(-42)'),
  row('String.parse_int', ['4x'], 'Err(not an Int: "4x")'),
  row('String.parse_int', ['9007199254740992'], 'Err(not an Int: "9007199254740992")'),
  row('String.parse_float', ['2.5'], 'Ok(2.5)'),
  row('String.parse_float', [''], 'Err(not a Float: "")'),
  row('String.to_string', ['x'], 'x'),
  row('std::string::split', ['a b', ' '], '[a, b]'),
  row('std::string::join', [array(['a', 1]), '+'], 'a+1'),
  row('std::string::trim', [' x '], 'x'),
  row('std::string::trim_start', [' x'], 'x'),
  row('std::string::trim_end', ['x '], 'x'),
  row('std::string::replace', ['aa', 'a', 'b'], 'bb'),
  row('std::string::to_upper', ['a'], 'A'),
  row('std::string::to_lower', ['A'], 'a'),
  row('std::string::contains', ['abc', 'z'], 'false'),
  row('std::string::starts_with', ['abc', 'a'], 'true'),
  row('std::string::ends_with', ['abc', 'c'], 'true'),
  row('std::string::substring', ['abc', 1, 99], 'bc'),
  row('std::string::index_of', ['abc', 'c'], 'Some(2)'),
  row('std::string::len', ['né'], '2'),
  row('std::string::repeat', ['x', 2], 'xx'),
  row('std::string::reverse', ['abc'], 'cba'),
  row('std::string::parse_int', [' 7 '], 'Ok(7)'),
  row('std::string::parse_float', ['1e3'], 'Ok(1000)'),
  row('std::fmt::format', ['{} {} {}', array(['x', 1])], 'x 1 {}'),
  row('std::fmt::pad_left', ['42', 5, '0'], '00042'),
  row('std::fmt::pad_left', ['42', 4], '  42'),
  row('std::fmt::pad_right', ['ab', 5, '-='], 'ab-=-'),
  row('std::fmt::truncate', ['abcdefgh', 6], 'abc...'),
  row('std::fmt::truncate', ['abc', 6], 'abc'),
  row('std::fmt::indent', ['a\n\nb', 2], '  a\n\n  b'),
  row('std::prompt::template', ['hi ${name}, ${gone}', record({ name: 'bob' })], 'hi bob, ${gone}'),
  row('std::prompt::count_tokens', ['a b c'], '4'),
  row('std::prompt::from_file', ['p.txt', record({ x: 1 })], 'Ok(x is 1)', {
    answer: ok('x is ${x}'),
    asks: { kind: 'file', op: 'read', path: 'p.txt' },
  }),
];

const NUMBERS: readonly RawRow[] = [
  row('Int.to_string', [5], '5'),
  row('Int.to_float', [5], '5'),
  row('Int.abs', [-5], '5'),
  row('Int.sqrt', [9], '3'),
  row('Int.pow', [2, 10], '1024'),
  row('Int.min', [2, 5], '2'),
  row('Int.max', [2, 5], '5'),
  row('Int.clamp', [15, 0, 10], '10'),
  row('Float.to_string', [float(1.5)], '1.5'),
  row('Float.to_int', [float(-3.7)], '-3'),
  row('Float.abs', [float(-1.5)], '1.5'),
  row('Float.sqrt', [float(2.25)], '1.5'),
  row('Float.pow', [float(2), float(0.5)], '1.4142135623730951'),
  row('Float.round', [float(-2.5)], '-3'),
  row('Float.floor', [float(-1.5)], '-2'),
  row('Float.ceil', [float(1.2)], '2'),
  row('Float.min', [float(1.5), float(2)], '1.5'),
  row('Float.max', [float(1.5), float(2)], '2'),
  row('Float.is_nan', [float(Number.NaN)], 'true'),
  row('Bool.to_string', [true], 'true'),
  row('Nil.to_string', [null], 'nil'),
  row('Any.to_string', [array([1])], '[1]'),
  row('Error.to_string', [errorValue('ToolError', 'broke')], 'broke'),
  row('std::math::abs', [float(-2)], '2'),
  row('std::math::min', [2, float(1.5)], '1.5'),
  row('std::math::max', [2, float(1.5)], '2'),
  row('std::math::clamp', [-1, 0, 10], '0'),
  row('std::math::round', [float(2.5)], '3'),
  row('std::math::floor', [float(2.9)], '2'),
  row('std::math::ceil', [float(-2.9)], '-2'),
  row('std::math::trunc', [float(-2.9)], '-2'),
  row('std::math::pow', [3, 4], '81'),
  row('std::math::pow', [2, -1], '0.5'),
  row('std::math::sqrt', [16], '4'),
  row('std::math::log', [1], '0'),
  row('std::math::exp', [0], '1'),
  row('std::math::sin', [0], '0'),
  row('std::math::cos', [0], '1'),
  row('std::math::pi', [], '3.141592653589793'),
  row('std::math::random', [], '0.25', { answer: ok(0.25), asks: { kind: 'random', of: 'float' } }),
  row('std::math::random_int', [1, 6], '4', { answer: ok(4), asks: { kind: 'random', of: 'int', low: 1, high: 6 } }),
  row('std::random::float', [], '0.5', { answer: ok(0.5) }),
  row('std::random::int', [1, 2], '2', { answer: ok(2) }),
];

const COLLECTIONS: readonly RawRow[] = [
  row('Array.len', [ints(1, 2)], '2'),
  row('Array.is_empty', [ints()], 'true'),
  row('Array.get', [ints(1), 0], 'Some(1)'),
  row('Array.get', [ints(1), -1], 'None'),
  row('Array.first', [ints(7, 8)], 'Some(7)'),
  row('Array.last', [ints(7, 8)], 'Some(8)'),
  row('Array.last', [ints()], 'None'),
  row('Array.push', [ints(1), 2], 'nil', { leaves: '[1, 2]' }),
  row('Array.pop', [ints(1, 2)], 'Some(2)', { leaves: '[1]' }),
  row('Array.pop', [ints()], 'None', { leaves: '[]' }),
  row('Array.insert', [ints(1, 3), 1, 2], 'nil', { leaves: '[1, 2, 3]' }),
  row('Array.remove', [ints(1, 2), 0], '1', { leaves: '[2]' }),
  row('Array.extend', [ints(1), ints(2, 3)], 'nil', { leaves: '[1, 2, 3]' }),
  row('Array.clear', [ints(1)], 'nil', { leaves: '[]' }),
  row('Array.contains', [array([ints(1)]), ints(1)], 'true'),
  row('Array.index_of', [ints(4, 5), 5], 'Some(1)'),
  row('Array.slice', [ints(1, 2, 3, 4), 1, 3], '[2, 3]'),
  row('Array.slice', [ints(1, 2), 5], '[]'),
  row('Array.take', [ints(1, 2, 3), 2], '[1, 2]'),
  row('Array.skip', [ints(1, 2, 3), 2], '[3]'),
  row('Array.concat', [ints(1), ints(2)], '[1, 2]'),
  row('Array.reverse', [ints(1, 2)], '[2, 1]', { leaves: '[1, 2]' }),
  row('Array.sort', [ints(10, 9, 1)], '[1, 9, 10]', { leaves: '[10, 9, 1]' }),
  row('Array.sort', [array(['b', 'a', 'B'])], '[B, a, b]'),
  row('Array.sort_by', [ints(1, 3, 2), call('backwards')], '[3, 2, 1]'),
  row('Array.sort_by_key', [ints(1, 2, 3, 4), call('parity')], '[2, 4, 1, 3]'),
  row('Array.unique', [ints(1, 2, 1)], '[1, 2]'),
  row('Array.join', [ints(1, 2), '-'], '1-2'),
  row('Array.enumerate', [array(['x', 'y'])], '[[0, x], [1, y]]'),
  row('Array.zip', [ints(1, 2, 3), array(['a', 'b'])], '[[1, a], [2, b]]'),
  row('Array.flatten', [array([ints(1), ints(2, 3)])], '[1, 2, 3]'),
  row('Array.sum', [ints(1, 2, 3)], '6'),
  row('Array.min', [ints(3, 1, 2)], 'Some(1)'),
  row('Array.max', [ints()], 'None'),
  row('Array.map', [ints(1, 2), call('double')], '[2, 4]', { leaves: '[1, 2]' }),
  row('Array.flat_map', [ints(1, 2), call('twice')], '[1, 1, 2, 2]'),
  row('Array.filter', [ints(1, 2, 4), call('even')], '[2, 4]'),
  row('Array.reduce', [ints(1, 2, 3), 10, call('add')], '16'),
  row('Array.fold', [ints(1), 1, call('add')], '2'),
  row('Array.find', [ints(1, 4, 6), call('even')], 'Some(4)'),
  row('Array.find', [ints(1), call('even')], 'None'),
  row('Array.find_index', [ints(1, 4), call('even')], 'Some(1)'),
  row('Array.find_index', [ints(1), call('even')], 'None'),
  row('Array.any', [ints(1, 2), call('even')], 'true'),
  row('Array.all', [ints(2, 3), call('even')], 'false'),
  row('Array.count', [ints(2, 3, 4), call('even')], '2'),
  row('Array.for_each', [ints(1), call('double')], 'nil'),
  row('Array.group_by', [ints(1, 2, 3), call('parity')], '{"1": [1, 3], "0": [2]}'),
  row('Map.len', [record({ a: 1 })], '1'),
  row('Map.is_empty', [record({})], 'true'),
  row('Map.get', [record({ a: 1 }), 'a'], 'Some(1)'),
  row('Map.get', [record({ a: 1 }), 1], 'None'),
  row('Map.get_or', [record({ a: 1 }), 'b', 5], '5'),
  row('Map.has', [record({ a: 1 }), 'a'], 'true'),
  row('Map.contains_key', [record({ a: 1 }), 'b'], 'false'),
  row('Map.set', [record({ a: 1 }), 'a', 2], 'nil', { leaves: '{"a": 2}' }),
  row('Map.insert', [record({}), 1, 2], 'nil', { leaves: '{"1": 2}' }),
  row('Map.delete', [record({ a: 1 }), 'a'], 'true', { leaves: '{}' }),
  row('Map.remove', [record({ a: 1 }), 'a'], 'Some(1)', { leaves: '{}' }),
  row('Map.clear', [record({ a: 1 })], 'nil', { leaves: '{}' }),
  row('Map.keys', [record({ z: 1, a: 2 })], '[z, a]'),
  row('Map.values', [record({ z: 1, a: 2 })], '[1, 2]'),
  row('Map.entries', [record({ z: 1 })], '[[z, 1]]'),
  row('Map.merge', [record({ a: 1, b: 1 }), record({ b: 2 })], '{"a": 1, "b": 2}'),
  row('Map.map', [record({ a: 1 }), call('pair')], '[[a, 1]]'),
  row('Map.map_values', [record({ a: 1, b: 2 }), call('double')], '{"a": 2, "b": 4}'),
  row('Map.filter', [record({ a: 1, b: 2 }), call('keyIsA')], '{"a": 1}'),
  row('Map.for_each', [record({ a: 1 }), call('pair')], 'nil'),
  row('Set.len', [set('x', 'y')], '2'),
  row('Set.is_empty', [set()], 'true'),
  row('Set.contains', [set('x'), 'x'], 'true'),
  row('Set.has', [set('x'), 'y'], 'false'),
  row('Set.insert', [set('x'), 'y'], 'true', { leaves: '{x, y}' }),
  row('Set.add', [set('x'), 'x'], 'false', { leaves: '{x}' }),
  row('Set.remove', [set('x'), 'x'], 'true', { leaves: '{}' }),
  row('Set.delete', [set('x'), 'y'], 'false', { leaves: '{x}' }),
  row('Set.clear', [set('x')], 'nil', { leaves: '{}' }),
  row('Set.union', [set('x'), set('y')], '{x, y}'),
  row('Set.intersection', [set('x', 'y'), set('y')], '{y}'),
  row('Set.difference', [set('x', 'y'), set('y')], '{x}'),
  row('Set.is_subset', [set('x'), set('x', 'y')], 'true'),
  row('Set.to_array', [set('x', 'y')], '[x, y]'),
  row('std::collections::Set::new', [], '{}'),
  row('std::collections::Set::from', [array(['x', 'x'])], '{x}'),
  row('Queue.len', [queue(1, 2)], '2'),
  row('Queue.is_empty', [queue()], 'true'),
  row('Queue.enqueue', [queue(1), 2], 'nil', { leaves: '[1, 2]' }),
  row('Queue.push', [queue(1), 2], 'nil', { leaves: '[1, 2]' }),
  row('Queue.dequeue', [queue(1, 2)], 'Some(1)', { leaves: '[2]' }),
  row('Queue.pop', [queue()], 'None', { leaves: '[]' }),
  row('Queue.peek', [queue(1, 2)], 'Some(1)', { leaves: '[1, 2]' }),
  row('Queue.rest', [queue(1, 2)], '[2]', { leaves: '[1, 2]' }),
  row('Queue.clear', [queue(1)], 'nil', { leaves: '[]' }),
  row('Queue.to_array', [queue(1, 2)], '[1, 2]'),
  row('std::collections::Queue::new', [], '[]'),
  row('std::collections::Queue::from', [ints(1)], '[1]'),
  row('Stack.len', [stack(1)], '1'),
  row('Stack.is_empty', [stack()], 'true'),
  row('Stack.push', [stack(1), 2], 'nil', { leaves: '[1, 2]' }),
  row('Stack.pop', [stack(1, 2)], 'Some(2)', { leaves: '[1]' }),
  row('Stack.peek', [stack(1, 2)], 'Some(2)'),
  row('Stack.rest', [stack(1, 2)], '[1]'),
  row('Stack.clear', [stack(1)], 'nil', { leaves: '[]' }),
  row('Stack.to_array', [stack(1, 2)], '[1, 2]'),
  row('std::collections::Stack::new', [], '[]'),
  row('std::collections::Stack::from', [ints(1)], '[1]'),
  row('Range.len', [range(1, 5)], '4'),
  row('Range.len', [range(5, 1)], '0'),
  row('Range.is_empty', [range(1, 1)], 'true'),
  row('Range.contains', [range(1, 5), 5], 'false'),
  row('Range.to_array', [range(1, 4)], '[1, 2, 3]'),
  row('Range.map', [range(0, 3), call('double')], '[0, 2, 4]'),
  row('Range.filter', [range(0, 4), call('even')], '[0, 2]'),
  row('Range.reduce', [range(0, 4), 0, call('add')], '6'),
  row('Range.for_each', [range(0, 4), call('double')], 'nil'),
];

const OPTIONS: readonly RawRow[] = [
  row('Option.unwrap', [some(1)], '1'),
  row('Option.expect', [some(1), 'x'], '1'),
  row('Option.is_some', [some(1)], 'true'),
  row('Option.is_none', [NONE], 'true'),
  row('Option.unwrap_or', [NONE, 7], '7'),
  row('Option.unwrap_or_else', [NONE, call('three')], '3'),
  row('Option.unwrap_or_else', [some(1), call('three')], '1'),
  row('Option.map', [some(2), call('double')], 'Some(4)'),
  row('Option.map', [NONE, call('double')], 'None'),
  row('Option.and_then', [some(4), call('half')], 'Some(2)'),
  row('Option.and_then', [some(3), call('half')], 'None'),
  row('Option.filter', [some(2), call('even')], 'Some(2)'),
  row('Option.filter', [some(1), call('even')], 'None'),
  row('Option.or', [NONE, some(1)], 'Some(1)'),
  row('Option.or_else', [NONE, call('none')], 'None'),
  row('Option.ok_or', [NONE, 'gone'], 'Err(gone)'),
  row('Option.ok_or', [some(1), 'gone'], 'Ok(1)'),
  row('Result.unwrap', [okValue(1)], '1'),
  row('Result.expect', [okValue(1), 'x'], '1'),
  row('Result.unwrap_err', [errValue('no')], 'no'),
  row('Result.is_ok', [okValue(1)], 'true'),
  row('Result.is_err', [okValue(1)], 'false'),
  row('Result.ok', [errValue('no')], 'None'),
  row('Result.err', [errValue('no')], 'Some(no)'),
  row('Result.unwrap_or', [errValue('no'), 8], '8'),
  row('Result.unwrap_or_else', [errValue('no'), builtin('len')], '2'),
  row('Result.map', [okValue(2), call('double')], 'Ok(4)'),
  row('Result.map', [errValue('no'), call('double')], 'Err(no)'),
  row('Result.map_err', [errValue('no'), call('text')], 'Err(text no)'),
  row('Result.and_then', [okValue(4), call('half')], 'Some(2)'),
  row('Result.or_else', [errValue('no'), call('text')], 'text no'),
  row('Result.context', [errValue('no'), 'reading'], 'Err(reading: no)'),
  row('Result.context', [okValue(1), 'reading'], 'Ok(1)'),
  row('Error.context', [errorValue('ToolError', 'broke'), 'using'], 'using: broke'),
];

const FUNCTION_ROWS: readonly RawRow[] = [
  row('emit', ['channel', 1], 'nil'),
  row('print', ['a', 1], 'nil'),
  row('println', [], 'nil'),
  row('env', ['HOME'], '/home', { answer: ok('/home'), asks: { kind: 'env', name: 'HOME' } }),
  row('env', ['GONE'], 'nil', { answer: ok(null) }),
  row('len', ['😀'], '1'),
  row('len', [record({ a: 1 })], '1'),
  row('typeof', [float(1)], 'Float'),
  row('Ok', [1], 'Ok(1)'),
  row('Err', [1], 'Err(1)'),
  row('Some', [1], 'Some(1)'),
  row('assert', [true], 'nil'),
  row('assert_eq', [ints(1), ints(1)], 'nil'),
  row('assert_ne', [1, 2], 'nil'),
  row('test_emits', [], '[]'),
  row('mock_calls', [model], '[]'),
  row('flush_emits', [], 'nil', { answer: ok(null), asks: { kind: 'flush' } }),
  row('parse_schema', [type('Array<Int>'), '[1, 2.0]'], 'Ok([1, 2])'),
  row('parse_schema', [type('Int'), '"x"'], 'Err(Int: value: expected an Int, found "x")'),
  row('$ask', ['who', 'name?'], 'Ann', { answer: ok('Ann'), asks: { kind: 'ask', channel: 'who' } }),
  row('$mock', [model, record({ response: 'x' })], 'nil'),
  row('$cast_schema', [type('Float'), 1], '1'),
  row('Message::system', ['be brief'], 'Message {role: system, content: be brief}'),
  row('Message::user', ['hi'], 'Message {role: user, content: hi}'),
  row('Message::assistant', ['ho'], 'Message {role: assistant, content: ho}'),
  row('Prompt::new', ['hi'], 'Prompt {system: nil, context: nil, messages: [Message {role: user, content: hi}]}'),
  row('HashMap::new', [], '<hashmap hashmap>'),
  row('Ledger::new', [], '<ledger ledger>'),
  row('Memory::new', [3], '<memory memory>'),
  ...(
    [
      'Error',
      'RuntimeError',
      'TimeoutError',
      'AgentError',
      'ModelError',
      'SchemaError',
      'ToolError',
      'ConnectionError',
      'PipelineError',
      'HashMapError',
      'EmitError',
    ] as const
  ).map((name) => row(`${name}::new`, ['it broke'], 'it broke')),
  row('std::log::info', ['a'], 'nil'),
  row('std::log::warn', ['a'], 'nil'),
  row('std::log::error', ['a'], 'nil'),
  row('std::log::debug', ['a'], 'nil'),
  row('std::json::parse', ['{"b": 1, "a": [1.0, null]}'], 'Ok({"b": 1, "a": [1, nil]})'),
  row('std::json::parse', ['{bad'], 'Err(expected a key at line 1 column 2)'),
  row('std::json::parse_as', [type('Map<String, Float>'), '{"a": 1}'], 'Ok({"a": 1})'),
  row('std::json::stringify', [record({ z: float(1), a: some('q"t'), n: NONE })], '{"z":1.0,"a":"q\\"t","n":null}'),
  row('std::json::stringify_pretty', [record({ a: ints(1) })], '{\n  "a": [\n    1\n  ]\n}'),
  row('std::json::is_valid', ['[1'], 'false'),
  row('std::crypto::sha256', ['abc'], 'ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad'),
  row('std::crypto::md5', ['abc'], '900150983cd24fb0d6963f7d28e17f72'),
  row('std::crypto::uuid', [], 'u-1', { answer: ok('u-1'), asks: { kind: 'random', of: 'uuid' } }),
  row('std::crypto::random_bytes', [2], 'abcd', {
    answer: ok('abcd'),
    asks: { kind: 'random', of: 'bytes', count: 2 },
  }),
];

const WORLD: readonly RawRow[] = [
  row('std::env::get', ['A'], 'Some(1)', { answer: ok('1') }),
  row('std::env::get', ['A'], 'None', { answer: ok(null) }),
  row('std::env::require', ['A'], 'Err(the environment variable A is not set)', { answer: ok(null) }),
  row('std::env::all', [], '{"A": 1}', { answer: ok({ A: '1' }), asks: { kind: 'env', name: null } }),
  row('std::env::has', ['A'], 'true', { answer: ok('') }),
  row('std::time::now', [], '1970-01-01T00:00:01.500Z', { answer: ok(1500), asks: { kind: 'now' } }),
  row('std::time::now_ms', [], '1500', { answer: ok(1500) }),
  row('std::time::sleep', [20], 'nil', { answer: ok(null), asks: { kind: 'sleep', ms: 20 } }),
  row('std::time::measure', [call('three')], '[3, 0]', { answer: ok(7) }),
  row('std::fs::read_file', ['f'], 'Ok(text)', { answer: ok('text'), asks: { kind: 'file', op: 'read', path: 'f' } }),
  row('std::fs::read_file', ['f'], 'Err(no such file)', { answer: no('no such file') }),
  row('std::fs::write_file', ['f', 'x'], 'Ok(nil)', { answer: ok(null), asks: { op: 'write', text: 'x' } }),
  row('std::fs::append_file', ['f', 'x'], 'Ok(nil)', { answer: ok(null), asks: { op: 'append' } }),
  row('std::fs::exists', ['f'], 'true', { answer: ok(true) }),
  row('std::fs::list_dir', ['d'], 'Ok([a, b])', { answer: ok(['a', 'b']) }),
  row('std::fs::remove_file', ['f'], 'Ok(nil)', { answer: ok(null) }),
  row('std::fs::file_size', ['f'], 'Ok(7)', { answer: ok(7) }),
  row('std::http::get', ['http://x', record({ A: 'b' })], 'Ok(HttpResponse {status: 200, body: hi, headers: {}})', {
    answer: ok({ status: 200, body: 'hi', headers: {} }),
    asks: { kind: 'http', method: 'GET', url: 'http://x', body: null, headers: { A: 'b' } },
  }),
  row('std::http::post', ['http://x', record({ n: 1 })], 'Err(refused)', {
    answer: no('refused'),
    asks: { method: 'POST', body: '{"n":1}' },
  }),
  row('std::http::put', ['http://x'], 'Err(refused)', { answer: no('refused'), asks: { method: 'PUT', body: null } }),
  row('std::http::delete', ['http://x'], 'Err(refused)', { answer: no('refused'), asks: { method: 'DELETE' } }),
  row('std::http::request', ['patch', 'http://x', 1], 'Err(refused)', {
    answer: no('refused'),
    asks: { method: 'PATCH', body: '1' },
  }),
  row('McpRef.call', [server, 'add', record({ a: 1 })], 'Ok(3)', {
    answer: ok(3),
    asks: { kind: 'mcp_call', server: 'S', tool: 'add', arguments: { a: 1 } },
  }),
  row('McpRef.tools', [server], 'Ok([])', { answer: ok([]), asks: { kind: 'mcp_tools', server: 'S' } }),
  row('AgentRef.shutdown', [agent], 'nil', { answer: ok(null), asks: { kind: 'agent_shutdown', agent: 'A' } }),
];

const STORES: readonly RawRow[] = [
  row('MemoryRef.append', () => [memory(), 'user', 'x'], 'nil'),
  row(
    'MemoryRef.messages',
    () => [memory()],
    '[Message {role: user, content: hi}, Message {role: assistant, content: ho}]',
  ),
  row('MemoryRef.last', () => [memory(), 1], '[Message {role: assistant, content: ho}]'),
  row('MemoryRef.len', () => [memory()], '2'),
  row('MemoryRef.is_empty', () => [memory()], 'false'),
  row('MemoryRef.clear', () => [memory()], 'nil'),
  row('HashMapRef.set', () => [hashMap(), 'c', 3], 'nil'),
  row('HashMapRef.get', () => [hashMap(), 'a'], 'Some(1)'),
  row('HashMapRef.get_or', () => [hashMap(), 'z', 0], '0'),
  row('HashMapRef.has', () => [hashMap(), 'z'], 'false'),
  row('HashMapRef.delete', () => [hashMap(), 'a'], 'true'),
  row('HashMapRef.keys', () => [hashMap()], '[a, b]'),
  row('HashMapRef.values', () => [hashMap()], '[1, 2]'),
  row('HashMapRef.entries', () => [hashMap()], '[[a, 1], [b, 2]]'),
  row('HashMapRef.len', () => [hashMap()], '2'),
  row('HashMapRef.is_empty', () => [hashMap()], 'false'),
  row('HashMapRef.clear', () => [hashMap()], 'nil'),
  row('HashMapRef.set_many', () => [hashMap(), record({ x: 1 })], 'nil'),
  row('HashMapRef.get_many', () => [hashMap(), array(['a', 'z'])], '[Some(1), None]'),
  row('HashMapRef.query', () => [hashMap(), call('keyIsA')], '[[a, 1]]'),
  row('HashMapRef.find', () => [hashMap(), call('keyIsA')], 'Some([a, 1])'),
  row('HashMapRef.scope', () => [hashMap(), 's'], '<hashmap h::s>'),
  row('LedgerRef.insert', () => [ledger(), 'id', 'key', 1], 'nil'),
  row('LedgerRef.query', () => [ledger()], '<ledger l>'),
  row(
    'LedgerRef.from_identifier',
    () => [ledger(), 'v12 DEPLOY'],
    '[LedgerEntry {identifier: Deploy guide, v1.2, keys: [Ops], value: 1}]',
  ),
  row('LedgerRef.from_identifier', () => [ledger(), ''], '[]'),
  row(
    'LedgerRef.from_key',
    () => [ledger(), 'DOCS'],
    '[LedgerEntry {identifier: Style rules, keys: [docs, ops], value: 2}]',
  ),
  row(
    'LedgerRef.from_any_keys',
    () => [ledger(), array(['docs', 'none'])],
    '[LedgerEntry {identifier: Style rules, keys: [docs, ops], value: 2}]',
  ),
  row(
    'LedgerRef.from_exact_keys',
    () => [ledger(), array(['docs', 'ops'])],
    '[LedgerEntry {identifier: Style rules, keys: [docs, ops], value: 2}]',
  ),
  row('LedgerRef.update', () => [ledger(), 'Style rules', 5], 'true'),
  row('LedgerRef.update_keys', () => [ledger(), 'nope', 'x'], 'false'),
  row('LedgerRef.delete', () => [ledger(), 'Style rules'], 'true'),
  row('LedgerRef.len', () => [ledger()], '2'),
  row('LedgerRef.is_empty', () => [ledger()], 'false'),
  row('LedgerRef.clear', () => [ledger()], 'nil'),
  row('LedgerRef.entries', () => [newLedger('x')], '[]'),
  row('LedgerRef.identifiers', () => [ledger()], '[Deploy guide, v1.2, Style rules]'),
  row('LedgerRef.scope', () => [ledger(), 'a'], '<ledger l::a>'),
  row(
    'SchemaRef.parse',
    [{ kind: 'ref', of: 'schema', name: 'Note' }, '{"title": "t", "more": 1}'],
    'Ok(Note {title: t, stars: 3, body: None, more: 1})',
  ),
  row(
    'SchemaRef.json_schema',
    [{ kind: 'ref', of: 'schema', name: 'Note' }],
    '{"type": object, "properties": {"title": {"type": string}, "stars": {"type": integer}, "body": {"type": string}}, "required": [title], "additionalProperties": false}',
  ),
  row('Prompt.with_system', () => [prompt(), 'brief'], 'Prompt {system: brief, context: nil, messages: []}'),
  row('Prompt.with_context', () => [prompt(), 1], 'Prompt {system: nil, context: 1, messages: []}'),
  row(
    'Prompt.with_user',
    () => [prompt(), 'hi'],
    'Prompt {system: nil, context: nil, messages: [Message {role: user, content: hi}]}',
  ),
  row(
    'Prompt.with_assistant',
    () => [prompt(), 'ho'],
    'Prompt {system: nil, context: nil, messages: [Message {role: assistant, content: ho}]}',
  ),
  row(
    'Prompt.with_message',
    () => [prompt(), record({ role: 'user' })],
    'Prompt {system: nil, context: nil, messages: [{"role": user}]}',
  ),
];

const BUILDERS: readonly RawRow[] = (['ModelRef', 'AgentRef', 'Builder'] as const).flatMap((owner) => {
  const target = { ModelRef: model, AgentRef: agent, Builder: builder }[owner];
  const gives = owner === 'AgentRef' ? '<builder A>' : '<builder M>';
  const common = [
    row(`${owner}.with_memory`, () => [target, memory()], gives),
    row(`${owner}.with_tools`, [target, array([server])], gives),
    row(`${owner}.without_tools`, [target], gives),
    row(`${owner}.with_context`, [target, 1], gives),
    row(`${owner}.with_timeout`, [target, 5], gives),
  ];
  if (owner === 'AgentRef') return common;
  return [
    ...common,
    row(`${owner}.with_system`, [target, 'brief'], gives),
    row(`${owner}.with_temperature`, [target, float(0.5)], gives),
  ];
});

/** Tested by their own files: they take several turns with the world. */
const ELSEWHERE: readonly BuiltinName[] = [
  'panic',
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
    const { gives, leaves, asked } = runRow(entry);
    expect(gives).toBe(entry.gives);
    if (entry.leaves !== undefined) expect(leaves).toBe(entry.leaves);
    if (entry.asks !== undefined) expect(asked).toMatchObject(entry.asks);
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
