import type { AgentConnection, AgentSpec, StartOptions } from './agent-connection.ts';
import { drivers } from './drivers.ts';

/** A little less than the 15 s a session gives its agent to start, so that the error can tell what the agent wrote. */
const initTimeoutMs = 14_500;

/**
 * Starts an agent and waits until it can be prompted. When this throws no process is left; else the caller owns one and
 * ends it with `end`.
 */
export async function startAgent(spec: AgentSpec, options: StartOptions = {}): Promise<AgentConnection> {
  const { start } = drivers[spec.protocol ?? 'ndjson'];
  return await start(spec, { ...options, initTimeoutMs: options.initTimeoutMs ?? initTimeoutMs });
}
