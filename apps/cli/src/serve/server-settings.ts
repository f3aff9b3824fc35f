import { resolve } from 'node:path';
import type { Manifest } from '@concerto/language';
import type { InlineTools } from '@concerto/server';
import { UsageError } from '../arguments.ts';

export const defaultStore = 'sqlite:.concerto/concerto.db';
export const defaultPort = 4242;
const portMax = 65_535;

/** What the command line says; it wins over the environment, which wins over the manifest. */
type Flags = {
  readonly host?: string | undefined;
  readonly port?: string | undefined;
  readonly store?: string | undefined;
};

/** `[server]` of a manifest, and the folder that its paths are relative to. */
export type ServerTable = { readonly table: Manifest['server']; readonly folder: string };

/** A manifest may come from anywhere, so only the command line opens this machine to others. */
export function hostOf({ host }: Flags, server: ServerTable | undefined): string {
  const wanted = server?.table.host;
  if (host === undefined && wanted !== undefined && !isLoopback(wanted)) {
    throw new Error(
      `[server] host = ${JSON.stringify(wanted)} would let other machines in; say so on the command line: --host ${wanted}`,
    );
  }
  return host ?? wanted ?? '127.0.0.1';
}

export function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || /^127\.\d+\.\d+\.\d+$/.test(host);
}

export function portOf({ port }: Flags, server: ServerTable | undefined): number {
  const text = port ?? process.env.PORT;
  return text === undefined || text === '' ? (server?.table.port ?? defaultPort) : readPort(text);
}

function readPort(text: string): number {
  const port = Number(text);
  if (!Number.isInteger(port) || port < 0 || port > portMax)
    throw new UsageError(`${JSON.stringify(text)} is not a port, which is a number up to ${portMax}`);
  return port;
}

export function storeOf({ store }: Flags, server: ServerTable | undefined): string | undefined {
  return store ?? process.env.CONCERTO_STORE ?? (server === undefined ? undefined : storeInManifest(server));
}

function storeInManifest({ table: { store }, folder }: ServerTable): string | undefined {
  const path = /^sqlite:(.+)$/.exec(store ?? '')?.[1];
  return path === undefined ? store : `sqlite:${resolve(folder, path)}`;
}

/** Which MCP servers callers may bring along. */
export function inlineToolsOf(server: ServerTable | undefined): InlineTools {
  if (server === undefined) return { mode: 'off' };
  const {
    inline_tools: mode,
    inline_commands: commands,
    inline_hosts: hosts,
    inline_variables: variables,
  } = server.table;
  return { mode, commands, hosts, variables };
}
