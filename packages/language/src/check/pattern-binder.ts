import type { Path } from '../syntax/node.ts';
import type { Pattern } from '../syntax/pattern.ts';
import { declareLocal } from './body.ts';
import { CODE } from './codes.ts';
import type { Body } from './context.ts';
import type { Local, ModuleVariable } from './facts.ts';
import { canSee, type Meaning } from './module-scope.ts';
import { didYouMean, reportHidden, reportMissing, resolvePath } from './resolve-path.ts';
import { showType, type Type } from './types.ts';
import { assign } from './unify.ts';

export interface PatternUse {
  readonly mutable: boolean;
  readonly purpose: 'let' | 'for' | 'match' | 'parameter';
}

export type Bound = Local | ModuleVariable;

export interface Binder {
  readonly body: Body;
  readonly use: PatternUse;
  /** Names of this pattern; the alternatives of an or-pattern share theirs. */
  readonly names: Map<string, Bound>;
  /** In a later alternative of an or-pattern: names that exist already. */
  readonly shared: Map<string, Bound> | undefined;
}

export function misfit(binder: Binder, pattern: Pattern, type: Type, what: string): void {
  binder.body.cx.report.error(
    CODE.pattern,
    pattern.span,
    `this pattern is for \`${what}\`, but the value is \`${showType(type)}\``,
  );
}

interface NewName {
  readonly node: { readonly id: number };
  readonly name: { readonly text: string; readonly span: Pattern['span'] };
  readonly type: Type;
  readonly mutable: boolean;
}

export function declareName(binder: Binder, options: NewName): Bound {
  const { body, names, shared, use } = binder;
  const { name, type, mutable, node } = options;
  const first = shared?.get(name.text);
  if (first !== undefined) {
    names.set(name.text, first);
    if ('owner' in first) body.cx.facts.locals.set(node.id, first);
    const fit = assign(body.cx, type, first.type);
    if (!fit.ok) {
      body.cx.report.error(
        CODE.pattern,
        name.span,
        `\`${name.text}\` is \`${showType(first.type)}\` in one alternative and \`${showType(type)}\` in another`,
      );
    }
    return first;
  }
  if (names.has(name.text) && name.text !== '') {
    body.cx.report.error(CODE.duplicate, name.span, `\`${name.text}\` is bound twice in this pattern`);
  }
  const atTop = body.fn.kind === 'top' && body.scope.parent === undefined && use.purpose === 'let';
  const local = atTop
    ? body.cx.declareGlobal(body, { id: node.id, name: name.text, span: name.span, type, mutable })
    : declareLocal(body, { id: node.id, name: name.text, span: name.span, type, mutable, what: 'variable' });
  names.set(name.text, local);
  return local;
}

/** What a path in a pattern names; undefined when that was reported. */
export function resolvePatternPath(binder: Binder, path: Path): Meaning | undefined {
  const { body } = binder;
  const { cx } = body;
  if (path.segments.some((segment) => segment.text === '')) return undefined;
  const [first, second] = path.segments;
  const self = body.types.self;
  if (first?.text === 'Self' && second !== undefined && self?.kind === 'applied') {
    const variant = self.con.variants?.get(second.text);
    if (variant !== undefined) return { kind: 'variant', variant } as const;
  }
  const target = resolvePath(cx, body.module, path);
  if (target.kind === 'entry') {
    if (!canSee(body.module, target.entry)) {
      reportHidden(cx, target.entry, path, cx.report.file);
      return undefined;
    }
    return target.entry.meaning;
  }
  if (target.kind === 'missing') {
    const segments = path.segments.map((segment) => segment.text);
    reportMissing(cx, { file: cx.report.file, path, segments, target, module: body.module });
    return undefined;
  }
  const last = path.segments[path.segments.length - 1] ?? path;
  cx.report.error(CODE.undefinedName, last.span, `no variant \`${target.name}\` in \`${target.con.name}\``, {
    help: didYouMean(target.name, target.con.variants?.keys() ?? []),
  });
  return undefined;
}
