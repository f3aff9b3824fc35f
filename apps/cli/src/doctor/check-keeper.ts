import { existsSync } from 'node:fs';
import { dirname } from 'node:path';
import { KeeperClient, whyNoKeeper } from '@concerto/keeper';
import { keeperFolder } from '../serve/keeper-of.ts';
import { type Finding, messageOf, passed, warned } from './finding.ts';

/** Whether agents outlive the server here, and whether any wait for one. */
export async function checkKeeper(store: string, serverRuns: boolean): Promise<readonly Finding[]> {
  const folder = keeperFolder(store);
  if (folder === undefined) return [];
  const why = whyNoKeeper(folder);
  if (why !== undefined) {
    const help = 'make the folder of the store one that this user may write, or go without';
    return [warned('keeper', `agents end with the server: ${why}`, help)];
  }
  try {
    const client = new KeeperClient({ folder });
    const agents = await client.list();
    const count = agents.length === 1 ? '1 agent' : `${agents.length} agents`;
    const pid = await client.pid();
    if (pid === undefined) {
      // One that cannot start shows only when it is tried; without agents it ends by itself.
      if (existsSync(dirname(folder))) (await client.open({ frame: () => {}, closed: () => {} })).close();
      return [passed('keeper', 'agents outlive the server; none is kept now')];
    }
    if (!serverRuns && agents.some(({ owned }) => !owned)) {
      const help =
        '`concerto serve` takes them up, `concerto agents ls` shows them, `concerto stop --agents` ends them';
      return [warned('keeper', `the keeper (pid ${pid}) holds ${count}, and no server uses it`, help)];
    }
    return [passed('keeper', `the keeper (pid ${pid}) holds ${count}`)];
  } catch (cause) {
    const help = 'agents are started without one and end with the server; if it is a process that hangs, end it';
    return [warned('keeper', messageOf(cause), help)];
  }
}
