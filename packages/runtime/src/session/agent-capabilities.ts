import type { EventLog } from '@concerto/log';
import type { AgentInfo } from '@concerto/protocol';
import { assistantCapabilities } from '../assistant/assistant-spec.ts';
import type { Catalog } from '../catalog.ts';
import type { Report } from '../ports.ts';

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

/** Whatever can be started, and what it can do. */
export async function agentInfos(log: EventLog, catalog: Catalog): Promise<readonly AgentInfo[]> {
  return await Promise.all(
    catalog.list().map(async (entry) => ({
      name: entry.name,
      kind: entry.kind,
      capabilities: entry.kind === 'assistant' ? [...assistantCapabilities] : await knownCapabilities(log, entry.name),
      ...(entry.description === undefined ? {} : { description: entry.description }),
      ...(entry.perSession === undefined ? {} : { perSession: [...entry.perSession] }),
      ...(entry.kind === 'agent' ? { command: entry.spec.command, protocol: entry.spec.protocol ?? 'ndjson' } : {}),
    })),
  );
}
