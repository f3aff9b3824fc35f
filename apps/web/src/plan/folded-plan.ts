import type { PlanEntry } from '@concerto/protocol';

/** So many steps are shown without a press, and no plan is folded for less than `spared` of them. */
const shownMax = 7;
const spared = 3;
/** What was done right before says where one is. */
const doneBefore = 1;

/** Which steps of a plan are shown before somebody asks for all: those around the one that is under way. */
export function foldedPlan(plan: readonly Pick<PlanEntry, 'status'>[]): { readonly from: number; readonly to: number } {
  if (plan.length < shownMax + spared) return { from: 0, to: plan.length };
  const now = plan.findIndex(({ status }) => status === 'in_progress');
  const next = now < 0 ? plan.findIndex(({ status }) => status === 'pending') : now;
  // Where all is done, how it ended.
  const at = next < 0 ? plan.length : next;
  const from = Math.max(0, Math.min(at - doneBefore, plan.length - shownMax));
  return { from, to: from + shownMax };
}
