import type { ClosureExpression, Expression } from '../syntax/expression.ts';
import type { Parameter } from '../syntax/item.ts';
import { checkReturned, declareLocal, functionScope, inFunction, readType } from './body.ts';
import { expectedInside } from './check-literal.ts';
import { CODE } from './codes.ts';
import type { Body, FunctionScope } from './context.ts';
import type { FunctionFacts } from './facts.ts';
import { ANY, CON, freshVar, functionOf, isCon, isDynamic, prune, resultOf, showType, type Type } from './types.ts';
import { assign } from './unify.ts';

export function checkClosure(body: Body, node: ClosureExpression, expected: Type | undefined): Type {
  const wanted = expectedInside(expected);
  const known = wanted !== undefined && isCon(wanted, CON.Function) ? wanted.args : undefined;
  const wantedParams = known?.slice(0, -1) ?? [];
  const wantedResult = known?.[known.length - 1];
  const params = node.parameters.map((parameter, index) => parameterType(body, parameter, wantedParams[index]));
  const declared = node.returnType === undefined ? undefined : readType(body, node.returnType);
  const hint = wantedResult === undefined ? undefined : prune(wantedResult);
  const returnType =
    declared ?? (hint !== undefined && hint.kind === 'applied' && !isCon(hint, CON.Nil) ? hint : freshVar());
  const fn = functionScope({
    id: node.id,
    kind: 'closure',
    parent: body.fn,
    isAsync: body.fn.isAsync,
    returnType,
    returnDeclared: declared !== undefined,
    failure: failureOf(returnType, 'infer'),
    errorType: errorOf(returnType),
    path: body.fn.path,
  });
  inFunction(body, fn, () => {
    node.parameters.forEach((parameter, index) => declareParameter(body, parameter, params[index] ?? ANY));
    checkClosureBody(body, fn, node.body);
  });
  settlePropagations(body, fn);
  recordFunction(body, fn, 'value');
  return functionOf(params, fn.returnType);
}

function parameterType(body: Body, parameter: Parameter, wanted: Type | undefined): Type {
  if (parameter.type !== undefined) return readType(body, parameter.type);
  return wanted ?? freshVar();
}

export function declareParameter(body: Body, parameter: Parameter, type: Type): void {
  const { text, span } = parameter.name;
  declareLocal(body, { id: parameter.id, name: text, span, type, mutable: true, what: 'parameter' });
}

/** The first value decides an inferred result; where values differ nothing is known of it. */
function checkClosureBody(body: Body, fn: FunctionScope, node: Expression): void {
  if (prune(fn.returnType).kind === 'var') {
    const type = body.check(node);
    const actual = prune(type);
    if (actual.kind === 'never') return;
    if (!assign(body.cx, type, fn.returnType).ok) {
      body.cx.report.error(
        CODE.mismatch,
        node.span,
        `the closure gives \`${showType(type)}\` here and \`${showType(fn.returnType)}\` elsewhere`,
      );
    }
    return;
  }
  if (isCon(prune(fn.returnType), CON.Nil)) {
    body.cx.unused.add(node.id);
    body.check(node);
    return;
  }
  checkReturned(body, node, 'closure result');
}

export function failureOf(raw: Type, inferred: 'infer' | undefined): FunctionScope['failure'] {
  const type = prune(raw);
  if (isCon(type, CON.Result)) return 'result';
  if (isCon(type, CON.Option)) return 'option';
  if (type.kind === 'any' || type.kind === 'error') return 'result';
  return type.kind === 'var' ? inferred : undefined;
}

export function errorOf(raw: Type): Type {
  const type = prune(raw);
  return isCon(type, CON.Result) ? (type.args[1] ?? ANY) : ANY;
}

/** `?` in a closure without a written result: allowed when the result turned out to be a Result or Option. */
function settlePropagations(body: Body, fn: FunctionScope): void {
  const result = prune(fn.returnType);
  if (fn.propagations.length === 0) return;
  if (result.kind === 'var') assign(body.cx, resultOf(ANY, ANY), result);
  if (isDynamic(result) || isCon(result, CON.Result)) return;
  for (const { node, operand } of fn.propagations) {
    if (isCon(result, CON.Option) && operand === 'option') {
      body.cx.facts.propagations.set(node.id, { operand, leavesWith: 'option' });
      continue;
    }
    const what = operand === 'throw' ? '`throw`' : '`?`';
    const code = operand === 'throw' ? CODE.throwNeedsResult : CODE.questionNeedsResult;
    body.cx.report.error(code, node.span, `${what} in a closure that gives \`${showType(result)}\``, {
      help: 'let the closure give a Result: end it with `Ok(…)`',
    });
  }
}

export function recordFunction(body: Body, fn: FunctionScope, result: FunctionFacts['result']): void {
  const failure = fn.failure === 'infer' ? failureOf(fn.returnType, undefined) : fn.failure;
  body.cx.facts.functions.set(fn.id, {
    captures: fn.captures,
    result,
    failure: leavingAs(failure),
    isAsync: fn.isAsync,
  });
}

export function leavingAs(failure: FunctionScope['failure']): FunctionFacts['failure'] {
  if (failure === 'option') return 'option';
  return failure === undefined ? 'raise' : 'result';
}
