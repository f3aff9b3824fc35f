import * as z from 'zod/mini';

/** What was decided about the pool of session slots. */
const envelope = { at: z.int(), actor: z.string().check(z.minLength(1)), cause: z.optional(z.string()) };
const sessionId = z.string().check(z.minLength(1));
/** The top of the tree that it belongs to, where others opened it. */
const tree = z.optional(sessionId);
const count = z.int().check(z.nonnegative());

export const PoolRecord = z.discriminatedUnion('type', [
  z.strictObject({ ...envelope, type: z.literal('configured'), max: z.int().check(z.positive()) }),
  z.strictObject({
    ...envelope,
    type: z.literal('slot-allocated'),
    sessionId,
    leaseId: z.int().check(z.positive()),
    tree,
  }),
  /** A start that found no room, refused or put on the waiting list. */
  z.strictObject({
    ...envelope,
    type: z.literal('capacity-reached'),
    sessionId,
    active: count,
    max: count,
    outcome: z.enum(['refused', 'waitlisted']),
  }),
  z.strictObject({ ...envelope, type: z.literal('waitlisted'), sessionId, tree }),
  z.strictObject({ ...envelope, type: z.literal('left-waitlist'), sessionId, reason: z.string() }),
  z.strictObject({ ...envelope, type: z.literal('slot-released'), sessionId, reason: z.string() }),
  /** A slot whose session no longer needs it, found by comparing and not by a release. */
  z.strictObject({ ...envelope, type: z.literal('slot-reclaimed'), sessionId, reason: z.string() }),
]);
export type PoolRecord = z.infer<typeof PoolRecord>;
