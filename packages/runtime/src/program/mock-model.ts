import type { Json } from '@concerto/base';
import type { ModelAnswer, ModelRequest } from '@concerto/vm';

const SHOWN_CHARACTERS = 50;
const TOKENS_OUT = 42;
/** A schema that refers to itself ends here. */
const DEEPEST = 8;

/** The offline model: repeats the beginning of the prompt, or fills a schema with placeholders. */
export function mockAnswer(request: ModelRequest): ModelAnswer {
  const prompt = request.messages.at(-1)?.content ?? '';
  const base = request.config.base;
  return {
    text: request.schema === null ? echo(prompt) : JSON.stringify(placeholder(request.schema.schema)),
    tokens_in: Buffer.byteLength(prompt),
    tokens_out: TOKENS_OUT,
    model: typeof base === 'string' ? base : 'mock',
    provider: 'mock',
  };
}

function echo(prompt: string): string {
  return `[mock response to: ${Array.from(prompt).slice(0, SHOWN_CHARACTERS).join('')}]`;
}

type Schema = { readonly [key: string]: Json };

function placeholder(schema: Json): Json {
  const root = isTable(schema) ? schema : {};
  const definitions = isTable(root.$defs) ? root.$defs : {};
  return fill(root, { name: 'value', definitions, depth: 0 });
}

type Place = { readonly name: string; readonly definitions: Schema; readonly depth: number };

function fill(schema: Schema, place: Place): Json {
  const { name, definitions, depth } = place;
  if (typeof schema.$ref === 'string') {
    const target = definitions[schema.$ref.split('/').at(-1) ?? ''];
    return isTable(target) && depth < DEEPEST ? fill(target, { ...place, depth: depth + 1 }) : null;
  }
  if (Array.isArray(schema.enum)) return schema.enum[0] ?? null;
  if (Array.isArray(schema.anyOf)) {
    const options: readonly Json[] = schema.anyOf;
    const chosen = options.find((option) => isTable(option) && option.type !== 'null');
    return isTable(chosen) ? fill(chosen, place) : null;
  }
  const kind = Array.isArray(schema.type) ? schema.type.find((option) => option !== 'null') : schema.type;
  switch (kind) {
    case 'integer':
    case 'number':
      return 0;
    case 'boolean':
      return false;
    case 'null':
      return null;
    case 'array':
      return [isTable(schema.items) ? fill(schema.items, { ...place, name: `${name} item` }) : `[mock ${name} item]`];
    case 'object': {
      const properties = isTable(schema.properties) ? schema.properties : {};
      const entries = Object.entries(properties).map(([key, part]) => [
        key,
        isTable(part) ? fill(part, { name: key, definitions, depth: depth + 1 }) : null,
      ]);
      return Object.fromEntries(entries);
    }
    default:
      return `[mock ${name}]`;
  }
}

function isTable(data: Json | undefined): data is Schema {
  return typeof data === 'object' && data !== null && !Array.isArray(data);
}
