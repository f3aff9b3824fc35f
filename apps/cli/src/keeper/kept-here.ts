import { groupMemory } from '@concerto/agents';
import { KeeperClient, type ListedAgent } from '@concerto/keeper';
import type { KeptAgentRow } from '@concerto/protocol';
import { keeperFolder } from '../serve/keeper-of.ts';
import { defaultStore } from '../serve/server-settings.ts';
import { storeNamed } from '../serve/store-here.ts';
import { runningServer } from '../state/project-state.ts';

/** For commands that look for the keeper of a store. */
export const keeperOptions = {
  store: { type: 'string', value: 'URL', help: `the store; default ${defaultStore}, CONCERTO_STORE or the manifest's` },
  config: { type: 'string', value: 'FILE', help: 'manifest; default ./Concerto.toml' },
  url: {
    type: 'string',
    value: 'URL',
    help: 'a server elsewhere, in place of the one of this folder; or CONCERTO_URL',
  },
  token: { type: 'string', value: 'T', help: 'its token; or CONCERTO_TOKEN' },
} as const;

/** Somebody means a server and not the store of this folder. */
export function isNamed({ url }: { readonly url: string | undefined }): boolean {
  return url !== undefined || process.env.CONCERTO_URL !== undefined;
}

/** Undefined for a store in memory, whose agents end with the server. */
export function keeperHere(values: {
  readonly store: string | undefined;
  readonly config: string | undefined;
}): KeeperClient | undefined {
  // A server that runs may have been given another store than that of its folder.
  const isOfFolder = values.store === undefined && values.config === undefined;
  const running = isOfFolder ? runningServer(process.cwd())?.server.keeper : undefined;
  const folder = running ?? keeperFolder(storeNamed(values) ?? defaultStore);
  return folder === undefined ? undefined : new KeeperClient({ folder });
}

/** Session ids have no `#`. */
export function sessionOf({ agent }: ListedAgent): string {
  return agent.replace(/#\d+$/, '');
}

/** As commands and the server tell of them. */
export async function keptRows(agents: readonly ListedAgent[]): Promise<readonly KeptAgentRow[]> {
  const memory = await groupMemory(agents.map(({ pid }) => pid));
  return agents.map((agent) => ({
    pid: agent.pid,
    session: sessionOf(agent),
    since: new Date(agent.since).toISOString(),
    ...(memory === undefined ? {} : { memory: agent.running ? (memory.get(agent.pid) ?? 0) : 0 }),
    state: stateOf(agent),
    ...(agent.endsAt === undefined ? {} : { endsAt: new Date(agent.endsAt).toISOString() }),
  }));
}

function stateOf({ running, owned }: ListedAgent): string {
  if (!running) return 'ended, its last words wait';
  return owned ? 'owned' : 'waits for a server';
}
