import type { BuiltinStructName } from '@concerto/ir';
import { share } from '../copy-on-write.ts';
import { md5, sha256 } from '../digest.ts';
import { display, messageOf, typeName } from '../display.ts';
import { equal } from '../equality.ts';
import { builtinType, errorValue, fault, field } from '../fault.ts';
import { fromJson, parseJson, stringify } from '../json.ts';
import type { Native, Vm } from '../machine.ts';
import { conform, extractJson, schemaError, topLevelSchema } from '../schema.ts';
import { newHashMap, newLedger, newMemory } from '../stores.ts';
import { length } from '../text.ts';
import { Panic } from '../unwind.ts';
import { array, errValue, okValue, some, struct, type TypeValue, truthy, type Value } from '../value.ts';
import { absent, integer, text, wrong } from './arguments.ts';
import { lengthOf } from './collections.ts';
import type { Entries } from './entry.ts';

/** Says something to the world; the program does not wait. */
function emit(vm: Vm, channel: string, payload: Value): void {
  vm.outbox.push({ kind: 'emit', channel, payload: share(payload), system: false });
  if (vm.capture) vm.captured.push({ channel, payload });
}

/** An event of the runtime itself; tests do not capture it. */
export function systemEvent(vm: Vm, channel: string, payload: Value): void {
  vm.outbox.push({ kind: 'emit', channel, payload, system: true });
}

function joined(stack: readonly Value[], at: number, count: number): string {
  return stack
    .slice(at, at + count)
    .map(display)
    .join(' ');
}

const log =
  (level: 'info' | 'warn' | 'error' | 'debug'): Native =>
  (stack, at, count, vm) => {
    vm.outbox.push({ kind: 'log', level, text: joined(stack, at, count) });
    return null;
  };

const newError =
  (name: BuiltinStructName): Native =>
  (stack, at, count) =>
    errorValue(name, display(stack[at]), { source: count > 1 ? share(stack[at + 1]) : null });

const message =
  (role: string): Native =>
  (stack, at) =>
    struct(builtinType('Message'), [role, display(stack[at])]);

function typeArgument(value: Value): TypeValue {
  if (typeof value === 'object' && value !== null && value.kind === 'type') return value;
  throw wrong('the type argument', 'a type', value);
}

/** JSON text, or a value as it is. */
function parseAs(vm: Vm, value: Value, type: TypeValue): Value {
  let data = value;
  if (typeof value === 'string') {
    const parsed = extractJson(value);
    if (!parsed.ok) return errValue(schemaError(type.text, [parsed.error]));
    data = parsed.value;
  }
  const result = conform(vm, data, type.type);
  return result.ok ? okValue(result.value) : errValue(schemaError(type.text, result.error));
}

/** One line for equal short values, a side by side view for the rest. */
function difference(left: Value, right: Value): string {
  const quote = (value: Value): string => (typeof value === 'string' ? JSON.stringify(value) : display(value));
  const types = [typeName(left), typeName(right)];
  const same = display(left) === display(right) && types[0] !== types[1] ? ` (${types.join(' and ')})` : '';
  return `\n  left:  ${quote(left)}\n  right: ${quote(right)}${same}`;
}

function assertion(text: string, stack: readonly Value[], at: number, count: number): Error {
  const note = count > 0 && !absent(stack[at]) ? `: ${display(stack[at])}` : '';
  return fault('AssertionError', `assertion failed: ${text}${note}`);
}

export const FUNCTION_ENTRIES = {
  emit: (stack, at, count, vm) => {
    emit(vm, display(stack[at]), count > 1 ? (stack[at + 1] ?? null) : null);
    return null;
  },
  print: (stack, at, count, vm) => {
    vm.outbox.push({ kind: 'print', text: joined(stack, at, count) });
    return null;
  },
  println: (stack, at, count, vm) => {
    vm.outbox.push({ kind: 'print', text: `${joined(stack, at, count)}\n` });
    return null;
  },
  len: (stack, at) => {
    const value = stack[at];
    if (typeof value === 'string') return length(value);
    const message = messageOf(value);
    const size = message === undefined ? lengthOf(value) : length(message);
    if (size === undefined) throw fault('TypeError', `${typeName(value)} has no length`);
    return size;
  },
  typeof: (stack, at) => typeName(stack[at]),
  panic: (stack, at, count, vm) => {
    const text = count > 0 ? display(stack[at]) : 'panic';
    systemEvent(vm, 'panic', text);
    throw new Panic(text);
  },
  Ok: (stack, at, count) => okValue(count > 0 ? share(stack[at]) : null),
  Err: (stack, at) => errValue(share(stack[at])),
  Some: (stack, at) => some(share(stack[at])),
  assert: (stack, at, count) => {
    if (truthy(stack[at])) return null;
    const note = count > 1 && !absent(stack[at + 1]) ? display(stack[at + 1]) : 'the condition is false';
    throw fault('AssertionError', `assertion failed: ${note}`);
  },
  assert_eq: (stack, at, count) => {
    if (equal(stack[at], stack[at + 1])) return null;
    throw assertion(`left == right${difference(stack[at], stack[at + 1])}`, stack, at + 2, count - 2);
  },
  assert_ne: (stack, at, count) => {
    if (!equal(stack[at], stack[at + 1])) return null;
    throw assertion(`left != right${difference(stack[at], stack[at + 1])}`, stack, at + 2, count - 2);
  },
  test_emits: (_stack, _at, _count, vm) => {
    const type = builtinType('Emit');
    return array(vm.captured.map(({ channel, payload }) => struct(type, [channel, share(payload)])));
  },
  mock_calls: (stack, at, _count, vm) => {
    const mock = vm.mocks.get(mockName(stack[at]));
    return array((mock?.calls ?? []).map(share));
  },
  parse_schema: (stack, at, _count, vm) => parseAs(vm, stack[at + 1], typeArgument(stack[at])),

  $mock: (stack, at, _count, vm) => {
    const config = stack[at + 1];
    const entries = typeof config === 'object' && config !== null && config.kind === 'map' ? config.entries : new Map();
    const values = new Map([...entries].map(([key, value]): [string, Value] => [String(key), share(value)]));
    vm.mocks.set(mockName(stack[at]), { config: values, used: 0, calls: [] });
    return null;
  },
  $cast_schema: (stack, at, _count, vm) => {
    const type = typeArgument(stack[at]);
    const result = conform(vm, stack[at + 1], type.type);
    if (!result.ok) throw fault('CastError', `not a ${type.text}: ${result.error.join('; ')}`);
    return result.value;
  },

  'Message::system': message('system'),
  'Message::user': message('user'),
  'Message::assistant': message('assistant'),
  'Prompt::new': (stack, at, count) => {
    const first = count > 0 && !absent(stack[at]) ? [struct(builtinType('Message'), ['user', display(stack[at])])] : [];
    return struct(builtinType('Prompt'), [null, null, array(first)]);
  },
  'HashMap::new': () => newHashMap('hashmap'),
  'Ledger::new': () => newLedger('ledger'),
  'Memory::new': (stack, at, count) =>
    newMemory('memory', count > 0 && !absent(stack[at]) ? integer(stack[at], 'the number of messages') : null),

  'Error::new': newError('RuntimeError'),
  'RuntimeError::new': newError('RuntimeError'),
  'TimeoutError::new': newError('TimeoutError'),
  'AgentError::new': newError('AgentError'),
  'ModelError::new': newError('ModelError'),
  'SchemaError::new': newError('SchemaError'),
  'ToolError::new': newError('ToolError'),
  'ConnectionError::new': newError('ConnectionError'),
  'PipelineError::new': newError('PipelineError'),
  'HashMapError::new': newError('HashMapError'),
  'EmitError::new': newError('EmitError'),

  'std::log::info': log('info'),
  'std::log::warn': log('warn'),
  'std::log::error': log('error'),
  'std::log::debug': log('debug'),

  'std::json::parse': (stack, at) => {
    const parsed = parseJson(text(stack[at], 'the text'));
    return parsed.ok ? okValue(parsed.value) : errValue(parsed.error);
  },
  'std::json::parse_as': (stack, at, _count, vm) =>
    parseAs(vm, text(stack[at + 1], 'the text'), typeArgument(stack[at])),
  'std::json::stringify': (stack, at) => stringify(stack[at]),
  'std::json::stringify_pretty': (stack, at, count) =>
    stringify(stack[at], count > 1 && !absent(stack[at + 1]) ? Math.max(1, integer(stack[at + 1], 'the indent')) : 2),
  'std::json::is_valid': (stack, at) => parseJson(text(stack[at], 'the text')).ok,

  'std::crypto::sha256': (stack, at) => sha256(text(stack[at], 'the text')),
  'std::crypto::md5': (stack, at) => md5(text(stack[at], 'the text')),

  'SchemaRef.parse': (stack, at, _count, vm) => parseAs(vm, stack[at + 1], schemaType(stack[at])),
  'SchemaRef.json_schema': (stack, at, _count, vm) => fromJson(topLevelSchema(vm, schemaType(stack[at]).type)),
} as const satisfies Entries;

function schemaType(value: Value): TypeValue {
  if (typeof value === 'object' && value !== null && value.kind === 'ref' && value.of === 'schema') {
    return { kind: 'type', text: value.name, type: { kind: 'name', name: value.name, args: [] } };
  }
  throw wrong('the receiver', 'a schema', value);
}

/** Mocks are kept by what they replace. */
export function mockName(target: Value): string {
  if (typeof target === 'object' && target !== null) {
    if (target.kind === 'ref') return `${target.of} ${target.name}`;
    if (target.kind === 'builder') return `${target.target.of} ${target.target.name}`;
    if (target.kind === 'struct' && target.type.kind === 'tool') return `tool ${target.type.name}`;
  }
  throw wrong('what is mocked', 'a model, an agent or a tool', target);
}

const PROMPT_MESSAGES = 'messages';

/** A copy of a prompt with a message more. */
function promptWith(value: Value, change: { system?: Value; context?: Value; message?: Value }): Value {
  if (typeof value !== 'object' || value === null || value.kind !== 'struct')
    throw wrong('the receiver', 'a Prompt', value);
  const messages = field(value, PROMPT_MESSAGES);
  const items = typeof messages === 'object' && messages !== null && messages.kind === 'array' ? messages.items : [];
  const all = change.message === undefined ? items : [...items, change.message];
  return struct(value.type, [
    change.system ?? share(field(value, 'system')),
    change.context ?? share(field(value, 'context')),
    array(all.map(share)),
  ]);
}

const promptMessage =
  (role: string): Native =>
  (stack, at) =>
    promptWith(stack[at], { message: struct(builtinType('Message'), [role, display(stack[at + 1])]) });

export const PROMPT_ENTRIES = {
  'Prompt.with_system': (stack, at) => promptWith(stack[at], { system: display(stack[at + 1]) }),
  'Prompt.with_context': (stack, at) => promptWith(stack[at], { context: share(stack[at + 1]) }),
  'Prompt.with_user': promptMessage('user'),
  'Prompt.with_assistant': promptMessage('assistant'),
  'Prompt.with_message': (stack, at) => promptWith(stack[at], { message: share(stack[at + 1]) }),
} as const satisfies Entries;
