import { err, type JsonObject, ok, type Result } from '@concerto/base';
import { readDriverParams } from '@concerto/protocol';
import type { AgentSpec } from './agent-connection.ts';
import { drivers } from './drivers.ts';

/** What has a place of its own in a start. */
const elsewhere: Readonly<Record<string, string>> = {
  mcp_servers: 'a session has its servers in `tools`',
  tools: 'a session has its rules in `tools`',
  work_dir: 'a session has its folder in `workingDir`',
};

/**
 * The agent with params of a session's own over those of its entry. `model`, `mode`, `effort` and `extra_dirs` mean the
 * same for every driver; other names are params of its own. Says why where its driver cannot take one.
 */
export function withParams(spec: AgentSpec, params: JsonObject): Result<AgentSpec, string> {
  const { params: known } = drivers[spec.protocol ?? 'ndjson'];
  const misplaced = Object.keys(params).find((name) => Object.hasOwn(elsewhere, name));
  if (misplaced !== undefined) return err(`params.${misplaced}: ${elsewhere[misplaced]}`);
  const names: Readonly<Record<string, string>> = known?.settings ?? {};
  const own = Object.fromEntries(Object.entries(params).map(([name, value]) => [names[name] ?? name, value]));
  const merged = { ...spec.params, ...own };
  const read = known === undefined ? ok(merged) : readDriverParams(known, merged);
  return read.ok ? ok({ ...spec, params: merged }) : err(read.error);
}
