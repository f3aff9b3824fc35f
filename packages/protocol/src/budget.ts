import * as z from 'zod/mini';

/** What a session may use. `minutes` are those at work: no time in which it was paused or waited for an answer counts. */
const amounts = {
  usd: z.optional(z.number().check(z.positive())),
  tokens: z.optional(z.int().check(z.positive())),
  turns: z.optional(z.int().check(z.positive())),
  minutes: z.optional(z.number().check(z.positive())),
};

export const budgetUnits = ['usd', 'tokens', 'turns', 'minutes'] as const;
export const BudgetUnit = z.enum(budgetUnits);
export type BudgetUnit = z.infer<typeof BudgetUnit>;

/** At least one of them. */
export const Budget = z.strictObject(amounts).check(
  z.refine((budget) => Object.values(budget).some((amount) => amount !== undefined), {
    message: 'names at least one of `usd`, `tokens`, `turns`, `minutes`',
  }),
);
export type Budget = z.infer<typeof Budget>;

const Spent = z.strictObject({
  usd: z.optional(z.number().check(z.nonnegative())),
  tokens: z.optional(z.number().check(z.nonnegative())),
  turns: z.optional(z.number().check(z.nonnegative())),
  minutes: z.optional(z.number().check(z.nonnegative())),
});
export type Spent = z.infer<typeof Spent>;

/** Of each unit that is limited: how much there may be, was used and is left. */
export const BudgetView = z.strictObject({
  limits: Budget,
  spent: Spent,
  left: Spent,
  /** Some of it nobody told: it was worked out from texts or from a list of prices. */
  isEstimate: z.optional(z.literal(true)),
});
export type BudgetView = z.infer<typeof BudgetView>;

/** `more` is the same amount again, or so much of each; `stop` cancels the session. */
export const BudgetAnswer = z.union([z.enum(['more', 'stop']), z.strictObject({ more: Budget })]);
export type BudgetAnswer = z.infer<typeof BudgetAnswer>;

/** A budget comes near its end, has come to it, or was raised. */
export const BudgetEvent = z.strictObject({
  type: z.literal('budget'),
  level: z.enum(['near', 'reached', 'raised']),
  /** What it is that comes to its end. */
  what: z.optional(z.array(BudgetUnit)),
  ...BudgetView.shape,
});
