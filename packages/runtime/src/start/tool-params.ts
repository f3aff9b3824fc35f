import { AgentError, type AgentSpec } from '@concerto/agents';
import type { Json, JsonObject } from '@concerto/base';
import type { SecretReference, ToolConfig } from '@concerto/protocol';
import { missingSecrets, toolRule } from '@concerto/session';
import type { Environment } from '../ports.ts';

type Server = NonNullable<ToolConfig['servers']>[string];

/**
 * The agent as this session starts it: its own params, and beside them the session's servers and tools. Here, and
 * nowhere before, references to secrets become secrets: nothing of this is stored.
 */
export function specWithTools(spec: AgentSpec, tools: ToolConfig | undefined, environment: Environment): AgentSpec {
  if (tools === undefined) return spec;
  const [missing] = missingSecrets(tools, (name) => environment[name] !== undefined);
  if (missing !== undefined) {
    throw new AgentError('missing-variable', `agent "${spec.name}": tools.${missing.path}: ${missing.message}`);
  }
  const servers = Object.entries(tools.servers ?? {}).filter(([, server]) => server.enabled !== false);
  const usable = servers.filter(([name]) => !isDenied(tools, name));
  return {
    ...spec,
    params: {
      ...spec.params,
      ...(usable.length === 0
        ? {}
        : {
            mcp_servers: Object.fromEntries(usable.map(([name, server]) => [name, connectionOf(server, environment)])),
          }),
      tools: toolRules(tools, usable),
    },
    secrets: [...(spec.secrets ?? []), ...usable.flatMap(([, server]) => secretsOf(server, environment))],
  };
}

function secretsOf(server: Server, environment: Environment): readonly string[] {
  const settings = (server.transport === 'stdio' ? server.env : server.headers) ?? {};
  return Object.values(settings).flatMap((value) =>
    typeof value === 'string' ? [] : [environment[value.env] ?? ''].filter((secret) => secret !== ''),
  );
}

/** A whole server is denied by its own name; by a pattern for its tools only those are. */
function isDenied(tools: ToolConfig, server: string): boolean {
  return toolRule({ deny: tools.deny ?? [] }, server) === 'deny';
}

function connectionOf(server: Server, environment: Environment): JsonObject {
  if (server.transport !== 'stdio') {
    const { transport, url, headers } = server;
    return { transport, url, ...(headers === undefined ? {} : { headers: resolved(headers, environment) }) };
  }
  const { transport, command, args, env, cwd } = server;
  return {
    transport,
    command,
    ...(args === undefined ? {} : { args }),
    ...(env === undefined ? {} : { env: resolved(env, environment) }),
    ...(cwd === undefined ? {} : { cwd }),
  };
}

function resolved(settings: Readonly<Record<string, string | SecretReference>>, environment: Environment): JsonObject {
  return Object.fromEntries(
    Object.entries(settings).map(([name, value]): [string, Json] => [
      name,
      typeof value === 'string' ? value : (environment[value.env] ?? ''),
    ]),
  );
}

/** What each server's entry says about a tool becomes a line of the same two lists, so that an agent reads one place. */
function toolRules(tools: ToolConfig, servers: readonly (readonly [string, Server])[]): JsonObject {
  const deny = [...(tools.deny ?? [])];
  const ask: string[] = [];
  for (const [server, { tools: settings }] of servers) {
    for (const tool of Object.keys(settings ?? {})) {
      const rule = toolRule(tools, tool, server);
      if (rule === 'deny') deny.push(`${server}.${tool}`);
      if (rule === 'ask') ask.push(`${server}.${tool}`);
    }
  }
  return {
    ...(tools.allow === undefined ? {} : { allow: tools.allow }),
    ...(deny.length === 0 ? {} : { deny: [...new Set(deny)] }),
    ...(ask.length === 0 ? {} : { ask }),
  };
}
