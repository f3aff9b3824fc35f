import { assert } from '@concerto/base';
import type { FunctionFacts, FunctionRef, Local } from '../check/facts.ts';
import { prune } from '../check/types.ts';
import type { ClosureExpression, Expression, ListenHandler } from '../syntax/expression.ts';
import type { Parameter, SelfParameter } from '../syntax/item.ts';
import type { NodeId } from '../syntax/node.ts';
import { effect, value } from './evaluate.ts';
import { Frame, livesInCell } from './frame.ts';
import { leave, returnValue } from './leaving.ts';
import type { ModuleBuilder } from './module-builder.ts';
import { compileStatement } from './statements.ts';
import { typeText } from './type-text.ts';

/** Anything with parameters and a body. */
export interface FunctionSource {
  readonly name: string;
  readonly file: string;
  readonly self?: SelfParameter | undefined;
  readonly parameters: readonly Parameter[];
  /** Variables that arrive as parameters without being written as such: the values of earlier stages. */
  readonly hidden?: readonly (Local | undefined)[];
  readonly body: Expression;
  readonly facts: FunctionFacts;
}

export function functionFacts(builder: ModuleBuilder, id: NodeId): FunctionFacts {
  const facts = builder.facts.functions.get(id);
  assert(facts !== undefined, 'every function is checked');
  return facts;
}

export function compileFunction(builder: ModuleBuilder, ref: FunctionRef): void {
  const { item } = ref;
  if (item.body === undefined) return;
  const source: FunctionSource = {
    name: ref.path,
    file: ref.file,
    self: item.self,
    parameters: item.parameters,
    body: item.body,
    facts: functionFacts(builder, item.id),
  };
  fillFunction(builder, builder.functionIndex(ref), source);
}

/** Compiles a function into its place in the table. */
export function fillFunction(builder: ModuleBuilder, index: number, source: FunctionSource): void {
  const frame = new Frame(builder, { name: source.name, file: source.file, failure: source.facts.failure });
  const hidden = source.hidden ?? [];
  const count = (source.self === undefined ? 0 : 1) + hidden.length + source.parameters.length;
  frame.reserve(count);
  const locals = bindParameters(frame, source);
  bindCaptures(frame, source.facts.captures);
  fillDefaults(frame, source, count - source.parameters.length);
  for (const [local, register] of locals) settleParameter(frame, source, local, register);
  compileBody(frame, source.body, source.facts.result);
  const params = [
    ...(source.self === undefined ? [] : [{ name: 'self' }]),
    ...hidden.map((local, position) => ({ name: local?.name ?? `_${position}` })),
    ...source.parameters.map((parameter) => ({ name: parameter.name.text, ...parameterType(builder, parameter) })),
  ];
  builder.setFunction(index, {
    name: source.name,
    params,
    ...requiredCount(source, count),
    captures: source.facts.captures.length,
    ...(source.self?.mutable === true ? { mutSelf: true } : {}),
    ...(source.facts.isAsync ? { async: true } : {}),
    file: builder.fileIndex(source.file),
    ...frame.finish(),
  });
}

/** Left out when every parameter must be given. */
function requiredCount(source: FunctionSource, count: number): { required?: number } {
  const optional =
    source.parameters.length - 1 - source.parameters.findLastIndex((one) => one.defaultValue === undefined);
  return optional === 0 ? {} : { required: count - optional };
}

function parameterType(builder: ModuleBuilder, parameter: Parameter): { type?: string } {
  const local = builder.facts.locals.get(parameter.id);
  return local === undefined || prune(local.type).kind !== 'applied' ? {} : { type: typeText(builder, local.type) };
}

function bindParameters(frame: Frame, source: FunctionSource): [Local, number][] {
  const nodes = source.self === undefined ? [] : [source.self];
  const locals: (Local | undefined)[] = [
    ...nodes.map((node) => frame.facts.locals.get(node.id)),
    ...(source.hidden ?? []),
    ...source.parameters.map((parameter) => frame.facts.locals.get(parameter.id)),
  ];
  const bound: [Local, number][] = [];
  locals.forEach((local, register) => {
    if (local === undefined) return;
    frame.bindParameter(local, register);
    bound.push([local, register]);
  });
  return bound;
}

export function bindCaptures(frame: Frame, captures: readonly Local[]): void {
  for (const local of captures) {
    const register = frame.reserve();
    if (livesInCell(local)) frame.bind(local, { kind: 'cell', register });
    else frame.bindParameter(local, register);
  }
}

function fillDefaults(frame: Frame, source: FunctionSource, first: number): void {
  source.parameters.forEach((parameter, index) => {
    if (parameter.defaultValue === undefined) return;
    const given = frame.label();
    frame.emit('JumpIfGiven', first + index, given);
    value(frame, parameter.defaultValue, first + index);
    frame.place(given);
  });
}

/** An argument belongs to the caller: what changes it must have a copy. A `mut self` is changed where it is. */
function settleParameter(frame: Frame, source: FunctionSource, local: Local, register: number): void {
  const isMutSelf = source.self?.mutable === true && register === 0;
  if (livesInCell(local)) {
    if (!isMutSelf) frame.emit('Share', register);
    const cell = frame.reserve();
    frame.emit('NewCell', cell, register);
    frame.bind(local, { kind: 'cell', register: cell });
    if (isMutSelf) frame.selfCell = cell;
  } else if (local.mutated && !isMutSelf) frame.emit('Share', register);
}

function compileBody(frame: Frame, body: Expression, result: FunctionFacts['result']): void {
  if (result === 'nil') {
    effect(frame, body);
    return leave(frame, undefined);
  }
  if (body.kind !== 'Block' || frame.facts.coercions.has(body.id)) return returnValue(frame, body);
  for (const statement of body.statements) compileStatement(frame, statement);
  if (body.tail === undefined) return leave(frame, undefined);
  return returnValue(frame, body.tail);
}

export function compileClosure(frame: Frame, expression: ClosureExpression, dst: number): void {
  const facts = functionFacts(frame.builder, expression.id);
  const { parameters, body } = expression;
  makeClosure(frame, { name: `${frame.name}::{closure}`, parameters, body, facts }, dst);
}

export function compileHandler(frame: Frame, handler: ListenHandler, dst: number): void {
  // What a handler returns is the reply, an Err too; an error that leaves it ends the session.
  const facts: FunctionFacts = { ...functionFacts(frame.builder, handler.id), failure: 'raise' };
  const parameters = handler.parameter === undefined ? [] : [handler.parameter];
  const name = `${frame.name}::{"${handler.messages[0]?.value ?? '_'}"}`;
  makeClosure(frame, { name, parameters, body: handler.body, facts }, dst);
}

function makeClosure(frame: Frame, source: Omit<FunctionSource, 'file'>, dst: number): void {
  const { builder } = frame;
  const index = builder.reserveFunction();
  fillFunction(builder, index, { ...source, file: frame.options.file });
  captureInto(frame, { index, captures: source.facts.captures }, dst);
}

/** A closure over the variables as this function holds them: cells themselves, other values as copies. */
export function captureInto(
  frame: Frame,
  { index, captures }: { readonly index: number; readonly captures: readonly Local[] },
  dst: number,
): void {
  frame.scoped(() => {
    const first = frame.reserve(captures.length);
    captures.forEach((local, position) => {
      const storage = frame.storage(local);
      frame.emit(storage.kind === 'cell' ? 'Borrow' : 'Move', first + position, storage.register);
    });
    frame.emit('MakeClosure', dst, index, first);
  });
}
