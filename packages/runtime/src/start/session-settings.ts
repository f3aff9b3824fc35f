import { realpath, stat } from 'node:fs/promises';
import { join, resolve, sep } from 'node:path';
import { AgentError, type AgentSpec, withParams } from '@concerto/agents';
import { err, type Json, type JsonObject, ok, type Result } from '@concerto/base';
import {
  liveSettings,
  SecretReference,
  type SessionSettings,
  type StartSession,
  type ToolConfig,
} from '@concerto/protocol';
import * as z from 'zod';
import { withAssistantParams } from '../assistant/assistant-settings.ts';
import type { CatalogEntry } from '../catalog.ts';
import type { Environment } from '../ports.ts';
import { refusal, type ServiceRefusal } from '../session/service-refusal.ts';
import { specWithTools } from './tool-params.ts';

/** Where sessions may work beside the folder of their agent: the project's first; callers' paths are relative to it. */
export type SettingsPorts = {
  readonly folders: readonly string[];
  readonly environment: Environment;
};

/** Params of a session that are no params of its agent. */
type Placed = { readonly env?: Json; readonly worktree?: Json };

/** These decide which code runs, or whose word counts. */
const guarded =
  /^(PATH|HOME|SHELL|IFS|ENV|BASH_ENV|LD_.*|DYLD_.*|NODE_OPTIONS|NODE_PATH|PYTHON.*|PERL5.*|RUBYOPT|GIT_.*|CONCERTO_.*)$/i;
/** A name of a folder and of a branch. */
const checkoutName = z.string().regex(/^(?!.*(\.\.|\.lock$))[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/);
const WorktreeAsked = z.union([
  checkoutName,
  z.strictObject({ name: checkoutName.optional(), share: z.boolean().optional() }),
]);
const References = z.record(z.string().regex(/^[A-Za-z_][A-Za-z0-9_]*$/), SecretReference);

/**
 * What a start asks for beside what the entry says, checked before anything begins: each name against `per_session`, each
 * value against what the agent's driver can take, each folder against where sessions may work.
 */
export async function planSettings(
  request: Pick<StartSession, 'workingDir' | 'params'>,
  entry: CatalogEntry,
  ports: SettingsPorts,
): Promise<Result<SessionSettings | undefined, ServiceRefusal>> {
  const { workingDir, params = {} } = request;
  const names = [...(workingDir === undefined ? [] : ['working_dir']), ...Object.keys(params)];
  if (names.length === 0) return ok(undefined);
  const denied = checkPerSession(names, entry);
  if (denied !== undefined) return err(denied);
  const folder = workingDir === undefined ? ok(undefined) : await allowedFolder('workingDir', workingDir, ports);
  if (!folder.ok) return folder;
  const checked = await checkParams(params, entry, ports);
  if (!checked.ok) return checked;
  return ok({
    ...(folder.value === undefined ? {} : { workingDir: folder.value }),
    ...(Object.keys(checked.value).length === 0 ? {} : { params: checked.value }),
  });
}

/** What of a session may change while it runs; the agent may still say no. */
export async function planChange(
  params: JsonObject,
  entry: CatalogEntry | undefined,
  ports: SettingsPorts,
): Promise<Result<JsonObject, ServiceRefusal>> {
  if (entry === undefined) return err(refusal('not_per_session', 'what runs here is not in the manifest'));
  const names = Object.keys(params);
  if (names.length === 0) return err(refusal('invalid_params', '`params`: name what is to change'));
  const denied = checkPerSession(names, entry);
  if (denied !== undefined) return err(denied);
  const fixed = names.find((name) => !isLive(name));
  if (fixed !== undefined || (entry.kind === 'agent' && (entry.spec.protocol ?? 'ndjson') === 'ndjson')) {
    const why =
      fixed === undefined
        ? 'an agent of our own wire is told its params when it starts'
        : `\`${fixed}\` is settled with the start`;
    return err(refusal('not_live', `${why}; ${liveSettings.join(', ')} of other agents can be switched`));
  }
  return await checkParams(params, entry, ports);
}

/** Whether an entry lets callers set these, by their names in `per_session`. */
export function checkPerSession(
  names: readonly string[],
  { kind, name: who, perSession: allowed = [] }: Pick<CatalogEntry, 'kind' | 'name' | 'perSession'>,
): ServiceRefusal | undefined {
  const denied = names.find((name) => !allowed.includes(name));
  if (denied === undefined) return undefined;
  const may =
    allowed.length === 0 ? 'nothing of it may be set by a session' : `a session may set ${allowed.join(', ')}`;
  const how = `per_session in [${kind}s.${who}] of the manifest says what may`;
  return refusal('not_per_session', `\`${denied}\` of ${kind} ${JSON.stringify(who)}: ${may}; ${how}`, {
    setting: denied,
    allowed: [...allowed],
  });
}

/** The agent as this session has it. Names in `env` stand for variables of ours, which are looked up when it starts. */
function specWithSettings(spec: AgentSpec, settings: SessionSettings | undefined): AgentSpec {
  if (settings === undefined) return spec;
  const { env, worktree: _worktree, ...params } = settings.params ?? {};
  const { workingDir, worktree } = settings;
  if (worktree?.state === 'removed') {
    throw new AgentError(
      'spawn-failed',
      `agent "${spec.name}": the checkout of its session, ${worktree.branch}, was removed`,
    );
  }
  const { work_dir: _folder, ...rest } = spec.params ?? {};
  const placed: AgentSpec = {
    ...spec,
    ...(workingDir === undefined ? {} : { workingDir, ...(spec.params === undefined ? {} : { params: rest }) }),
    env: { ...spec.env, ...variablesOf(env) },
  };
  if (Object.keys(params).length === 0) return placed;
  const settled = withParams(placed, params);
  if (!settled.ok) throw new AgentError('init-refused', `agent "${spec.name}": ${settled.error}`);
  return settled.value;
}

/** The same with the session's tools: here, and nowhere before, references to secrets become secrets. */
export function specOfSession(
  spec: AgentSpec,
  session: { readonly settings?: SessionSettings | undefined; readonly tools?: ToolConfig | undefined } | undefined,
  environment: Environment,
): AgentSpec {
  return specWithTools(specWithSettings(spec, session?.settings), session?.tools, environment);
}

function isLive(name: string): boolean {
  return liveSettings.some((setting) => setting === name);
}

async function checkParams(
  params: JsonObject,
  entry: CatalogEntry,
  ports: SettingsPorts,
): Promise<Result<JsonObject, ServiceRefusal>> {
  const { env, worktree, extra_dirs: folders, ...own }: JsonObject & Placed = params;
  if (entry.kind === 'program') return err(invalid('a program has no params of a session'));
  const fault = envFault(env, ports.environment) ?? worktreeFault(worktree);
  if (fault !== undefined) return err(invalid(fault));
  const dirs = await allowedFolders(folders, ports);
  if (!dirs.ok) return dirs;
  const given = { ...own, ...(dirs.value === undefined ? {} : { extra_dirs: dirs.value }) };
  const why = Object.keys(given).length === 0 ? undefined : cannotTake(entry, given);
  if (why !== undefined) return err(invalid(why));
  return ok({
    ...given,
    ...(env === undefined ? {} : { env }),
    ...(worktree === undefined ? {} : { worktree }),
  });
}

function cannotTake(entry: CatalogEntry, params: JsonObject): string | undefined {
  if (entry.kind === 'program') return undefined;
  const taken = entry.kind === 'assistant' ? withAssistantParams(entry.spec, params) : withParams(entry.spec, params);
  return taken.ok ? undefined : taken.error;
}

function envFault(env: Json | undefined, environment: Environment): string | undefined {
  if (env === undefined) return undefined;
  const parsed = References.safeParse(env);
  if (!parsed.success) {
    return 'params.env: names with references, such as {"GITHUB_TOKEN":{"env":"MY_TOKEN"}}; values are never sent';
  }
  for (const [name, { env: variable }] of Object.entries(parsed.data)) {
    if (guarded.test(name)) return `params.env.${name}: a session cannot set this variable`;
    if (/^CONCERTO_/i.test(variable)) return `params.env.${name}: ${variable} is not for agents`;
    if (environment[variable] === undefined) return `params.env.${name}: ${variable} is not set on the server`;
  }
  return undefined;
}

function variablesOf(env: Json | undefined): Readonly<Record<string, string>> {
  const parsed = References.safeParse(env ?? {});
  const entries = parsed.success ? Object.entries(parsed.data) : [];
  return Object.fromEntries(entries.map(([name, { env: variable }]) => [name, `\${${variable}}`]));
}

function worktreeFault(asked: Json | undefined): string | undefined {
  if (asked === undefined || typeof asked === 'boolean') return undefined;
  const wish = WorktreeAsked.safeParse(asked);
  return wish.success
    ? undefined
    : 'params.worktree: true, a name of letters, digits, `-`, `_` and `.`, or {"name", "share"}; false for none';
}
async function allowedFolders(
  folders: Json | undefined,
  ports: SettingsPorts,
): Promise<Result<string[] | undefined, ServiceRefusal>> {
  if (folders === undefined) return ok(undefined);
  const listed = z.array(z.string().min(1).max(4_096)).max(20).safeParse(folders);
  if (!listed.success) return err(invalid('params.extra_dirs: a list of folders, 20 at most'));
  const found: string[] = [];
  for (const folder of listed.data) {
    const allowed = await allowedFolder('params.extra_dirs', folder, ports);
    if (!allowed.ok) return allowed;
    found.push(allowed.value);
  }
  return ok(found);
}

/** Where the folder really is, through every link; inside one of those where sessions may work. */
async function allowedFolder(
  what: string,
  folder: string,
  { folders }: SettingsPorts,
): Promise<Result<string, ServiceRefusal>> {
  const [project = '.'] = folders;
  const asked = resolve(project, folder);
  const real = await realpath(asked).catch(() => undefined);
  const isFolder = real !== undefined && (await stat(real).catch(() => undefined))?.isDirectory() === true;
  const roots = (await Promise.all(folders.map((root) => realpath(root).catch(() => undefined)))).flatMap(
    (root) => root ?? [],
  );
  // Whether a folder that is not for sessions exists is nobody's business.
  if (!roots.some((root) => isWithin(real ?? asked, root))) {
    const message = `${what}: ${JSON.stringify(folder)} is outside of where sessions may work: ${folders.join(', ')}; [server] folders adds to them`;
    return err(refusal('folder_not_allowed', message, { allowed: [...folders] }));
  }
  if (!isFolder) return err(refusal('invalid_folder', `${what}: there is no folder ${JSON.stringify(folder)}`));
  return ok(real);
}

function isWithin(path: string, root: string): boolean {
  return path === root || path.startsWith(root.endsWith(sep) ? root : join(root, sep));
}

function invalid(message: string): ServiceRefusal {
  return refusal('invalid_params', message);
}
