import { randomUUID } from 'node:crypto';
import { AgentError, markerVariable } from '@concerto/agents';
import { assert, type JsonObject } from '@concerto/base';
import { Blobs, type EventLog } from '@concerto/log';
import { McpFailure, McpServers, type ModelFailure } from '@concerto/models';
import { isOverBudget, type SessionState } from '@concerto/session';
import type { Clock, Environment, MintId } from '../ports.ts';
import type { SessionStore } from '../session/session-store.ts';
import type { StartWorker } from '../worker.ts';
import { AssistantFiles } from './assistant-files.ts';
import { AssistantHistory } from './assistant-history.ts';
import { recallConversation } from './assistant-recall.ts';
import { withAssistantParams } from './assistant-settings.ts';
import type { AssistantSpec } from './assistant-spec.ts';
import { openTools, serverSettings } from './assistant-tools.ts';
import { AssistantWorker } from './assistant-worker.ts';

/** Less than a session gives a start, so that a server that does not come up is named. */
const serversTimeoutMs = 12_000;

export type AssistantPorts = {
  readonly log: EventLog;
  readonly store: SessionStore;
  readonly mintId: MintId;
  readonly clock: Clock;
  readonly environment?: Environment;
};

/** Brings an assistant up with all its servers and the conversation so far; leaves nothing behind when it cannot. */
export function assistantStarter({
  log,
  store,
  mintId,
  clock,
  environment = process.env,
}: AssistantPorts): StartWorker {
  return async ({ tenure: { session }, entry, notes, ended }) => {
    assert(entry.kind === 'assistant', 'the table of starters is by kind');
    const { name } = entry;
    const known = entry.fault?.();
    if (known !== undefined) throw new AgentError('spawn-failed', `assistant "${name}": ${known}`);
    const { settings, tools: ownTools } = store.known(session) ?? {};
    const assistant = assistantOf(entry.name, entry.spec, settings?.params);
    const fault = assistant.models.fault(assistant.connection, assistant.model);
    if (fault !== undefined) throw startError(name, fault);
    const declared = serverSettings(assistant, ownTools);
    const names = Object.keys(declared);
    // The servers are our processes and carry this mark: should we be killed, whoever comes next finds and ends them.
    const identity = { pid: 0, startTime: 'in-process', marker: randomUUID() };
    const startsProcesses = names.length > 0 || assistant.functions.includes('run_command');
    if (startsProcesses) await notes.remember(identity);
    const servers = new McpServers(declared, {
      environment,
      directory: assistant.directory,
      variables: { [markerVariable]: identity.marker },
    });
    const close = async (): Promise<void> => {
      await servers.close();
      if (startsProcesses) await notes.forget(identity);
    };
    const late = AbortSignal.timeout(serversTimeoutMs);
    try {
      const signal = AbortSignal.any([ended, late]);
      const tools = await openTools(assistant, ownTools, { names, open: servers, signal });
      const history = new AssistantHistory(await recallConversation(log, session), assistant.contextTokens);
      const files = new AssistantFiles({ session, log, blobs: new Blobs(log, () => clock.now()) });
      const parts = { name, assistant, history, files, tools, close, mintId, clock };
      const isLimited = store.known(session)?.budget !== undefined;
      return new AssistantWorker({
        ...parts,
        marker: identity.marker,
        ...(isLimited ? { isOverBudget: () => isOver(store.known(session)) } : {}),
      });
    } catch (cause) {
      await close();
      if (!(cause instanceof McpFailure)) throw cause;
      throw startError(name, late.aborted ? lateServer(cause) : cause);
    }
  };
}

/** As this session has it. */
function assistantOf(name: string, spec: AssistantSpec, params: JsonObject = {}): AssistantSpec {
  const taken = withAssistantParams(spec, params);
  if (!taken.ok) throw new AgentError('init-refused', `assistant "${name}": ${taken.error}`);
  return taken.value;
}

function isOver(state: SessionState | undefined): boolean {
  return state !== undefined && isOverBudget(state);
}

function startError(name: string, cause: ModelFailure | McpFailure): AgentError {
  const code = cause.code === 'auth' ? 'missing-variable' : 'spawn-failed';
  return new AgentError(code, `assistant "${name}": ${cause.message}`, { cause });
}

function lateServer({ server }: McpFailure): McpFailure {
  return new McpFailure('timeout', server, `was not ready within ${serversTimeoutMs / 1000} s`);
}
