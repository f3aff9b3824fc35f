import {
  addUsage,
  type Budget,
  type BudgetUnit,
  type BudgetView,
  budgetUnits,
  type SessionRecord,
  type Spent,
} from '@concerto/protocol';
import type { BudgetState, Request, SessionState } from './session-state.ts';
import { openRequests, turnsOver } from './status.ts';

/** From here on a budget is near its end. */
const nearShare = 0.8;
const minuteMs = 60_000;
/** Shares are quotients of decimals: a limit that is met is met. */
const tolerance = 1e-9;

export function budgetOf(amount: Budget): BudgetState {
  return {
    limits: amount,
    amount,
    workedMs: 0,
    children: new Map(),
    near: new Set(),
    asks: 0,
  };
}

type BudgetRecord = Extract<SessionRecord, { type: 'budget-told' | 'budget-raised' | 'child-used' }>;

export function evolveBudget(budget: BudgetState | undefined, record: BudgetRecord): BudgetState | undefined {
  if (budget === undefined) return undefined;
  switch (record.type) {
    case 'budget-told':
      if (record.level === 'reached') return { ...budget, asks: budget.asks + 1 };
      return { ...budget, near: new Set([...budget.near, ...record.what]) };
    case 'budget-raised':
      return { ...budget, limits: record.limits, near: new Set() };
    case 'child-used': {
      const { child, usage, turns, isEstimate } = record;
      const used = { usage, turns, ...(isEstimate === true ? { isEstimate } : {}) };
      return { ...budget, children: new Map(budget.children).set(child, used) };
    }
  }
}

/** What the time since the last record adds. */
export function workedOn(before: SessionState, after: SessionState, at: number): BudgetState | undefined {
  if (after.budget === undefined || !isWorking(before)) return after.budget;
  const workedMs = after.budget.workedMs + Math.max(0, at - before.updatedAt);
  return { ...after.budget, workedMs };
}

/** Neither held nor waiting for anybody; a program that nobody runs only waits. */
function isWorking(state: SessionState): boolean {
  const { turn, hold, end, owner } = state;
  const isUp = turn.active && hold === undefined && end === undefined && owner !== undefined;
  return isUp && openRequests(state).length === 0;
}

/** As of the instant, or of the last record. A turn counts when it is over; a program's are those of its children. */
function spentOf(state: SessionState, budget: BudgetState, at = state.updatedAt): Readonly<Record<BudgetUnit, number>> {
  const children = [...budget.children.values()];
  const usage = children.reduce((sum, child) => addUsage(sum, child.usage), state.usage);
  const taken = state.forkOf?.turns ?? 0;
  const own = turnsOver(state) - taken;
  const sinceMs = isWorking(state) ? Math.max(0, at - state.updatedAt) : 0;
  return {
    usd: (usage.costMicroUsd ?? 0) / 1e6,
    tokens: usage.inputTokens + usage.outputTokens,
    turns: state.kind === 'program' ? children.reduce((sum, { turns }) => sum + turns, 0) : own,
    minutes: (budget.workedMs + sinceMs) / minuteMs,
  };
}

/** What is limited, and which part of it was used. */
function sharesOf(state: SessionState, budget: BudgetState, at?: number): ReadonlyMap<BudgetUnit, number> {
  const spent = spentOf(state, budget, at);
  return new Map(
    budgetUnits.flatMap((unit) => {
      const limit = budget.limits[unit];
      return limit === undefined ? [] : [[unit, spent[unit] / limit] as const];
    }),
  );
}

/** What is used up. */
export function usedUp(state: SessionState, at?: number): readonly BudgetUnit[] {
  if (state.budget === undefined) return [];
  return [...sharesOf(state, state.budget, at)].flatMap(([unit, share]) => (share >= 1 - tolerance ? [unit] : []));
}

/** What comes near its end, and nobody was told so. */
export function newlyNear(state: SessionState, at: number): readonly BudgetUnit[] {
  const { budget } = state;
  if (budget === undefined) return [];
  return [...sharesOf(state, budget, at)].flatMap(([unit, share]) => {
    const isNear = share >= nearShare - tolerance && share < 1 - tolerance;
    return isNear && !budget.near.has(unit) ? [unit] : [];
  });
}

/** When the time at work comes near its end, or to it, if nothing else happens. */
export function budgetDeadline(state: SessionState): number | undefined {
  const { budget } = state;
  const { minutes } = budget?.limits ?? {};
  // One that is being cancelled asks for nothing more: a deadline that nothing moves on would stand before that of the cancel.
  const isEnding = state.control?.kind === 'cancel';
  if (budget === undefined || minutes === undefined || isEnding || !isWorking(state)) return undefined;
  const share = budget.near.has('minutes') ? 1 : nearShare;
  return state.updatedAt + Math.max(0, Math.ceil(minutes * minuteMs * share - budget.workedMs));
}

/** The one request that is the session's own. */
export function isBudgetRequest({ requestId, event }: Pick<Request, 'requestId' | 'event'>): boolean {
  return event.type === 'queryConsent' && event.consentType === 'budget' && isBudgetsControl(requestId);
}

export function budgetRequestId(asks: number): string {
  return `budget-${asks}`;
}

/** A lifecycle request that nobody made but the budget; those of people have other names. */
export function isBudgetsControl(requestId: string | undefined): boolean {
  return requestId !== undefined && /^budget-\d+(-|$)/.test(requestId);
}

export function budgetRequestOf(state: SessionState): Request | undefined {
  return state.budget === undefined ? undefined : openRequests(state).find(isBudgetRequest);
}

/** Nothing is begun any more. */
export function isOverBudget(state: SessionState): boolean {
  if (state.budget === undefined) return false;
  return budgetRequestOf(state) !== undefined || usedUp(state).length > 0;
}

export function budgetView(state: SessionState, budget: BudgetState): BudgetView {
  const all = spentOf(state, budget);
  const spent: Spent = {};
  const left: Spent = {};
  for (const unit of budgetUnits) {
    const limit = budget.limits[unit];
    if (limit === undefined) continue;
    spent[unit] = rounded(all[unit]);
    left[unit] = rounded(Math.max(0, limit - all[unit]));
  }
  const children = [...budget.children.values()];
  const isEstimate = state.isEstimate === true || children.some((child) => child.isEstimate === true);
  return { limits: budget.limits, spent, left, ...(isEstimate ? { isEstimate: true as const } : {}) };
}

function rounded(figure: number): number {
  return Math.round(figure * 1e6) / 1e6;
}

/** `3 of 3 turns`, `$0.52 of $0.50`. */
export function budgetText(state: SessionState, budget: BudgetState, units: readonly BudgetUnit[]): string {
  const { spent, limits } = budgetView(state, budget);
  const texts = units.map((unit) => {
    const [used = 0, limit = 0] = [spent[unit], limits[unit]];
    if (unit === 'usd') return `$${used.toFixed(2)} of $${limit.toFixed(2)}`;
    return `${unit === 'minutes' ? Math.round(used * 10) / 10 : used} of ${limit} ${unit}`;
  });
  return texts.join(', ');
}
