import { UsageError } from '../arguments.ts';
import { print, printJson } from '../terminal/print.ts';
import { attachTo } from './attach-to.ts';
import { textOrStdin } from './text-or-stdin.ts';
import { defineVerb } from './verb.ts';

export const fork = defineVerb({
  usage: 'ID [PROMPT|-] [--at SEQ] [--attach]',
  summary: 'a new session with what was said in it; whole turns, up to an event if one is named',
  arguments: { min: 1, max: 2 },
  options: {
    at: { type: 'string', value: 'SEQ', help: 'the number of the last event that is taken; default all of them' },
    attach: { type: 'boolean', help: 'follow it at once' },
  },
  run: async (client, [id = '', prompt], options) => {
    const { json, at } = options;
    const session = await client.fork(id, {
      ...(at === undefined ? {} : { at: positionIn(at) }),
      ...(prompt === undefined ? {} : { prompt: await textOrStdin(prompt) }),
    });
    if (options.attach) return await attachTo(client, session.id, options);
    if (json) printJson(session);
    else print(session.id);
    return 0;
  },
});

function positionIn(text: string): number {
  if (/^[1-9]\d{0,14}$/.test(text)) return Number(text);
  throw new UsageError(`--at is the number of an event, such as 42, not ${JSON.stringify(text)}`);
}
