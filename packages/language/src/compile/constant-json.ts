import { type Json, unreachable } from '@concerto/base';
import type { ConstantValue } from '../check/facts.ts';

/** A constant as the module's tables keep it, in the JSON form of the language. */
export function constantJson(value: ConstantValue): Json {
  switch (value.kind) {
    case 'int':
    case 'float':
      return Number.isFinite(value.value) ? value.value : null;
    case 'string':
    case 'bool':
      return value.value;
    case 'nil':
    case 'none':
      return null;
    case 'array':
    case 'tuple':
      return value.items.map(constantJson);
    case 'map':
      return Object.fromEntries(value.entries.map(([key, item]) => [key, constantJson(item)]));
    case 'struct':
      return Object.fromEntries(value.fields.map(([name, item]) => [name, constantJson(item)]));
    case 'variant': {
      const { variant, fields } = value;
      const data = fields.map(constantJson);
      if (variant.shape === 'unit') return variant.name;
      return variant.shape === 'tuple'
        ? { variant: variant.name, data }
        : {
            variant: variant.name,
            data: Object.fromEntries(variant.fields.map((name, at) => [name, data[at] ?? null])),
          };
    }
    case 'some':
      return constantJson(value.value);
    case 'ok':
      return { ok: constantJson(value.value) };
    case 'err':
      return { err: constantJson(value.value) };
    case 'range':
      return { start: value.start, end: value.end, inclusive: value.inclusive };
    default:
      return unreachable(value);
  }
}
