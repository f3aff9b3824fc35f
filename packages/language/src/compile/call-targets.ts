import { assert, unreachable } from '@concerto/base';
import { isBuiltin } from '@concerto/ir';
import { type CallTarget, type FunctionRef, traitMethodName, type VariantRef } from '../check/facts.ts';
import type { Expression } from '../syntax/expression.ts';
import { argument, isPathOfRegister } from './arguments.ts';
import type { CallSite } from './call-site.ts';
import { isInert, operandBefore, peek, value } from './evaluate.ts';
import type { Frame } from './frame.ts';
import { loadResource } from './names.ts';
import { isReachable, openPlace, type Place, peekPlace, resolvePlace, writePlace } from './places.ts';
import { tagText } from './type-text.ts';

/** A call whose arguments are in place. `perform` may run in another frame that has the same window. */
export interface PreparedCall {
  readonly first: number;
  readonly size: number;
  readonly perform: (frame: Frame, place: { readonly dst: number; readonly first: number }) => void;
  /** Puts a changed receiver back to where it came from. */
  readonly writeBack?: () => void;
}

export interface CallOptions {
  /** `await emit`. */
  readonly ask?: boolean;
  /** The call will run in a fiber of its own: everything it needs goes into the window. */
  readonly detached?: boolean;
}

export function prepareCall(frame: Frame, site: CallSite, options: CallOptions): PreparedCall {
  const { target } = site.call;
  switch (target.kind) {
    case 'function':
      return functionCall(frame, site, target.function);
    case 'method':
      return methodCall(frame, site, target.function);
    case 'tool-method':
      return toolCall(frame, site, target);
    case 'trait-method':
      return dynamicCall(frame, site, traitMethodName(target.trait, target.method));
    case 'dynamic-method':
      return dynamicCall(frame, site, target.method);
    case 'model-call':
      return dynamicCall(frame, { ...site, receiver: site.callee }, 'execute');
    case 'builtin-method':
      return builtinMethodCall(frame, site, `${target.receiver}.${target.method}`);
    case 'builtin':
      return builtinCall(frame, site, options.ask === true ? '$ask' : target.name);
    case 'variant':
      return variantCall(frame, site, target.variant);
    case 'field':
    case 'value':
      return valueCall(frame, site, options);
    case 'unresolved':
      throw new Error('a program with errors is not compiled');
    default:
      return unreachable(target);
  }
}

/** How many arguments are passed: trailing ones that were not given are left out. */
function givenCount(site: CallSite): number {
  const sources = site.call.arguments;
  let count = sources.length;
  while (count > 0 && sources[count - 1]?.kind === 'default') count--;
  return count;
}

/** Evaluates the arguments as written and puts each where its parameter is. */
function placeArguments(frame: Frame, site: CallSite, first: number, keep = false): void {
  const sources = site.call.arguments;
  const values = site.arguments.map((written) => written.value);
  sources.forEach((source, index) => {
    if (source.kind !== 'piped' || site.piped === undefined) return;
    place(frame, site.piped, { slot: first + index, later: values, keep });
  });
  site.arguments.forEach((written, index) => {
    const parameter = sources.findIndex((source) => source.kind === 'argument' && source.index === index);
    if (parameter < 0) return;
    place(frame, written.value, { slot: first + parameter, later: values.slice(index + 1), keep });
  });
  const count = givenCount(site);
  for (let index = 0; index < count; index++) {
    if (sources[index]?.kind === 'default') frame.emit('LoadMissing', first + index);
  }
}

interface SlotPlace {
  readonly slot: number;
  readonly later: readonly Expression[];
  /** The callee keeps the value: it must be marked as shared. */
  readonly keep: boolean;
}

function place(frame: Frame, expression: Expression, { slot, later, keep }: SlotPlace): void {
  if (keep) value(frame, expression, slot);
  else argument(frame, expression, { slot, later });
}

function functionCall(frame: Frame, site: CallSite, ref: FunctionRef): PreparedCall {
  const count = givenCount(site);
  const first = frame.reserve(count);
  placeArguments(frame, site, first);
  const target = frame.builder.functionIndex(ref);
  return {
    first,
    size: count,
    perform: (into, at) => {
      into.at(site.position);
      into.emit('Call', at.dst, target, at.first, count);
    },
  };
}

function methodCall(frame: Frame, site: CallSite, ref: FunctionRef): PreparedCall {
  const count = givenCount(site);
  const target = frame.builder.functionIndex(ref);
  const changes = site.call.writesBack || ref.receiver === 'mut-self';
  return withReceiver(frame, site, {
    changes,
    extra: count,
    runsCode: true,
    perform: (into, at) => into.emit('Call', at.dst, target, at.first, count + 1),
  });
}

function dynamicCall(frame: Frame, site: CallSite, method: string): PreparedCall {
  const typeArgument = schemaArgument(frame, site);
  const count = givenCount(site) + (typeArgument === undefined ? 0 : 1);
  const name = frame.builder.text(method);
  return withReceiver(frame, site, {
    changes: site.call.writesBack,
    extra: count,
    typeArgument,
    runsCode: true,
    keep: true,
    perform: (into, at) => into.emit('CallMethod', at.dst, name, at.first, count),
  });
}

function builtinMethodCall(frame: Frame, site: CallSite, name: string): PreparedCall {
  const typeArgument = schemaArgument(frame, site);
  const count = givenCount(site) + (typeArgument === undefined ? 0 : 1);
  if (!isBuiltin(name)) return dynamicCall(frame, site, name.slice(name.indexOf('.') + 1));
  const target = frame.builder.builtin(name);
  return withReceiver(frame, site, {
    changes: site.call.writesBack,
    extra: count,
    typeArgument,
    runsCode: false,
    keep: true,
    perform: (into, at) => into.emit('CallBuiltin', at.dst, target, at.first, count + 1),
  });
}

/** `execute_with_schema<T>`: the type goes before the arguments. */
function schemaArgument(frame: Frame, site: CallSite): number | undefined {
  const tag = frame.facts.schemaArguments.get(site.node.id);
  return tag === undefined ? undefined : frame.builder.type(tagText(frame.builder, tag));
}

interface ReceiverCall {
  /** The receiver is a place that gets the changed value back. */
  readonly changes: boolean;
  /** Slots after the receiver. */
  readonly extra: number;
  readonly typeArgument?: number | undefined;
  /** Code of the program may run during the call and reach the same variables. */
  readonly runsCode: boolean;
  readonly keep?: boolean;
  readonly perform: PreparedCall['perform'];
}

function withReceiver(frame: Frame, site: CallSite, call: ReceiverCall): PreparedCall {
  const { receiver } = site;
  assert(receiver !== undefined, 'a method call has a receiver');
  const perform: PreparedCall['perform'] = (into, at) => {
    into.at(site.position);
    call.perform(into, at);
  };
  const place = call.changes ? resolvePlace(frame, receiver) : undefined;
  // Below the window: the callee's registers begin there.
  const owner = place === undefined ? 0 : frame.reserve();
  const first = frame.reserve(1 + call.extra);
  const size = 1 + call.extra;
  const shift = call.typeArgument === undefined ? 0 : 1;
  const rest = (): void => placeArguments(frame, site, first + 1 + shift, call.keep);
  if (call.typeArgument !== undefined) frame.emit('LoadConst', first + 1, call.typeArgument);
  if (place === undefined) {
    loadReceiver(frame, site, receiver, { slot: first, runsCode: call.runsCode });
    rest();
    return { first, size, perform };
  }
  // The receiver is read last: an argument may change it.
  rest();
  return {
    first,
    size,
    perform,
    writeBack: borrowPlace(frame, place, { owner, slot: first, runsCode: call.runsCode }),
  };
}

interface BorrowedPlace {
  readonly owner: number;
  readonly slot: number;
  readonly runsCode: boolean;
}

function borrowPlace(frame: Frame, place: Place, { owner, slot, runsCode }: BorrowedPlace): () => void {
  const open = openPlace(frame, place, owner);
  peekPlace(frame, open, slot);
  const stale = runsCode && isReachable(place);
  return () => writePlace(frame, stale ? openPlace(frame, place) : open, slot);
}

/** A built-in method only looks at its receiver, so a variable need not be marked as shared for it. */
function loadReceiver(
  frame: Frame,
  site: CallSite,
  receiver: Expression,
  at: { readonly slot: number; readonly runsCode: boolean },
): void {
  const later = site.arguments.map((written) => written.value);
  if (!at.runsCode) {
    const hidden = isPathOfRegister(frame, receiver);
    const calm = later.every((next) => isInert(next) || (hidden && next.kind === 'ClosureExpression'));
    if (calm && peek(frame, receiver, at.slot)) return;
  }
  argument(frame, receiver, { slot: at.slot, later });
}

/** `Tool.m(…)` and `Tool::m(…)`: the tool's one instance is `self`. */
function toolCall(frame: Frame, site: CallSite, target: Extract<CallTarget, { kind: 'tool-method' }>): PreparedCall {
  if (target.function.receiver === 'none') return functionCall(frame, site, target.function);
  const count = givenCount(site);
  const index = frame.builder.functionIndex(target.function);
  const first = frame.reserve(count + 1);
  placeArguments(frame, site, first + 1);
  const slot = frame.builder.toolGlobal(target.resource);
  const changes = target.function.receiver === 'mut-self';
  if (changes) frame.emit('PeekGlobal', first, slot);
  else loadResource(frame, target.resource, first);
  const perform: PreparedCall['perform'] = (into, at) => {
    into.at(site.position);
    into.emit('Call', at.dst, index, at.first, count + 1);
    if (changes) into.emit('StoreGlobal', slot, at.first);
  };
  return { first, size: count + 1, perform };
}

/** Built-in functions that only look at their arguments. */
const LOOKING: ReadonlySet<string> = new Set(['len', 'typeof', 'print', 'println', 'assert', 'assert_eq', 'assert_ne']);

function looksOnly(name: string): boolean {
  return LOOKING.has(name) || (name.startsWith('std::') && !name.startsWith('std::collections::'));
}

const CONSTRUCTORS: { readonly [name: string]: 'MakeOk' | 'MakeErr' | 'MakeSome' } = {
  Ok: 'MakeOk',
  Err: 'MakeErr',
  Some: 'MakeSome',
};

function builtinCall(frame: Frame, site: CallSite, name: string): PreparedCall {
  const count = givenCount(site);
  const constructor = Object.hasOwn(CONSTRUCTORS, name) ? CONSTRUCTORS[name] : undefined;
  if (constructor !== undefined) {
    const first = frame.reserve();
    if (count === 0) frame.emit('LoadNil', first);
    else placeArguments(frame, site, first, true);
    return { first, size: 1, perform: (into, at) => into.emit(constructor, at.dst, at.first) };
  }
  const typeArgument = schemaArgument(frame, site);
  const shift = typeArgument === undefined ? 0 : 1;
  const first = frame.reserve(count + shift);
  if (typeArgument !== undefined) frame.emit('LoadConst', first, typeArgument);
  placeArguments(frame, site, first + shift, !looksOnly(name));
  const target = frame.builder.builtin(name);
  return {
    first,
    size: count + shift,
    perform: (into, at) => {
      into.at(site.position);
      into.emit('CallBuiltin', at.dst, target, at.first, count + shift);
    },
  };
}

function variantCall(frame: Frame, site: CallSite, variant: VariantRef): PreparedCall {
  const first = frame.reserve(variant.fields.length);
  placeArguments(frame, site, first, true);
  const type = frame.builder.enum(variant.enum);
  return {
    first,
    size: variant.fields.length,
    perform: (into, at) => into.emit('MakeVariant', at.dst, type, variant.index, at.first),
  };
}

/** The callee is a value: a closure in a variable, the result of a call, a field that holds a function. */
function valueCall(frame: Frame, site: CallSite, options: CallOptions): PreparedCall {
  const count = givenCount(site);
  const later = [...(site.piped === undefined ? [] : [site.piped]), ...site.arguments.map((written) => written.value)];
  let callee: number | undefined;
  if (options.detached !== true && site.callee !== undefined) callee = operandBefore(frame, site.callee, later);
  const first = frame.reserve(count + 1);
  if (callee === undefined) loadCallee(frame, site, first);
  placeArguments(frame, site, first + 1);
  return {
    first,
    size: count + 1,
    perform: (into, at) => {
      into.at(site.position);
      into.emit('CallValue', at.dst, callee ?? at.first, at.first + 1, count);
    },
  };
}

function loadCallee(frame: Frame, site: CallSite, slot: number): void {
  if (site.callee !== undefined) return value(frame, site.callee, slot);
  const { receiver, node } = site;
  const form = node.kind === 'PipeExpression' ? node.right : node;
  assert(receiver !== undefined && form.kind === 'MethodCallExpression', 'a field that holds a function');
  frame.scoped(() => {
    const object = frame.reserve();
    value(frame, receiver, object);
    frame.at(form.method);
    frame.emit('GetField', slot, object, frame.builder.text(form.method.text));
  });
}
