import * as z from 'zod';

/** What was decided about the pool of session slots. */
const envelope = { at: z.number().int(), actor: z.string().min(1), cause: z.string().optional() };
const sessionId = z.string().min(1);
const count = z.number().int().nonnegative();

export const PoolRecord = z.discriminatedUnion('type', [
  z.strictObject({ ...envelope, type: z.literal('configured'), max: z.number().int().positive() }),
  z.strictObject({ ...envelope, type: z.literal('slot-allocated'), sessionId, leaseId: z.number().int().positive() }),
  /** A start that found no room, refused or put on the waiting list. */
  z.strictObject({
    ...envelope,
    type: z.literal('capacity-reached'),
    sessionId,
    active: count,
    max: count,
    outcome: z.enum(['refused', 'waitlisted']),
  }),
  z.strictObject({ ...envelope, type: z.literal('waitlisted'), sessionId }),
  z.strictObject({ ...envelope, type: z.literal('left-waitlist'), sessionId, reason: z.string() }),
  z.strictObject({ ...envelope, type: z.literal('slot-released'), sessionId, reason: z.string() }),
  /** A slot whose session no longer needs it, found by comparing and not by a release. */
  z.strictObject({ ...envelope, type: z.literal('slot-reclaimed'), sessionId, reason: z.string() }),
]);
export type PoolRecord = z.infer<typeof PoolRecord>;
