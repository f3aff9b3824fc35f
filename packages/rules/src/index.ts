export { rememberedRule } from './remember.ts';
export { riskOf } from './risk.ts';
export { type Asking, type RuleRequest, requestOf, triedRequest } from './rule-request.ts';
export { type Explained, type NamedRule, RuleSet, type Verdict } from './rule-set.ts';
export { ruleWarning } from './rule-warning.ts';
