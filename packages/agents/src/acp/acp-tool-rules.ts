import type { AcpParams } from '@concerto/protocol';
import type { ToolCall } from '@concerto/protocol/acp';
import { ruleOfTool, serverToolNames } from '../tool-rule.ts';
import { toolName } from './acp-permission.ts';

/**
 * Whether the session's rules forbid the tool for which an agent asks permission. A title may be what the model wrote,
 * such as a command: it can forbid a tool, but it never allows one.
 */
export function isForbidden(call: ToolCall, { tools, mcp_servers: servers = {} }: AcpParams): boolean {
  if (tools === undefined) return false;
  const name = toolName(call);
  const names = name === undefined ? [] : withServers(name, Object.keys(servers));
  const titles = call.title == null ? [] : withServers(call.title, Object.keys(servers));
  return ruleOfTool(tools, names) === 'deny' || ruleOfTool({ deny: tools.deny }, titles) === 'deny';
}

/** A tool of a server goes by a name of the agent's making; these are the forms of the known agents. */
function withServers(name: string, servers: readonly string[]): readonly string[] {
  const found = servers.flatMap((server) => {
    const forms = [`mcp__${server}__`, `mcp_${server}_`, `${server}__`, `${server}_`, `${server}.`, `${server}/`];
    const prefix = forms.find((form) => name.startsWith(form));
    return prefix === undefined ? [] : serverToolNames(server, name.slice(prefix.length));
  });
  return [name, ...found];
}
