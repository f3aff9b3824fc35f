import type { TypeTag } from './facts.ts';
import { CON, prune, type Type, type TypeCon } from './types.ts';

const SCALAR_TAGS: ReadonlyMap<TypeCon, TypeTag> = new Map([
  [CON.Int, { kind: 'int' }],
  [CON.Float, { kind: 'float' }],
  [CON.String, { kind: 'string' }],
  [CON.Bool, { kind: 'bool' }],
  [CON.Nil, { kind: 'nil' }],
  [CON.Range, { kind: 'range' }],
  [CON.Function, { kind: 'function' }],
]);

/** The type as data for the compiler. */
export function typeTag(raw: Type): TypeTag {
  const type = prune(raw);
  if (type.kind !== 'applied') return { kind: 'any' };
  const { con } = type;
  const scalar = SCALAR_TAGS.get(con);
  if (scalar !== undefined) return scalar;
  const args = type.args.map(typeTag);
  const arg = (index: number): TypeTag => args[index] ?? { kind: 'any' };
  if (con === CON.Array) return { kind: 'array', element: arg(0) };
  if (con === CON.Option) return { kind: 'option', element: arg(0) };
  if (con === CON.Map) return { kind: 'map', key: arg(0), value: arg(1) };
  if (con === CON.Result) return { kind: 'result', ok: arg(0), err: arg(1) };
  if (con === CON.Tuple) return { kind: 'tuple', members: args };
  if (con === CON.Union) return { kind: 'union', members: args };
  if (con.values !== undefined) return { kind: 'literals', values: con.values };
  // A message is the map that the agent sent.
  if (con.open === true && con.base !== undefined) return typeTag(con.base);
  switch (con.family) {
    case 'struct':
    case 'schema':
    case 'enum':
    case 'trait':
      return { kind: con.family, path: con.path, arguments: args };
    default:
      return { kind: 'builtin', name: con.name };
  }
}
