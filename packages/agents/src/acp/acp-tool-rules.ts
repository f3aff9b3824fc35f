import type { Json } from '@concerto/base';
import type { AcpParams } from '@concerto/protocol';
import type { ToolCall } from '@concerto/protocol/acp';
import { serverToolNames } from '../tool-rule.ts';

/** Where an agent tells the name of a tool. */
export type ToolNaming = NonNullable<AcpParams['tool_names']>;

/** By the name that the agent gives itself. The protocol has no place for a tool's name, and each found one of its own. */
const namings: readonly (readonly [agent: RegExp, naming: ToolNaming | 'nowhere'])[] = [
  [/^gemini-cli$/i, 'id'],
  // The title of a call is the tool's name when it begins, and later what the model wants of it.
  [/^opencode$/i, 'title'],
  [/claude-(agent|code)-acp$/i, 'name'],
  [/codex-acp$/i, 'nowhere'],
];

/** What the params say, else what is known of the agent; `name` of one that is not known: there it is if anywhere. */
export function toolNaming({ tool_names }: AcpParams, agent: string | undefined): ToolNaming | 'nowhere' {
  return tool_names ?? namings.find(([pattern]) => pattern.test(agent ?? ''))?.[1] ?? 'name';
}

/** Why the session's rules cannot be held with this agent, if they cannot. */
export function whyUnruled({ tools }: AcpParams, naming: ToolNaming | 'nowhere'): string | undefined {
  const { allow, deny = [], ask = [] } = tools ?? {};
  const rules = [...(allow ?? []), ...deny, ...ask];
  if (naming !== 'nowhere' || (allow === undefined && rules.length === 0)) return undefined;
  return `never tells the names of its tools, so that the session's rules (${rules.join(', ')}) cannot be held; for Codex use \`protocol = "codex"\``;
}

/** The tool's own name: never a later title, which may be what the model wrote. `began` is the call as it was first told. */
export function toolName(call: ToolCall, began: ToolCall, naming: ToolNaming | 'nowhere'): string | undefined {
  const { toolCallId, name, _meta } = call;
  switch (naming) {
    case 'name':
      return name ?? _meta?.claudeCode?.toolName ?? undefined;
    case 'id':
      return toolCallId.lastIndexOf('__') > 0 ? toolCallId.slice(0, toolCallId.lastIndexOf('__')) : undefined;
    case 'title':
      return began.title ?? undefined;
    case 'nowhere':
      return undefined;
  }
}

/** What a tool was called with. Gemini CLI tells none of it, but the whole title of its shell is the command. */
export function toolInput({ rawInput, title, name }: ToolCall, naming: ToolNaming | 'nowhere'): Json | undefined {
  if (rawInput !== undefined || naming !== 'id' || name !== 'run_shell_command' || title == null) return rawInput;
  return { command: title };
}

/** The server whose tool it is, of those that the session has; its tool goes by a name of the agent's making. */
export function serverOfTool(
  name: string,
  servers: AcpParams['mcp_servers'] = {},
): { readonly server: string; readonly tool: string } | undefined {
  const longestFirst = Object.keys(servers).toSorted((a, b) => b.length - a.length);
  for (const server of longestFirst) {
    const forms = [`mcp__${server}__`, `mcp_${server}_`, `${server}__`, `${server}_`, `${server}.`, `${server}/`];
    const prefix = forms.find((form) => name.startsWith(form));
    if (prefix !== undefined) return { server, tool: name.slice(prefix.length) };
  }
  return undefined;
}

/** All names by which a rule may speak of it. */
export function namesInRules(name: string | undefined, servers: AcpParams['mcp_servers'] = {}): readonly string[] {
  if (name === undefined) return [];
  // One server's name may begin with that of another.
  const found = Object.entries(servers).flatMap(([server, settings]) => {
    const named = serverOfTool(name, { [server]: settings });
    return named === undefined ? [] : serverToolNames(server, named.tool);
  });
  return [name, ...found];
}
