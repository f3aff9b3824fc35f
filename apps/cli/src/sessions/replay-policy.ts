import type { Json } from '@concerto/base';
import { JsonValue, readDecision, SuspendEvent } from '@concerto/protocol';
import { type RuleSet, requestOf } from '@concerto/rules';
import type { ReplayedAnswer } from '@concerto/runtime';
import * as z from 'zod';

const Settled = z.looseObject({
  type: z.literal('requestSettled'),
  requestId: z.string(),
  outcome: z.string(),
  by: z.string().optional(),
  response: z.optional(JsonValue),
  reason: z.string().optional(),
});

/** A request as a session's events have it. */
export type PastRequest = {
  readonly session: string;
  readonly agent: string;
  readonly requestId: string;
  readonly event: SuspendEvent;
  /** Undefined while nobody has decided it; withdrawn ones nobody ever did. */
  readonly settled?:
    | { readonly by: string; readonly response?: Json | undefined; readonly reason?: string | undefined }
    | undefined;
};

/** What was decided before, and what would be now. `same`: the answer is; `open`: there is nothing to compare with. */
export type Replayed = {
  readonly session: string;
  readonly requestId: string;
  readonly what: string;
  readonly before: { readonly decision: string; readonly by: string } | undefined;
  readonly now: { readonly decision: string; readonly by: string; readonly reason?: string | undefined };
  readonly outcome: 'same' | 'differs' | 'open';
};

/** The requests of one session, oldest first. */
export function pastRequests(
  whose: { readonly id: string; readonly agent: string },
  events: Iterable<{ readonly type: string }>,
): readonly PastRequest[] {
  const found = new Map<string, PastRequest>();
  for (const event of events) {
    const { at: _at, seq: _seq, ...bare }: Record<string, unknown> = { ...event };
    const suspend = SuspendEvent.safeParse(bare);
    if (suspend.success) {
      const { requestId } = suspend.data;
      found.set(requestId, { session: whose.id, agent: whose.agent, requestId, event: suspend.data });
    }
    const settled = Settled.safeParse(event);
    const known = settled.success ? found.get(settled.data.requestId) : undefined;
    if (!settled.success || known === undefined || settled.data.outcome !== 'answered') continue;
    const { by = 'somebody', response, reason } = settled.data;
    found.set(known.requestId, { ...known, settled: { by, response, reason } });
  }
  return [...found.values()];
}

/** Whether it came to a supervisor, if there was one: rules, models and the program that listens are asked before it. */
export function comesToSupervisor({ settled }: PastRequest): boolean {
  return settled === undefined || !/^(rule|model|program):/.test(settled.by);
}

/** What a supervisor made of it; undefined: it was not asked. */
export function replayedAnswer(supervisor: string, past: PastRequest, answer: ReplayedAnswer | undefined): Replayed {
  const { session, requestId, event, settled } = past;
  const before = settled === undefined ? undefined : { decision: decisionOf(event, settled.response), by: settled.by };
  const now = answerNow(supervisor, { event, before, answer });
  const isLeft = now.decision === 'ask' && before?.by.startsWith('supervisor:') === false;
  const answered = isLeft || now.decision === before?.decision ? 'same' : 'differs';
  return { session, requestId, what: whatOf(event), before, now, outcome: before === undefined ? 'open' : answered };
}

function answerNow(
  supervisor: string,
  {
    event,
    before,
    answer,
  }: Pick<PastRequest, 'event'> & Pick<Replayed, 'before'> & { readonly answer: ReplayedAnswer | undefined },
): Replayed['now'] {
  if (answer?.kind === 'passed') return { decision: 'ask', by: 'person', reason: answer.reason };
  if (answer === undefined) return { ...(before ?? unknownBefore), reason: 'decided before a supervisor is asked' };
  const { response, reason } = answer;
  return { decision: decisionOf(event, response), by: supervisor, ...(reason === undefined ? {} : { reason }) };
}

const unknownBefore = { decision: 'ask', by: 'person' };

/** Puts it before rules. Nothing of the world is asked: links are not followed, models are not called. */
export function replayed(rules: RuleSet, past: PastRequest): Replayed {
  const { session, requestId, agent, event, settled } = past;
  const verdict = rules.decide(requestOf(event, { agent }));
  const before = settled === undefined ? undefined : { decision: decisionOf(event, settled.response), by: settled.by };
  const now = nowOf(event, verdict);
  const answered = before !== undefined && isSame(before, now) ? 'same' : 'differs';
  const outcome = before === undefined ? 'open' : answered;
  return { session, requestId, what: whatOf(event), before, now, outcome };
}

function nowOf(event: SuspendEvent, { decide, rule = '', reason }: ReturnType<RuleSet['decide']>): Replayed['now'] {
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
function isSame(before: { readonly decision: string; readonly by: string }, now: Replayed['now']): boolean {
  if (now.decision === 'ask') return !before.by.startsWith('rule:');
  return now.decision === before.decision;
}

/** `allow` or `deny` of an approval, the answer itself of anything else. */
function decisionOf(event: SuspendEvent, response: Json | undefined): string {
  if (response === undefined) return 'answered';
  if (event.type === 'queryConsent' && !isBudget(event)) return readDecision(response).isApproved ? 'allow' : 'deny';
  if (isBudget(event) && typeof response === 'boolean') return response ? 'more' : 'stop';
  return typeof response === 'string' ? response : JSON.stringify(response);
}

function whatOf(event: SuspendEvent): string {
  if (event.type !== 'queryConsent') return event.type;
  const { tool, command, description } = event.scope;
  const parts = [tool, command ?? description].filter((part) => typeof part === 'string');
  return parts.length === 0 ? event.consentType : parts.join(': ');
}
