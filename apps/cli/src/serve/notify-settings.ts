import { hostname } from 'node:os';
import type { Manifest } from '@concerto/language';
import { Notifier, type NotifierOptions, systemClock } from '@concerto/runtime';
import { spanMs } from './span-ms.ts';

export type NotifyTable = { readonly table: Manifest['notify']; readonly folder: string };

type Notify = Pick<NotifierOptions, 'afterMs' | 'kinds' | 'webhook' | 'command'>;

/** Undefined where nobody is told. Throws when what is sent could not be signed. */
export function notifyOf(
  { table, folder }: NotifyTable,
  environment: Readonly<Record<string, string | undefined>>,
): Notify | undefined {
  if (table === undefined || (table.webhook === undefined && table.command === undefined)) return undefined;
  const { webhook, command } = table;
  return {
    afterMs: spanMs(table.after),
    kinds: new Set(table.on),
    ...(webhook === undefined
      ? {}
      : {
          webhook: {
            url: webhook.url,
            secret: secretOf(webhook.secret_env, environment),
            allowPrivate: webhook.allow_private,
          },
        }),
    ...(command === undefined ? {} : { command: { ...command, directory: folder } }),
  };
}

function secretOf(variable: string, environment: Readonly<Record<string, string | undefined>>): string {
  const secret = environment[variable];
  if (secret !== undefined && secret !== '') return secret;
  throw new Error(`[notify.webhook] secret_env names ${variable}, which is not set: set it to what the receiver knows`);
}

export function startNotifier(
  notify: Notify | undefined,
  server: Pick<NotifierOptions, 'log' | 'report' | 'address'>,
): Notifier | undefined {
  if (notify === undefined) return undefined;
  return new Notifier({ ...notify, ...server, clock: systemClock, name: `${hostname()}-${process.pid}` });
}
