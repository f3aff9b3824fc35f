import * as z from 'zod/mini';

/**
 * Each may what those before it may: `observer` reads; `agent` starts, sends and controls, and never answers for a person;
 * `member` answers too; `owner` also sets how things are done.
 */
export const Role = z.enum(['observer', 'agent', 'member', 'owner']);
export type Role = z.infer<typeof Role>;

export const PersonName = z
  .string()
  .check(z.regex(/^[A-Za-z0-9_-]{1,64}$/, 'a name has 1 to 64 of the characters A-Z a-z 0-9 _ -'));

/** Who calls. */
export const Person = z.strictObject({ name: z.string(), role: Role });
export type Person = z.infer<typeof Person>;

export const AddToken = z.strictObject({ name: PersonName, role: Role });
export type AddToken = z.infer<typeof AddToken>;

export const TokenRow = z.strictObject({ ...Person.shape, addedAt: z.string(), addedBy: z.string() });
export type TokenRow = z.infer<typeof TokenRow>;

export const TokenList = z.strictObject({ tokens: z.array(TokenRow) });
export type TokenList = z.infer<typeof TokenList>;

/** The only time that the token is told: what is kept is a digest. */
export const TokenAdded = z.strictObject({ ...TokenRow.shape, token: z.string() });
export type TokenAdded = z.infer<typeof TokenAdded>;

const envelope = { at: z.int(), actor: z.string().check(z.minLength(1)) };
const digest = z.string().check(z.regex(/^[0-9a-f]{64}$/));

/**
 * Who may call, as it is stored: digests of what they show, as a header and as a cookie. A newer version may know roles
 * that this one does not.
 */
export const PersonRecord = z.discriminatedUnion('type', [
  z.strictObject({
    ...envelope,
    type: z.literal('token-added'),
    name: z.string(),
    role: z.string(),
    token: digest,
    cookie: digest,
  }),
  z.strictObject({ ...envelope, type: z.literal('token-revoked'), name: z.string() }),
]);
export type PersonRecord = z.infer<typeof PersonRecord>;
