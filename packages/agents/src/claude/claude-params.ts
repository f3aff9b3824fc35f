import type { Json, JsonObject } from '@concerto/base';
import type { ClaudeParams, ToolServerParams } from '@concerto/protocol';
import type { StartOptions } from '../agent-connection.ts';

export type ClaudeCommandLine = {
  readonly args: readonly string[];
  /** Variables that hold what must not be seen on a command line. */
  readonly variables: Readonly<Record<string, string>>;
};

/** A session that is driven over stdin and stdout, and asks us about permissions. */
export function claudeCommandLine(
  params: ClaudeParams,
  { conversation, fork }: Pick<StartOptions, 'conversation' | 'fork'> = {},
): ClaudeCommandLine {
  const servers = params.mcp_servers;
  const config = servers === undefined ? undefined : mcpConfig(servers);
  const args = [
    '-p',
    '--output-format=stream-json',
    '--input-format=stream-json',
    // Without it the program refuses `stream-json`.
    '--verbose',
    '--include-partial-messages',
    '--permission-prompt-tool=stdio',
    ...option('model', params.model),
    ...option('effort', params.effort),
    ...(params.extra_dirs ?? []).flatMap((folder) => option('add-dir', folder)),
    ...option('allowedTools', list(params.allowed_tools)),
    ...option('disallowedTools', list(params.disallowed_tools)),
    ...option('permission-mode', params.permission_mode),
    ...option('append-system-prompt', params.append_system_prompt),
    ...option('max-turns', params.max_turns),
    ...option('max-budget-usd', params.max_budget_usd),
    ...option('setting-sources', params.setting_sources?.join(',')),
    ...option('mcp-config', config === undefined ? undefined : JSON.stringify(config.config)),
    // A session that says which tools it has, has no others.
    ...(config === undefined && params.tools === undefined ? [] : ['--strict-mcp-config']),
    ...option('resume', fork?.id ?? conversation),
    ...(fork === undefined ? [] : ['--fork-session', ...option('resume-session-at', fork.upTo)]),
  ];
  return { args, variables: config?.variables ?? {} };
}

/** One word, so that a value that begins with a dash or is empty is still a value. */
function option(name: string, value: string | number | undefined): string[] {
  return value === undefined ? [] : [`--${name}=${value}`];
}

const builtInTools = ['Bash', 'Edit', 'Glob', 'Grep', 'NotebookEdit', 'Read', 'Task', 'WebFetch', 'WebSearch', 'Write'];

function list(rules: readonly string[] | undefined): string | undefined {
  return rules === undefined || rules.length === 0 ? undefined : rules.map(asClaudeRule).join(',');
}

/** `read` is what people write, `Read` is what the program knows. Other rules, such as `mcp__…`, stay as they are. */
function asClaudeRule(rule: string): string {
  const [name = '', ...rest] = rule.split('(');
  const known = builtInTools.find((tool) => tool.toLowerCase() === name.toLowerCase());
  return [known ?? name, ...rest].join('(');
}

/**
 * The servers as the program wants them. Every value of `env` and `headers` may be a secret, and a command line is for
 * all to see: there stands a reference, which the program resolves from its environment. So does it wherever a text
 * looks like a reference of its own.
 */
function mcpConfig(servers: Readonly<Record<string, ToolServerParams>>): {
  readonly config: JsonObject;
  readonly variables: Readonly<Record<string, string>>;
} {
  const variables: Record<string, string> = {};
  const hide = (value: string): string => {
    const variable = `CONCERTO_MCP_${Object.keys(variables).length + 1}`;
    variables[variable] = value;
    return `\${${variable}}`;
  };
  const hidden = (values: Readonly<Record<string, string>> | undefined): JsonObject =>
    Object.fromEntries(Object.entries(values ?? {}).map(([name, value]) => [name, hide(value)]));
  const literal = (text: string): string => (text.includes('${') ? hide(text) : text);
  const entries = Object.entries(servers).map(([name, server]): [string, Json] => {
    if (server.transport !== 'stdio') {
      return [name, { type: server.transport, url: literal(server.url), headers: hidden(server.headers) }];
    }
    const [command, ...args] = commandIn(server).map(literal);
    return [name, { type: 'stdio', command: command ?? '', args, env: hidden(server.env) }];
  });
  return { config: { mcpServers: Object.fromEntries(entries) }, variables };
}

/** The program starts every server in its own folder; a shell changes to another. */
function commandIn({ command, args = [], cwd }: Extract<ToolServerParams, { transport: 'stdio' }>): readonly string[] {
  if (cwd === undefined) return [command, ...args];
  return ['/bin/sh', '-c', 'cd "$1" && shift && exec "$@"', 'sh', cwd, command, ...args];
}
