import { canonicalJson, err, type Json, ok } from '@concerto/base';
import { find } from '../archive.ts';
import { wake } from './advance.ts';
import { answerBudget } from './answer-budget.ts';
import { isBudgetRequest } from './budget.ts';
import { type Draft, record } from './draft.ts';
import type { Refusal, Wish } from './session-command.ts';
import type { SessionState } from './session-state.ts';

type Verdict = { readonly ok: true; readonly value: undefined } | { readonly ok: false; readonly error: Refusal };

/** The first answer counts. Only the owner hands it over; until then it is offered, and may still be refused. */
export function answerRequest(draft: Draft, wish: Extract<Wish, { type: 'answer' }>): Verdict {
  const { requestId, response } = wish;
  const { state } = draft;
  const request = find(state.requests, requestId);
  if (request === undefined) return err({ code: 'no_such_request', message: `there is no request ${requestId}` });
  if (request.state === 'answered') {
    const repeated = wish.equalIsRepeat === true && sameJson(request.given ?? null, response);
    const sameCause = request.answeredBy !== undefined && request.answeredBy === draft.asked.cause;
    if (repeated || sameCause) return ok(undefined);
    return err({ code: 'already_answered', message: `request ${requestId} was already answered` });
  }
  if (request.state === 'withdrawn') {
    return err(withdrawnRefusal(requestId, request.reason ?? 'withdrawn'));
  }
  if (isBudgetRequest(request)) return answerBudget(draft, request, wish);
  const { line, because, reason, rule } = wish;
  const exact = line === undefined ? {} : { line };
  record(draft, { type: 'request-answered', requestId, response, held: true, ...exact, because, reason });
  if (rule !== undefined) record(draft, { type: 'rule-added', rule, requestId });
  wake(draft);
  return ok(undefined);
}

export function withdrawnRefusal(requestId: string, reason: string): Refusal {
  return { code: 'withdrawn', reason, message: `request ${requestId} is no longer open: ${reason}` };
}

function sameJson(a: Json, b: Json): boolean {
  return canonicalJson(a) === canonicalJson(b);
}

/** What became of an answer: `offered` while no living owner has it. */
export function answerStanding(
  state: SessionState,
  requestId: string,
): { readonly is: 'open' | 'offered' | 'given' } | { readonly is: 'withdrawn'; readonly reason: string } {
  const request = find(state.requests, requestId);
  if (request === undefined || request.state === 'open') return { is: 'open' };
  if (request.state === 'withdrawn') return { is: 'withdrawn', reason: request.reason ?? 'withdrawn' };
  return { is: request.answer?.stage === 'offered' ? 'offered' : 'given' };
}

/** What no owner has taken is not given: whoever answered is told so, and the question waits on. */
export function takeBackAnswer(draft: Draft, requestId: string): void {
  if (find(draft.state.requests, requestId)?.answer?.stage !== 'offered') return;
  record(draft, { type: 'answer-returned', requestId, reason: 'no runner has the session' });
}
