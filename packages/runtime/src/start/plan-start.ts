import { err, type Json, nearest, ok, type Result } from '@concerto/base';
import {
  type Budget,
  type LlmContent,
  type SessionKind,
  type StartSession,
  type Template,
  type ToolConfig,
  titleLengthMax,
  wordsOf,
} from '@concerto/protocol';
import { checkToolConfig, mergeToolConfigs, missingSecrets, type ToolFault } from '@concerto/session';
import type { Catalog, CatalogEntry } from '../catalog.ts';
import type { Environment } from '../ports.ts';
import { refusal, type ServiceRefusal } from '../session/service-refusal.ts';
import { unknownModel } from './unknown-model.ts';

export type StartPlan = {
  readonly kind: SessionKind;
  readonly name: string;
  readonly title: string;
  readonly prompt: string | LlmContent;
  readonly tools: ToolConfig | undefined;
  readonly budget: Budget | undefined;
  /** The program that answers for it. */
  readonly supervisor: string | undefined;
  readonly entry: CatalogEntry;
};

const kinds = ['agent', 'program', 'assistant'] as const;

/** What a request (with its template) asks to start, checked before a slot is taken or anything is written. */
export function planStart(
  request: StartSession,
  known: { readonly template: Template | undefined; readonly catalog: Catalog; readonly environment: Environment },
): Result<StartPlan, ServiceRefusal> {
  if (request.template !== undefined && known.template === undefined) {
    return err(
      refusal(
        'no_such_template',
        `there is no template ${JSON.stringify(request.template)}; GET /api/templates, or \`concerto sessions offers\`, lists them`,
      ),
    );
  }
  const target = targetOf(request, known.template);
  if (!target.ok) return target;
  const { kind, name } = target.value;
  const entry = known.catalog.find(kind, name);
  if (entry === undefined) return err(unknownTarget(kind, name, known.catalog));
  const fault = entry.kind === 'assistant' ? entry.fault?.() : undefined;
  if (fault !== undefined) return err(refusal('assistant_not_ready', `assistant ${JSON.stringify(name)}: ${fault}`));
  const tools = mergedTools(request, known);
  if (!tools.ok) return tools;
  // A program needs nobody to tell it what to do; its run still begins with a prompt.
  const prompt = request.prompt ?? known.template?.prompt ?? (kind === 'program' ? `run ${name}` : undefined);
  if (prompt === undefined) return err(refusal('invalid_start', '`prompt`: is required'));
  // What the start names counts for that, the manifest for the rest.
  const limits = { ...entry.budget, ...request.budget };
  const budget = Object.keys(limits).length === 0 ? undefined : limits;
  const supervisor = supervisorOf(request, { ...known, entry });
  if (!supervisor.ok) return supervisor;
  const lost = unknownModel(request.rules ?? [], known.catalog);
  if (lost !== undefined) return err(lost);
  const title = request.title ?? known.template?.title ?? titleOf(prompt, name);
  return ok({ kind, name, title, prompt, tools: tools.value, budget, supervisor: supervisor.value, entry });
}

/** What the start says counts, then its template, then the manifest. */
function supervisorOf(
  request: StartSession,
  known: { readonly template: Template | undefined; readonly catalog: Catalog; readonly entry: CatalogEntry },
): Result<string | undefined, ServiceRefusal> {
  if (request.supervisor === null) return ok(undefined);
  const name = request.supervisor ?? known.template?.supervisor ?? known.entry.supervisor;
  return name === undefined ? ok(name) : knownSupervisor(name, known.catalog);
}

export function knownSupervisor(name: string, catalog: Catalog): Result<string, ServiceRefusal> {
  return catalog.find('program', name) === undefined ? err(unknownTarget('program', name, catalog)) : ok(name);
}

export function targetOf(
  request: Pick<StartSession, (typeof kinds)[number]>,
  template: Template | undefined,
  wanted = '`agent`, `program`, `assistant` or `template`',
): Result<{ readonly kind: SessionKind; readonly name: string }, ServiceRefusal> {
  for (const source of [request, template]) {
    const named = kinds.flatMap((kind) => {
      const name = source?.[kind];
      return name === undefined ? [] : [{ kind, name }];
    });
    if (named.length > 1)
      return err(refusal('invalid_start', 'name one of `agent`, `program`, `assistant`, not several'));
    if (named[0] !== undefined) return ok(named[0]);
  }
  return err(refusal('invalid_start', `name what to start: ${wanted}`));
}

/** A session's own over its template's; every secret that is referred to must be there before anything begins. */
function mergedTools(
  request: StartSession,
  known: { readonly template: Template | undefined; readonly environment: Environment },
): Result<ToolConfig | undefined, ServiceRefusal> {
  const own = toolsOf(request.tools);
  if (!own.ok) return own;
  const base = toolsOf(known.template?.tools);
  if (!base.ok) return base;
  const merged = mergeToolConfigs(base.value, own.value);
  const missing = merged === undefined ? [] : missingSecrets(merged, (name) => known.environment[name] !== undefined);
  return missing.length === 0 ? ok(merged) : err(invalidTools(missing));
}

export function toolsOf(tools: Json | undefined): Result<ToolConfig | undefined, ServiceRefusal> {
  if (tools === undefined) return ok(undefined);
  const checked = checkToolConfig(tools);
  return checked.ok ? checked : err(invalidTools(checked.error));
}

function invalidTools(faults: readonly ToolFault[]): ServiceRefusal {
  const errors = faults.map(({ path, message }) => ({ path, message }));
  const first = errors[0];
  const where = first === undefined || first.path === '' ? 'tools' : `tools.${first.path}`;
  return refusal('invalid_tools', `${where}: ${first?.message ?? 'is not valid'}`, { errors });
}

function unknownTarget(kind: SessionKind, name: string, catalog: Catalog): ServiceRefusal {
  const names = catalog.list().flatMap((entry) => (entry.kind === kind ? [entry.name] : []));
  const meant = nearest(name, names);
  const hint = meant === undefined ? knownNames(kind, names) : `did you mean ${JSON.stringify(meant)}?`;
  return refusal(`no_such_${kind}`, `there is no ${kind} ${JSON.stringify(name)}; ${hint}`, { known: names });
}

function knownNames(kind: SessionKind, names: readonly string[]): string {
  return names.length === 0 ? `no ${kind} is configured` : `there are ${names.join(', ')}`;
}

function titleOf(prompt: string | LlmContent, name: string): string {
  const words = typeof prompt === 'string' ? prompt : wordsOf(prompt);
  const line = words.trim().split('\n', 1)[0] ?? '';
  if (line === '') return name;
  return line.length <= 80 ? line : `${line.slice(0, Math.min(79, titleLengthMax - 1))}…`;
}
