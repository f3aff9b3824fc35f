import type { BudgetUnit, Spent, SuspendEvent } from '@concerto/protocol';
import {
  budgetRequestId,
  budgetRequestOf,
  budgetText,
  budgetView,
  isBudgetsControl,
  newlyNear,
  usedUp,
} from './budget.ts';
import { requestControl } from './control.ts';
import { type Draft, record } from './draft.ts';
import type { BudgetState } from './session-state.ts';

/**
 * At the end of each decision: whoever looks is told that a budget is near its end; one that is used up holds the session
 * and asks for more; one that was raised lets it go on. All of it follows from the state, so that it holds after any crash.
 */
export function mindBudget(draft: Draft): void {
  const { budget, end, control } = draft.state;
  if (budget === undefined || end !== undefined || control?.kind === 'cancel') return;
  const near = newlyNear(draft.state, draft.asked.at);
  if (near.length > 0) record(draft, { type: 'budget-told', level: 'near', what: [...near] });
  const over = usedUp(draft.state, draft.asked.at);
  if (over.length > 0 && budgetRequestOf(draft.state) === undefined) ask(draft, budget, over);
  hold(draft);
  goOn(draft);
}

function ask(draft: Draft, budget: BudgetState, over: readonly BudgetUnit[]): void {
  record(draft, { type: 'budget-told', level: 'reached', what: [...over] });
  const requestId = budgetRequestId(budget.asks + 1);
  // The record has counted the minutes up to now.
  const counted = draft.state.budget ?? budget;
  const { limits, spent } = budgetView(draft.state, counted);
  const description = `The budget is used up: ${budgetText(draft.state, counted, over)}. More, or stop?`;
  const event: SuspendEvent = {
    type: 'queryConsent',
    requestId,
    consentType: 'budget',
    scope: {
      description,
      what: [...over],
      limits: figures(limits),
      spent: figures(spent),
      amount: figures(budget.amount),
    },
    graphUrl: '',
    options: [
      { id: 'more', label: 'as much again', kind: 'allow_once' },
      { id: 'stop', label: 'stop the session', kind: 'reject_once' },
    ],
  };
  record(draft, { type: 'request-opened', requestId, event });
}

/** Without the units that are not limited: the log has JSON, which knows no undefined. */
function figures(amounts: Spent): Record<string, number> {
  return Object.fromEntries(
    Object.entries(amounts).flatMap(([unit, amount]) => (amount === undefined ? [] : [[unit, amount]])),
  );
}

function hold(draft: Draft): void {
  const request = budgetRequestOf(draft.state);
  if (request === undefined || draft.state.control !== undefined || draft.state.hold !== undefined) return;
  // Refused while its process starts: it is held as soon as that is there, and until then it is given nothing to do.
  if (requestControl(draft, { type: 'control', kind: 'pause', requestId: request.requestId }).ok)
    draft.reason = 'the budget is used up';
}

function goOn(draft: Draft): void {
  const { hold: held, control } = draft.state;
  if (held?.kind !== 'paused' || !isBudgetsControl(held.requestId) || control !== undefined) return;
  if (budgetRequestOf(draft.state) === undefined)
    requestControl(draft, { type: 'control', kind: 'resume', requestId: `${held.requestId}-go` });
}
