import type {
  AwaitExpression,
  CatchClause,
  Expression,
  PropagateExpression,
  RaceExpression,
  ReturnExpression,
  ThrowExpression,
  TryExpression,
} from '../syntax/expression.ts';
import { checkReturned, declareLocal, inScope, reportMisfit } from './body.ts';
import { checkBlock, checkStatements } from './check-block.ts';
import { cutsChain } from './check-chain.ts';
import { leavingAs } from './check-closure.ts';
import { Branches } from './check-control.ts';
import { CODE } from './codes.ts';
import type { Body } from './context.ts';
import type { CatchTest, Propagation } from './facts.ts';
import { maybe, Ways } from './flow.ts';
import { type HasImpls, implOf } from './impls.ts';
import { resolvePath } from './resolve-path.ts';
import { resolveType } from './resolve-type.ts';
import { variantRef } from './resolve-value.ts';
import {
  ANY,
  applied,
  CON,
  ERROR,
  isCon,
  isDynamic,
  NEVER,
  NIL,
  prune,
  resultOf,
  showType,
  type Type,
} from './types.ts';
import { assign, join } from './unify.ts';

export function checkReturn(body: Body, node: ReturnExpression): Type {
  const { fn } = body;
  const finish = (): Type => {
    body.diverges = true;
    return NEVER;
  };
  if (fn.kind === 'top') {
    body.cx.report.error(CODE.outsideLoop, node.span, '`return` outside a function');
    if (node.value !== undefined) body.check(node.value);
    return finish();
  }
  if (fn.loops.some((loop) => loop.kind === 'parallel')) {
    body.cx.report.error(CODE.outsideLoop, node.span, '`return` cannot leave a `parallel for`', {
      help: 'the value of a round is the last expression of its block; `continue` ends a round early',
    });
  }
  const type = fn.returnType;
  if (node.value === undefined) {
    if (!assign(body.cx, NIL, type).ok)
      reportMisfit(body.cx, node.span, NIL, { type, what: '`return` without a value' });
  } else checkReturned(body, node.value, '`return` value');
  return finish();
}

/** May an error leave here? Inside a `try` that takes everything it does not leave the function. */
function isCaught(body: Body): boolean {
  return body.fn.tries.includes(true);
}

/** Inside a `try` whose catches name their errors. */
function helpToCatch(body: Body): string | undefined {
  if (body.fn.tries.length === 0) return undefined;
  return 'an error that its `catch` clauses do not name would leave the function: end them with `catch { … }`';
}

export function checkThrow(body: Body, node: ThrowExpression): Type {
  const { fn } = body;
  const mayBeAnything = fn.failure === 'result' && prune(fn.errorType).kind === 'any';
  const type = body.check(node.value, mayBeAnything ? ANY : undefined);
  body.diverges = true;
  if (fn.kind === 'top' && !isCaught(body)) {
    body.cx.report.error(CODE.outsideLoop, node.span, '`throw` outside a function');
    return NEVER;
  }
  if (fn.failure === 'infer') fn.propagations.push({ node, operand: 'throw' });
  if (isCaught(body)) return NEVER;
  if (fn.failure === undefined || fn.failure === 'option') {
    body.cx.report.error(CODE.throwNeedsResult, node.span, '`throw` in a function that does not return `Result`', {
      help: helpToCatch(body) ?? 'return `Result<T, E>`, or catch it here with `try { … } catch { … }`',
    });
    return NEVER;
  }
  if (fn.tries.length === 0 && fn.failure === 'result' && !assign(body.cx, type, fn.errorType).ok) {
    reportMisfit(body.cx, node.value.span, type, { type: fn.errorType, what: 'thrown value' });
  }
  return NEVER;
}

export function checkPropagate(body: Body, node: PropagateExpression): Type {
  const { fn } = body;
  const type = prune(body.check(node.operand));
  if (type.kind === 'never') return NEVER;
  const isResult = isCon(type, CON.Result);
  const isOption = isCon(type, CON.Option);
  const withoutError = isOption ? 'option' : 'dynamic';
  const operand = isResult ? 'result' : withoutError;
  const converts = fn.failure === 'result' && takesFrom(body.cx, fn.errorType) ? { converts: fn.errorType } : {};
  const propagation: Propagation = { operand, leavesWith: leavingAs(fn.failure), ...converts };
  body.cx.facts.propagations.set(node.id, propagation);
  if (!isResult && !isOption && !isDynamic(type)) {
    body.cx.report.error(
      CODE.questionNeedsResult,
      node.span,
      `\`?\` needs \`Result\` or \`Option\`, found \`${showType(type)}\``,
      {
        help: 'there is nothing to unwrap: leave the `?` out',
      },
    );
    return type.kind === 'error' ? ERROR : type;
  }
  if (operand !== 'result' && cutsChain(body, node)) {
    body.cx.facts.propagations.set(node.id, { operand, leavesWith: 'chain' });
  } else checkLeaving(body, node, operand, isResult ? (type.args[1] ?? ANY) : undefined);
  if (isDynamic(type)) return type.kind === 'error' ? ERROR : ANY;
  return type.kind === 'applied' ? (type.args[0] ?? ANY) : ANY;
}

function checkLeaving(
  body: Body,
  node: PropagateExpression,
  operand: 'result' | 'option' | 'dynamic',
  error: Type | undefined,
): void {
  const { fn } = body;
  if (isCaught(body)) return;
  if (fn.failure === 'infer') {
    if (operand !== 'dynamic') fn.propagations.push({ node, operand });
    return;
  }
  // At the top level of a file an error ends the program, as it does when `main` returns one.
  if (fn.kind === 'top') return;
  if (fn.failure === undefined) {
    const where = 'in a function that returns neither `Result` nor `Option`';
    body.cx.report.error(CODE.questionNeedsResult, node.span, `\`?\` ${where}`, {
      help: helpToCatch(body) ?? 'return `Result<T, E>`, or handle the error with `match` or `try { … } catch { … }`',
    });
    return;
  }
  if (fn.failure === 'option' && operand === 'result') {
    body.cx.report.error(CODE.questionNeedsResult, node.span, '`?` on a `Result` in a function that returns `Option`', {
      help: 'turn it into an Option with `.ok()` first',
    });
    return;
  }
  if (error === undefined || fn.failure !== 'result' || fn.tries.length > 0) return;
  if (!assign(body.cx, error, fn.errorType).ok && !takesFrom(body.cx, fn.errorType)) {
    reportMisfit(body.cx, node.span, error, {
      type: fn.errorType,
      what: 'error of `?`',
      help: 'convert it with `.map_err(|e| …)`',
    });
  }
}

/** `impl From<A> for B` converts errors on their way out. */
function takesFrom(cx: HasImpls, rawTo: Type): boolean {
  const to = prune(rawTo);
  return to.kind === 'applied' && [...implOf(cx, to.con).traits.keys()].some((trait) => trait.name === 'From');
}

export function checkTry(body: Body, node: TryExpression, expected: Type | undefined): Type {
  const unused = body.cx.unused.has(node.id);
  const takesAll = node.catches.length === 0 || node.catches.some((clause) => clause.type === undefined);
  if (node.catches.length === 0) return tryValue(body, node, { expected, unused });
  const branches = new Branches(body, { expected, unused, what: '`try` and `catch` have one type' });
  const ways = new Ways(body);
  body.fn.tries.push(takesAll);
  if (unused) body.cx.unused.add(node.body.id);
  const type = ways.walk(() => checkBlock(body, node.body, expected));
  body.cx.facts.types.set(node.body.id, type);
  body.fn.tries.pop();
  branches.add(node.body, type);
  let caughtAll = false;
  for (const clause of node.catches) {
    if (caughtAll) body.cx.report.warning(CODE.unreachableArm, clause.span, 'this `catch` is never reached');
    caughtAll ||= clause.type === undefined;
    branches.add(
      clause.body,
      ways.walk(() => checkCatch(body, clause, expected, unused)),
    );
  }
  return ways.meet() && !unused ? NEVER : branches.result();
}

/** Without catches the value is `Ok(tail)` or `Err(e)`. */
function tryValue(
  body: Body,
  node: TryExpression,
  options: { readonly expected: Type | undefined; readonly unused: boolean },
): Type {
  const wanted = options.expected === undefined ? undefined : prune(options.expected);
  const inner = wanted !== undefined && isCon(wanted, CON.Result) ? wanted.args[0] : undefined;
  body.fn.tries.push(true);
  const type = maybe(body, () => checkBlock(body, node.body, inner));
  body.cx.facts.types.set(node.body.id, type);
  body.fn.tries.pop();
  // A statement `try { … }` without catch drops its errors on purpose.
  if (options.unused) return NIL;
  return resultOf(prune(type).kind === 'never' ? ANY : type, ANY);
}

function checkCatch(body: Body, clause: CatchClause, expected: Type | undefined, unused: boolean): Type {
  const { test, type } = catchTest(body, clause);
  body.cx.facts.catches.set(clause.id, test);
  return inScope(body, () => {
    if (clause.binding !== undefined) {
      const { text, span } = clause.binding;
      declareLocal(body, { id: clause.id, name: text, span, type, mutable: false, what: undefined });
    }
    if (unused) body.cx.unused.add(clause.body.id);
    const result = checkStatements(body, clause.body, expected);
    body.cx.facts.types.set(clause.body.id, result);
    return result;
  });
}

function catchTest(body: Body, clause: CatchClause): { readonly test: CatchTest; readonly type: Type } {
  const node = clause.type;
  if (node === undefined) return { test: { kind: 'all' }, type: ANY };
  const [first, second] = node.path.segments;
  // `catch e { … }` has a type's place; a name that is no type was meant as the variable.
  if (first?.text === 'Any' && second === undefined) return { test: { kind: 'all' }, type: ANY };
  const target = resolvePath(body.cx, body.module, node.path);
  if (target.kind === 'entry' && target.entry.meaning.kind === 'variant') {
    const { variant } = target.entry.meaning;
    const type = applied(
      variant.owner,
      variant.owner.params.map(() => ANY),
    );
    return { test: { kind: 'variant', variant: variantRef(variant) }, type };
  }
  const type = resolveType(body.cx, body.types, node);
  const known = prune(type);
  if (known.kind !== 'applied') return { test: { kind: 'all' }, type };
  if (known.con.name === 'Error' && known.con.family === 'failure') return { test: { kind: 'error' }, type };
  return { test: { kind: 'type', name: known.con.name, path: known.con.path }, type };
}

/** `await (a, b)` starts its elements together; every other call is waited for where it stands. */
export function checkAwait(body: Body, node: AwaitExpression, expected: Type | undefined): Type {
  const operand = unwrapParens(node.operand);
  if (operand.kind === 'TupleExpression' || operand.kind === 'ArrayExpression') {
    for (const element of operand.elements) spawn(body, element);
  }
  const type = body.check(node.operand, expected);
  const asks = isEmit(body, operand);
  if (!body.fn.isAsync) {
    body.cx.report.error(CODE.awaitNeedsAsync, node.span, '`await` in a function that is not `async`', {
      help: asks
        ? 'write `async fn`: without `await`, `emit` asks nobody and waits for nothing'
        : 'write `async fn`, or leave `await` out: a plain call waits too',
    });
  }
  // `await emit(…)` gives what the listener answers.
  return asks ? ANY : type;
}

function unwrapParens(node: Expression): Expression {
  return node.kind === 'ParenExpression' ? unwrapParens(node.expression) : node;
}

function isEmit(body: Body, node: Expression): boolean {
  const target = body.cx.facts.calls.get(node.id)?.target;
  return target?.kind === 'builtin' && target.name === 'emit';
}

function spawn(body: Body, node: Expression): void {
  const call = unwrapParens(node);
  if (call.kind === 'CallExpression' || call.kind === 'MethodCallExpression' || call.kind === 'PipeExpression') {
    body.cx.facts.spawned.add(call.id);
  }
}

export function checkRace(body: Body, node: RaceExpression): Type {
  let common: Type | undefined;
  for (const contender of node.contenders) {
    spawn(body, contender);
    const type = body.check(contender);
    common = common === undefined ? type : (join(body.cx, common, type) ?? ANY);
  }
  return common ?? NIL;
}
