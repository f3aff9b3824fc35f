export {
  comesToSupervisor,
  isRequest,
  type PastRequest,
  pastRequests,
  type ReplayedAnswer,
  replayed,
  replayedAnswer,
  replayedCounts,
  requestEvents,
} from './past-requests.ts';
export { rememberedRule } from './remember.ts';
export { riskToShow } from './risk.ts';
export { type Asking, approvalRequest, type RuleRequest, requestOf, triedRequest } from './rule-request.ts';
export { type Explained, type NamedRule, RuleSet, type Verdict } from './rule-set.ts';
export { ruleWarning } from './rule-warning.ts';
