import { err, type Json, matchesWildcard, nearest, ok, type Result } from '@concerto/base';
import { ToolConfig, type ToolServer } from '@concerto/protocol';

export type ToolFault = { readonly path: string; readonly message: string };

/** By how deep they stand: the whole, a server, a tool of a server. */
const knownKeys: readonly (readonly string[])[] = [
  ['servers', 'allow', 'deny'],
  ['transport', 'command', 'args', 'env', 'cwd', 'url', 'headers', 'enabled', 'tools'],
  ['enabled', 'approval'],
];

/** Checks a tool configuration as a person wrote it, and names every fault by its path. */
export function checkToolConfig(value: Json | undefined): Result<ToolConfig, readonly ToolFault[]> {
  const parsed = ToolConfig.safeParse(value);
  if (!parsed.success) return err(parsed.error.issues.flatMap(faultsOf));
  const faults = contradictions(parsed.data);
  return faults.length > 0 ? err(faults) : ok(parsed.data);
}

type Issue = NonNullable<ReturnType<typeof ToolConfig.safeParse>['error']>['issues'][number];

function faultsOf(issue: Issue): readonly ToolFault[] {
  const path = issue.path.map(String);
  if (issue.code === 'unrecognized_keys') {
    return issue.keys.map((key) => ({ path: [...path, key].join('.'), message: unknownKey(key, path.length / 2) }));
  }
  if (issue.code === 'invalid_key') {
    const [first] = issue.issues;
    return [{ path: path.join('.'), message: first?.message ?? issue.message }];
  }
  return [{ path: path.join('.'), message: issue.message }];
}

function unknownKey(key: string, depth: number): string {
  const meant = nearest(key, knownKeys[depth] ?? []);
  if (meant !== undefined) return `unknown key; did you mean "${meant}"?`;
  return knownKeys[1]?.includes(key) === true
    ? `unknown key; it belongs in a server: servers.NAME.${key}`
    : 'unknown key';
}

/** What each part allows alone and the whole forbids. */
function contradictions(config: ToolConfig): readonly ToolFault[] {
  const faults: ToolFault[] = [];
  for (const list of ['allow', 'deny'] as const) {
    (config[list] ?? []).forEach((pattern, index, all) => {
      if (all.indexOf(pattern) !== index) faults.push({ path: `${list}.${index}`, message: 'is listed twice' });
    });
  }
  return faults;
}

/** The environment variables a configuration refers to and that are not there. */
export function missingSecrets(config: ToolConfig, isSet: (name: string) => boolean): readonly ToolFault[] {
  return Object.entries(config.servers ?? {}).flatMap(([name, server]) => {
    const [field, values] = settingsOf(server);
    return Object.entries(values ?? {}).flatMap(([key, value]) =>
      typeof value === 'string' || isSet(value.env)
        ? []
        : [{ path: `servers.${name}.${field}.${key}`, message: `environment variable ${value.env} is not set` }],
    );
  });
}

function settingsOf(server: ToolServer) {
  return server.transport === 'stdio' ? (['env', server.env] as const) : (['headers', server.headers] as const);
}

/** A session's own configuration over its template's: servers and tools by name, its allow list instead, both deny lists. */
export function mergeToolConfigs(
  template: ToolConfig | undefined,
  own: ToolConfig | undefined,
): ToolConfig | undefined {
  if (template === undefined || own === undefined) return own ?? template;
  const servers = { ...template.servers, ...own.servers };
  const allow = own.allow ?? template.allow;
  const deny = [...new Set([...(template.deny ?? []), ...(own.deny ?? [])])];
  return {
    ...(Object.keys(servers).length > 0 ? { servers } : {}),
    ...(allow === undefined ? {} : { allow }),
    ...(deny.length > 0 ? { deny } : {}),
  };
}

export type ToolRule = 'auto' | 'ask' | 'deny';

/** What happens when an agent wants this tool. `server` is undefined for one that is built in. Deny wins over everything. */
export function toolRule(config: ToolConfig | undefined, tool: string, server?: string): ToolRule {
  const names =
    server === undefined ? [tool] : [server, `${server}.${tool}`, `${server}/${tool}`, `mcp__${server}__${tool}`];
  const listed = (patterns: readonly string[]) =>
    patterns.some((pattern) => names.some((name) => matchesWildcard(pattern, name)));
  if (listed(config?.deny ?? [])) return 'deny';
  if (config?.allow !== undefined && !listed(config.allow)) return 'deny';
  if (server === undefined) return 'auto';
  const known = config?.servers?.[server];
  if (known === undefined || known.enabled === false) return 'deny';
  const setting = known.tools?.[tool];
  return setting?.enabled === false ? 'deny' : (setting?.approval ?? 'auto');
}
