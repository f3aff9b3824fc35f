import { resolve } from 'node:path';
import type { Manifest } from '@concerto/language';
import { UsageError } from '../arguments.ts';

export const defaultStore = 'sqlite:.concerto/concerto.db';
export const defaultPort = 4242;

/** What the command line says; it wins over the environment, which wins over the manifest. */
type Flags = {
  readonly host?: string | undefined;
  readonly port?: string | undefined;
  readonly store?: string | undefined;
};

/** `[server]` of a manifest, and the folder that its paths are relative to. */
export type ServerTable = { readonly table: Manifest['server']; readonly folder: string };

export function hostOf({ host }: Flags, server: ServerTable | undefined): string {
  return host ?? server?.table.host ?? '127.0.0.1';
}

export function portOf({ port }: Flags, server: ServerTable | undefined): number {
  const text = port ?? process.env.PORT;
  return text === undefined || text === '' ? (server?.table.port ?? defaultPort) : readPort(text);
}

function readPort(text: string): number {
  const port = Number(text);
  if (!Number.isInteger(port) || port < 0 || port > 65_535)
    throw new UsageError(`${JSON.stringify(text)} is not a port`);
  return port;
}

export function storeOf({ store }: Flags, server: ServerTable | undefined): string | undefined {
  return store ?? process.env.CONCERTO_STORE ?? (server === undefined ? undefined : storeInManifest(server));
}

function storeInManifest({ table: { store }, folder }: ServerTable): string | undefined {
  const path = /^sqlite:(.+)$/.exec(store ?? '')?.[1];
  return path === undefined ? store : `sqlite:${resolve(folder, path)}`;
}

/** The token of the variable that the manifest names; undefined when it names none. */
export function tokenInManifest(server: ServerTable | undefined): string | undefined {
  const variable = server?.table.token_env;
  if (variable === undefined) return undefined;
  const token = process.env[variable];
  if (token === undefined || token === '')
    throw new Error(`[server] token_env names ${variable}, which is not set; set it, or give --token`);
  return token;
}
