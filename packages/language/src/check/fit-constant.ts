import type { ConstantValue, TypeTag } from './facts.ts';

/** A constant of the type Any in a place of another: what `Fit` does when a program runs. */
export function fitConstant(value: ConstantValue, to: TypeTag): ConstantValue {
  switch (to.kind) {
    case 'float':
      return value.kind === 'int' ? { kind: 'float', value: value.value } : value;
    case 'option':
      if (value.kind === 'some') return { kind: 'some', value: fitConstant(value.value, to.element) };
      return optionConstant(value.kind === 'none' || value.kind === 'nil' ? value : fitConstant(value, to.element));
    case 'array':
      if (value.kind !== 'array') return value;
      return { kind: 'array', items: value.items.map((item) => fitConstant(item, to.element)) };
    case 'map':
      if (value.kind !== 'map') return value;
      return { kind: 'map', entries: value.entries.map(([key, item]) => [key, fitConstant(item, to.value)] as const) };
    case 'tuple':
      if (value.kind !== 'tuple') return value;
      return {
        kind: 'tuple',
        items: value.items.map((item, index) => fitConstant(item, to.members[index] ?? { kind: 'any' })),
      };
    case 'result':
      return value.kind === 'ok' ? { kind: 'ok', value: fitConstant(value.value, to.ok) } : value;
    default:
      return value;
  }
}

/** As at run time: what is an Option stays one, and nil is None. */
export function optionConstant(value: ConstantValue): ConstantValue {
  if (value.kind === 'some' || value.kind === 'none') return value;
  return value.kind === 'nil' ? { kind: 'none' } : { kind: 'some', value };
}
