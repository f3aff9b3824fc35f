import { randomUUID } from 'node:crypto';
import { AgentError, markerVariable } from '@concerto/agents';
import { assert, type JsonObject } from '@concerto/base';
import { Blobs, type EventLog } from '@concerto/log';
import { McpFailure, McpServers, type ModelFailure } from '@concerto/models';
import { outlivesOwner, requestsAbout } from '@concerto/session';
import type { Catalog } from '../catalog.ts';
import { ChildSessions } from '../children/child-sessions.ts';
import { ChildrenBudget } from '../children/children-budget.ts';
import type { PoolKeeper } from '../owner/pool-keeper.ts';
import type { Clock, Environment, MintId } from '../ports.ts';
import type { SessionStore } from '../session/session-store.ts';
import type { StartWorker } from '../worker.ts';
import { AssistantAgents } from './assistant-agents.ts';
import type { CutShort } from './assistant-cut-short.ts';
import { AssistantFiles } from './assistant-files.ts';
import { AssistantHistory, type Said } from './assistant-history.ts';
import { recallConversation, recallCut } from './assistant-recall.ts';
import { withAssistantParams } from './assistant-settings.ts';
import type { AssistantSpec } from './assistant-spec.ts';
import { type AssistantTool, agentTools, openTools, serverSettings } from './assistant-tools.ts';
import { AssistantWorker } from './assistant-worker.ts';

/** Less than a session gives a start, so that a server that does not come up is named. */
const serversTimeoutMs = 12_000;
/** Sessions that one assistant opens in its life. */
const childrenMax = 1_000;

export type AssistantPorts = {
  readonly log: EventLog;
  readonly store: SessionStore;
  readonly mintId: MintId;
  readonly clock: Clock;
  readonly pool: PoolKeeper;
  readonly catalog: Catalog;
  readonly environment?: Environment;
};

/** Brings an assistant up with all its servers and the conversation so far; leaves nothing behind when it cannot. */
export function assistantStarter(ports: AssistantPorts): StartWorker {
  const { log, store, mintId, clock, catalog, environment = process.env } = ports;
  return async ({ tenure, entry, notes, ended, writer }) => {
    assert(entry.kind === 'assistant', 'the table of starters is by kind');
    const { session, epoch } = tenure;
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
      elicits: true,
      variables: { [markerVariable]: identity.marker },
    });
    const close = async (): Promise<void> => {
      await servers.close();
      if (startsProcesses) await notes.forget(identity);
    };
    const late = AbortSignal.timeout(serversTimeoutMs);
    try {
      const signal = AbortSignal.any([ended, late]);
      const { root = session, budget } = (await store.state(session)) ?? {};
      const actor = `assistant:${session}`;
      const parent = { session, root, actor, run: 'assistant', epoch, writer, childrenMax };
      const agents = new AssistantAgents(new ChildSessions(ports, parent), clock);
      const { tools, renewTools } = await renewableTools(servers, signal, {
        called: agentTools(assistant, ownTools, { agents, catalog }),
        ofServers: async (until) => await openTools(assistant, ownTools, { names, open: servers, signal: until }),
      });
      const { said, cutShort } = await recalled(log, store, session);
      const history = new AssistantHistory(said, assistant.contextTokens);
      const files = new AssistantFiles({ session, log, blobs: new Blobs(log, () => clock.now()), tenure });
      const parts = { name, assistant, history, files, tools, renewTools, agents, close, mintId, clock };
      const counted = { clock, log, store, writer, session, epoch };
      return new AssistantWorker({
        ...parts,
        marker: identity.marker,
        cutShort,
        onLost: (call) => tenure.onLost(call),
        outlives: async () => {
          const state = await store.state(session);
          return state !== undefined && outlivesOwner(state);
        },
        ...(budget === undefined ? {} : { budget: (own) => new ChildrenBudget({ ...counted, ...own }) }),
      });
    } catch (cause) {
      await close();
      if (!(cause instanceof McpFailure)) throw cause;
      throw startError(name, late.aborted ? lateServer(cause) : cause);
    }
  };
}

type ToolSources = {
  readonly called: readonly AssistantTool[];
  readonly ofServers: (until: AbortSignal) => Promise<readonly AssistantTool[]>;
};

/** What it can call, by name: the same table for as long as it runs, renewed when a server has other tools. */
async function renewableTools(servers: McpServers, signal: AbortSignal, { called, ofServers }: ToolSources) {
  const byName = (found: readonly AssistantTool[]) => found.map((tool) => [tool.name, tool] as const);
  const tools = new Map(byName([...called, ...(await ofServers(signal))]));
  const renewTools = async (until: AbortSignal): Promise<void> => {
    if (!servers.hasOtherTools) return;
    // A server that does not say now what it has keeps what it had; calling it will say what is wrong.
    const found = await ofServers(until).catch(() => undefined);
    if (found === undefined) return;
    tools.clear();
    for (const [name, tool] of byName([...called, ...found])) tools.set(name, tool);
  };
  return { tools, renewTools };
}

/** The conversation so far, and the turn that an owner before us left in it. */
async function recalled(log: EventLog, store: SessionStore, session: string): Promise<Recalled> {
  const childState = async (child: string) => await store.state(child);
  const state = await store.state(session);
  if (state?.turn.active !== true) return { said: await recallConversation(log, session, childState) };
  const { said, cut } = await recallCut(log, session, childState);
  const asked = new Map(cut.calls.map(({ id }) => [id, requestsAbout(state, id)] as const));
  return { said, cutShort: { ...cut, asked } };
}

type Recalled = { readonly said: readonly Said[]; readonly cutShort?: CutShort };

/** As this session has it. */
function assistantOf(name: string, spec: AssistantSpec, params: JsonObject = {}): AssistantSpec {
  const taken = withAssistantParams(spec, params);
  if (!taken.ok) throw new AgentError('init-refused', `assistant "${name}": ${taken.error}`);
  return taken.value;
}

function startError(name: string, cause: ModelFailure | McpFailure): AgentError {
  const code = cause.code === 'auth' ? 'missing-variable' : 'spawn-failed';
  return new AgentError(code, `assistant "${name}": ${cause.message}`, { cause });
}

function lateServer({ server }: McpFailure): McpFailure {
  return new McpFailure('timeout', server, `was not ready within ${serversTimeoutMs / 1000} s`);
}
