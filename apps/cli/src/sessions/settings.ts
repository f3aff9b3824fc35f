import type { Json, JsonObject } from '@concerto/base';
import type { ConcertoClient } from '@concerto/client';
import { UsageError } from '../arguments.ts';
import { print, printError, printJson } from '../terminal/print.ts';

/** For the agent to say whether it has switched. */
const answerWithinMs = 30_000;

/** `model=opus` as it is meant: JSON where it is JSON, else a text. */
export function settingsIn(pairs: readonly string[]): JsonObject {
  return Object.fromEntries(
    pairs.map((pair) => {
      const at = pair.indexOf('=');
      if (at < 1) throw new UsageError(`${JSON.stringify(pair)} is not NAME=VALUE`);
      return [pair.slice(0, at), valueOf(pair.slice(at + 1))];
    }),
  );
}

function valueOf(text: string): Json {
  if (!/^([[{]|true$|false$|-?\d+(\.\d+)?$)/.test(text)) return text;
  try {
    const value: Json = JSON.parse(text);
    return value;
  } catch {
    return text;
  }
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

export async function changeSettings(
  client: ConcertoClient,
  id: string,
  params: JsonObject,
  json: boolean,
): Promise<number> {
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

export async function changeWorktree(
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
  else print(`${branch} ${state}${into === undefined ? '' : ` into ${into}`}`);
  return 0;
}
