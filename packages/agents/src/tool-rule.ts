import { matchesWildcard } from '@concerto/base';
import type { ToolRules } from '@concerto/protocol';

/**
 * What the session's rules say of a tool that goes by these names: `deny` wins over everything, with `allow` only those
 * may be used, and those in `ask` are asked for each time. Undefined where the agent's own rules decide.
 */
export function ruleOfTool(rules: ToolRules | undefined, names: readonly string[]): 'deny' | 'ask' | undefined {
  const isListed = (patterns: readonly string[]): boolean =>
    patterns.some((pattern) => names.some((name) => matchesWildcard(pattern, name)));
  if (isListed(rules?.deny ?? [])) return 'deny';
  if (rules?.allow !== undefined && !isListed(rules.allow)) return 'deny';
  return isListed(rules?.ask ?? []) ? 'ask' : undefined;
}

/** The names a rule may use for a tool of a server; the first is the one that people read. */
export function serverToolNames(server: string, tool: string): readonly string[] {
  return [`${server}.${tool}`, server, `${server}/${tool}`, `mcp__${server}__${tool}`];
}
