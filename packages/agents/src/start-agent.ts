import { unreachable } from '@concerto/base';
import { startAcp } from './acp/start-acp.ts';
import type { AgentConnection, AgentSpec, StartOptions } from './agent-connection.ts';
import { startProcess } from './agent-process.ts';
import { startClaude } from './claude/start-claude.ts';
import { startCodex } from './codex/start-codex.ts';
import { hasParams, NdjsonConnection } from './ndjson-connection.ts';

/** A little less than the 15 s a session gives its agent to start, so that the error can tell what the agent wrote. */
const initTimeoutMs = 14_500;

/**
 * Starts an agent and, when it has params, waits until it has taken them. When this throws no process is left; else
 * the caller owns one and ends it with `end`.
 */
export async function startAgent(spec: AgentSpec, options: StartOptions = {}): Promise<AgentConnection> {
  const protocol = spec.protocol ?? 'ndjson';
  switch (protocol) {
    case 'ndjson':
      return startNdjson(spec, options);
    case 'acp':
      return startAcp(spec, { ...options, initTimeoutMs: options.initTimeoutMs ?? initTimeoutMs });
    case 'claude':
      return startClaude(spec, { ...options, initTimeoutMs: options.initTimeoutMs ?? initTimeoutMs });
    case 'codex':
      return startCodex(spec, { ...options, initTimeoutMs: options.initTimeoutMs ?? initTimeoutMs });
    default:
      return unreachable(protocol);
  }
}

async function startNdjson(spec: AgentSpec, options: StartOptions): Promise<AgentConnection> {
  options.signal?.throwIfAborted();
  const agentProcess = await startProcess(spec, options);
  try {
    await options.onProcess?.(agentProcess.identity);
    options.signal?.throwIfAborted();
    const connection = new NdjsonConnection(spec, agentProcess, options);
    if (hasParams(spec)) await connection.initialise(options.initTimeoutMs ?? initTimeoutMs, options.signal);
    return connection;
  } catch (error) {
    await agentProcess.end({ stepMs: options.endGraceMs, atWork: true });
    throw error;
  }
}
