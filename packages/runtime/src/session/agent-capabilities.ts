import type { EventLog } from '@concerto/log';
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
