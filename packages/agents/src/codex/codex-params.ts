import type { Json, JsonObject } from '@concerto/base';
import type { CodexParams, ToolServerParams } from '@concerto/protocol';
import { ruleOfTool } from '../tool-rule.ts';

/** Names by which rules may speak of its own tools. */
export const shellNames: readonly string[] = ['shell', 'exec_command'];
export const patchNames: readonly string[] = ['apply_patch', 'file_change'];
const searchNames: readonly string[] = ['web_search'];

/** What a thread is started with, or taken up again; it does without the `others`, servers of its own. */
export function threadParams(params: CodexParams, cwd: string, others: readonly string[] = []): JsonObject {
  return {
    cwd,
    approvalPolicy: params.approval_policy,
    // Not one of its own models.
    approvalsReviewer: 'user',
    sandbox: params.sandbox,
    config: configOf(params, others),
    ...(params.model === undefined ? {} : { model: params.model }),
    ...(params.model_provider === undefined ? {} : { modelProvider: params.model_provider }),
    ...(params.developer_instructions === undefined ? {} : { developerInstructions: params.developer_instructions }),
  };
}

/**
 * Goes over the pipe and not on the command line, which is for all to see: servers may hold secrets. What the session's
 * rules forbid of its own tools is not offered to the model.
 */
function configOf(
  { config = {}, mcp_servers, tools, extra_dirs: roots }: CodexParams,
  others: readonly string[],
): JsonObject {
  const isDenied = (names: readonly string[]): boolean => ruleOfTool(tools, names) === 'deny';
  const features = {
    // Without it the model has nothing to ask with.
    default_mode_request_user_input: true,
    ...(isDenied(shellNames) ? { shell_tool: false } : {}),
    ...asObject(config.features),
  };
  const servers = [
    ...others.map((name): [string, Json] => [name, { enabled: false }]),
    ...Object.entries(mcp_servers ?? {}).map(([name, server]): [string, Json] => [
      name,
      // It would begin without a server that takes its time. Where there are rules, each call is asked for, and they answer.
      {
        ...serverConfig(server),
        required: true,
        ...(tools === undefined ? {} : { default_tools_approval_mode: 'prompt' }),
      },
    ]),
  ];
  return {
    // It would warn of the feature in every session.
    suppress_unstable_features_warning: true,
    ...config,
    features,
    ...(roots === undefined
      ? {}
      : { sandbox_workspace_write: { ...asObject(config.sandbox_workspace_write), writable_roots: roots } }),
    ...(isDenied(searchNames) ? { web_search: 'disabled' } : {}),
    ...(servers.length === 0
      ? {}
      : { mcp_servers: { ...asObject(config.mcp_servers), ...Object.fromEntries(servers) } }),
  };
}

function serverConfig(server: ToolServerParams): JsonObject {
  if (server.transport !== 'stdio') return { url: server.url, http_headers: { ...server.headers } };
  const { command, args = [], env = {}, cwd } = server;
  return { command, args, env: { ...env }, ...(cwd === undefined ? {} : { cwd }) };
}

function asObject(value: Json | undefined): JsonObject {
  return isObject(value) ? value : {};
}

function isObject(value: Json | undefined): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
