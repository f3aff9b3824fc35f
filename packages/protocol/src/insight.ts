import * as z from 'zod/mini';
import { Usage } from './agent-event.ts';
import { SessionKind } from './http.ts';

const count = z.int().check(z.nonnegative());

/** What was done and used, and what it took of people. */
const figures = {
  sessions: count,
  turns: count,
  /** Turns and starts that ended with an error, or were lost. */
  failures: count,
  usage: Usage,
  /** Requests that a person answered, and how long they had waited for it all together. */
  answers: count,
  waitedMs: count,
};

/** What all sessions did in some days, in one answer. Times are those of the records; a day is the caller's. */
export const Insight = z.strictObject({
  /** Every day of them, also those without anything, the first first: `2026-01-31`. */
  days: z.array(z.strictObject({ day: z.string(), ...figures })),
  /** Those that cost most first, then those with most tokens. */
  agents: z.array(z.strictObject({ name: z.string(), kind: SessionKind, ...figures })),
  models: z.array(z.strictObject({ name: z.string(), usage: Usage })),
  /** How long requests waited for the person who answered them. */
  waits: z.strictObject({ answers: count, medianMs: count, longMs: count, longestMs: count }),
  /** Who answered how many requests. */
  answeredBy: z.array(
    z.strictObject({ who: z.enum(['person', 'rule', 'model', 'program', 'timeout', 'other']), answers: count }),
  ),
  /** By their code, the most frequent first, each with the last one. */
  failures: z.array(
    z.strictObject({
      code: z.string(),
      times: count,
      last: z.strictObject({ session: z.string(), at: z.string(), message: z.string() }),
    }),
  ),
  /** How many sessions were read for it; `isCut` when there were more than are read. */
  read: count,
  isCut: z.optional(z.literal(true)),
});
export type Insight = z.infer<typeof Insight>;
export type InsightFigures = Omit<Insight['days'][number], 'day'>;
