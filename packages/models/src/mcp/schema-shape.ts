import type { Json } from '@concerto/base';
import { isTable } from '../json-table.ts';

/** What a JSON Schema allows, as far as the language has words for it. */
export type ValueShape = {
  /** A type of the language, for example `Array<String>`; `Any` where it has no such type. */
  readonly type: string;
  /** Of an object whose properties are listed. */
  readonly fields?: readonly {
    readonly name: string;
    readonly optional: boolean;
    readonly shape: ValueShape;
  }[];
  /** Of an array. */
  readonly items?: ValueShape;
};

type Table = { readonly [key: string]: Json };

const ANY: ValueShape = { type: 'Any' };
/** A schema may refer to itself; below this depth everything is allowed. */
const DEEPEST = 12;

export function schemaShape(schema: Json): ValueShape {
  return shapeOf(schema, { root: schema, depth: 0 });
}

type Place = { readonly root: Json; readonly depth: number };

function shapeOf(schema: Json | undefined, { root, depth }: Place): ValueShape {
  if (!isTable(schema) || depth > DEEPEST) return ANY;
  const inner = (part: Json | undefined): ValueShape => shapeOf(part, { root, depth: depth + 1 });
  if (typeof schema.$ref === 'string') return inner(referred(root, schema.$ref));
  if (typeof schema.const === 'string') return { type: JSON.stringify(schema.const) };
  if (Array.isArray(schema.enum)) return enumShape(schema.enum);
  const choices = schema.anyOf ?? schema.oneOf;
  if (Array.isArray(choices)) return eitherShape(choices.map(inner));
  if (Array.isArray(schema.type)) return eitherShape(schema.type.map((type) => inner({ ...schema, type })));
  switch (schema.type) {
    case 'string':
      return { type: 'String' };
    case 'integer':
      return { type: 'Int' };
    case 'number':
      return { type: 'Float' };
    case 'boolean':
      return { type: 'Bool' };
    case 'null':
      return { type: 'Nil' };
    case 'array': {
      const items = inner(schema.items);
      return { type: `Array<${items.type}>`, items };
    }
    case 'object':
      return objectShape(schema, inner);
    default:
      return ANY;
  }
}

function objectShape(schema: Table, inner: (part: Json | undefined) => ValueShape): ValueShape {
  const more = schema.additionalProperties;
  const type = `Map<String, ${isTable(more) && !isTable(schema.properties) ? inner(more).type : 'Any'}>`;
  if (!isTable(schema.properties)) return { type };
  const required = new Set(Array.isArray(schema.required) ? schema.required : []);
  const fields = Object.entries(schema.properties).map(([name, part]) => ({
    name,
    optional: !required.has(name),
    shape: inner(part),
  }));
  return { type, fields };
}

function enumShape(options: readonly Json[]): ValueShape {
  const texts = options.filter((option) => typeof option === 'string');
  if (texts.length > 0 && texts.length === options.length) {
    return { type: texts.map((text) => JSON.stringify(text)).join(' | ') };
  }
  if (options.every((option) => Number.isSafeInteger(option))) return { type: options.length === 0 ? 'Any' : 'Int' };
  return ANY;
}

/** A value or null is an Option; any other choice only when the language can say it. */
function eitherShape(shapes: readonly ValueShape[]): ValueShape {
  const present = shapes.filter((shape) => shape.type !== 'Nil');
  const types = [...new Set(present.map((shape) => shape.type))];
  if (types.length === 0 || types.includes('Any')) return ANY;
  const [only = ANY] = present;
  // Of several that look alike only the type is common.
  const either = present.length === 1 ? only : { type: types.join(' | ') };
  return present.length === shapes.length ? either : { ...either, type: `Option<${either.type}>` };
}

function referred(root: Json, pointer: string): Json | undefined {
  if (!pointer.startsWith('#')) return undefined;
  let at: Json | undefined = root;
  for (const step of pointer.slice(1).split('/').slice(1)) {
    const key = step.replaceAll('~1', '/').replaceAll('~0', '~');
    at = isTable(at) && Object.hasOwn(at, key) ? at[key] : undefined;
  }
  return at;
}
