import { resolve } from 'node:path';
import type { ClaudeParams } from '@concerto/protocol';
import type { AgentConnection, AgentSpec, StartOptions } from '../agent-connection.ts';
import { AgentError } from '../agent-error.ts';
import { startProcess } from '../agent-process.ts';
import { readParams } from '../driver-params.ts';
import { ClaudeConnection } from './claude-connection.ts';
import { claudeCommandLine } from './claude-params.ts';

/** Starts `claude` and, where there is one, goes on with its conversation; one that is not there any more is begun anew. */
export async function startClaude(
  spec: AgentSpec,
  options: StartOptions & { readonly initTimeoutMs: number },
): Promise<AgentConnection> {
  const params = readParams(spec, 'claude');
  const { conversation } = options;
  if (conversation === undefined) return await start(spec, params, options);
  try {
    return await start(spec, params, options, conversation);
  } catch (cause) {
    if (!isLost(cause)) throw cause;
    const connection = await start(spec, params, options);
    connection.note(`conversation ${conversation} is not on this machine any more; a new one begins`);
    return connection;
  }
}

async function start(
  spec: AgentSpec,
  params: ClaudeParams,
  options: StartOptions & { readonly initTimeoutMs: number },
  conversation?: string,
): Promise<ClaudeConnection> {
  options.signal?.throwIfAborted();
  const { args, variables } = claudeCommandLine(params, conversation);
  const agentProcess = await startProcess(
    {
      ...spec,
      args: [...(spec.args ?? []), ...args],
      ...(params.work_dir === undefined ? {} : { workingDir: resolve(spec.workingDir ?? '.', params.work_dir) }),
    },
    { ...options, variables },
  );
  try {
    await options.onProcess?.(agentProcess.identity);
    options.signal?.throwIfAborted();
    const { onLine, initTimeoutMs, signal } = options;
    const connection = new ClaudeConnection(spec, agentProcess, {
      params,
      resumed: conversation !== undefined,
      onLine,
    });
    await connection.initialise(initTimeoutMs, signal);
    return connection;
  } catch (error) {
    await agentProcess.end({ stepMs: options.endGraceMs, atWork: true });
    throw error;
  }
}

/** The program says so on stderr and ends. */
function isLost(cause: unknown): boolean {
  return cause instanceof AgentError && cause.code === 'exited' && /No conversation found/i.test(cause.stderr ?? '');
}
