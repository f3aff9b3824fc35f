import type { JsonObject } from '@concerto/base';
import type { ConcertoClient } from '@concerto/client';
import { settingValue } from '@concerto/protocol';
import { UsageError } from '../arguments.ts';
import { print, printError, printJson } from '../terminal/print.ts';
import { agentTable } from './show.ts';
import { defineVerb } from './verb.ts';

/** For the agent to say whether it has switched. */
const answerWithinMs = 30_000;

/** `model=opus` as it is meant. */
export function settingsIn(pairs: readonly string[]): JsonObject {
  return Object.fromEntries(
    pairs.map((pair) => {
      const at = pair.indexOf('=');
      if (at < 1) throw new UsageError(`${JSON.stringify(pair)} is not NAME=VALUE`);
      return [pair.slice(0, at), settingValue(pair.slice(at + 1))];
    }),
  );
}

export type Switched = { readonly outcome: string; readonly reason?: string | undefined };

/** Asks, and waits for what the agent makes of it. */
export async function switchSettings(client: ConcertoClient, id: string, params: JsonObject): Promise<Switched> {
  const after = (await client.get(id)).position;
  const { requestId } = await client.changeSettings(id, params);
  const signal = AbortSignal.timeout(answerWithinMs);
  for await (const event of client.follow(id, { after, signal })) {
    if (event.type === 'settings' && event.requestId === requestId) return event;
  }
  return { outcome: 'asked', reason: 'the agent has not answered yet' };
}

async function changeSettings(client: ConcertoClient, id: string, params: JsonObject, json: boolean): Promise<number> {
  const { outcome, reason } = await switchSettings(client, id, params);
  if (json) printJson({ outcome, ...(reason === undefined ? {} : { reason }) });
  else if (outcome === 'refused') printError(`not changed: ${reason ?? 'it was refused'}`);
  else print(outcomeText(outcome, reason));
  return outcome === 'refused' ? 1 : 0;
}

export function outcomeText(outcome: string, reason: string | undefined): string {
  if (outcome === 'changed') return 'changed';
  if (outcome === 'next_start') return 'kept; its agent starts with it';
  return reason ?? outcome;
}

async function changeWorktree(
  client: ConcertoClient,
  id: string,
  action: string,
  { json, commit, force }: { readonly json: boolean; readonly commit: string | undefined; readonly force: boolean },
): Promise<number> {
  if (action !== 'merge' && action !== 'remove') throw new UsageError('say `merge` or `remove`');
  const change = { action, ...(commit === undefined ? {} : { commit }), ...(force ? { force } : {}) } as const;
  const worktree = await client.changeWorktree(id, change);
  const { branch, state, into } = worktree;
  if (json) printJson(worktree);
  else print(`${branch} ${state}${state === 'merged' && into !== undefined ? ` into ${into}` : ''}`);
  return 0;
}

/** What is asked about what a session has of its own. */
export const settingsVerbs = {
  set: defineVerb({
    usage: 'ID NAME=VALUE...',
    summary: 'switch the model, the mode or the effort of its agent: `set last model=opus`',
    arguments: { min: 2, max: 10 },
    options: {},
    run: async (client, [id = '', ...pairs], { json }) => await changeSettings(client, id, settingsIn(pairs), json),
  }),
  worktree: defineVerb({
    usage: 'ID merge|remove [--commit MESSAGE] [--force]',
    summary: 'merge the checkout of its own into what is checked out, or take it away',
    arguments: { min: 2, max: 2 },
    options: {
      commit: { type: 'string', value: 'MESSAGE', help: 'merge: commits first what is not committed' },
      force: { type: 'boolean', help: 'remove: with what is not committed or not merged' },
    },
    run: (client, [id = '', action = ''], options) => changeWorktree(client, id, action, options),
  }),
  offered: defineVerb({
    usage: 'ID',
    summary: 'what its agent offers: models, modes, efforts, slash commands',
    arguments: { min: 1, max: 1 },
    options: {},
    run: async (client, [id = ''], { json }) => {
      const agent = await client.agent(id);
      if (json) printJson(agent);
      else print(agentTable(agent));
      return 0;
    },
  }),
} as const;
