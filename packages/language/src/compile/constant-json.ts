import { type Json, unreachable } from '@concerto/base';
import { evaluate } from '../check/evaluate-constant.ts';
import type { ConstantValue } from '../check/facts.ts';
import type { Expression } from '../syntax/expression.ts';
import type { ModuleBuilder } from './module-builder.ts';

/** The value of a default that can be known now; undefined for one that has to be computed. */
export function constantOf(builder: ModuleBuilder, expression: Expression | undefined): ConstantValue | undefined {
  if (expression === undefined) return undefined;
  const { facts } = builder;
  const outcome = evaluate(
    {
      facts,
      constant: (ref) => facts.constants.get(ref.item.value.id),
      structFields: (path) => {
        const item = builder.declaredType(path)?.item;
        if (item?.kind !== 'StructItem' && item?.kind !== 'SchemaItem') return undefined;
        return item.fields.map((field) => ({ name: field.name.text, value: field.defaultValue }));
      },
    },
    expression,
  );
  return outcome.ok ? outcome.value : undefined;
}

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
