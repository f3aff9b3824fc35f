import { type Json, matchesWildcard } from '@concerto/base';
import { ToolConfig, type ToolServer } from '@concerto/protocol';
import { ProblemError } from './problem.ts';

/**
 * What MCP servers a caller may bring along. A command would make a shell of the token, and a URL with a variable a way
 * out for every secret of the server: so none, unless the manifest says otherwise. A list that is absent limits nothing,
 * but for variables, which `http` sends only if they are listed.
 */
export type InlineTools = {
  readonly mode: 'off' | 'http' | 'any';
  /** With `*` for any text, as in all three. */
  readonly commands?: readonly string[] | undefined;
  readonly hosts?: readonly string[] | undefined;
  readonly variables?: readonly string[] | undefined;
};

/** Throws the problem for tools that the manifest does not allow. What is no configuration at all is told by others. */
export function checkInlineTools(tools: Json | undefined, allowed: InlineTools): void {
  const parsed = ToolConfig.safeParse(tools);
  if (!parsed.success) return;
  const errors = Object.entries(parsed.data.servers ?? {}).flatMap(([name, server]) => {
    const message = faultOf(server, allowed);
    return message === undefined ? [] : [{ path: `servers.${name}`, message }];
  });
  const [first] = errors;
  if (first === undefined) return;
  throw new ProblemError(422, 'invalid_tools', `tools.${first.path}: ${first.message}`, { members: { errors } });
}

function faultOf(server: ToolServer, allowed: InlineTools): string | undefined {
  if (allowed.mode === 'off')
    return 'this server takes no MCP servers of a caller; declare it in a template of the manifest, or set [server] inline_tools';
  if (server.transport === 'stdio' && allowed.mode === 'http')
    return 'this server takes no commands of a caller; [server] inline_tools = "any" would';
  const fault = server.transport === 'stdio' ? commandFault(server, allowed) : hostFault(server, allowed);
  return fault ?? variableFault(server, allowed);
}

function commandFault({ command }: { readonly command: string }, { commands }: InlineTools): string | undefined {
  if (commands === undefined || isListed(commands, command)) return undefined;
  return `the command ${JSON.stringify(command)} is not in [server] inline_commands`;
}

function hostFault({ url }: { readonly url: string }, { hosts }: InlineTools): string | undefined {
  const { hostname, host } = new URL(url);
  if (hosts !== undefined) {
    if (isListed(hosts, hostname) || isListed(hosts, host)) return undefined;
    return `the host ${JSON.stringify(host)} is not in [server] inline_hosts`;
  }
  // Where clouds keep the credentials of their machines; nobody means it unless it is listed.
  return /^169\.254\.|^\[fe80:|^\[fd00:ec2:|^metadata\./i.test(hostname)
    ? `the host ${JSON.stringify(host)} is link-local; [server] inline_hosts would have to list it`
    : undefined;
}

function variableFault(server: ToolServer, { mode, variables }: InlineTools): string | undefined {
  const settings = server.transport === 'stdio' ? server.env : server.headers;
  const named = Object.values(settings ?? {}).flatMap((value) => (typeof value === 'string' ? [] : [value.env]));
  const listed = variables ?? (mode === 'any' ? ['*'] : []);
  const refused = named.find((name) => !isListed(listed, name));
  return refused === undefined ? undefined : `the variable ${refused} is not in [server] inline_variables`;
}

function isListed(patterns: readonly string[], text: string): boolean {
  return patterns.some((pattern) => matchesWildcard(pattern.toLowerCase(), text.toLowerCase()));
}
