import type { AcpParams } from './acp-params.ts';
import { toolName } from './acp-permission.ts';
import type { ToolCall } from './acp-wire.ts';

/**
 * Whether the session's rules forbid the tool for which an agent asks permission. An agent names its tools as it likes;
 * those of a server are told by the forms that the known agents use: `mcp__S__T`, `mcp_S_T`, `S_T`, `S.T`, `S/T`.
 */
export function isForbidden(call: ToolCall, { tools, mcp_servers: servers = {} }: AcpParams): boolean {
  if (tools === undefined) return false;
  const names = namesOf(call, Object.keys(servers));
  const listed = (patterns: readonly string[]): boolean =>
    patterns.some((pattern) => names.some((name) => matches(pattern, name)));
  if (listed(tools.deny ?? [])) return true;
  return tools.allow !== undefined && !listed(tools.allow);
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
      const tool = name.slice(prefix.length);
      return [server, `${server}.${tool}`, `${server}/${tool}`, `mcp__${server}__${tool}`];
    }),
  );
  return [...own, ...ofServers];
}

/** `*` stands for any text; everything else for itself. Linear, since a pattern is a stranger's. */
function matches(pattern: string, name: string): boolean {
  const [first = '', ...rest] = pattern.split('*');
  if (!name.startsWith(first)) return false;
  if (rest.length === 0) return name === first;
  const last = rest.pop() ?? '';
  let from = first.length;
  for (const piece of rest) {
    const found = name.indexOf(piece, from);
    if (found < 0) return false;
    from = found + piece.length;
  }
  return name.length - last.length >= from && name.endsWith(last);
}
