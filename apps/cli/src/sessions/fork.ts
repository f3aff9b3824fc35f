import type { ConcertoClient } from '@concerto/client';
import { UsageError } from '../arguments.ts';
import { paint } from '../terminal/paint.ts';
import { print, printJson } from '../terminal/print.ts';
import { attach } from './attach.ts';
import { addressOf } from './connect.ts';
import { textOrStdin } from './text-or-stdin.ts';

export type ForkOptions = { readonly at: string | undefined };

export const forkOptions = {
  at: { type: 'string', value: 'SEQ', help: 'fork: the number of the last event that is taken; default all of them' },
} as const;

type Options = ForkOptions & { readonly json: boolean; readonly attach: boolean; readonly url: string | undefined };

export const fork = {
  usage: 'ID [PROMPT|-] [--at SEQ] [--attach]',
  summary: 'a new session with what was said in it; whole turns, up to an event if one is named',
  arguments: { min: 1, max: 2 },
  run: async (client: ConcertoClient, [id = '', prompt]: readonly string[], options: Options): Promise<number> => {
    const { json, at, attach: follows } = options;
    const session = await client.fork(id, {
      ...(at === undefined ? {} : { at: positionIn(at) }),
      ...(prompt === undefined ? {} : { prompt: await textOrStdin(prompt) }),
    });
    if (follows) {
      if (!json) print(paint('dim', `${session.id}  ${addressOf(options)}/sessions/${session.id}`));
      return await attach(client, session.id, { json });
    }
    if (json) printJson(session);
    else print(session.id);
    return 0;
  },
};

function positionIn(text: string): number {
  if (/^[1-9]\d{0,14}$/.test(text)) return Number(text);
  throw new UsageError(`--at is the number of an event, such as 42, not ${JSON.stringify(text)}`);
}
