import type { JsonObject } from '@concerto/base';
import type { ClaudeParams } from '@concerto/protocol';
import { ruleOfTool, serverToolNames } from '../tool-rule.ts';

/** What our hook says before a tool is used: the session's rules come before the program's own. */
export function claudeToolRule(params: ClaudeParams, tool: string): JsonObject {
  const rule = ruleOfTool(params.tools, claudeRuleNames(params, tool));
  if (rule === undefined) return {};
  const reason =
    rule === 'deny' ? `The session's rules do not allow ${tool}.` : `The session's rules ask before ${tool}.`;
  return {
    hookSpecificOutput: {
      hookEventName: 'PreToolUse',
      permissionDecision: rule,
      permissionDecisionReason: reason,
    },
  };
}

/** The program's name of a server's tool is `mcp__SERVER__TOOL`, with underscores for what it does not like. */
export function claudeRuleNames({ mcp_servers = {} }: ClaudeParams, tool: string): readonly string[] {
  for (const server of Object.keys(mcp_servers)) {
    const prefix = `mcp__${server.replaceAll(/[^a-zA-Z0-9_-]/g, '_')}__`;
    if (tool.startsWith(prefix)) return serverToolNames(server, tool.slice(prefix.length));
  }
  return [tool];
}
