import type { Span } from '../source/span.ts';
import type { Expression } from '../syntax/expression.ts';
import type { NodeId } from '../syntax/node.ts';
import type { TypeExpression } from '../syntax/type-expression.ts';
import { CODE } from './codes.ts';
import type { BlockScope, Body, Context, FunctionScope, TypeScope } from './context.ts';
import type { Local } from './facts.ts';
import { helpToConvert } from './help-with-types.ts';
import type { Entry } from './module-scope.ts';
import { lookupInModule } from './resolve-path.ts';
import { resolveType } from './resolve-type.ts';
import { ANY, CON, isCon, prune, showType, type Type } from './types.ts';
import { assign, type Coercion } from './unify.ts';

export interface NewFunction {
  readonly id: NodeId;
  readonly kind: FunctionScope['kind'];
  readonly parent?: FunctionScope | undefined;
  readonly isAsync: boolean;
  readonly returnType: Type;
  readonly returnDeclared: boolean;
  readonly failure: FunctionScope['failure'];
  readonly errorType: Type;
  readonly path: string;
  readonly sessionResult?: Type;
}

export function functionScope(options: NewFunction): FunctionScope {
  const { id, kind, parent, isAsync, returnType, returnDeclared, failure, errorType, path, sessionResult } = options;
  return {
    id,
    kind,
    parent,
    isAsync,
    returnType,
    returnDeclared,
    failure,
    errorType,
    path,
    loops: [],
    sessionResult,
    tries: [],
    captures: [],
    propagations: [],
  };
}

export function createBody(
  cx: Context,
  types: TypeScope,
  fn: FunctionScope,
  check: (body: Body, node: Expression, expected?: Type) => Type,
): Body {
  const body: Body = {
    cx,
    module: types.module,
    types,
    scope: { parent: undefined, locals: undefined, items: undefined, owner: fn },
    fn,
    self: types.self,
    diverges: false,
    unset: new Set(),
    chain: undefined,
    depth: 0,
    check: (node, expected) => check(body, node, expected),
  };
  return body;
}

/** Runs with a scope of its own; its variables end with it, and unused ones are reported. */
export function inScope<T>(body: Body, run: () => T): T {
  const outer = body.scope;
  body.scope = { parent: outer, locals: undefined, items: undefined, owner: body.fn };
  try {
    return run();
  } finally {
    body.scope = outer;
  }
}

/** Runs the body of a closure or handler: a new function, inside the same lexical scope. */
export function inFunction<T>(body: Body, fn: FunctionScope, run: () => T): T {
  const { fn: outerFn, scope: outerScope, diverges, unset, chain } = body;
  body.fn = fn;
  body.diverges = false;
  body.chain = undefined;
  body.scope = { parent: outerScope, locals: undefined, items: undefined, owner: fn };
  try {
    return run();
  } finally {
    body.fn = outerFn;
    body.scope = outerScope;
    body.diverges = diverges;
    body.unset = unset;
    body.chain = chain;
  }
}

export interface NewLocal {
  readonly id: NodeId;
  readonly name: string;
  readonly span: Span;
  readonly type: Type;
  readonly mutable: boolean;
  /** What the warning calls it; undefined: no warning when it is never used. */
  readonly what: 'variable' | 'parameter' | undefined;
}

/** A second binding of a name is a new variable; what was captured before keeps the old one (D10). */
export function declareLocal(body: Body, options: NewLocal): Local {
  const { id, name, type, mutable, what, span } = options;
  const local: Local = {
    id,
    name,
    mutable,
    owner: body.fn.id,
    type,
    captured: false,
    mutated: false,
    used: false,
  };
  body.cx.facts.locals.set(id, local);
  body.cx.declarations.set(id, { span, file: body.cx.report.file });
  if (name === '') return local;
  body.scope.locals ??= new Map();
  body.scope.locals.set(name, local);
  if (what !== undefined && !name.startsWith('_')) {
    body.cx.watched.push({ local, what, span, file: body.cx.report.file });
  }
  return local;
}

export type FoundName =
  | { readonly kind: 'local'; readonly local: Local }
  | { readonly kind: 'entry'; readonly entry: Entry };

/** A variable or a local item, innermost first; crossing a closure marks the variable as captured. */
export function lookupLocal(body: Body, name: string): FoundName | undefined {
  for (let scope: BlockScope | undefined = body.scope; scope !== undefined; scope = scope.parent) {
    const local = scope.locals?.get(name);
    if (local !== undefined) {
      if (scope.owner !== body.fn) capture(body.fn, scope.owner, local);
      return { kind: 'local', local };
    }
    if (scope.items !== undefined) {
      const entry = lookupInModule(body.cx, scope.items, name);
      if (entry !== undefined) return { kind: 'entry', entry };
    }
  }
  return undefined;
}

function capture(from: FunctionScope, owner: FunctionScope, local: Local): void {
  local.captured = true;
  for (let fn: FunctionScope | undefined = from; fn !== undefined && fn !== owner; fn = fn.parent) {
    if (!fn.captures.includes(local)) fn.captures.push(local);
  }
}

export function localNames(body: Body): string[] {
  const names: string[] = [];
  for (let scope: BlockScope | undefined = body.scope; scope !== undefined; scope = scope.parent) {
    if (scope.locals !== undefined) names.push(...scope.locals.keys());
    if (scope.items !== undefined) names.push(...scope.items.entries.keys());
  }
  return names;
}

export function readType(body: Body, node: TypeExpression): Type {
  return resolveType(body.cx, body.types, node);
}

/** How a mismatch is told: `expected \`Int\`, found \`String\`` after a word on where. */
export interface Wanted {
  readonly type: Type;
  /** `the initialiser`, `argument \`n\``, …. */
  readonly what: string;
  readonly code?: (typeof CODE)[keyof typeof CODE];
  readonly label?: { readonly span: Span; readonly message: string; readonly file?: string };
  readonly help?: string;
}

/** Checks an expression that must fit a type; records the conversion it needs and reports a misfit. */
export function checkFits(body: Body, node: Expression, wanted: Wanted): Type {
  const actual = body.check(node, wanted.type);
  fitOrReport(body, node, actual, wanted);
  return actual;
}

/** A value that leaves the function. A stage gives its declared type or a Result of it. */
export function checkReturned(body: Body, node: Expression, what: string): Type {
  const { fn } = body;
  const type = fn.returnType;
  if (fn.kind !== 'stage') {
    const saysNothing = fn.kind === 'function' && isCon(prune(type), CON.Nil);
    const help = 'a function that gives a value says so: `-> Type` behind its parameters';
    return checkFits(body, node, { type, what, ...(saysNothing ? { help } : {}) });
  }
  markStageResults(body.cx, node);
  const actual = body.check(node, type);
  fitStageResult(body, node, actual, { type, what });
  return actual;
}

/** Every branch that the value of a stage can come from may be its type or a Result of it. */
function markStageResults(cx: Context, node: Expression): void {
  const branches = branchesOf(node);
  for (const branch of branches) {
    cx.stageResults.add(branch.id);
    markStageResults(cx, branch);
  }
}

function branchesOf(node: Expression): readonly Expression[] {
  switch (node.kind) {
    case 'ParenExpression':
      return [node.expression];
    case 'Block':
      return node.tail === undefined ? [] : [node.tail];
    case 'IfExpression':
      return node.otherwise === undefined ? [] : [node.then, node.otherwise];
    case 'MatchExpression':
      return node.arms.map((arm) => arm.body);
    case 'TryExpression':
      return node.catches.length === 0 ? [] : [node.body, ...node.catches.map((clause) => clause.body)];
    default:
      return [];
  }
}

/** The declared type of a stage or a Result of it, whichever of the two was declared. */
export function fitStageResult(body: Body, node: Expression, actual: Type, wanted: Wanted): void {
  const { type } = wanted;
  const declared = prune(type);
  const given = prune(actual);
  const isResult = isCon(given, CON.Result);
  if (isCon(declared, CON.Result) === isResult) fitOrReport(body, node, actual, wanted);
  else if (isResult) {
    if (!assign(body.cx, given.args[0] ?? ANY, type).ok) reportMisfit(body.cx, blameNode(node), actual, wanted);
  } else if (isCon(declared, CON.Result)) {
    const fit = assign(body.cx, actual, declared.args[0] ?? ANY);
    if (fit.ok) coerce(body, node, { kind: 'ok', inner: fit.coercion });
    else reportMisfit(body.cx, blameNode(node), actual, wanted);
  }
}

export function fitOrReport(body: Body, node: Expression, actual: Type, wanted: Wanted): boolean {
  const fit = assign(body.cx, actual, wanted.type);
  if (fit.ok) {
    if (fit.coercion !== undefined) coerce(body, node, fit.coercion);
    return true;
  }
  const help = wanted.help ?? helpForIf(node, actual);
  reportMisfit(body.cx, blameNode(node), actual, help === undefined ? wanted : { ...wanted, help });
  return false;
}

function helpForIf(node: Expression, actual: Type): string | undefined {
  const isOpen = node.kind === 'IfExpression' && node.otherwise === undefined && isCon(prune(actual), CON.Nil);
  return isOpen ? 'without `else` its value is nil when the condition does not hold: add `else { … }`' : undefined;
}

export function reportMisfit(cx: Context, span: Span, actual: Type, wanted: Wanted): void {
  const expected = showType(wanted.type);
  const found = showType(actual);
  cx.report.error(wanted.code ?? CODE.mismatch, span, `${wanted.what}: expected \`${expected}\`, found \`${found}\``, {
    help: wanted.help ?? helpFor(cx, actual, wanted.type),
    labels: wanted.label === undefined ? [] : [wanted.label],
  });
}

function helpFor(cx: Context, rawFrom: Type, rawTo: Type): string | undefined {
  const from = prune(rawFrom);
  const to = prune(rawTo);
  if (from.kind !== 'applied' || to.kind !== 'applied') return undefined;
  const [name, target] = [from.con.name, to.con.name];
  if (name === 'Option' && assign(cx, from.args[0] ?? ANY, to).ok)
    return 'take the value out with `?? default` or `match`';
  if (name === 'Result' && assign(cx, from.args[0] ?? ANY, to).ok)
    return 'take the value out with `?`, `match` or `unwrap_or`';
  if (target === 'Result') return 'wrap the value: `Ok(…)`';
  if (target === 'String') return 'a template turns any value into text: `"${value}"`';
  if (name === 'Float' && target === 'Int') return 'convert it: `… as Int`';
  return helpToConvert(from, to);
}

/** The smallest part that is to blame: the tail of a block, not the whole block. */
function blameNode(node: Expression): Span {
  if (node.kind === 'ParenExpression') return blameNode(node.expression);
  if (node.kind === 'Block' && node.tail !== undefined) return blameNode(node.tail);
  return node.span;
}

export function coerce(body: Body, node: Expression, coercion: Coercion): void {
  body.cx.facts.coercions.set(node.id, coercion);
}
