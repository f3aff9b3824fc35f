import type { Json } from '@concerto/base';
import { type IrField, type IrModule, parseType, type TypeExpr } from '@concerto/ir';

type Schema = { [key: string]: Json };

/** JSON Schema of an object with these fields; nested types are in `$defs`. */
export function objectSchema(module: IrModule, fields: readonly IrField[]): Schema {
  const definitions = new Map<string, Schema>();
  const schema = fieldsSchema(module, fields, definitions);
  return definitions.size === 0 ? schema : { ...schema, $defs: Object.fromEntries(definitions) };
}

function fieldsSchema(module: IrModule, fields: readonly IrField[], definitions: Map<string, Schema>): Schema {
  const properties: Schema = {};
  const required: string[] = [];
  for (const field of fields) {
    const type = parseType(field.type);
    const optional = type.kind === 'name' && type.name === 'Option';
    properties[field.name] = {
      ...typeSchema(module, type, definitions),
      ...(field.description === undefined ? {} : { description: field.description }),
      ...(field.default === undefined ? {} : { default: field.default }),
    };
    if (!optional && field.optional !== true && field.default === undefined) required.push(field.name);
  }
  return { type: 'object', properties, required, additionalProperties: false };
}

function typeSchema(module: IrModule, type: TypeExpr, definitions: Map<string, Schema>): Schema {
  const inner = (part: TypeExpr | undefined): Schema =>
    part === undefined ? {} : typeSchema(module, part, definitions);
  switch (type.kind) {
    case 'literal':
      return { type: 'string', enum: [type.value] };
    case 'union':
      if (type.members.every((member) => member.kind === 'literal')) {
        return { type: 'string', enum: type.members.map((member) => (member.kind === 'literal' ? member.value : '')) };
      }
      return { anyOf: type.members.map(inner) };
    case 'tuple':
      return { type: 'array', prefixItems: type.items.map(inner), minItems: type.items.length };
    case 'fn':
      return {};
    case 'name':
      return namedSchema(module, type, definitions);
  }
}

const SCALARS: { readonly [name: string]: Schema } = {
  String: { type: 'string' },
  Int: { type: 'integer' },
  Float: { type: 'number' },
  Bool: { type: 'boolean' },
  Nil: { type: 'null' },
  Any: {},
};

function namedSchema(
  module: IrModule,
  type: Extract<TypeExpr, { kind: 'name' }>,
  definitions: Map<string, Schema>,
): Schema {
  const scalar = Object.hasOwn(SCALARS, type.name) ? SCALARS[type.name] : undefined;
  if (scalar !== undefined) return scalar;
  const [first, second] = type.args;
  const part = (inner: TypeExpr | undefined): Schema =>
    inner === undefined ? {} : typeSchema(module, inner, definitions);
  if (type.name === 'Array' || type.name === 'Set') return { type: 'array', items: part(first) };
  if (type.name === 'Option') return part(first);
  if (type.name === 'Map') return { type: 'object', additionalProperties: part(second) };
  const struct = module.structs.find((candidate) => candidate.name === type.name);
  if (struct !== undefined) {
    if (!definitions.has(struct.name)) {
      definitions.set(struct.name, {});
      definitions.set(struct.name, fieldsSchema(module, struct.fields, definitions));
    }
    return { $ref: `#/$defs/${struct.name}` };
  }
  const enumeration = module.enums.find((candidate) => candidate.name === type.name);
  if (enumeration?.variants.every((variant) => variant.size === 0) === true) {
    return { type: 'string', enum: enumeration.variants.map((variant) => variant.name) };
  }
  return { type: 'object' };
}
