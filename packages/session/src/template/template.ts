import { err, ok, type Result } from '@concerto/base';
import type { SessionKind, StartSession, Template, ToolConfig } from '@concerto/protocol';
import { checkToolConfig, mergeToolConfigs, type ToolFault } from './tool-config.ts';

export type Target = { readonly kind: SessionKind; readonly name: string };

export type TargetFault = {
  readonly code: 'invalid_target' | 'invalid_tools';
  readonly message: string;
  readonly errors: readonly ToolFault[];
};

const kinds = ['agent', 'program', 'assistant'] as const;

/** A template names exactly one of agent, program and assistant, and tools that would be accepted at a start. */
export function checkTemplate(template: Template): Result<Template, TargetFault> {
  const target = targetOf(template);
  if (!target.ok) return target;
  if (template.tools === undefined) return ok(template);
  const tools = checkToolConfig(template.tools);
  return tools.ok ? ok(template) : err(invalidTools(tools.error));
}

function targetOf(wish: Pick<Template, 'agent' | 'program' | 'assistant'>): Result<Target, TargetFault> {
  const named = kinds.flatMap((kind) => {
    const name = wish[kind];
    return name === undefined ? [] : [{ kind, name }];
  });
  const [target] = named;
  if (target !== undefined && named.length === 1) return ok(target);
  const message = 'name exactly one of agent, program and assistant';
  return err({ code: 'invalid_target', message, errors: [{ path: '', message }] });
}

function invalidTools(errors: readonly ToolFault[]): TargetFault {
  const [first] = errors;
  const message = first === undefined ? 'the tools are not valid' : `tools.${first.path}: ${first.message}`;
  return { code: 'invalid_tools', message, errors };
}

export type ResolvedStart = {
  readonly target: Target;
  readonly prompt?: string | undefined;
  readonly tools?: ToolConfig | undefined;
  readonly template?: string | undefined;
};

/**
 * What a start means, before anything is reserved or written. The session keeps this snapshot: editing the
 * template later changes nothing in it.
 */
export function resolveStart(wish: StartSession, template: Template | undefined): Result<ResolvedStart, TargetFault> {
  if (wish.template !== undefined && kinds.some((kind) => wish[kind] !== undefined)) {
    const message = 'name a template, or one of agent, program and assistant, not both';
    return err({ code: 'invalid_target', message, errors: [{ path: 'template', message }] });
  }
  const target = targetOf(template ?? wish);
  if (!target.ok) return target;
  const own = wish.tools === undefined ? ok(undefined) : checkToolConfig(wish.tools);
  if (!own.ok) return err(invalidTools(own.error));
  const base = template?.tools === undefined ? ok(undefined) : checkToolConfig(template.tools);
  if (!base.ok) return err(invalidTools(base.error));
  return ok({
    target: target.value,
    prompt: wish.prompt ?? template?.prompt,
    tools: mergeToolConfigs(base.value, own.value),
    template: template?.name,
  });
}
