import { unreachable } from '@concerto/base';
import type { TypeTag } from '../check/facts.ts';
import { CON, prune, type Type, type TypeParam } from '../check/types.ts';
import type { ModuleBuilder } from './module-builder.ts';

/** A type as the module's type constants write it. */
export function tagText(builder: ModuleBuilder, tag: TypeTag): string {
  const text = (inner: TypeTag): string => tagText(builder, inner);
  switch (tag.kind) {
    case 'any':
      return 'Any';
    case 'int':
      return 'Int';
    case 'float':
      return 'Float';
    case 'string':
      return 'String';
    case 'bool':
      return 'Bool';
    case 'nil':
      return 'Nil';
    case 'range':
      return 'Range';
    case 'function':
      return 'Function';
    case 'literals':
      return tag.values.map((value) => JSON.stringify(value)).join(' | ');
    case 'array':
      return `Array<${text(tag.element)}>`;
    case 'option':
      return `Option<${text(tag.element)}>`;
    case 'map':
      return `Map<${text(tag.key)}, ${text(tag.value)}>`;
    case 'result':
      return `Result<${text(tag.ok)}, ${text(tag.err)}>`;
    case 'tuple':
      return tag.members.length === 0 ? 'Nil' : `(${tag.members.map(text).join(', ')})`;
    case 'union':
      return tag.members.map(text).join(' | ');
    case 'struct':
    case 'schema':
    case 'enum':
    case 'trait': {
      const declared = builder.declaredType(tag.path);
      const name = declared === undefined ? tag.path : builder.typeName(declared);
      return applied(name, tag.arguments.map(text));
    }
    case 'builtin':
      return tag.name;
    default:
      return unreachable(tag);
  }
}

/** The same for a type of the checker. Type parameters are erased, except those of the declaration it stands in. */
export function typeText(builder: ModuleBuilder, raw: Type, params: readonly TypeParam[] = []): string {
  const type = prune(raw);
  if (type.kind === 'param' && params.includes(type.param)) return type.param.name;
  if (type.kind !== 'applied') return 'Any';
  const { con } = type;
  const args = type.args.map((arg) => typeText(builder, arg, params));
  if (con === CON.Tuple) return args.length === 0 ? 'Nil' : `(${args.join(', ')})`;
  if (con === CON.Union) return args.join(' | ');
  if (con === CON.Function) return 'Function';
  if (con.family === 'literals') return (con.values ?? []).map((value) => JSON.stringify(value)).join(' | ');
  return applied(builder.typeName(con), args);
}

function applied(name: string, args: readonly string[]): string {
  return args.length === 0 ? name : `${name}<${args.join(', ')}>`;
}
