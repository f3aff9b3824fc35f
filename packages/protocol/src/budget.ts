import * as z from 'zod';

/** What a session may use. `minutes` are those at work: no time in which it was paused or waited for an answer counts. */
const amounts = {
  usd: z.number().positive().optional(),
  tokens: z.number().int().positive().optional(),
  turns: z.number().int().positive().optional(),
  minutes: z.number().positive().optional(),
};

export const budgetUnits = ['usd', 'tokens', 'turns', 'minutes'] as const;
export const BudgetUnit = z.enum(budgetUnits);
export type BudgetUnit = z.infer<typeof BudgetUnit>;

/** At least one of them. */
export const Budget = z
  .strictObject(amounts)
  .refine((budget) => Object.values(budget).some((amount) => amount !== undefined), {
    message: 'names at least one of `usd`, `tokens`, `turns`, `minutes`',
  });
export type Budget = z.infer<typeof Budget>;

const Spent = z.strictObject({
  usd: z.number().nonnegative().optional(),
  tokens: z.number().nonnegative().optional(),
  turns: z.number().nonnegative().optional(),
  minutes: z.number().nonnegative().optional(),
});
export type Spent = z.infer<typeof Spent>;

/** Of each unit that is limited: how much there may be, was used and is left. */
export const BudgetView = z.strictObject({
  limits: Budget,
  spent: Spent,
  left: Spent,
  /** Some of it nobody told: it was worked out from texts or from a list of prices. */
  isEstimate: z.literal(true).optional(),
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
  what: z.array(BudgetUnit).optional(),
  ...BudgetView.shape,
});
