import { randomUUID } from 'node:crypto';
import { AgentError, type AgentSpec, markerVariable, type StartOptions } from '@concerto/agents';
import type { EventLog } from '@concerto/log';
import { McpFailure, McpServers, type ModelFailure } from '@concerto/models';
import type { ToolConfig } from '@concerto/protocol';
import type { Clock, Environment, MintId } from '../ports.ts';
import { AssistantConnection } from './assistant-connection.ts';
import { AssistantHistory } from './assistant-history.ts';
import { recallConversation } from './assistant-recall.ts';
import type { AssistantSpec } from './assistant-spec.ts';
import { openTools, serverSettings } from './assistant-tools.ts';

/** Less than a session gives a start, so that a server that does not come up is named. */
const serversTimeoutMs = 12_000;

export type AssistantPlace = {
  readonly session: string;
  readonly tools: ToolConfig | undefined;
  readonly log: EventLog;
  readonly mintId: MintId;
  readonly clock: Clock;
  readonly environment: Environment;
};

/** Brings an assistant up with all its servers and the conversation so far; leaves nothing behind when it cannot. */
export async function startAssistant(
  assistant: AssistantSpec,
  spec: AgentSpec,
  options: StartOptions,
  place: AssistantPlace,
): Promise<AssistantConnection> {
  const fault = assistant.models.fault(assistant.connection, assistant.model);
  if (fault !== undefined) throw startError(spec.name, fault);
  const settings = serverSettings(assistant, place.tools);
  const names = Object.keys(settings);
  // The servers are our processes and carry this mark: should we be killed, whoever comes next finds and ends them.
  const identity = { pid: 0, startTime: 'in-process', marker: randomUUID() };
  if (names.length > 0) await options.onProcess?.(identity);
  const servers = new McpServers(settings, {
    environment: place.environment,
    directory: assistant.directory,
    variables: { [markerVariable]: identity.marker },
  });
  const late = AbortSignal.timeout(serversTimeoutMs);
  const signal = options.signal === undefined ? late : AbortSignal.any([options.signal, late]);
  try {
    const tools = await openTools(assistant, place.tools, { names, open: servers, signal });
    const history = new AssistantHistory(await recallConversation(place.log, place.session));
    const { mintId, clock } = place;
    return new AssistantConnection({ spec, identity, assistant, history, tools, servers, mintId, clock });
  } catch (cause) {
    await servers.close();
    if (!(cause instanceof McpFailure)) throw cause;
    throw startError(spec.name, late.aborted ? lateServer(cause) : cause);
  }
}

function startError(name: string, cause: ModelFailure | McpFailure): AgentError {
  const code = cause.code === 'auth' ? 'missing-variable' : 'spawn-failed';
  return new AgentError(code, `assistant "${name}": ${cause.message}`, { cause });
}

function lateServer({ server }: McpFailure): McpFailure {
  return new McpFailure('timeout', server, `was not ready within ${serversTimeoutMs / 1000} s`);
}
