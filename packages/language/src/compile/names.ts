import { assert, unreachable } from '@concerto/base';
import { SUPERVISED } from '@concerto/ir';
import {
  type ConstantRef,
  type Local,
  type ResolvedName,
  type ResourceRef,
  traitMethodName,
  type VariantRef,
} from '../check/facts.ts';
import type { Expression, NameExpression, PathExpression } from '../syntax/expression.ts';
import { applyCoercion } from './coercions.ts';
import { loadConstantValue, loadFunction } from './constants.ts';
import { Frame } from './frame.ts';
import type { ModuleBuilder } from './module-builder.ts';

/** The register of a variable that lives in one, when nothing happens to its value on the way. */
export function localRegister(frame: Frame, expression: Expression): number | undefined {
  if (expression.kind === 'ParenExpression') {
    return frame.facts.coercions.has(expression.id) ? undefined : localRegister(frame, expression.expression);
  }
  if (expression.kind !== 'NameExpression' || frame.facts.coercions.has(expression.id)) return undefined;
  const resolved = frame.facts.names.get(expression.id);
  if (resolved?.kind !== 'local') return undefined;
  const storage = frame.storage(resolved.local);
  return storage.kind === 'register' ? storage.register : undefined;
}

function loadLocal(frame: Frame, local: Local, dst: number): void {
  const storage = frame.storage(local);
  frame.emit(storage.kind === 'cell' ? 'LoadCell' : 'Move', dst, storage.register);
}

export function loadName(frame: Frame, expression: NameExpression | PathExpression, dst: number): void {
  const { builder } = frame;
  const resolved = frame.facts.names.get(expression.id);
  assert(resolved !== undefined, 'every name is resolved');
  switch (resolved.kind) {
    case 'local':
      return loadLocal(frame, resolved.local, dst);
    case 'module-variable':
      frame.at(expression);
      return frame.emit('LoadGlobal', dst, builder.variable(resolved.variable));
    case 'function':
      return loadFunction(frame, builder.functionIndex(resolved.function), dst);
    case 'trait-method':
      return loadFunction(frame, traitFunction(frame, resolved), dst);
    case 'constant':
      return loadConstant(frame, resolved.constant, dst);
    case 'variant':
      return loadVariant(frame, resolved.variant, dst);
    case 'struct':
    case 'schema': {
      const declared = builder.declaredType(resolved.path);
      const name = declared === undefined ? resolved.name : builder.typeName(declared);
      return frame.emit('LoadConst', dst, builder.constant({ kind: 'schema', name }));
    }
    case 'builtin':
      if (resolved.name === 'None') return frame.emit('LoadNone', dst);
      return frame.emit('LoadConst', dst, builder.constant({ kind: 'builtin', name: resolved.name }));
    case 'resource':
      return loadResource(frame, resolved.resource, dst);
    case 'session':
      return loadSession(frame, dst);
    case 'external':
      return frame.emit('LoadConst', dst, builder.text(resolved.name));
    case 'unresolved':
      return assert(false, 'a program with errors is not compiled');
    default:
      return unreachable(resolved);
  }
}

/** The session that is supervised: whoever runs the program knows which. */
export function loadSession(frame: Frame, dst: number): void {
  frame.emit('LoadConst', dst, frame.builder.constant({ kind: 'session', name: SUPERVISED }));
}

export function loadResource(frame: Frame, resource: ResourceRef, dst: number): void {
  const { builder } = frame;
  const { kind } = resource;
  if (kind === 'tool') return frame.emit('LoadGlobal', dst, builder.toolGlobal(resource));
  assert(kind !== 'connection', 'a connection is no value');
  frame.emit('LoadConst', dst, builder.constant({ kind, name: builder.resourceName(resource) }));
}

/** A unit variant is a value; the others are functions that build one. */
function loadVariant(frame: Frame, variant: VariantRef, dst: number): void {
  if (variant.shape === 'unit') {
    frame.emit('MakeVariant', dst, frame.builder.enum(variant.enum), variant.index, dst);
    return;
  }
  loadFunction(frame, variantFunction(frame.builder, variant, frame.options.file), dst);
}

function variantFunction(builder: ModuleBuilder, variant: VariantRef, file: string): number {
  return builder.adapter(`variant ${variant.enum} ${variant.index}`, () => {
    const index = builder.reserveFunction();
    const name = `${variant.enum}::${variant.name}`;
    const frame = new Frame(builder, { name, file, failure: 'raise' });
    const first = frame.reserve(variant.fields.length);
    for (let offset = 0; offset < variant.fields.length; offset++) frame.emit('Share', first + offset);
    const result = frame.reserve();
    frame.emit('MakeVariant', result, builder.enum(variant.enum), variant.index, first);
    frame.emit('Return', result);
    const params = variant.fields.map((field) => ({ name: `_${field}` }));
    builder.setFunction(index, { name, params, captures: 0, ...frame.finish() });
    return index;
  });
}

/** `Trait::method` as a value: a function that asks its first argument for the method. */
function traitFunction(
  { builder, options }: Frame,
  { trait, function: { item } }: Extract<ResolvedName, { kind: 'trait-method' }>,
): number {
  const name = traitMethodName(trait, item.name.text);
  return builder.adapter(`trait ${name}`, () => {
    const index = builder.reserveFunction();
    const frame = new Frame(builder, { name, file: options.file, failure: 'raise' });
    const params = [{ name: 'self' }, ...item.parameters.map((parameter) => ({ name: parameter.name.text }))];
    const given = frame.reserve(params.length);
    const first = frame.reserve(params.length);
    params.forEach((_, offset) => frame.emit('Move', first + offset, given + offset));
    frame.emit('CallMethod', first, builder.text(name), first, item.parameters.length);
    frame.emit('Return', first);
    builder.setFunction(index, { name, params, captures: 0, ...frame.finish() });
    return index;
  });
}

export function loadConstant(frame: Frame, constant: ConstantRef, dst: number): void {
  const known = frame.facts.constants.get(constant.item.value.id);
  assert(known !== undefined, `constant ${constant.path} has a value`);
  loadConstantValue(frame, known, dst);
  const coercion = frame.facts.coercions.get(constant.item.value.id);
  if (coercion !== undefined) applyCoercion(frame, constant.item.value, coercion, dst);
}
