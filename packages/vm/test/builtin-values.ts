import { type BuiltinName, parseType } from '@concerto/ir';
import type { Answer } from '../src/effects.ts';
import { newHashMap, newLedger, newMemory, remember } from '../src/stores.ts';
import { array, type BuiltinValue, record, type Value } from '../src/value.ts';

/** One behaviour of one row: arguments, what comes back (display form), and for mutating methods the receiver afterwards. */
export interface Row {
  readonly name: BuiltinName;
  readonly args: () => readonly Value[];
  readonly gives: string;
  readonly leaves?: string;
  readonly answer?: Answer;
  readonly asks?: Partial<Record<string, unknown>>;
}

export const ok = (value: Extract<Answer, { ok: true }>['value']): Answer => ({ ok: true, value });
export const no = (message: string): Answer => ({ ok: false, error: { message } });
export const ints = (...values: number[]): Value => array(values);
export const builtin = (name: BuiltinName): BuiltinValue => ({ kind: 'builtin', name });
export const type = (text: string): Value => ({ kind: 'type', text, type: parseType(text) });
export const set = (...items: string[]): Value => ({
  kind: 'set',
  items: new Map(items.map((item) => [item, item])),
  shared: false,
});
export const queue = (...items: Value[]): Value => ({ kind: 'queue', items, head: 0, shared: false });
export const stack = (...items: Value[]): Value => ({ kind: 'stack', items, shared: false });
export const range = (start: number, end: number): Value => ({ kind: 'range', start, end, inclusive: false });
export const model: Value = { kind: 'ref', of: 'model', name: 'M' };
export const agent: Value = { kind: 'ref', of: 'agent', name: 'A' };
export const session: Value = { kind: 'ref', of: 'session', name: 'A' };
export const server: Value = { kind: 'ref', of: 'mcp', name: 'S' };
export const builder: Value = { kind: 'builder', target: { kind: 'ref', of: 'model', name: 'M' }, options: {} };
export const memory = (): Value => {
  const store = newMemory('m', null);
  remember(store, 'user', 'hi');
  remember(store, 'assistant', 'ho');
  return store;
};
export const ledger = (): Value => {
  const store = newLedger('l');
  store.entries.set('Deploy guide, v1.2', { keys: ['Ops'], value: 1 });
  store.entries.set('Style rules', { keys: ['docs', 'ops'], value: 2 });
  return store;
};
export const hashMap = (): Value => {
  const store = newHashMap('h');
  store.entries = record({ a: 1, b: 2 });
  return store;
};
export const prompt = (): Value => ({
  kind: 'struct',
  type: {
    name: 'Prompt',
    kind: 'struct',
    params: [],
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
export const FUNCTIONS = [
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
export type Callback = (typeof FUNCTIONS)[number];
export interface CallbackMark {
  readonly callback: Callback;
}
export const call = (callback: Callback): CallbackMark => ({ callback });

export type Argument = Value | CallbackMark;
export const row = (
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
export interface RawRow extends Omit<Row, 'args'> {
  readonly args: () => readonly Argument[];
}
