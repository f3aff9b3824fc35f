import * as z from 'zod/mini';

const name = z.string().check(z.minLength(1));
const count = z.int().check(z.nonnegative());

/** A place in the conversation that an agent keeps itself: its name, and the last of it that is taken. */
export const ConversationPlace = z.strictObject({ id: name, upTo: name });
export type ConversationPlace = z.infer<typeof ConversationPlace>;

/** As stored with a session that goes on where another one stood. */
export const ForkOf = z.strictObject({
  session: name,
  /** The last of its events that was taken. */
  at: count,
  /** The turns that were taken; its own are counted on from there. */
  turns: count,
  /** The code of a program, which goes on with what it had. */
  version: z.optional(name),
  /** What its agent forks, until it has a conversation of its own. */
  conversation: z.optional(ConversationPlace),
});
export type ForkOf = z.infer<typeof ForkOf>;
