import type { ConcertoClient } from '@concerto/client';
import { print, printJson } from '../terminal/print.ts';
import { messageTable, sentTo } from './show.ts';
import { textOrStdin } from './text-or-stdin.ts';
import { defineVerb, type Verb } from './verb.ts';

function sending(priority: 'queued' | 'immediate', summary: string): Verb {
  return defineVerb({
    usage: 'ID TEXT|-',
    summary,
    arguments: { min: 2, max: 2 },
    options: {},
    run: async (client, [id = '', text = ''], { json }) => {
      const content = await textOrStdin(text);
      const message = await client.send(id, { content, priority });
      if (json) printJson(message);
      else print(`${message.id} ${message.inFlight === true ? 'in flight' : message.status}${sentTo(message)}`);
      return 0;
    },
  });
}

function onMessage(
  summary: string,
  act: (client: ConcertoClient, id: string, message: string) => ReturnType<ConcertoClient['cancelMessage']>,
): Verb {
  return defineVerb({
    usage: 'ID MESSAGE',
    summary,
    arguments: { min: 2, max: 2 },
    options: {},
    run: async (client, [id = '', message = ''], { json }) => {
      const changed = await act(client, id, message);
      if (json) printJson(changed);
      else print(`${changed.id} ${changed.status}`);
      return 0;
    },
  });
}

/** What is said to a session, and what waits to be. */
export const messageVerbs = {
  send: sending('queued', 'queue a message for after the current turn'),
  steer: sending('immediate', 'say something into the running turn'),
  queue: defineVerb({
    usage: 'ID [--all]',
    summary: 'what waits to be delivered; with --all what was delivered too',
    arguments: { min: 1, max: 1 },
    options: { all: { type: 'boolean', help: 'with what was delivered or taken back' } },
    run: async (client, [id = ''], { json, all }) => {
      const list = await client.messages(id, { all });
      if (json) printJson(list);
      else print(messageTable([...(list.history ?? []), ...list.pending]));
      return 0;
    },
  }),
  reorder: defineVerb({
    usage: 'ID MESSAGE...',
    summary: 'put queued messages into this order',
    arguments: { min: 2, max: 101 },
    options: {},
    run: async (client, [id = '', ...ids], { json }) => {
      const { version } = await client.messages(id);
      await client.orderMessages(id, { ids, version });
      const list = await client.messages(id);
      if (json) printJson(list);
      else print(messageTable(list.pending));
      return 0;
    },
  }),
  promote: onMessage('make a queued message immediate', (client, id, message) => client.promoteMessage(id, message)),
  unsend: onMessage('take a message back', (client, id, message) => client.cancelMessage(id, message)),
  resend: onMessage('send again what the agent may not have got', (client, id, message) =>
    client.settleMessage(id, message, 'resend'),
  ),
  edit: defineVerb({
    usage: 'ID MESSAGE TEXT',
    summary: 'change the text of a message that waits',
    arguments: { min: 3, max: 3 },
    options: {},
    run: async (client, [id = '', message = '', text = ''], { json }) => {
      const changed = await client.editMessage(id, message, text);
      if (json) printJson(changed);
      else print(`${changed.id} ${changed.status}`);
      return 0;
    },
  }),
} as const;
