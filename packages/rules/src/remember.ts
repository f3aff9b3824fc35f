import type { Rule } from '@concerto/protocol';
import { escapeGlob } from './glob.ts';
import type { RuleRequest } from './rule-request.ts';

/** The rule that answers the very same request the same way again; undefined when there is nothing to know it by. */
export function rememberedRule(request: RuleRequest, decide: 'allow' | 'deny', reason?: string): Rule | undefined {
  const { ask, tool, server, command, paths } = request;
  if (ask !== 'approval' || tool === undefined) return undefined;
  const exact = (text: string): string => escapeGlob(text);
  const subject =
    command !== undefined
      ? { command: exact(command.text) }
      : paths.length > 0
        ? { path: paths.map(exact) }
        : undefined;
  // A tool that says neither what it runs nor what it touches would be allowed to do anything from then on.
  if (subject === undefined && server === undefined) return undefined;
  return {
    tool: exact(tool),
    ...(server === undefined ? {} : { server: exact(server) }),
    ...subject,
    decide,
    ...(reason === undefined ? {} : { reason }),
  };
}
