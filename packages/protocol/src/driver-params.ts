import { err, nearest, ok, type Result } from '@concerto/base';
import * as z from 'zod';
import { JsonValue } from './json-value.ts';

const texts = z.record(z.string(), z.string());
const patterns = z.array(z.string()).optional();

const Server = z.discriminatedUnion('transport', [
  z.strictObject({
    transport: z.literal('stdio'),
    command: z.string().min(1),
    args: z.array(z.string()).optional(),
    env: texts.optional(),
    cwd: z.string().optional(),
  }),
  z.strictObject({ transport: z.enum(['http', 'sse']), url: z.string().min(1), headers: texts.optional() }),
]);
export type ToolServerParams = z.infer<typeof Server>;

const ToolRules = z.strictObject({ allow: patterns, deny: patterns, ask: patterns });
export type ToolRules = z.infer<typeof ToolRules>;

/** What a session's tool configuration adds to the params of any agent. */
const toolParams = {
  mcp_servers: z.record(z.string(), Server).optional(),
  tools: ToolRules.optional(),
};

/** `[agents.NAME.params]` of an agent with `protocol = "acp"`, and what a session adds. */
const AcpParams = z.strictObject({
  /** One of the models, modes and efforts that the agent offers, by its id: `plan`, `default`, … */
  model: z.string().min(1).optional(),
  mode: z.string().min(1).optional(),
  effort: z.string().min(1).optional(),
  /** Folders beside its own that it may work in. */
  extra_dirs: z.array(z.string().min(1)).optional(),
  /** Options of the agent's own, by their ids, such as its model. */
  config: z.record(z.string(), z.string()).optional(),
  /** How to log in, by the id of one of the methods that the agent offers. */
  auth_method: z.string().min(1).optional(),
  /** Where it tells the name of a tool: in the call's `name`, its id before `__`, or the title when it begins. */
  tool_names: z.enum(['name', 'id', 'title']).optional(),
  /** Passed on as it is with the new conversation. */
  meta: z.record(z.string(), JsonValue).optional(),
  ...toolParams,
});
export type AcpParams = z.infer<typeof AcpParams>;

/** `[agents.NAME.params]` of an agent with `protocol = "claude"`, and what a session adds. */
const ClaudeParams = z.strictObject({
  /** A model's id, or an alias such as `opus` or `sonnet`. */
  model: z.string().min(1).optional(),
  effort: z.enum(['low', 'medium', 'high', 'xhigh', 'max']).optional(),
  /** Folders beside its own that it may work in. */
  extra_dirs: z.array(z.string().min(1)).optional(),
  /** Tools, and rules such as `Bash(git log:*)`, that need no approval. */
  allowed_tools: z.array(z.string().min(1)).optional(),
  /** Tools and rules that may not be used. */
  disallowed_tools: z.array(z.string().min(1)).optional(),
  /** Where it works; relative to the agent's `working_dir`. */
  work_dir: z.string().min(1).optional(),
  /** Never one that skips approvals: that is what they are for. */
  permission_mode: z.enum(['default', 'acceptEdits', 'plan', 'dontAsk']).optional(),
  append_system_prompt: z.string().min(1).optional(),
  max_turns: z.int().positive().optional(),
  max_budget_usd: z.number().positive().optional(),
  /** Whose settings count, of `user`, `project` and `local`; all of them unless it is given. */
  setting_sources: z.array(z.enum(['user', 'project', 'local'])).optional(),
  ...toolParams,
});
export type ClaudeParams = z.infer<typeof ClaudeParams>;

/** `[agents.NAME.params]` of an agent with `protocol = "codex"`, and what a session adds. */
const CodexParams = z.strictObject({
  model: z.string().min(1).optional(),
  model_provider: z.string().min(1).optional(),
  effort: z.string().min(1).optional(),
  /** Folders beside its own that it may write to. */
  extra_dirs: z.array(z.string().min(1)).optional(),
  /** Where it works; relative to the agent's `working_dir`. */
  work_dir: z.string().min(1).optional(),
  /** `untrusted` asks before every command that is not known to be harmless, `on-request` when it leaves its sandbox. */
  approval_policy: z.enum(['untrusted', 'on-request', 'never']).default('untrusted'),
  /** Never without one: what approvals let through is still kept in it. */
  sandbox: z.enum(['read-only', 'workspace-write']).default('workspace-write'),
  developer_instructions: z.string().min(1).optional(),
  /** Settings of its config.toml, for this agent only. */
  config: z.record(z.string(), JsonValue).optional(),
  ...toolParams,
});
export type CodexParams = z.infer<typeof CodexParams>;

/**
 * The params of one driver, by the name of its protocol. `settings`: what sessions call the same in all of them, and the
 * param that it is here.
 */
export type DriverParams<Params> = {
  readonly protocol: string;
  readonly shape: z.ZodObject & z.ZodType<Params>;
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
