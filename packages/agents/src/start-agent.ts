import type { AgentConnection, AgentSpec, StartedWith, StartOptions } from './agent-connection.ts';
import { drivers } from './drivers.ts';
import { KeptConnection } from './kept-connection.ts';

/** A little less than the 15 s a session gives its agent to start, so that the error can tell what the agent wrote. */
const initTimeoutMs = 14_500;

/**
 * Starts an agent and waits until it can be prompted. When this throws no process is left; else the caller owns one and
 * ends it with `end`.
 */
export async function startAgent(spec: AgentSpec, options: StartOptions = {}): Promise<AgentConnection> {
  const { kept } = options;
  if (kept === undefined) return await startDriver(spec, options);
  const { conversation, fork, spentMicroUsd, ...rest } = options;
  const asked: StartedWith = {
    spec,
    ...(conversation === undefined ? {} : { conversation }),
    ...(fork === undefined ? {} : { fork }),
    ...(spentMicroUsd === undefined ? {} : { spentMicroUsd }),
  };
  kept.tell(asked);
  const { spec: startedWith, ...begun } = kept.recorded ?? asked;
  const driver = await startDriver(startedWith, { ...rest, ...begun }).catch((cause: unknown) => {
    // Nothing of it is left, and nobody will ask its keeper for its last words.
    kept.current?.forget();
    throw cause;
  });
  // No keeper could be started: it is our own child.
  if (kept.current === undefined) return driver;
  return new KeptConnection(driver, kept.current, kept.marks);
}

async function startDriver(spec: AgentSpec, options: StartOptions): Promise<AgentConnection> {
  const { start } = drivers[spec.protocol ?? 'ndjson'];
  return await start(spec, { ...options, initTimeoutMs: options.initTimeoutMs ?? initTimeoutMs });
}
