import { existsSync } from 'node:fs';
import { demoAgents } from '@concerto/middleware-scripted';
import { type AgentEntry, agentTask } from './check-agent.ts';
import { connectionTasks } from './check-connections.ts';
import {
  type ConfigResult,
  checkAssistant,
  checkPrograms,
  checkSupervisors,
  checkTemplates,
  type LoadedConfig,
  loadConfig,
} from './check-manifest.ts';
import { mcpTasks } from './check-mcp-servers.ts';
import { checkNotify } from './check-notify.ts';
import { type CheckTask, passed } from './finding.ts';

export type Plan = {
  /** Undefined: agents are started and asked nothing. */
  readonly prompt: string | undefined;
  readonly online: boolean;
  readonly timeoutMs: number;
  readonly calledOff: AbortSignal;
};

export type Declared = ConfigResult & {
  /** Undefined when the manifest has errors: nothing it declares can then be checked. */
  readonly agents: readonly AgentEntry[] | undefined;
};

/** What the manifest declares; without one, the demo agents. */
export function loadDeclared(config: string | undefined): Declared {
  const file = config ?? 'Concerto.toml';
  if (config === undefined && !existsSync(file)) {
    const findings = [passed('manifest', 'no Concerto.toml here, so the demo agents are offered')];
    return { config: undefined, findings, agents: demoAgents().map(demoEntry) };
  }
  const loaded = loadConfig(file);
  return { ...loaded, agents: loaded.config?.entries.filter((entry) => entry.kind === 'agent') };
}

function demoEntry({ description, ...spec }: ReturnType<typeof demoAgents>[number]): AgentEntry {
  return { kind: 'agent', name: spec.name, spec, description };
}

/** The checks of all of it, or of one agent. */
export function declaredTasks(
  { config, agents = [] }: Declared,
  agent: string | undefined,
  plan: Plan,
): readonly CheckTask[] {
  const { online: _online, ...options } = plan;
  const tasks = agents
    .filter(({ name }) => agent === undefined || name === agent)
    .map((entry) => agentTask(entry, options));
  return config === undefined || agent !== undefined ? tasks : [...configTasks(config, plan), ...tasks];
}

function configTasks(config: LoadedConfig, { online, timeoutMs, calledOff }: Plan): readonly CheckTask[] {
  const { manifest, folder, entries } = config;
  const assistants = entries.filter((entry) => entry.kind === 'assistant');
  return [
    ...connectionTasks(manifest.connections, { online, timeoutMs, calledOff }),
    ...mcpTasks(manifest.mcp, { folder, calledOff }),
    { name: 'assistants', run: async () => assistants.flatMap((entry) => checkAssistant(entry, config)) },
    { name: 'programs', run: () => checkPrograms(config) },
    { name: 'supervisors', run: () => checkSupervisors(config) },
    { name: 'notify', run: () => checkNotify({ table: manifest.notify, folder }) },
    { name: 'templates', run: async () => checkTemplates(config) },
  ];
}
