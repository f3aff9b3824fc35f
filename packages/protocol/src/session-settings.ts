import type { Json } from '@concerto/base';
import * as z from 'zod/mini';
import { JsonRecord, JsonValue } from './json-value.ts';

/** A checkout of its own that a session works in. */
export const Worktree = z.strictObject({
  /** The repository whose checkout it is beside. */
  repository: z.string().check(z.minLength(1)),
  path: z.string().check(z.minLength(1)),
  branch: z.string().check(z.minLength(1)),
  state: z.enum(['made', 'merged', 'removed']),
  /** What it was merged into. */
  into: z.optional(z.string()),
});
export type Worktree = z.infer<typeof Worktree>;

/** What a session has of its own over what the entry of its agent says. Secrets are references. */
export const SessionSettings = z.strictObject({
  workingDir: z.optional(z.string().check(z.minLength(1))),
  params: z.optional(z.record(z.string(), JsonValue)),
  worktree: z.optional(Worktree),
});
export type SessionSettings = z.infer<typeof SessionSettings>;

/** By their names in `per_session` of an entry. */
export const SessionParams = z.record(z.string().check(z.regex(/^[A-Za-z_][A-Za-z0-9_]{0,63}$/)), JsonValue);

/** One of several that can be chosen: a model, a mode. */
export const Offered = z.strictObject({
  id: z.string(),
  name: z.optional(z.string()),
  description: z.optional(z.string()),
});
/** A slash command. */
export const OfferedCommand = z.strictObject({
  name: z.string(),
  description: z.optional(z.string()),
  hint: z.optional(z.string()),
});
const offered = z.optional(z.array(Offered));

export const ChangeSettings = z.strictObject({ params: SessionParams });
export type ChangeSettings = z.infer<typeof ChangeSettings>;

export const SettingsAccepted = z.strictObject({
  requestId: z.string(),
  /** `asked`: the agent is told, and a `settings` event says what came of it. `kept`: from its next start on. */
  outcome: z.enum(['asked', 'kept']),
});
export type SettingsAccepted = z.infer<typeof SettingsAccepted>;

/** What can be chosen of an agent, as it said when it last ran, and what it then had. */
export const Offers = z.looseObject({
  /** What to do before it can be asked anything; empty when nothing. */
  login: z.optional(z.string()),
  model: z.optional(z.string()),
  mode: z.optional(z.string()),
  effort: z.optional(z.string()),
  models: offered,
  modes: offered,
  efforts: offered,
});
export type Offers = z.infer<typeof Offers>;

/** What the agent of a session said of itself when it last ran, and what may be set. */
export const SessionAgent = z.extend(Offers, {
  version: z.optional(z.string()),
  commands: z.optional(z.array(OfferedCommand)),
  /** Where it works, where that is known. */
  folder: z.optional(z.string()),
  /** A session can be begun with what was said in it. */
  canFork: z.optional(z.literal(true)),
  /** What a session may set, and what of it while it runs. */
  perSession: z.array(z.string()),
  live: z.array(z.string()),
});
export type SessionAgent = z.infer<typeof SessionAgent>;

export const ChangeWorktree = z.strictObject({
  action: z.enum(['merge', 'remove']),
  /** What is not committed is, with this message, before it is merged. */
  commit: z.optional(z.string().check(z.minLength(1), z.maxLength(10_000))),
  /** Removed with what is not committed or not merged. */
  force: z.optional(z.boolean()),
});
export type ChangeWorktree = z.infer<typeof ChangeWorktree>;

/** What the session has of its own was to change: it has, has not, or will with the next start of its agent. */
export const SettingsEvent = z.strictObject({
  type: z.literal('settings'),
  requestId: z.string(),
  params: JsonRecord,
  outcome: z.enum(['changed', 'refused', 'next_start']),
  by: z.string(),
  reason: z.optional(z.string()),
});
/** What stood between an agent's process and the account that it runs under; `reason`: why nothing did. */
export const AgentSandbox = z.strictObject({ kind: z.enum(['bubblewrap', 'none']), reason: z.optional(z.string()) });
export type AgentSandbox = z.infer<typeof AgentSandbox>;

export const WorktreeEvent = z.strictObject({ type: z.literal('worktree'), worktree: Worktree, by: z.string() });

/** What somebody wrote for a setting, as it is meant: JSON where it is JSON, else a text. */
export function settingValue(text: string): Json {
  if (!/^([[{]|true$|false$|-?\d+(\.\d+)?$)/.test(text)) return text;
  try {
    const value: Json = JSON.parse(text);
    return value;
  } catch {
    return text;
  }
}
