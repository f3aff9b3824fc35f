import { unreachable } from '@concerto/base';
import type { Coercion, Converted } from '../check/unify.ts';
import type { Expression } from '../syntax/expression.ts';
import { loadFunction } from './constants.ts';
import { Frame } from './frame.ts';
import { tagText } from './type-text.ts';

/** Converts the value in `dst` where the place it goes to needs another form: an Int as a Float, a bare value as `Some`. */
export function applyCoercion(frame: Frame, expression: Expression, coercion: Coercion, dst: number): void {
  if (coercion.kind === 'function') return adapt(frame, coercion, dst, functionName(frame, expression));
  coerce(frame, coercion, dst);
}

function coerce(frame: Frame, coercion: Coercion | undefined, register: number): void {
  if (coercion === undefined) return;
  switch (coercion.kind) {
    case 'float':
      return frame.emit('ToFloat', register, register);
    case 'text':
      return frame.emit('Cast', register, register, frame.builder.type('String'));
    case 'some':
      coerce(frame, coercion.inner, register);
      return frame.emit('ToOption', register, register);
    case 'none':
      return frame.emit('ToOption', register, register);
    case 'fit':
      return frame.emit('Fit', register, register, frame.builder.type(tagText(frame.builder, coercion.to)));
    case 'ok':
      coerce(frame, coercion.inner, register);
      return frame.emit('MakeOk', register, register);
    case 'each':
      return coerceParts(frame, coercion, register);
    case 'tuple':
      return coerceTuple(frame, coercion.items, register);
    case 'function':
      return adapt(frame, coercion, register, '{adapted}');
    default:
      return unreachable(coercion);
  }
}

const MAPPERS: { readonly [of in Converted]: string } = {
  Array: 'Array.map',
  Map: 'Map.map_values',
  Option: 'Option.map',
  Result: 'Result.map',
};

/** `let xs: Array<Float> = ints`: the conversion as a function, mapped over the parts. */
function coerceParts(frame: Frame, coercion: Extract<Coercion, { kind: 'each' }>, register: number): void {
  const converter = converterFunction(frame, coercion.inner);
  frame.scoped(() => {
    const window = frame.reserve(2);
    frame.emit('Borrow', window, register);
    loadFunction(frame, converter, window + 1);
    frame.emit('CallBuiltin', register, frame.builder.builtin(MAPPERS[coercion.of]), window, 2);
  });
}

function converterFunction(frame: Frame, coercion: Coercion): number {
  const { builder } = frame;
  return builder.adapter(`convert ${JSON.stringify(coercion)}`, () => {
    const index = builder.reserveFunction();
    const converter = new Frame(builder, { name: '{convert}', file: frame.options.file, failure: 'raise' });
    const argument = converter.reserve();
    const result = converter.reserve();
    converter.emit('Move', result, argument);
    coerce(converter, coercion, result);
    converter.emit('Return', result);
    builder.setFunction(index, { name: '{convert}', params: [{ name: 'value' }], captures: 0, ...converter.finish() });
    return index;
  });
}

function coerceTuple(frame: Frame, items: readonly (Coercion | undefined)[], register: number): void {
  frame.scoped(() => {
    const first = frame.reserve(items.length);
    items.forEach((item, index) => {
      frame.emit('GetItem', first + index, register, index);
      coerce(frame, item, first + index);
    });
    frame.emit('MakeArray', register, first, items.length);
  });
}

type FunctionCoercion = Extract<Coercion, { kind: 'function' }>;

/** A function whose arguments or result need another form: one around it converts them. */
function adapt(frame: Frame, coercion: FunctionCoercion, register: number, name: string): void {
  const adapter = adapterFunction(frame, coercion, name);
  frame.scoped(() => {
    const inner = frame.reserve();
    frame.emit('Move', inner, register);
    frame.emit('MakeClosure', register, adapter, inner);
  });
}

function adapterFunction(frame: Frame, coercion: FunctionCoercion, name: string): number {
  const { builder } = frame;
  return builder.adapter(`adapt ${name} ${JSON.stringify(coercion)}`, () => {
    const index = builder.reserveFunction();
    const adapter = new Frame(builder, { name, file: frame.options.file, failure: 'raise' });
    const count = coercion.params.length;
    const given = adapter.reserve(count);
    const inner = adapter.reserve();
    const first = adapter.reserve(count);
    coercion.params.forEach((param, position) => {
      adapter.emit('Move', first + position, given + position);
      coerce(adapter, param, first + position);
    });
    adapter.emit('CallValue', inner, inner, first, count);
    coerce(adapter, coercion.result, inner);
    adapter.emit('Return', inner);
    const params = coercion.params.map((_, position) => ({ name: `_${position}` }));
    builder.setFunction(index, { name, params, captures: 1, ...adapter.finish() });
    return index;
  });
}

/** What it displays as: the function that it stands for. */
function functionName(frame: Frame, expression: Expression): string {
  if (expression.kind === 'ParenExpression') return functionName(frame, expression.expression);
  const resolved = frame.facts.names.get(expression.id);
  if (resolved?.kind === 'function') return resolved.function.path;
  return resolved?.kind === 'builtin' ? resolved.name : `${frame.name}::{closure}`;
}
