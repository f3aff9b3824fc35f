import { nearest } from '@concerto/base';
import type { Manifest } from './manifest.ts';

/** Where an assistant names something the manifest does not have. */
export type MissingName = { readonly path: readonly string[]; readonly message: string };

/** A connection or a server that is not declared keeps an assistant from starting, and nothing else: a warning each. */
export function missingNames({ assistants, connections, mcp }: Manifest): readonly MissingName[] {
  return Object.entries(assistants).flatMap(([name, { connection, tools }]) => {
    const place = ['assistants', name];
    const servers = Array.isArray(tools) ? tools : tools.servers;
    return [
      ...missing('connections', connection, Object.keys(connections), [...place, 'connection']),
      ...(Array.isArray(servers)
        ? servers.flatMap((server) => missing('mcp', server, Object.keys(mcp), [...place, 'tools']))
        : []),
    ];
  });
}

function missing(
  table: string,
  name: string,
  known: readonly string[],
  path: readonly string[],
): readonly MissingName[] {
  if (known.includes(name)) return [];
  const meant = nearest(name, known);
  const hint = meant === undefined ? '' : `; did you mean \`${meant}\`?`;
  return [{ path, message: `there is no [${table}.${name}]${hint}` }];
}
