import type { Rule } from '@concerto/protocol';
import { escapeGlob } from './glob.ts';
import type { RuleRequest } from './rule-request.ts';

/** The rule that answers the very same request the same way again; undefined when there is nothing to know it by. */
export function rememberedRule(request: RuleRequest, decide: 'allow' | 'deny', reason?: string): Rule | undefined {
  const { ask, tool, server } = request;
  if (ask !== 'approval' || tool === undefined) return undefined;
  const subject = subjectOf(request);
  // A tool that says neither what it runs nor what it touches would be allowed to do anything from then on.
  if (subject === undefined && server === undefined) return undefined;
  return {
    tool: escapeGlob(tool),
    ...(server === undefined ? {} : { server: escapeGlob(server) }),
    ...subject,
    decide,
    ...(reason === undefined ? {} : { reason }),
  };
}

function subjectOf({ command, paths }: RuleRequest): Pick<Rule, 'command' | 'path'> | undefined {
  if (command !== undefined) return { command: escapeGlob(command.text) };
  return paths.length === 0 ? undefined : { path: paths.map(escapeGlob) };
}
