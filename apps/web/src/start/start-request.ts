import { err, type Json, type JsonObject, ok, type Result } from '@concerto/base';
import type { StartRequest } from '@concerto/client';
import { type Budget, budgetUnits, type LlmContent, type Part, settingValue } from '@concerto/protocol';
import type { Target } from './targets.ts';

/** What was filled in, by the name of its field; what is not here is as the server has it. */
export type StartFields = Readonly<Record<string, string>>;

/** Why it cannot be so, and at which field; undefined when it is about the whole. */
export type Fault = { readonly field: string | undefined; readonly text: string };

export const nobody = '@nobody';

/** Names in `per_session` with a field of their own kind; any other is a param, as JSON where it is JSON. */
const placed: readonly string[] = ['working_dir', 'worktree', 'extra_dirs', 'env'];

export function startRequest(
  target: Target,
  said: { readonly prompt: string; readonly files: readonly Part[] },
  fields: StartFields,
): Result<StartRequest, Fault> {
  const params = paramsOf(target, fields);
  if (!params.ok) return params;
  const budget = budgetOf(fields);
  if (!budget.ok) return budget;
  const prompt = promptOf(said);
  const title = fields.title?.trim() ?? '';
  const folder = fields.working_dir?.trim() ?? '';
  return ok({
    [target.kind]: target.name,
    ...(prompt === undefined ? {} : { prompt }),
    ...(title === '' ? {} : { title }),
    ...(folder === '' ? {} : { workingDir: folder }),
    ...(Object.keys(params.value).length === 0 ? {} : { params: params.value }),
    ...(budget.value === undefined ? {} : { budget: budget.value }),
    ...supervisorOf(fields.supervisor),
    ...(fields.once === 'yes' ? { once: true } : {}),
  });
}

function promptOf({
  prompt,
  files,
}: {
  readonly prompt: string;
  readonly files: readonly Part[];
}): string | LlmContent | undefined {
  const text = prompt.trim();
  if (files.length === 0) return text === '' ? undefined : text;
  return { role: 'user', parts: [...(text === '' ? [] : [{ text }]), ...files] };
}

function supervisorOf(chosen = ''): Pick<StartRequest, 'supervisor'> {
  if (chosen === '') return {};
  return { supervisor: chosen === nobody ? null : chosen };
}

/** The field of a param; what the session's own words are for is not a name in `per_session`. */
function paramsOf({ worker }: Target, fields: StartFields): Result<JsonObject, Fault> {
  const params: Record<string, Json> = {};
  for (const name of worker?.perSession ?? []) {
    const text = fields[name]?.trim() ?? '';
    if (placed.includes(name) || text === '') continue;
    params[name] = settingValue(text);
  }
  const folders = linesOf(fields.extra_dirs);
  if (folders.length > 0) params.extra_dirs = folders;
  const worktree = worktreeOf(fields, worker?.worktree === true);
  if (worktree !== undefined) params.worktree = worktree;
  const env = envOf(linesOf(fields.env));
  if (!env.ok) return env;
  if (Object.keys(env.value).length > 0) params.env = env.value;
  return ok(params);
}

function worktreeOf({ worktree, worktree_name: name = '' }: StartFields, isUsual: boolean): Json | undefined {
  if (worktree === undefined) return undefined;
  if (worktree === 'yes' && name.trim() !== '') return name.trim();
  return (worktree === 'yes') === isUsual ? undefined : worktree === 'yes';
}

function envOf(lines: readonly string[]): Result<JsonObject, Fault> {
  const env: Record<string, Json> = {};
  for (const line of lines) {
    const [, name, variable] = /^([A-Za-z_]\w*)\s*=\s*([A-Za-z_]\w*)$/.exec(line) ?? [];
    if (name === undefined || variable === undefined) {
      const text = `“${line}” is no NAME=VARIABLE: values are never sent, only the names of the server's variables.`;
      return err({ field: 'env', text });
    }
    env[name] = { env: variable };
  }
  return ok(env);
}

function budgetOf(fields: StartFields): Result<Budget | undefined, Fault> {
  const budget: Record<string, number> = {};
  for (const unit of budgetUnits) {
    const field = `budget.${unit}`;
    const text = fields[field]?.trim() ?? '';
    if (text === '') continue;
    const amount = Number(text);
    if (!(amount > 0)) return err({ field, text: 'A number above 0.' });
    budget[unit] = amount;
  }
  return ok(Object.keys(budget).length === 0 ? undefined : budget);
}

function linesOf(text = ''): string[] {
  return text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '');
}
