import type { Json } from '@concerto/base';
import { chosenOption, type PublicEvent, type ReplayedRequest, type SuspendEvent, textOf } from '@concerto/protocol';
import { requestOf } from './rule-request.ts';
import type { RuleSet } from './rule-set.ts';

/** What a supervisor makes of a request: an answer, or why it leaves it to the next. */
export type ReplayedAnswer =
  | { readonly kind: 'answer'; readonly response: Json; readonly reason?: string | undefined }
  | { readonly kind: 'passed'; readonly reason: string };

/** A request as a session's events have it. */
export type PastRequest = {
  readonly session: string;
  readonly agent: string;
  readonly requestId: string;
  readonly event: SuspendEvent;
  /** Undefined while nobody has decided it; withdrawn ones nobody ever did. */
  readonly settled?: { readonly by: string; readonly response?: Json | undefined } | undefined;
};

/** The types of events that `pastRequests` reads. */
export const requestEvents: ReadonlySet<string> = new Set([
  'waitForInput',
  'waitForChoice',
  'queryConsent',
  'readGraph',
  'inspectNode',
  'applyEdits',
  'requestSettled',
]);

/** The requests of one session, oldest first. */
export function pastRequests(
  whose: { readonly id: string; readonly agent: string },
  events: Iterable<PublicEvent>,
): readonly PastRequest[] {
  const found = new Map<string, PastRequest>();
  for (const event of events) {
    if (isRequest(event)) {
      found.set(event.requestId, { session: whose.id, agent: whose.agent, requestId: event.requestId, event });
    }
    if (event.type !== 'requestSettled' || event.outcome !== 'answered') continue;
    const known = found.get(event.requestId);
    if (known === undefined) continue;
    const { by = 'somebody', response } = event;
    found.set(known.requestId, { ...known, settled: { by, response } });
  }
  return [...found.values()];
}

export function isRequest(event: PublicEvent): event is SuspendEvent {
  switch (event.type) {
    case 'waitForInput':
    case 'waitForChoice':
    case 'queryConsent':
    case 'readGraph':
    case 'inspectNode':
    case 'applyEdits':
      return true;
    default:
      return false;
  }
}

/** How it came out altogether. */
export function replayedCounts(all: readonly ReplayedRequest[]) {
  const count = (outcome: ReplayedRequest['outcome']): number => all.filter((one) => one.outcome === outcome).length;
  const spared = all.filter(
    ({ outcome, before, now }) =>
      outcome === 'same' && before?.by.startsWith('user:') === true && now.decision !== 'ask',
  );
  return {
    requests: all.length,
    differs: count('differs'),
    same: count('same'),
    open: count('open'),
    spared: spared.length,
  };
}

/** Whether it came to a supervisor, if there was one: rules, models and the program that listens are asked before it. */
export function comesToSupervisor({ settled }: PastRequest): boolean {
  return settled === undefined || !/^(rule|model|program):/.test(settled.by);
}

/** What a supervisor made of it; undefined: it was not asked. */
export function replayedAnswer(
  supervisor: string,
  past: PastRequest,
  answer: ReplayedAnswer | undefined,
): ReplayedRequest {
  const { session, agent, requestId, event } = past;
  const before = decidedThen(past);
  const now = answerNow(supervisor, { event, before, answer });
  const isLeft = now.decision === 'ask' && before?.by.startsWith('supervisor:') === false;
  const answered = isLeft || now.decision === before?.decision ? 'same' : 'differs';
  const outcome = before === undefined ? 'open' : answered;
  return { session, agent, requestId, what: whatOf(event), ...(before === undefined ? {} : { before }), now, outcome };
}

function answerNow(
  supervisor: string,
  {
    event,
    before,
    answer,
  }: Pick<PastRequest, 'event'> & Pick<ReplayedRequest, 'before'> & { readonly answer: ReplayedAnswer | undefined },
): ReplayedRequest['now'] {
  if (answer?.kind === 'passed') return { decision: 'ask', by: 'person', reason: answer.reason };
  if (answer === undefined) return { ...(before ?? unknownBefore), reason: 'decided before a supervisor is asked' };
  const { response, reason } = answer;
  return { decision: decisionOf(event, response), by: supervisor, ...(reason === undefined ? {} : { reason }) };
}

const unknownBefore = { decision: 'ask', by: 'person' };

/** Puts it before rules. Nothing of the world is asked: links are not followed, models are not called. */
export function replayed(rules: RuleSet, past: PastRequest): ReplayedRequest {
  const { session, requestId, agent, event } = past;
  const verdict = rules.decide(requestOf(event, { agent }));
  const before = decidedThen(past);
  const now = nowOf(event, verdict);
  const answered = before !== undefined && isSame(before, now) ? 'same' : 'differs';
  const outcome = before === undefined ? 'open' : answered;
  return { session, agent, requestId, what: whatOf(event), ...(before === undefined ? {} : { before }), now, outcome };
}

function decidedThen({ event, settled }: PastRequest): ReplayedRequest['before'] {
  return settled === undefined ? undefined : { decision: decisionOf(event, settled.response), by: settled.by };
}

function nowOf(
  event: SuspendEvent,
  { decide, rule = '', reason }: ReturnType<RuleSet['decide']>,
): ReplayedRequest['now'] {
  const why = reason === undefined ? {} : { reason };
  if (decide === 'pass') return { decision: 'ask', by: 'person', reason: 'no rule matches' };
  if (decide === 'ask') return { decision: 'ask', by: 'person', reason: reason ?? `${rule} asks a person` };
  if (decide.startsWith('model:')) return { decision: 'ask', by: decide, reason: reason ?? `${rule} asks a model` };
  const answer = decide.startsWith('answer:')
    ? decisionOf(event, decide.slice('answer:'.length))
    : budgeted(event, decide);
  return { decision: answer, by: rule, ...why };
}

function isBudget(event: SuspendEvent): boolean {
  return event.type === 'queryConsent' && event.consentType === 'budget';
}

function budgeted(event: SuspendEvent, decide: string): string {
  if (!isBudget(event)) return decide;
  return decide === 'allow' ? 'more' : 'stop';
}

/** Somebody who has to be asked gives the answer that was given, unless nobody was asked before. */
function isSame(before: { readonly decision: string; readonly by: string }, now: ReplayedRequest['now']): boolean {
  if (now.decision === 'ask') return !before.by.startsWith('rule:');
  return now.decision === before.decision;
}

/** `allow` or `deny` of an approval, the answer itself of anything else. */
function decisionOf(event: SuspendEvent, response: Json | undefined): string {
  if (response === undefined) return 'answered';
  if (event.type === 'queryConsent' && !isBudget(event))
    return chosenOption(response, event.options ?? []).isApproved ? 'allow' : 'deny';
  if (isBudget(event) && typeof response === 'boolean') return response ? 'more' : 'stop';
  return typeof response === 'string' ? response : JSON.stringify(response);
}

function whatOf(event: SuspendEvent): string {
  if (event.type === 'waitForInput' || event.type === 'waitForChoice') return textOf(event.prompt);
  if (event.type !== 'queryConsent') return event.type;
  const { tool, command, description } = event.scope;
  const parts = [tool, command ?? description].filter((part) => typeof part === 'string');
  return parts.length === 0 ? event.consentType : parts.join(': ');
}
