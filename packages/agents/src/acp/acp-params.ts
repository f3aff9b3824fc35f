import { type JsonObject, nearest } from '@concerto/base';
import { JsonValue } from '@concerto/protocol';
import { z } from 'zod';
import type { AgentSpec } from '../agent-connection.ts';
import { AgentError } from '../agent-error.ts';

const texts = z.record(z.string(), z.string());
const patterns = z.array(z.string()).optional();

const Server = z.discriminatedUnion('transport', [
  z.strictObject({
    transport: z.literal('stdio'),
    command: z.string().min(1),
    args: z.array(z.string()).optional(),
    env: texts.optional(),
    cwd: z.string().optional(),
  }),
  z.strictObject({ transport: z.enum(['http', 'sse']), url: z.string().min(1), headers: texts.optional() }),
]);

const Params = z.strictObject({
  /** A mode of the agent's own, by its id: `plan`, `default`, … */
  mode: z.string().min(1).optional(),
  /** Options of the agent's own, by their ids, such as its model. */
  config: z.record(z.string(), z.string()).optional(),
  /** How to log in, by the id of one of the methods that the agent offers. */
  auth_method: z.string().min(1).optional(),
  /** Passed on as it is with the new conversation. */
  meta: z.record(z.string(), JsonValue).optional(),
  mcp_servers: z.record(z.string(), Server).optional(),
  tools: z.strictObject({ allow: patterns, deny: patterns, ask: patterns }).optional(),
});
export type AcpParams = z.infer<typeof Params>;

/** `[agents.NAME.params]`, with the session's servers and tools beside them. */
export function acpParams({ name, params = {} }: AgentSpec): AcpParams {
  const parsed = Params.safeParse(params);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  const key = issue?.code === 'unrecognized_keys' ? issue.keys[0] : undefined;
  const meant = key === undefined ? undefined : nearest(key, Object.keys(Params.shape));
  const why =
    key === undefined
      ? `params.${issue?.path.join('.') ?? ''}: ${issue?.message ?? 'is not valid'}`
      : `params.${key}: an agent of protocol "acp" has no such param${meant === undefined ? '' : `; did you mean "${meant}"?`}`;
  throw new AgentError('init-refused', `agent "${name}": ${why}`);
}

/** The session's servers in the form of the protocol; those it cannot be given are named with the reason. */
export function acpServers(
  servers: AcpParams['mcp_servers'],
  can: { readonly http: boolean; readonly sse: boolean },
): { readonly servers: readonly JsonObject[]; readonly left: readonly string[] } {
  const given: JsonObject[] = [];
  const left: string[] = [];
  for (const [name, server] of Object.entries(servers ?? {})) {
    if (server.transport === 'stdio') {
      const { command, args = [], env = {}, cwd } = server;
      if (cwd === undefined) given.push({ name, command, args, env: pairs(env) });
      else left.push(`${name}: the protocol cannot tell a server its \`cwd\``);
    } else if (can[server.transport]) {
      given.push({ type: server.transport, name, url: server.url, headers: pairs(server.headers ?? {}) });
    } else {
      left.push(`${name}: the agent takes no server over ${server.transport}`);
    }
  }
  return { servers: given, left };
}

function pairs(values: Readonly<Record<string, string>>): JsonObject[] {
  return Object.entries(values).map(([name, value]) => ({ name, value }));
}
