import * as z from 'zod/mini';
import { StoredRule } from './rules.ts';

/** More requests are not told in one answer: those that differ come first. */
export const triedRequestsMax = 1_000;

/**
 * A policy to be tried on what was asked before: the rules of the store as they would be, between those of the manifest, or the
 * program that would supervise. One of them is named.
 */
export const TryPolicy = z.strictObject({
  rules: z.optional(z.array(StoredRule).check(z.maxLength(10_000))),
  supervisor: z.optional(z.string().check(z.minLength(1), z.maxLength(100))),
  /** Only on this session and what it opened; on the newest ones without it. */
  session: z.optional(z.string().check(z.minLength(1), z.maxLength(100))),
});
export type TryPolicy = z.infer<typeof TryPolicy>;

/** `ask` is left to `by`, who is a person or a model. */
const Decided = z.strictObject({ decision: z.string(), by: z.string(), reason: z.optional(z.string()) });

/** What was decided about a request then, and what would be now. */
export const ReplayedRequest = z.strictObject({
  session: z.string(),
  agent: z.string(),
  requestId: z.string(),
  what: z.string(),
  /** Absent where nobody ever decided it. */
  before: z.optional(Decided),
  now: Decided,
  /** `open`: there is nothing to compare with. */
  outcome: z.enum(['same', 'differs', 'open']),
});
export type ReplayedRequest = z.infer<typeof ReplayedRequest>;

export const PolicyTried = z.strictObject({
  requests: z.array(ReplayedRequest),
  counts: z.strictObject({
    sessions: z.int(),
    requests: z.int(),
    differs: z.int(),
    same: z.int(),
    open: z.int(),
    /** A person answered them, and would not have to. */
    spared: z.int(),
  }),
  /** There was more to read or to run than one call does. */
  isCut: z.boolean(),
});
export type PolicyTried = z.infer<typeof PolicyTried>;
