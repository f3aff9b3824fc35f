import { unreachable } from '@concerto/base';
import { typeOf } from '../check/facts.ts';
import { prune, type Type } from '../check/types.ts';
import type { Coercion } from '../check/unify.ts';
import type { Expression } from '../syntax/expression.ts';
import { loadFunction } from './constants.ts';
import { Frame } from './frame.ts';

/** Converts the value in `dst` where the place it goes to needs another form: an Int as a Float, a bare value as `Some`. */
export function applyCoercion(frame: Frame, expression: Expression, coercion: Coercion, dst: number): void {
  coerce(frame, coercion, dst, typeOf(frame.facts, expression));
}

function coerce(frame: Frame, coercion: Coercion, register: number, type: Type): void {
  switch (coercion.kind) {
    case 'float':
      return frame.emit('ToFloat', register, register);
    case 'some':
      if (coercion.inner !== undefined) coerce(frame, coercion.inner, register, type);
      return frame.emit('ToOption', register, register);
    case 'none':
      return frame.emit('ToOption', register, register);
    case 'ok':
      if (coercion.inner !== undefined) coerce(frame, coercion.inner, register, type);
      return frame.emit('MakeOk', register, register);
    case 'each':
      return coerceParts(frame, coercion.inner, register, type);
    default:
      return unreachable(coercion);
  }
}

const MAPPERS: { readonly [con: string]: string } = {
  Array: 'Array.map',
  Map: 'Map.map_values',
  Option: 'Option.map',
  Result: 'Result.map',
};

/** `let xs: Array<Float> = ints`: the conversion as a function, mapped over the parts. */
function coerceParts(frame: Frame, inner: Coercion, register: number, type: Type): void {
  const pruned = prune(type);
  if (pruned.kind !== 'applied') return;
  const mapper = MAPPERS[pruned.con.name];
  if (mapper === undefined) return;
  const part = pruned.args[pruned.con.name === 'Map' ? 1 : 0] ?? type;
  const converter = converterFunction(frame, inner, part);
  frame.scoped(() => {
    const window = frame.reserve(2);
    frame.emit('Borrow', window, register);
    loadFunction(frame, converter, window + 1);
    frame.emit('CallBuiltin', register, frame.builder.builtin(mapper), window, 2);
  });
}

function converterFunction(frame: Frame, coercion: Coercion, type: Type): number {
  const { builder } = frame;
  return builder.adapter(`convert ${JSON.stringify(coercion)} ${partName(type)}`, () => {
    const index = builder.reserveFunction();
    const converter = new Frame(builder, { name: '{convert}', file: frame.options.file, failure: 'raise' });
    const argument = converter.reserve();
    const result = converter.reserve();
    converter.emit('Move', result, argument);
    coerce(converter, coercion, result, type);
    converter.emit('Return', result);
    builder.setFunction(index, { name: '{convert}', params: [{ name: 'value' }], captures: 0, ...converter.finish() });
    return index;
  });
}

function partName(type: Type): string {
  const pruned = prune(type);
  return pruned.kind === 'applied' ? `${pruned.con.name}<${pruned.args.map(partName).join()}>` : pruned.kind;
}
