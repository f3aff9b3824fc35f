import type { ConcertoClient } from '@concerto/client';
import type { LifecycleVerb } from '@concerto/protocol';
import { print, printJson } from '../terminal/print.ts';

/** A word to the session itself. */
export const lifecycle = (verb: LifecycleVerb, summary: string) => ({
  usage: 'ID',
  summary,
  arguments: { min: 1, max: 1 },
  run: async (client: ConcertoClient, [id = '']: readonly string[], { json }: { readonly json: boolean }) => {
    const accepted = await client[verb](id);
    if (json) printJson(accepted);
    else print(accepted.status);
    return 0;
  },
});
