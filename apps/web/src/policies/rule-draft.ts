import type { Rule, RuleList, StoredRule } from '@concerto/protocol';

const patternNames = ['tool', 'command', 'path', 'kind', 'server', 'text', 'template'] as const;
export type PatternName = (typeof patternNames)[number];

const deciders = ['allow', 'deny', 'ask', 'model', 'answer'] as const;
type Decider = (typeof deciders)[number];

/** A rule as a form has it: a list is a line each. */
export type RuleFields = Readonly<Record<PatternName, string>> & {
  readonly decide: Decider;
  /** The model that is asked, or the answer. */
  readonly value: string;
  readonly reason: string;
  /** Empty: for every agent. */
  readonly agent: string;
  readonly risk: readonly string[];
};

export const emptyFields: RuleFields = {
  tool: '',
  command: '',
  path: '',
  kind: '',
  server: '',
  text: '',
  template: '',
  decide: 'allow',
  value: '',
  reason: '',
  agent: '',
  risk: [],
};

/** The rules of the store as they are put back; what the list adds to them stays here. */
export function storedOf({ rules }: RuleList): readonly StoredRule[] {
  return rules
    .filter(({ source }) => source === 'store')
    .map(({ source: _source, warning: _warning, ...rule }) => ({ ...rule, id: rule.id.replace(/^rule:store\./, '') }));
}

export function fieldsOf(rule: StoredRule): RuleFields {
  const [decide = 'ask', ...rest] = rule.decide.split(':');
  return {
    ...emptyFields,
    ...Object.fromEntries(patternNames.map((name) => [name, linesOf(rule[name])])),
    decide: deciders.find((one) => one === decide) ?? 'ask',
    value: rest.join(':'),
    reason: rule.reason ?? '',
    agent: linesOf(rule.agent),
    risk: [rule.risk ?? []].flat(),
  };
}

/** What the form says, in the place of a rule or as a new one. */
export function ruleOf(fields: RuleFields, before: StoredRule | undefined): StoredRule {
  const { id, addedBy, from } = before ?? {};
  const { decide, value, reason, agent, risk } = fields;
  const patterns = patternNames.map((name) => [name, patternsIn(fields[name])] as const);
  const risks = (['low', 'medium', 'high'] as const).filter((level) => risk.includes(level));
  return {
    ...(id === undefined ? {} : { id }),
    ...Object.fromEntries(patterns.filter(([, found]) => found !== undefined)),
    ...(agent.trim() === '' ? {} : { agent: patternsIn(agent) }),
    ...(risks.length === 0 ? {} : { risk: risks }),
    decide: decide === 'model' || decide === 'answer' ? `${decide}:${value.trim()}` : decide,
    ...(reason.trim() === '' ? {} : { reason: reason.trim() }),
    ...(addedBy === undefined ? {} : { addedBy }),
    ...(from === undefined ? {} : { from }),
  };
}

function linesOf(patterns: Rule['tool']): string {
  return [patterns ?? []].flat().join('\n');
}

function patternsIn(text: string): Rule['tool'] {
  const lines = text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '');
  return lines.length > 1 ? lines : lines[0];
}
