import { err, type Json, ok } from '@concerto/base';
import { type Budget, BudgetAnswer, budgetUnits } from '@concerto/protocol';
import { isBudgetRequest } from './budget.ts';
import { requestControl } from './control.ts';
import { type Draft, record } from './draft.ts';
import type { Refusal, Routing } from './session-command.ts';
import type { BudgetState, Request } from './session-state.ts';

type Verdict = { readonly ok: true; readonly value: undefined } | { readonly ok: false; readonly error: Refusal };

type Given = { readonly response: Json; readonly reason?: string | undefined; readonly by?: string | undefined };

/** Nobody has to be told but the session itself: it counts with the decision. */
export function answerBudget(draft: Draft, request: Request, { response, reason, by }: Given): Verdict {
  const { budget } = draft.state;
  const { requestId } = request;
  const answer = readAnswer(response);
  if (budget === undefined || answer === undefined) {
    return err({ code: 'invalid_answer', message: 'answer "more", {"more": {"tokens": 1000}} or "stop"' });
  }
  const unknown = typeof answer === 'string' ? undefined : notLimited(budget, answer.more);
  if (unknown !== undefined) {
    return err({ code: 'invalid_answer', message: `there is no limit of ${unknown}, so there cannot be more of it` });
  }
  record(draft, { type: 'request-answered', requestId, response, held: false, by, reason });
  if (answer === 'stop')
    return requestControl(draft, { type: 'control', kind: 'cancel', requestId: `${requestId}-stop` });
  record(draft, { type: 'budget-raised', limits: raised(budget, answer === 'more' ? budget.amount : answer.more) });
  return ok(undefined);
}

/** Also as rules write it, and as a yes or a no. */
function readAnswer(response: Json): BudgetAnswer | undefined {
  if (response === true || response === 'yes') return 'more';
  if (response === false || response === 'no') return 'stop';
  const parsed = BudgetAnswer.safeParse(response);
  if (parsed.success) return parsed.data;
  return typeof response === 'string' ? readText(response) : undefined;
}

function readText(text: string): BudgetAnswer | undefined {
  if (!text.startsWith('{')) return undefined;
  try {
    const parsed = BudgetAnswer.safeParse(JSON.parse(text));
    return parsed.success ? parsed.data : undefined;
  } catch {
    return undefined; // A brace and no JSON: no answer.
  }
}

function notLimited({ limits }: BudgetState, more: Budget): string | undefined {
  return budgetUnits.find((unit) => more[unit] !== undefined && limits[unit] === undefined);
}

function raised({ limits }: BudgetState, more: Budget): Budget {
  const sum: Budget = {};
  for (const unit of budgetUnits) {
    const limit = limits[unit];
    // As much as can be stored and read again is as good as no limit.
    if (limit !== undefined) sum[unit] = Math.min(limit + (more[unit] ?? 0), Number.MAX_SAFE_INTEGER);
  }
  return sum;
}

/** Puts what the session itself asks before those who may answer it, as the owner found them. */
export function routeBudget(draft: Draft, requestId: string, { answer, reason, ...routing }: Routing): void {
  const request = draft.state.requests.live.get(requestId);
  if (request?.state !== 'open' || !isBudgetRequest(request) || request.routedTo !== undefined) return;
  const { answerWithinMs, onTimeout, answerers = [] } = routing;
  const limits = { answerWithinMs, onTimeout, ...(answerers.length === 0 ? {} : { answerers: [...answerers] }) };
  if (answer === undefined) {
    record(draft, { type: 'request-routed', requestId, to: answerers[0]?.to ?? 'person', reason, ...limits });
    return;
  }
  record(draft, { type: 'request-routed', requestId, to: 'rules', ...limits });
  const verdict = answerBudget(draft, request, answer);
  if (verdict.ok) return;
  const why = `${answer.by} gave no answer to it: ${verdict.error.message}`;
  record(draft, { type: 'request-routed', requestId, to: 'person', reason: why });
}

/** What was said beforehand happens; whoever said nothing gets no more. */
export function budgetUnanswered(draft: Draft, request: Request, reason: string): void {
  const { onTimeout = 'deny' } = request;
  if (onTimeout === 'keep') return;
  const response = onTimeout.startsWith('answer:') ? onTimeout.slice('answer:'.length) : 'stop';
  answerBudget(draft, request, { response, reason, by: 'timeout' });
}
