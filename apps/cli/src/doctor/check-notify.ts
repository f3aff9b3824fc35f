import { constants } from 'node:fs';
import { access } from 'node:fs/promises';
import { delimiter, join, resolve } from 'node:path';
import type { NotifyTable } from '../serve/notify-settings.ts';
import { type Finding, failed, passed } from './finding.ts';

/** Who is told elsewhere; nobody is told now. */
export async function checkNotify({ table, folder }: NotifyTable): Promise<readonly Finding[]> {
  if (table === undefined) return [];
  const when = `${table.on.join(', ')}; a request after ${table.after}`;
  const { webhook, command } = table;
  return [
    ...(webhook === undefined ? [] : [webhookFinding(webhook, when)]),
    ...(command === undefined ? [] : [await commandFinding(command.command, folder, when)]),
  ];
}

function webhookFinding({ url, secret_env: name }: { url: string; secret_env: string }, when: string): Finding {
  const { origin } = new URL(url);
  if ((process.env[name] ?? '') !== '') return passed('notify', `${origin} is told (${when}), signed with ${name}`);
  return failed('notify', `${name} is not set, so nothing can be signed`, `set ${name} to the secret of ${origin}`);
}

async function commandFinding(command: string, folder: string, when: string): Promise<Finding> {
  const places = command.includes('/')
    ? [resolve(folder, command)]
    : (process.env.PATH ?? '').split(delimiter).map((place) => join(place, command));
  const found = await Promise.all(places.map(runs));
  if (found.includes(true)) return passed('notify', `${command} is run (${when})`);
  return failed('notify', `there is no ${command}`, 'correct [notify.command] command, or install it');
}

async function runs(path: string): Promise<boolean> {
  try {
    await access(path, constants.X_OK);
    return true;
  } catch {
    return false; // Not there, or not to be run.
  }
}
