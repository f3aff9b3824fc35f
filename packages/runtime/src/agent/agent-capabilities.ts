import type { EventLog } from '@concerto/log';
import type { AgentInfo } from '@concerto/protocol';
import { assistantCapabilities } from '../assistant/assistant-spec.ts';
import type { Catalog, CatalogEntry } from '../catalog.ts';
import type { Report } from '../ports.ts';
import { knownOffers } from './agent-details.ts';

const collection = 'capabilities';

/** So that a user sees what an agent can do before starting it again; nothing depends on it. */
export function rememberCapabilities(
  { log, report }: { readonly log: EventLog; readonly report: Report },
  agent: string,
  capabilities: readonly string[],
): void {
  log
    .putDocument({ collection, key: agent, value: JSON.stringify(capabilities) })
    .catch((cause: unknown) => report(`agent ${agent}: what it can do was not noted down`, cause));
}

/** As it announced them when it last ran. */
export async function knownCapabilities(log: EventLog, agent: string): Promise<string[]> {
  const stored = await log.getDocument(collection, agent);
  const parsed: unknown = stored === undefined ? [] : JSON.parse(stored.value);
  return Array.isArray(parsed) ? parsed.map(String) : [];
}

/** Whatever can be started, what it can do, and what its sessions have and may choose. */
export async function agentInfos(log: EventLog, catalog: Catalog): Promise<readonly AgentInfo[]> {
  return await Promise.all(catalog.list().map((entry) => agentInfo(log, entry)));
}

async function agentInfo(log: EventLog, entry: CatalogEntry): Promise<AgentInfo> {
  const { name, kind, description, perSession, supervisor, budget } = entry;
  const isAssistant = entry.kind === 'assistant';
  const capabilities = isAssistant ? [...assistantCapabilities] : await knownCapabilities(log, name);
  const offers = await knownOffers(log, name);
  const fault = faultOf(entry);
  return {
    name,
    kind,
    capabilities,
    ...(description === undefined ? {} : { description }),
    ...(perSession === undefined ? {} : { perSession: [...perSession] }),
    ...(supervisor === undefined ? {} : { supervisor }),
    ...(budget === undefined ? {} : { budget }),
    ...(offers === undefined ? {} : { offers }),
    ...(fault === undefined ? {} : { fault }),
    ...(entry.kind === 'agent' && entry.worktree === true ? { worktree: true } : {}),
    ...(entry.kind === 'agent' ? { command: entry.spec.command, protocol: entry.spec.protocol ?? 'ndjson' } : {}),
  };
}

function faultOf(entry: CatalogEntry): string | undefined {
  if (entry.kind === 'program') return undefined;
  return entry.kind === 'agent' ? entry.fault : entry.fault?.();
}
