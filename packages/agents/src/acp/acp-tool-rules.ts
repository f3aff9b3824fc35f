import { ruleOfTool, serverToolNames } from '../tool-rule.ts';
import type { AcpParams } from './acp-params.ts';
import { toolName } from './acp-permission.ts';
import type { ToolCall } from './acp-wire.ts';

/**
 * Whether the session's rules forbid the tool for which an agent asks permission. An agent names its tools as it likes;
 * those of a server are told by the forms that the known agents use: `mcp__S__T`, `mcp_S_T`, `S_T`, `S.T`, `S/T`.
 */
export function isForbidden(call: ToolCall, { tools, mcp_servers: servers = {} }: AcpParams): boolean {
  return ruleOfTool(tools, namesOf(call, Object.keys(servers))) === 'deny';
}

function namesOf(call: ToolCall, servers: readonly string[]): readonly string[] {
  const own = [toolName(call), call.title].filter((name) => typeof name === 'string');
  const ofServers = own.flatMap((name) =>
    servers.flatMap((server) => {
      const prefix = [
        `mcp__${server}__`,
        `mcp_${server}_`,
        `${server}__`,
        `${server}_`,
        `${server}.`,
        `${server}/`,
      ].find((form) => name.startsWith(form));
      if (prefix === undefined) return [];
      return serverToolNames(server, name.slice(prefix.length));
    }),
  );
  return [...own, ...ofServers];
}
