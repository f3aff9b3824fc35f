import * as z from 'zod/mini';

/**
 * What a worker said, as it stands in its session's journal: exactly what was sent, for whoever opened the session.
 * `by` is the message that its turn began with. A released shape is frozen.
 */
const by = z.optional(z.string());

export const AgentJournalEntry = z.discriminatedUnion('type', [
  z.strictObject({
    type: z.literal('message'),
    by,
    /** The request that it opened. */
    request: z.optional(z.string()),
    message: z.looseObject({ type: z.string() }),
  }),
  z.strictObject({ type: z.literal('stderr'), by, text: z.string() }),
  /** It broke its wire, and the turn cannot be trusted to end. */
  z.strictObject({ type: z.literal('violation'), by, message: z.string() }),
  z.strictObject({
    type: z.literal('exit'),
    by,
    code: z.nullable(z.number()),
    signal: z.nullable(z.string()),
    stderr: z.string(),
  }),
]);
export type AgentJournalEntry = z.infer<typeof AgentJournalEntry>;
