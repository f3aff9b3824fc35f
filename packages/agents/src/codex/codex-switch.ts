import type { AgentSettings } from '../agent-connection.ts';
import { AgentError } from '../agent-error.ts';
import type { AgentLink } from '../agent-link.ts';
import { agentInfo } from '../driver-output.ts';
import type { JsonRpcPeer } from '../json-rpc-peer.ts';

/** For the program to say whether it has switched. */
const switchWithinMs = 10_000;

/** Rejects with what the program has against it. */
export async function switchCodex(
  peer: JsonRpcPeer,
  link: AgentLink,
  threadId: string,
  settings: AgentSettings,
): Promise<void> {
  const { mode, ...others } = settings;
  const changes = { ...others, ...(mode === undefined ? {} : { approvalPolicy: mode }) };
  try {
    await peer.request('thread/settings/update', { threadId, ...changes }, switchWithinMs);
  } catch (cause) {
    if (cause instanceof AgentError) throw cause;
    throw link.failure('protocol', `did not switch: ${cause instanceof Error ? cause.message : String(cause)}`, cause);
  }
  link.say(agentInfo(settings));
}
