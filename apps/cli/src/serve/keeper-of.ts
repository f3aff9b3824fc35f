import { createHash } from 'node:crypto';
import { dirname, join, resolve } from 'node:path';
import { AgentKeeper } from '@concerto/agents';
import { KeeperClient, whyNoKeeper } from '@concerto/keeper';
import { stateRoot } from '../state/state-folder.ts';

const keepDefaultMs = 60 * 60_000;
const units: Readonly<Record<string, number>> = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 };

/** Where the keeper of a store is: beside its file; for one elsewhere, with what is this user's on this machine. */
export function keeperFolder(store: string): string | undefined {
  if (store.startsWith('memory:')) return undefined;
  const file = /^sqlite:(.+)$/.exec(store)?.[1];
  if (file !== undefined) return join(dirname(resolve(file.replace(/^\/\/(?=\/)/, ''))), 'keeper');
  const hash = createHash('sha256').update(store).digest('hex').slice(0, 16);
  return join(stateRoot(), 'keepers', hash);
}

export type KeeperHere = {
  readonly client: KeeperClient;
  readonly agents: AgentKeeper;
};

/** Undefined where none can run, after saying why, or where a restart would find no sessions anyway. */
export function keeperOf(
  store: string,
  keepAgents: string | undefined,
  report: (message: string) => void,
): KeeperHere | undefined {
  const folder = keeperFolder(store);
  if (folder === undefined) return undefined;
  const why = whyNoKeeper(folder);
  if (why !== undefined) {
    report(`agents will end with this process: ${why}`);
    return undefined;
  }
  const client = new KeeperClient({ folder });
  return { client, agents: new AgentKeeper(client, keepMs(keepAgents), report) };
}

/** The manifest has checked it. */
function keepMs(text: string | undefined): number {
  const [, count, unit = ''] = /^(\d+)([smhd])$/.exec(text ?? '') ?? [];
  return count === undefined ? keepDefaultMs : Number(count) * (units[unit] ?? 1);
}
