import { resolve } from 'node:path';
import type { ClaudeParams } from '@concerto/protocol';
import type { AgentConnection, AgentSpec } from '../agent-connection.ts';
import { AgentError } from '../agent-error.ts';
import { type DriverOptions, openAgent } from '../driver.ts';
import { ClaudeConversation } from './claude-conversation.ts';
import { claudeCommandLine } from './claude-params.ts';

/** Starts `claude` and, where there is one, goes on with its conversation; one that is not there any more is begun anew. */
export async function startClaude(
  spec: AgentSpec,
  params: ClaudeParams,
  options: DriverOptions,
): Promise<AgentConnection> {
  const { conversation } = options;
  if (conversation === undefined) return await start(spec, params, options);
  try {
    return await start(spec, params, options, { conversation });
  } catch (cause) {
    if (!isLost(cause)) throw cause;
    const note = `conversation ${conversation} is not on this machine any more; a new one begins`;
    return await start(spec, params, options, { note });
  }
}

function start(
  spec: AgentSpec,
  params: ClaudeParams,
  options: DriverOptions,
  { conversation, note }: { readonly conversation?: string; readonly note?: string } = {},
): Promise<AgentConnection> {
  const { args, variables } = claudeCommandLine(params, conversation);
  const workingDir = resolve(spec.workingDir ?? '.', params.work_dir ?? '.');
  const launched = { ...spec, workingDir, args: [...(spec.args ?? []), ...args] };
  return openAgent(spec, options, { spec: launched, variables }, async (link) => {
    const resumed = conversation !== undefined;
    const claude = new ClaudeConversation(link, { params, folder: workingDir, resumed });
    await claude.initialise(options);
    if (note !== undefined) link.warn(note);
    return claude;
  });
}

/** The program says so on stderr and ends. */
function isLost(cause: unknown): boolean {
  return cause instanceof AgentError && cause.code === 'exited' && /No conversation found/i.test(cause.stderr ?? '');
}
