import * as z from 'zod';
import { JsonRecord } from './json-value.ts';

/** Who answers what an agent asks, without a person: as manifests write it and the API takes it. */
export const Risk = z.enum(['low', 'medium', 'high']);
export type Risk = z.infer<typeof Risk>;

const text = z.string().min(1).max(4_000);
const patterns = z.union([text, z.array(text).min(1).max(200)]).optional();

/**
 * `allow`, `deny` and `model:NAME`, which leaves it to a model, are for approvals; `answer:VALUE` for questions too; `ask` goes
 * straight to a person.
 */
const Decide = z
  .string()
  .regex(
    /^(allow|deny|ask|answer:[\s\S]+|model:[^\s]+)$/,
    'is one of "allow", "deny", "ask", "answer:VALUE", "model:NAME"',
  );

/** What becomes of a request that nobody answered: a question that is denied is withdrawn. */
export const OnTimeout = z
  .string()
  .regex(/^(deny|keep|fail|answer:[\s\S]+)$/, 'is one of "deny", "keep", "fail", "answer:VALUE"');
export type OnTimeout = z.infer<typeof OnTimeout>;

/** Every key that is there must match; of a list one must. Without any it matches every approval. */
const matchers = {
  tool: patterns,
  kind: patterns,
  command: patterns,
  path: patterns,
  server: patterns,
  risk: z.union([Risk, z.array(Risk).min(1)]).optional(),
  text: patterns,
  agent: patterns,
  template: patterns,
};

export const Rule = z.strictObject({ ...matchers, decide: Decide, reason: z.string().max(1_000).optional() });
export type Rule = z.infer<typeof Rule>;

/** From which request a rule was made. */
const from = z.strictObject({ session: z.string(), requestId: z.string() }).optional();

/** A rule of the store: `agent` as a plain name puts it among that agent's, else it is for all. */
export const StoredRule = z.strictObject({
  id: z
    .string()
    .regex(/^[A-Za-z0-9_-]{1,64}$/)
    .optional(),
  ...Rule.shape,
  addedBy: z.string().optional(),
  from,
});
export type StoredRule = z.infer<typeof StoredRule>;

export const RuleRow = z.strictObject({
  ...Rule.shape,
  /** `rule:agents.claude.3`, `rule:store.ID`, `rule:all.1`. */
  id: z.string(),
  source: z.enum(['manifest', 'store']),
  addedBy: z.string().optional(),
  from,
  /** Why it can never decide anything. */
  warning: z.string().optional(),
});
export type RuleRow = z.infer<typeof RuleRow>;

export const RuleList = z.strictObject({ rules: z.array(RuleRow), version: z.number().int().nonnegative() });
export type RuleList = z.infer<typeof RuleList>;

export const PutRules = z.strictObject({
  rules: z.array(StoredRule).max(10_000),
  version: z.number().int().nonnegative(),
});
export type PutRules = z.infer<typeof PutRules>;

/** A request as rules see it; what an agent sends beside it is ignored. */
export const TriedRequest = z.looseObject({
  type: z.string().optional(),
  tool: z.string().optional(),
  kind: z.string().optional(),
  command: z.union([z.string(), z.array(z.string())]).optional(),
  paths: z.array(z.string()).optional(),
  /** Where each of `paths` leads when links are followed. */
  resolved: z.array(z.string()).optional(),
  /** The folder to which paths are relative. */
  folder: z.string().optional(),
  server: z.string().optional(),
  risk: z.string().optional(),
  risk_level: z.string().optional(),
  text: z.string().optional(),
  question: z.string().optional(),
  description: z.string().optional(),
  template: z.string().optional(),
  scope: JsonRecord.optional(),
});
export type TriedRequest = z.infer<typeof TriedRequest>;

export const TryRules = z.strictObject({
  agent: z.string().min(1).max(100),
  request: TriedRequest,
  /** Tried instead of those in force. */
  rules: z.array(Rule).max(10_000).optional(),
});
export type TryRules = z.infer<typeof TryRules>;

export const RulesTried = z.strictObject({
  /** What the first rule that matches decides; `pass` when none does. */
  decision: z.string(),
  rule: z.string().optional(),
  reason: z.string().optional(),
  risk: Risk,
  /** Why rules that name a command cannot allow this one. */
  unparsed: z.string().optional(),
  /** What else would have matched. */
  others: z.array(z.strictObject({ rule: z.string(), decision: z.string() })),
});
export type RulesTried = z.infer<typeof RulesTried>;
