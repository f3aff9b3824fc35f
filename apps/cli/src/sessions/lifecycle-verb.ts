import type { LifecycleVerb } from '@concerto/protocol';
import { print, printJson } from '../terminal/print.ts';
import { defineVerb, type Verb } from './verb.ts';

/** A word to the session itself. */
export function lifecycle(verb: LifecycleVerb, summary: string): Verb {
  return defineVerb({
    usage: 'ID',
    summary,
    arguments: { min: 1, max: 1 },
    options: {},
    run: async (client, [id = ''], { json }) => {
      const accepted = await client[verb](id);
      if (json) printJson(accepted);
      else print(accepted.status);
      return 0;
    },
  });
}
