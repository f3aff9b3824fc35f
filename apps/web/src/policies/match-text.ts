import type { Rule } from '@concerto/protocol';

const matchers = ['tool', 'kind', 'command', 'path', 'server', 'risk', 'text', 'agent', 'template'] as const;

/** What a rule is about, in a line. */
export function matchText(rule: Rule): string {
  const named = matchers.flatMap((name) => {
    const value = rule[name];
    return value === undefined ? [] : [`${name} = ${[value].flat().join(' | ')}`];
  });
  return named.length === 0 ? 'every approval' : named.join(', ');
}
