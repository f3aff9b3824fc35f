import { matchesWildcard } from '@concerto/base';
import type { ToolRules } from '@concerto/protocol';

/**
 * Names that mean the same in the rules of a session, whichever agent it has: who denies `shell` means the commands of all
 * of them, and would not know that one of them calls it `run_shell_command`.
 */
const synonyms: readonly (readonly string[])[] = [
  ['bash', 'shell', 'exec_command', 'run_shell_command'],
  ['edit', 'multiedit', 'notebookedit', 'write', 'apply_patch', 'file_change', 'replace', 'write_file', 'patch'],
  ['websearch', 'web_search', 'google_web_search'],
  ['webfetch', 'web_fetch'],
  ['task', 'agent', 'spawn_agent'],
];

/**
 * What the session's rules say of a tool that goes by these names: `deny` wins over everything, with `allow` only those
 * may be used, and those in `ask` are asked for each time. Undefined where the agent's own rules decide. A tool without a
 * name is denied wherever a rule could mean it.
 */
export function ruleOfTool(rules: ToolRules | undefined, names: readonly string[]): 'deny' | 'ask' | undefined {
  const { allow, deny = [], ask = [] } = rules ?? {};
  if (names.length === 0) return allow !== undefined || deny.length + ask.length > 0 ? 'deny' : undefined;
  const known = names.flatMap(namesOfBuiltIn);
  const isListed = (patterns: readonly string[]): boolean =>
    patterns.some((pattern) => known.some((name) => matchesWildcard(pattern.toLowerCase(), name)));
  if (isListed(deny)) return 'deny';
  // A synonym denies, but it does not allow: `replace` in a list is not meant to allow `Write`.
  if (allow !== undefined && !allow.some((pattern) => names.some((name) => isSame(pattern, name)))) return 'deny';
  return isListed(ask) ? 'ask' : undefined;
}

/** The names a rule may use for a tool of a server; the first is the one that people read. */
export function serverToolNames(server: string, tool: string): readonly string[] {
  return [`${server}.${tool}`, server, `${server}/${tool}`, `mcp__${server}__${tool}`];
}

function isSame(pattern: string, name: string): boolean {
  return matchesWildcard(pattern.toLowerCase(), name.toLowerCase());
}

function namesOfBuiltIn(name: string): readonly string[] {
  const lower = name.toLowerCase();
  return synonyms.find((group) => group.includes(lower)) ?? [lower];
}
