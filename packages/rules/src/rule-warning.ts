import { nearest } from '@concerto/base';
import type { Rule } from '@concerto/protocol';
import { globMatches, globOf } from './glob.ts';
import { skeleton } from './look-alike.ts';
import { mayPermit } from './match-rule.ts';
import { pathPatternOf } from './path-pattern.ts';
import { readCommand } from './shell-command.ts';

/** Why a rule can never decide anything, or undefined. `agents`: the names of all whose requests there may be. */
export function ruleWarning(rule: Rule, agents: readonly string[]): string | undefined {
  return aboutNobody(listOf(rule.agent), agents) ?? aboutNothing(rule);
}

function aboutNobody(patterns: readonly string[], agents: readonly string[]): string | undefined {
  const names = agents.map(skeleton);
  const isSomebody = patterns.some((pattern) => names.some((name) => globMatches(globOf(skeleton(pattern)), name)));
  if (patterns.length === 0 || isSomebody) return undefined;
  const [first = ''] = patterns;
  const meant = nearest(first, agents);
  return `no agent, assistant or program is called ${patterns.join(', ')}${meant === undefined ? '' : `; did you mean ${JSON.stringify(meant)}?`}`;
}

function aboutNothing(rule: Rule): string | undefined {
  const permits = mayPermit(rule.decide);
  const doing = [rule.tool, rule.kind, rule.command, rule.path, rule.server].some((key) => key !== undefined);
  if (rule.kind !== undefined && listOf(rule.kind).every((kind) => !kinds.has(kind))) {
    return `no request is of the kind ${listOf(rule.kind).join(', ')}; there are ${[...kinds].join(', ')}`;
  }
  const path = listOf(rule.path).find((pattern) => pattern.split('/').includes('..'));
  if (path !== undefined)
    return `the path ${JSON.stringify(path)} is looked for after \`..\` was taken out of what is asked`;
  if (listOf(rule.path).some((pattern) => pathPatternOf(pattern).parts.length === 0))
    return 'an empty path matches nothing';
  const compound = permits ? listOf(rule.command).find(isCompound) : undefined;
  if (compound !== undefined) {
    return `${JSON.stringify(compound)} is several commands: each of a request's commands is looked at alone`;
  }
  if (
    listOf(rule.kind).join() === 'budget' &&
    (rule.tool !== undefined || rule.command !== undefined || rule.path !== undefined)
  ) {
    return 'a budget has no tool, command or path';
  }
  if (rule.decide.startsWith('answer:') && rule.text !== undefined && doing) {
    return 'a question has no tool, kind, command, path or server';
  }
  return undefined;
}

const kinds = new Set('read edit delete move search execute think fetch switch_mode other budget'.split(' '));

function listOf(value: string | readonly string[] | undefined): readonly string[] {
  if (value === undefined) return [];
  return typeof value === 'string' ? [value] : value;
}

/** One that is unclear may still be the exact text of a request that somebody said yes to. */
function isCompound(pattern: string): boolean {
  const { parts, unclear } = readCommand(pattern.replaceAll('*', 'x'));
  return pattern.includes('*') && unclear === undefined && parts.length > 1;
}
