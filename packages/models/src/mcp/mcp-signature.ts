import type { Json } from '@concerto/base';
import { isTable } from '../json-table.ts';
import type { McpTool } from './mcp-connection.ts';
import { McpServers } from './mcp-servers.ts';
import type { McpPlace } from './mcp-settings.ts';

/** A tool of a server in the words of the language, for its checker. */
export type McpSignature = {
  readonly name: string;
  readonly description: string;
  readonly params: readonly McpParam[];
  /** A type of the language. */
  readonly returns: string;
  /** JSON Schema of the arguments, as the server gave it. */
  readonly parameters: Json;
};

export type McpParam = {
  readonly name: string;
  /** A type of the language, for example `Array<String>`. */
  readonly type: string;
  readonly optional: boolean;
  readonly description: string | undefined;
};

/** Asks a server which tools it has. Connects, lists and ends it; rejects with an `McpFailure`. */
export async function askMcpSignatures(
  server: string,
  settings: unknown,
  place: McpPlace & { readonly signal?: AbortSignal },
): Promise<readonly McpSignature[]> {
  const servers = new McpServers({ [server]: settings }, place);
  try {
    return (await servers.tools(server, place.signal)).map(mcpSignature);
  } finally {
    await servers.close();
  }
}

export function mcpSignature({ name, description, parameters, returns }: McpTool): McpSignature {
  const schema = isTable(parameters) ? parameters : {};
  const required = new Set(Array.isArray(schema.required) ? schema.required : []);
  const properties = isTable(schema.properties) ? schema.properties : {};
  const params = Object.entries(properties).map(([param, part]): McpParam => {
    const text = isTable(part) && typeof part.description === 'string' ? part.description : undefined;
    return { name: param, type: schemaType(part), optional: !required.has(param), description: text };
  });
  return { name, description, params, returns: returns === undefined ? 'Any' : schemaType(returns), parameters };
}

/** The type that holds what the schema allows; `Any` where the language has no such type. */
export function schemaType(schema: Json): string {
  if (!isTable(schema)) return 'Any';
  const { enum: options, type } = schema;
  if (Array.isArray(options)) {
    const texts = options.filter((option) => typeof option === 'string');
    return texts.length > 0 && texts.length === options.length
      ? texts.map((text) => JSON.stringify(text)).join(' | ')
      : 'Any';
  }
  switch (type) {
    case 'string':
      return 'String';
    case 'integer':
      return 'Int';
    case 'number':
      return 'Float';
    case 'boolean':
      return 'Bool';
    case 'null':
      return 'Nil';
    case 'array':
      return `Array<${schemaType(schema.items ?? null)}>`;
    case 'object':
      return `Map<String, ${isTable(schema.additionalProperties) ? schemaType(schema.additionalProperties) : 'Any'}>`;
    default:
      return 'Any';
  }
}
