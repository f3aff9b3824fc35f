import { expect, test } from 'vitest';
import { foldedPlan } from './folded-plan.ts';

const planAt = (length: number, now: number) =>
  Array.from({ length }, (_, index) => {
    if (index < now) return { status: 'completed' as const };
    return { status: index === now ? ('in_progress' as const) : ('pending' as const) };
  });

test.each([
  ['a short one is shown whole', planAt(9, 4), { from: 0, to: 9 }],
  ['at its beginning', planAt(24, 0), { from: 0, to: 7 }],
  ['around the step under way', planAt(24, 12), { from: 11, to: 18 }],
  ['at its last step', planAt(24, 23), { from: 17, to: 24 }],
  ['when all is done', planAt(24, 24), { from: 17, to: 24 }],
  ['before anything is under way', planAt(24, -1), { from: 0, to: 7 }],
])('%s', (_what, plan, shown) => {
  expect(foldedPlan(plan)).toEqual(shown);
});
