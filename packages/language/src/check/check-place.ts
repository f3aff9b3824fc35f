import type { AssignExpression, Expression, NameExpression } from '../syntax/expression.ts';
import { checkFits, declareLocal, fitOrReport, reportMisfit } from './body.ts';
import { arithmetic } from './check-operator.ts';
import { CODE } from './codes.ts';
import type { Body } from './context.ts';
import type { Local, ModuleVariable } from './facts.ts';
import { isSet, setFrom } from './flow.ts';
import { ANY, CON, ERROR, FLOAT, isCon, NIL, prune, type Type } from './types.ts';
import { assign } from './unify.ts';

/** What an assignment or a `mut self` call would change. */
export type PlaceRoot =
  | { readonly kind: 'local'; readonly local: Local; readonly node: Expression }
  | { readonly kind: 'variable'; readonly variable: ModuleVariable; readonly node: Expression }
  | { readonly kind: 'constant'; readonly name: string; readonly node: Expression }
  /** A store, model or other declared thing: not a variable, but a method may change what it stands for. */
  | { readonly kind: 'resource' }
  /** A value that nothing refers to: `[1].push(2)`. */
  | { readonly kind: 'temporary' }
  | { readonly kind: 'broken' };

/** The variable at the bottom of `a.b[i].c`. The expression has been checked. */
export function placeRoot(body: Body, node: Expression): PlaceRoot {
  switch (node.kind) {
    case 'ParenExpression':
      return placeRoot(body, node.expression);
    case 'FieldExpression':
    case 'TupleFieldExpression':
    case 'IndexExpression':
      return placeRoot(body, node.receiver);
    case 'NameExpression':
    case 'PathExpression': {
      const resolved = body.cx.facts.names.get(node.id);
      if (resolved === undefined || resolved.kind === 'unresolved') return { kind: 'broken' };
      if (resolved.kind === 'local') return { kind: 'local', local: resolved.local, node };
      if (resolved.kind === 'module-variable') return { kind: 'variable', variable: resolved.variable, node };
      if (resolved.kind === 'constant') return { kind: 'constant', name: resolved.constant.item.name.text, node };
      if (resolved.kind === 'resource') return { kind: 'resource' };
      return { kind: 'temporary' };
    }
    case 'ErrorExpression':
      return { kind: 'broken' };
    default:
      return { kind: 'temporary' };
  }
}

/** Marks the variable as changed, and reports when it must not be. `what` says how: `assign to`, `change`. */
export function mutate(body: Body, root: PlaceRoot, what: string): void {
  if (root.kind === 'constant') {
    body.cx.report.error(CODE.notAssignable, root.node.span, `cannot ${what} the constant \`${root.name}\``);
    return;
  }
  if (root.kind !== 'local' && root.kind !== 'variable') return;
  const target = root.kind === 'local' ? root.local : root.variable;
  if (root.kind === 'local') root.local.mutated = true;
  if (target.mutable) return;
  reportNotMutable(body, root.node, target, what);
}

function reportNotMutable(body: Body, node: Expression, target: Local | ModuleVariable, what: string): void {
  const span = body.cx.declarations.get(target.id);
  body.cx.report.error(CODE.notAssignable, node.span, `cannot ${what} \`${target.name}\`, which is not \`mut\``, {
    help: target.name === 'self' ? 'take it as `mut self`' : `declare it with \`let mut ${target.name}\``,
    labels: span === undefined ? [] : [{ span: span.span, message: 'declared here', file: span.file }],
  });
}

export function checkAssign(body: Body, node: AssignExpression): Type {
  const { target } = node;
  if (node.operator === '=') {
    const deferred = deferredLocal(body, target);
    if (deferred !== undefined) return assignDeferred(body, node, deferred);
  }
  const type = checkTarget(body, target);
  if (type === undefined) {
    const value = body.check(node.value);
    if (node.operator === '=' && target.kind === 'NameExpression') declareMissing(body, target, value);
    return ERROR;
  }
  const isName = target.kind === 'NameExpression';
  if (node.operator === '=') {
    checkFits(body, node.value, { type, what: 'assignment' });
    return isName ? type : NIL;
  }
  const left = prune(type);
  const right = prune(body.check(node.value, isCon(left, CON.Float) ? FLOAT : undefined));
  const result = arithmetic(body, node, left, right);
  if (!assign(body.cx, result, type).ok) reportMisfit(body.cx, node.span, result, { type, what: 'assignment' });
  return isName ? type : NIL;
}

/** `x = 1;` where a `let` is missing: that is told once, and `x` is known from there on. */
function declareMissing(body: Body, { id, name }: NameExpression, type: Type): void {
  const found = body.cx.facts.names.get(id);
  if (found !== undefined && found.kind !== 'unresolved') return;
  declareLocal(body, { id, name: name.text, span: name.span, type, mutable: true, what: undefined });
}

/** The type of the place, or undefined when it is none. Reading it does not count as a use. */
function checkTarget(body: Body, target: Expression): Type | undefined {
  if (target.kind === 'ParenExpression') return checkTarget(body, target.expression);
  const isPlace =
    target.kind === 'NameExpression' ||
    target.kind === 'PathExpression' ||
    target.kind === 'FieldExpression' ||
    target.kind === 'TupleFieldExpression' ||
    target.kind === 'IndexExpression';
  const type = body.check(target);
  if (target.kind === 'ErrorExpression') return undefined;
  const root = placeRoot(body, target);
  if (root.kind === 'broken') return undefined;
  if (!isPlace || root.kind === 'temporary' || (root.kind === 'resource' && target.kind === 'NameExpression')) {
    body.cx.report.error(CODE.notAssignable, target.span, 'cannot assign to this expression', {
      help: 'only variables, fields and elements can be assigned; `==` compares',
    });
    return undefined;
  }
  mutate(body, root, target.kind === 'NameExpression' ? 'assign to' : 'change');
  return isSliceTarget(body, target) ? undefined : type;
}

function isSliceTarget(body: Body, target: Expression): boolean {
  if (target.kind !== 'IndexExpression') return false;
  const receiver = prune(body.cx.facts.types.get(target.receiver.id) ?? ANY);
  if (isCon(receiver, CON.String)) {
    body.cx.report.error(CODE.notAssignable, target.span, 'the characters of a String cannot be assigned', {
      help: 'build a new String',
    });
    return true;
  }
  const index = prune(body.cx.facts.types.get(target.index.id) ?? ANY);
  if (!isCon(index, CON.Range)) return false;
  body.cx.report.error(CODE.notAssignable, target.span, 'a slice cannot be assigned');
  return true;
}

/** `let x;` takes its type from the first assignment, and may be assigned though it is not `mut`. */
function deferredLocal(body: Body, target: Expression): Local | undefined {
  if (target.kind !== 'NameExpression') return undefined;
  for (let scope: Body['scope'] | undefined = body.scope; scope !== undefined; scope = scope.parent) {
    const local = scope.locals?.get(target.name.text);
    if (local !== undefined) return body.cx.uninitialized.has(local) ? local : undefined;
  }
  return undefined;
}

function assignDeferred(body: Body, node: AssignExpression, local: Local): Type {
  const value = body.check(node.value, local.type);
  if (isSet(body, local) && !local.mutable) reportNotMutable(body, node.target, local, 'assign to');
  setFrom(body, local);
  body.cx.uninitialized.set(local, 'assigned');
  const { used } = local;
  body.check(node.target);
  local.used = used;
  local.mutated = true;
  fitOrReport(body, node.value, value, { type: local.type, what: 'assignment' });
  return local.type;
}
