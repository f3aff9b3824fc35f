import type { Json } from '@concerto/base';
import * as z from 'zod';
import { isTable, type JsonTable } from './json-table.ts';
import type { ModelReply, ModelToolCall, ModelTurn } from './model-turn.ts';

const SHOWN_CHARACTERS = 50;
const TOKENS_OUT = 42;
/** A schema that refers to itself ends here. */
const DEEPEST = 8;

/**
 * The offline model: repeats the beginning of the prompt, or fills a schema with placeholders. Lines `/call NAME {…}` of
 * the prompt are calls of tools it was offered, so that everything around a model can be tried without one.
 */
export function mockReply(turn: ModelTurn, model: string): ModelReply {
  const prompt = turn.messages.at(-1)?.content ?? '';
  const inputTokens = Buffer.byteLength(prompt);
  const toolCalls = askedCalls(turn);
  return {
    text: toolCalls.length > 0 ? '' : answer(prompt, turn.schema),
    toolCalls,
    finishReason: toolCalls.length > 0 ? 'tool-calls' : 'stop',
    usage: {
      inputTokens,
      outputTokens: TOKENS_OUT,
      totalTokens: inputTokens + TOKENS_OUT,
      cachedInputTokens: 0,
    },
    cost: undefined,
    model,
    provider: 'mock',
    latencyMs: 0,
    attempts: 1,
  };
}

function answer(prompt: string, schema: ModelTurn['schema']): string {
  return schema === undefined || schema === null ? echo(prompt) : JSON.stringify(placeholder(schema.schema));
}

function askedCalls({ messages, tools = [] }: ModelTurn): readonly ModelToolCall[] {
  const last = messages.at(-1);
  if (last?.role !== 'user') return [];
  const calls: ModelToolCall[] = [];
  for (const [, name = '', given = ''] of last.content.matchAll(/^\/call (\S+)[ \t]*(.*)$/gm)) {
    if (!tools.some((tool) => tool.name === name)) continue;
    calls.push({ id: `mock_${messages.length}_${calls.length + 1}`, name, arguments: readArguments(given) });
  }
  return calls;
}

/** What is no JSON is passed on as it is, as a model's slip would be. */
function readArguments(given: string): Json {
  if (given.trim() === '') return {};
  try {
    return z.json().parse(JSON.parse(given));
  } catch {
    return given;
  }
}

function echo(prompt: string): string {
  return `[mock response to: ${Array.from(prompt).slice(0, SHOWN_CHARACTERS).join('')}]`;
}

/** The text in pieces, as a provider would send it. */
export function mockPieces(text: string): readonly string[] {
  return text.match(/\s*\S+\s*$|\s*\S+/g) ?? [];
}

function placeholder(schema: Json): Json {
  const root = isTable(schema) ? schema : {};
  const definitions = isTable(root.$defs) ? root.$defs : {};
  return fill(root, { name: 'value', definitions, depth: 0 });
}

type Place = { readonly name: string; readonly definitions: JsonTable; readonly depth: number };

function fill(schema: JsonTable, place: Place): Json {
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
      if (Array.isArray(schema.prefixItems)) {
        const inner: Place = { ...place, name: `${name} item` };
        return schema.prefixItems.map((part) => (isTable(part) ? fill(part, inner) : null));
      }
      return [isTable(schema.items) ? fill(schema.items, { ...place, name: `${name} item` }) : `[mock ${name} item]`];
    case 'object':
      return fillObject(isTable(schema.properties) ? schema.properties : {}, place);
    default:
      return `[mock ${name}]`;
  }
}

function fillObject(properties: JsonTable, { definitions, depth }: Place): Json {
  const entries = Object.entries(properties).map(([key, part]) => [
    key,
    isTable(part) ? fill(part, { name: key, definitions, depth: depth + 1 }) : null,
  ]);
  return Object.fromEntries(entries);
}
