import type { JsonObject } from '@concerto/base';
import type { AcpParams } from '@concerto/protocol';

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
