import type { Json } from '@concerto/base';
import { isTable } from '../json-table.ts';
import type { McpTool } from './mcp-connection.ts';
import { McpServers } from './mcp-servers.ts';
import type { McpPlace } from './mcp-settings.ts';
import { schemaShape, type ValueShape } from './schema-shape.ts';

/** A tool of a server in the words of the language, for its checker. */
export type McpSignature = {
  readonly name: string;
  readonly description: string;
  readonly params: readonly McpParam[];
  /** What it gives; undefined when the server does not say. */
  readonly returns: ValueShape | undefined;
  /** JSON Schema of the arguments, as the server gave it. */
  readonly parameters: Json;
};

type McpParam = {
  readonly name: string;
  readonly shape: ValueShape;
  readonly optional: boolean;
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
  const { fields = [] } = schemaShape(isTable(parameters) ? { type: 'object', properties: {}, ...parameters } : null);
  return {
    name,
    description,
    params: fields,
    returns: returns === undefined ? undefined : schemaShape(returns),
    parameters,
  };
}
