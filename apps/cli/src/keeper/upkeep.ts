import type { KeeperClient } from '@concerto/keeper';
import type { Upkeep } from '@concerto/server';
import { keptRows, sessionOf } from './kept-here.ts';

/** So that the answer is on its way before we are. */
const answeredMs = 100;

/** What may be asked of a server from elsewhere: about the agents of its machine, and to stop. */
export function upkeepOf(keeper: KeeperClient | undefined): Omit<Upkeep, 'doctor'> {
  return {
    kept: async () => await keptRows((await keeper?.list()) ?? []),
    end: async (session) => {
      const agents = (await keeper?.list())?.filter((agent) => sessionOf(agent) === session) ?? [];
      await Promise.all(agents.map(async ({ agent }) => await keeper?.end(agent)));
      return agents.length > 0;
    },
    // As a person would: the first signal stops, the second ends the agents too.
    stop: (agentsToo) => {
      setTimeout(() => process.kill(process.pid, 'SIGTERM'), answeredMs);
      if (agentsToo) setTimeout(() => process.kill(process.pid, 'SIGTERM'), 2 * answeredMs);
    },
  };
}
