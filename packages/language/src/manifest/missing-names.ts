import { nearest } from '@concerto/base';
import type { Manifest } from './manifest.ts';

/** Where the manifest names something that it does not have. */
export type MissingName = {
  readonly path: readonly string[];
  readonly message: string;
  readonly severity: 'warning' | 'error';
  readonly help: string;
};

/**
 * A connection or a server that is not declared keeps an assistant from starting, and nothing else: a warning each. Whoever is
 * to answer for an agent must be there.
 */
export function missingNames(manifest: Manifest): readonly MissingName[] {
  return [
    ...ofAssistants(manifest).map((found) => ({
      ...found,
      severity: 'warning' as const,
      help: 'the assistant cannot be started without it',
    })),
    ...ofAnswerers(manifest).map((found) => ({
      ...found,
      severity: 'error' as const,
      help: 'who is to answer must be declared',
    })),
  ];
}

type Found = Pick<MissingName, 'path' | 'message'>;

type Answered = { readonly rules: Manifest['rules']; readonly supervisor?: string | undefined };

function ofAnswerers({ agents, programs, assistants, templates, rules }: Manifest): readonly Found[] {
  const models = Object.keys(assistants);
  const inRules = (some: Manifest['rules'], place: readonly string[]): readonly Found[] =>
    some.flatMap(({ decide }, index) =>
      decide.startsWith('model:')
        ? missing('assistants', decide.slice('model:'.length), models, [...place, 'rules', String(index), 'decide'])
        : [],
    );
  const supervised = (name: string | undefined, place: readonly string[]): readonly Found[] =>
    name === undefined ? [] : missing('programs', name, Object.keys(programs), [...place, 'supervisor']);
  const inTable = (table: string, entries: Readonly<Record<string, Answered>>): readonly Found[] =>
    Object.entries(entries).flatMap(([name, entry]) => [
      ...inRules(entry.rules, [table, name]),
      ...supervised(entry.supervisor, [table, name]),
    ]);
  return [
    ...inTable('agents', agents),
    ...inTable('programs', programs),
    ...inTable('assistants', assistants),
    ...Object.entries(templates).flatMap(([name, { supervisor }]) => supervised(supervisor, ['templates', name])),
    ...inRules(rules, []),
  ];
}

function ofAssistants({ assistants, connections, mcp }: Manifest): readonly Found[] {
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

function missing(table: string, name: string, known: readonly string[], path: readonly string[]): readonly Found[] {
  if (known.includes(name)) return [];
  const meant = nearest(name, known);
  const hint = meant === undefined ? '' : `; did you mean \`${meant}\`?`;
  return [{ path, message: `there is no [${table}.${name}]${hint}` }];
}
