import { nearest } from '@concerto/base';
import * as z from 'zod/mini';
import { JsonRecord } from './json-value.ts';

/** Who answers what an agent asks, without a person: as manifests write it and the API takes it. */
export const Risk = z.enum(['low', 'medium', 'high']);
export type Risk = z.infer<typeof Risk>;

const text = z.string().check(z.minLength(1), z.maxLength(4_000));
const patterns = z.optional(z.union([text, z.array(text).check(z.minLength(1), z.maxLength(200))]));

/**
 * `allow`, `deny` and `model:NAME`, which leaves it to a model, are for approvals; `answer:VALUE` for questions too; `ask` goes
 * straight to a person.
 */
const Decide = z
  .string()
  .check(
    z.regex(
      /^(allow|deny|ask|answer:[\s\S]+|model:[^\s]+)$/,
      'is one of "allow", "deny", "ask", "answer:VALUE", "model:NAME"',
    ),
  );

/** What becomes of a request that nobody answered: a question that is denied is withdrawn. */
export const OnTimeout = z
  .string()
  .check(z.regex(/^(deny|keep|fail|answer:[\s\S]+)$/, 'is one of "deny", "keep", "fail", "answer:VALUE"'));
export type OnTimeout = z.infer<typeof OnTimeout>;

/** Every key that is there must match; of a list one must. Without any it matches every approval. */
const matchers = {
  tool: patterns,
  kind: patterns,
  command: patterns,
  path: patterns,
  server: patterns,
  risk: z.optional(z.union([Risk, z.array(Risk).check(z.minLength(1))])),
  text: patterns,
  agent: patterns,
  template: patterns,
};

export const Rule = z.strictObject({
  ...matchers,
  decide: Decide,
  reason: z.optional(z.string().check(z.maxLength(1_000))),
});
export type Rule = z.infer<typeof Rule>;

/** From which request a rule was made. */
const from = z.optional(z.strictObject({ session: z.string(), requestId: z.string() }));

const storedId = /^[A-Za-z0-9_-]{1,64}$/;

/** A rule of the store: `agent` as a plain name puts it among that agent's, else it is for all. */
export const StoredRule = z.strictObject({
  id: z.optional(z.string().check(z.regex(storedId))),
  ...Rule.shape,
  addedBy: z.optional(z.string()),
  from,
});
export type StoredRule = z.infer<typeof StoredRule>;

const storePrefix = 'rule:store.';

export const RuleRow = z.strictObject({
  ...Rule.shape,
  /** `rule:agents.claude.3`, `rule:store.ID`, `rule:all.1`. */
  id: z.string(),
  source: z.enum(['manifest', 'store']),
  addedBy: z.optional(z.string()),
  from,
  /** Why it can never decide anything. */
  warning: z.optional(z.string()),
});
export type RuleRow = z.infer<typeof RuleRow>;

export const RuleList = z.strictObject({ rules: z.array(RuleRow), version: z.int().check(z.nonnegative()) });
export type RuleList = z.infer<typeof RuleList>;

/** A rule of the store as it is put: also as the list gave it. */
export const PutRule = z.strictObject({
  ...StoredRule.shape,
  /** Of the store, with or without `rule:store.`; another one is refused with why. */
  id: z.optional(z.string().check(z.maxLength(200))),
  source: z.optional(RuleRow.shape.source),
  /** Made anew with each list. */
  warning: RuleRow.shape.warning,
});
export type PutRule = z.infer<typeof PutRule>;

/** The id of a rule of the store, without the beginning that a list gives it; undefined where it can be none. */
export function storedRuleId(id: string): string | undefined {
  const own = id.startsWith(storePrefix) ? id.slice(storePrefix.length) : id;
  return storedId.test(own) ? own : undefined;
}

export const PutRules = z.strictObject({
  rules: z.array(PutRule).check(z.maxLength(10_000)),
  version: z.int().check(z.nonnegative()),
});
export type PutRules = z.infer<typeof PutRules>;

/** A request as rules see it; what an agent sends beside it is ignored. */
export const TriedRequest = z.looseObject({
  type: z.optional(z.string()),
  tool: z.optional(z.string()),
  kind: z.optional(z.string()),
  command: z.optional(z.union([z.string(), z.array(z.string())])),
  paths: z.optional(z.array(z.string())),
  /** Where each of `paths` leads when links are followed. */
  resolved: z.optional(z.array(z.string())),
  /** The folder to which paths are relative. */
  folder: z.optional(z.string()),
  server: z.optional(z.string()),
  risk: z.optional(z.string()),
  risk_level: z.optional(z.string()),
  text: z.optional(z.string()),
  question: z.optional(z.string()),
  description: z.optional(z.string()),
  template: z.optional(z.string()),
  scope: z.optional(JsonRecord),
});
export type TriedRequest = z.infer<typeof TriedRequest>;

/**
 * Keys that are nearly one of those that rules see: a request of which rules see nothing would look as if none matched. What
 * else an agent sends is its own.
 */
function misspelt(request: object): readonly { readonly key: string; readonly meant: string }[] {
  const known = Object.keys(TriedRequest.shape);
  return Object.keys(request).flatMap((key) => {
    const meant = known.includes(key) ? undefined : nearest(key, known);
    return meant === undefined || Math.abs(meant.length - key.length) > 1 ? [] : [{ key, meant }];
  });
}

export const TryRules = z.strictObject({
  agent: z.string().check(z.minLength(1), z.maxLength(100)),
  request: TriedRequest.check((payload) => {
    for (const { key, meant } of misspelt(payload.value)) {
      const message = `is not a known key; did you mean \`${meant}\`?`;
      payload.issues.push({ code: 'custom', input: payload.value, path: [key], message });
    }
  }),
  /** Tried instead of those in force. */
  rules: z.optional(z.array(Rule).check(z.maxLength(10_000))),
});
export type TryRules = z.infer<typeof TryRules>;

export const RulesTried = z.strictObject({
  /** What the first rule that matches decides; `pass` when none does. */
  decision: z.string(),
  rule: z.optional(z.string()),
  reason: z.optional(z.string()),
  risk: Risk,
  /** Why rules that name a command cannot allow this one. */
  unparsed: z.optional(z.string()),
  /** What else would have matched. */
  others: z.array(z.strictObject({ rule: z.string(), decision: z.string() })),
});
export type RulesTried = z.infer<typeof RulesTried>;
