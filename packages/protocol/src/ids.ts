import * as z from 'zod/mini';

/** Chosen by us or proposed by a client, so it is limited to what is safe in a path, a key and a file name. */
export const SessionId = z
  .string()
  .check(z.regex(/^[A-Za-z0-9_-]{1,64}$/, 'an id has 1 to 64 of the characters A-Z a-z 0-9 _ -'))
  .brand<'SessionId'>();
export type SessionId = z.infer<typeof SessionId>;

export const MessageId = z
  .string()
  .check(z.regex(/^[A-Za-z0-9_-]{1,64}$/, 'an id has 1 to 64 of the characters A-Z a-z 0-9 _ -'))
  .brand<'MessageId'>();
export type MessageId = z.infer<typeof MessageId>;

/** An open suspend; producer-minted and opaque. */
export const RequestId = z.string().check(z.minLength(1), z.maxLength(128)).brand<'RequestId'>();
export type RequestId = z.infer<typeof RequestId>;

/** An instant as clients see it. */
export const Instant = z.iso.datetime({ offset: false, precision: 3 });
