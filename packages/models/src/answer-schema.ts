import type { Json } from '@concerto/base';
import { isTable, type JsonTable } from './json-table.ts';

/** Where a value that is not an object goes: providers only take objects at the top. */
const WRAPPED = 'value';

export type AnswerSchema = {
  readonly schema: JsonTable;
  /** The provider can be held to it to the letter. */
  readonly strict: boolean;
  /** The text without what was put around it for the provider. */
  readonly unwrap: (text: string) => string;
};

/** The schema as providers with native structured output take it. */
export function answerSchema(written: Json): AnswerSchema {
  const root = topLevel(written);
  const isObject = root.type === 'object';
  const { $defs, ...inner } = root;
  const schema: JsonTable = isObject
    ? root
    : {
        type: 'object',
        properties: { [WRAPPED]: inner },
        required: [WRAPPED],
        additionalProperties: false,
        ...($defs === undefined ? {} : { $defs }),
      };
  const strict = strictSchema(schema);
  return {
    schema: strict ?? schema,
    strict: strict !== undefined,
    unwrap: isObject ? (text) => text : unwrapValue,
  };
}

/** What is said to a model whose provider has no structured output. */
export function schemaInstruction(schema: Json): string {
  return `Answer with only a JSON value, without any other text, that fits this JSON Schema: ${JSON.stringify(schema)}`;
}

/** A `$ref` at the top, resolved. */
function topLevel(schema: Json): JsonTable {
  const root = isTable(schema) ? schema : {};
  if (typeof root.$ref !== 'string' || !isTable(root.$defs)) return root;
  const target = root.$defs[root.$ref.split('/').at(-1) ?? ''];
  return isTable(target) ? { ...target, $defs: root.$defs } : root;
}

function unwrapValue(text: string): string {
  try {
    const data: unknown = JSON.parse(text);
    if (typeof data === 'object' && data !== null && WRAPPED in data) return JSON.stringify(data[WRAPPED]);
  } catch {
    // Not what was asked for; whoever checks the answer says so.
  }
  return text;
}

/**
 * OpenAI's strict mode: every property is required, what was optional may be null, nothing else is allowed. Undefined
 * when the schema needs something that mode does not have: free maps, values of any type, tuples.
 */
export function strictSchema(schema: Json): JsonTable | undefined {
  if (!isTable(schema)) return undefined;
  const { $defs, default: _dropped, ...own } = schema;
  const strict = strictNode(own);
  if (strict === undefined) return undefined;
  if ($defs === undefined) return strict;
  const definitions = isTable($defs) ? mapTable($defs, strictSchema) : undefined;
  return definitions === undefined ? undefined : { ...strict, $defs: definitions };
}

function strictNode(schema: JsonTable): JsonTable | undefined {
  if (typeof schema.$ref === 'string') return { $ref: schema.$ref };
  if (Array.isArray(schema.anyOf)) {
    const options = schema.anyOf.map(strictSchema);
    return options.every((option) => option !== undefined) ? { ...schema, anyOf: options } : undefined;
  }
  if (Array.isArray(schema.enum)) return schema;
  switch (schema.type) {
    case 'object':
      return strictObject(schema);
    case 'array': {
      if (schema.prefixItems !== undefined) return undefined;
      const items = schema.items === undefined ? undefined : strictSchema(schema.items);
      return items === undefined ? undefined : { ...schema, items };
    }
    case 'string':
    case 'integer':
    case 'number':
    case 'boolean':
    case 'null':
      return schema;
    default:
      return undefined;
  }
}

function strictObject(schema: JsonTable): JsonTable | undefined {
  if (schema.additionalProperties !== false || !isTable(schema.properties)) return undefined;
  const required = new Set(Array.isArray(schema.required) ? schema.required : []);
  const properties = mapTable(schema.properties, (part, name) => {
    const strict = strictSchema(part);
    if (strict === undefined || required.has(name)) return strict;
    return { anyOf: [strict, { type: 'null' }] };
  });
  if (properties === undefined) return undefined;
  return { ...schema, properties, required: Object.keys(properties) };
}

function mapTable(
  table: JsonTable,
  change: (part: Json, name: string) => JsonTable | undefined,
): { [key: string]: JsonTable } | undefined {
  const changed: { [key: string]: JsonTable } = {};
  for (const [name, part] of Object.entries(table)) {
    const result = change(part, name);
    if (result === undefined) return undefined;
    changed[name] = result;
  }
  return changed;
}
