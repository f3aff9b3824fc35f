import type { ConcertoClient } from '@concerto/client';
import type { DescribeSession } from '@concerto/protocol';
import { print, printJson } from '../terminal/print.ts';
import { defineVerb, type Verb } from './verb.ts';

function describing(usage: string, summary: string, changeIn: (args: readonly string[]) => DescribeSession): Verb {
  const count = usage.split(' ').length;
  return defineVerb({
    usage,
    summary,
    arguments: { min: count, max: count },
    options: {},
    run: async (client: ConcertoClient, [id = '', ...rest], { json }) => {
      const session = await client.describe(id, changeIn(rest));
      if (json) printJson(session);
      else print(`${session.id} ${session.archived === true ? 'archived' : session.title}`);
      return 0;
    },
  });
}

/** What a session is called, and how long it is kept. */
export const keepingVerbs = {
  rename: describing('ID TITLE', 'give it another title', ([title = '']) => ({ title })),
  archive: describing('ID', 'put it away: lists leave it out, `ls --archived` shows it', () => ({ archived: true })),
  unarchive: describing('ID', 'take it out again', () => ({ archived: false })),
  delete: defineVerb({
    usage: 'ID',
    summary: 'delete one that is over, with all it holds and opened; nothing brings it back',
    arguments: { min: 1, max: 1 },
    options: {},
    run: async (client, [id = ''], { json }) => {
      await client.delete(id);
      if (json) printJson({ ok: true });
      else print(`${id} deleted`);
      return 0;
    },
  }),
} as const;
