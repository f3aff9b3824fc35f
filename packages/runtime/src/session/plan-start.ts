import { err, type Json, nearest, ok, type Result } from '@concerto/base';
import { type SessionKind, type StartSession, type Template, ToolConfig, titleLengthMax } from '@concerto/protocol';
import type { Catalog } from '../catalog.ts';
import { refusal, type ServiceRefusal } from './service-refusal.ts';

export type StartPlan = {
  readonly kind: SessionKind;
  readonly name: string;
  readonly title: string;
  readonly prompt: string;
  readonly tools: ToolConfig | undefined;
};

const kinds = ['agent', 'program', 'assistant'] as const;

/** What a request (with its template) asks to start, checked before a slot is taken or anything is written. */
export function planStart(
  request: StartSession,
  known: { readonly template: Template | undefined; readonly catalog: Catalog },
): Result<StartPlan, ServiceRefusal> {
  if (request.template !== undefined && known.template === undefined) {
    return err(refusal('no_such_template', `there is no template ${JSON.stringify(request.template)}`));
  }
  const target = targetOf(request, known.template);
  if (!target.ok) return target;
  const { kind, name } = target.value;
  if (known.catalog.find(kind, name) === undefined) return err(unknownTarget(kind, name, known.catalog));
  const tools = toolsOf(request.tools ?? known.template?.tools);
  if (!tools.ok) return tools;
  // A program needs nobody to tell it what to do; its run still begins with a prompt.
  const prompt = request.prompt ?? known.template?.prompt ?? (kind === 'program' ? `run ${name}` : undefined);
  if (prompt === undefined) return err(refusal('invalid_start', '`prompt`: is required'));
  return ok({ kind, name, title: request.title ?? titleOf(prompt), prompt, tools: tools.value });
}

export function targetOf(
  request: Pick<StartSession, (typeof kinds)[number]>,
  template: Template | undefined,
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
  return err(refusal('invalid_start', 'name what to start: `agent`, `program`, `assistant` or `template`'));
}

export function toolsOf(tools: Json | undefined): Result<ToolConfig | undefined, ServiceRefusal> {
  if (tools === undefined) return ok(undefined);
  const parsed = ToolConfig.safeParse(tools);
  if (parsed.success) return ok(parsed.data);
  const errors = parsed.error.issues.map((issue) => ({
    path: issue.path.map(String).join('.'),
    message: issue.message,
  }));
  const first = errors[0];
  const where = first === undefined || first.path === '' ? 'tools' : `tools.${first.path}`;
  return err(refusal('invalid_tools', `${where}: ${first?.message ?? 'is not valid'}`, { errors }));
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

function titleOf(prompt: string): string {
  const line = prompt.trim().split('\n', 1)[0] ?? '';
  return line.length <= 80 ? line : `${line.slice(0, Math.min(79, titleLengthMax - 1))}…`;
}
