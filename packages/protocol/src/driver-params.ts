import { err, nearest, ok, type Result } from '@concerto/base';
import * as z from 'zod/mini';
import { JsonValue } from './json-value.ts';

const texts = z.record(z.string(), z.string());
const patterns = z.optional(z.array(z.string()));

const Server = z.discriminatedUnion('transport', [
  z.strictObject({
    transport: z.literal('stdio'),
    command: z.string().check(z.minLength(1)),
    args: z.optional(z.array(z.string())),
    env: z.optional(texts),
    cwd: z.optional(z.string()),
  }),
  z.strictObject({
    transport: z.enum(['http', 'sse']),
    url: z.string().check(z.minLength(1)),
    headers: z.optional(texts),
  }),
]);
export type ToolServerParams = z.infer<typeof Server>;

const ToolRules = z.strictObject({ allow: patterns, deny: patterns, ask: patterns });
export type ToolRules = z.infer<typeof ToolRules>;

/** What a session's tool configuration adds to the params of any agent. */
const toolParams = {
  mcp_servers: z.optional(z.record(z.string(), Server)),
  tools: z.optional(ToolRules),
};

/** `[agents.NAME.params]` of an agent with `protocol = "acp"`, and what a session adds. */
const AcpParams = z.strictObject({
  /** One of the models, modes and efforts that the agent offers, by its id: `plan`, `default`, … */
  model: z.optional(z.string().check(z.minLength(1))),
  mode: z.optional(z.string().check(z.minLength(1))),
  effort: z.optional(z.string().check(z.minLength(1))),
  /** Folders beside its own that it may work in. */
  extra_dirs: z.optional(z.array(z.string().check(z.minLength(1)))),
  /** Options of the agent's own, by their ids, such as its model. */
  config: z.optional(z.record(z.string(), z.string())),
  /** How to log in, by the id of one of the methods that the agent offers. */
  auth_method: z.optional(z.string().check(z.minLength(1))),
  /** Where it tells the name of a tool: in the call's `name`, its id before `__`, or the title when it begins. */
  tool_names: z.optional(z.enum(['name', 'id', 'title'])),
  /** Passed on as it is with the new conversation. */
  meta: z.optional(z.record(z.string(), JsonValue)),
  ...toolParams,
});
export type AcpParams = z.infer<typeof AcpParams>;

/** `[agents.NAME.params]` of an agent with `protocol = "claude"`, and what a session adds. */
const ClaudeParams = z.strictObject({
  /** A model's id, or an alias such as `opus` or `sonnet`. */
  model: z.optional(z.string().check(z.minLength(1))),
  effort: z.optional(z.enum(['low', 'medium', 'high', 'xhigh', 'max'])),
  /** Folders beside its own that it may work in. */
  extra_dirs: z.optional(z.array(z.string().check(z.minLength(1)))),
  /** Tools, and rules such as `Bash(git log:*)`, that need no approval. */
  allowed_tools: z.optional(z.array(z.string().check(z.minLength(1)))),
  /** Tools and rules that may not be used. */
  disallowed_tools: z.optional(z.array(z.string().check(z.minLength(1)))),
  /** Where it works; relative to the agent's `working_dir`. */
  work_dir: z.optional(z.string().check(z.minLength(1))),
  /** Never one that skips approvals: that is what they are for. */
  permission_mode: z.optional(z.enum(['default', 'acceptEdits', 'plan', 'dontAsk'])),
  append_system_prompt: z.optional(z.string().check(z.minLength(1))),
  max_turns: z.optional(z.int().check(z.positive())),
  max_budget_usd: z.optional(z.number().check(z.positive())),
  /** Whose settings count, of `user`, `project` and `local`; all of them unless it is given. */
  setting_sources: z.optional(z.array(z.enum(['user', 'project', 'local']))),
  ...toolParams,
});
export type ClaudeParams = z.infer<typeof ClaudeParams>;

/** `[agents.NAME.params]` of an agent with `protocol = "codex"`, and what a session adds. */
const CodexParams = z.strictObject({
  model: z.optional(z.string().check(z.minLength(1))),
  model_provider: z.optional(z.string().check(z.minLength(1))),
  effort: z.optional(z.string().check(z.minLength(1))),
  /** Folders beside its own that it may write to. */
  extra_dirs: z.optional(z.array(z.string().check(z.minLength(1)))),
  /** Where it works; relative to the agent's `working_dir`. */
  work_dir: z.optional(z.string().check(z.minLength(1))),
  /** `untrusted` asks before every command that is not known to be harmless, `on-request` when it leaves its sandbox. */
  approval_policy: z._default(z.enum(['untrusted', 'on-request', 'never']), 'untrusted'),
  /** Never without one: what approvals let through is still kept in it. */
  sandbox: z._default(z.enum(['read-only', 'workspace-write']), 'workspace-write'),
  developer_instructions: z.optional(z.string().check(z.minLength(1))),
  /** Settings of its config.toml, for this agent only. */
  config: z.optional(z.record(z.string(), JsonValue)),
  ...toolParams,
});
export type CodexParams = z.infer<typeof CodexParams>;

/**
 * The params of one driver, by the name of its protocol. `settings`: what sessions call the same in all of them, and the
 * param that it is here.
 */
export type DriverParams<Params> = {
  readonly protocol: string;
  readonly shape: z.ZodMiniObject & z.ZodMiniType<Params>;
  readonly settings: Readonly<Record<SessionSetting, string>>;
};

/** What can be switched while an agent runs, where its driver can. */
export const liveSettings = ['model', 'mode', 'effort'] as const;
export type LiveSetting = (typeof liveSettings)[number];
export type SessionSetting = LiveSetting | 'extra_dirs';

const settings = { model: 'model', mode: 'mode', effort: 'effort', extra_dirs: 'extra_dirs' };

export const acpParams: DriverParams<AcpParams> = { protocol: 'acp', shape: AcpParams, settings };
export const claudeParams: DriverParams<ClaudeParams> = {
  protocol: 'claude',
  shape: ClaudeParams,
  settings: { ...settings, mode: 'permission_mode' },
};
export const codexParams: DriverParams<CodexParams> = {
  protocol: 'codex',
  shape: CodexParams,
  settings: { ...settings, mode: 'approval_policy' },
};

/** The params in the driver's own shape, or why not: the key that is wrong, and the nearest known one. */
export function readDriverParams<Params>(
  { protocol, shape }: DriverParams<Params>,
  params: unknown,
): Result<Params, string> {
  const parsed = shape.safeParse(params);
  if (parsed.success) return ok(parsed.data);
  const [issue] = parsed.error.issues;
  const key = issue?.code === 'unrecognized_keys' ? issue.keys[0] : undefined;
  if (key === undefined) {
    return err(`params.${issue?.path.join('.') ?? ''}: ${issue?.message ?? 'is not valid'}`);
  }
  const meant = nearest(key, Object.keys(shape.shape));
  const hint = meant === undefined ? '' : `; did you mean "${meant}"?`;
  return err(`params.${key}: an agent of protocol "${protocol}" has no such param${hint}`);
}
