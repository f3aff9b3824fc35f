import type { Span } from '../source/span.ts';
import type { ClosureExpression, Expression, ListenExpression, ListenHandler } from '../syntax/expression.ts';
import type { Parameter } from '../syntax/item.ts';
import { checkReturned, declareLocal, functionScope, inFunction, readType } from './body.ts';
import { expectedInside } from './check-literal.ts';
import { CODE } from './codes.ts';
import type { Body, FunctionScope } from './context.ts';
import type { FunctionFacts } from './facts.ts';
import { typeTag } from './resolve-type.ts';
import {
  ANY,
  applied,
  CON,
  freshVar,
  functionOf,
  isCon,
  isDynamic,
  prune,
  resultOf,
  showType,
  type Type,
} from './types.ts';
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
    if (!assign(type, fn.returnType).ok) {
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
  if (result.kind === 'var') assign(resultOf(ANY, ANY), result);
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

/** Message types an agent waits for an answer to. */
const NEEDS_ANSWER = new Set(['question', 'approval']);
/** What a handler only sees: nothing is sent back. */
const OBSERVED = new Set(['result', 'error', 'exit', 'stderr']);

export function checkListen(body: Body, node: ListenExpression): Type {
  checkSession(body, node.call);
  const seen = new Map<string, Span>();
  for (const handler of node.handlers) {
    for (const { key, span } of handlerKeys(handler)) {
      const first = seen.get(key);
      if (first !== undefined) {
        body.cx.report.error(CODE.listen, span, `there are two handlers for \`${key}\``, {
          labels: [{ span: first, message: 'the first one' }],
        });
      } else seen.set(key, span);
    }
    checkHandler(body, handler);
  }
  const error = body.cx.builtins.types.get('AgentError');
  const schema = body.cx.facts.schemaArguments.has(node.call.id) ? sessionResult(body, node.call) : ANY;
  return resultOf(schema, error === undefined ? ANY : applied(error));
}

function sessionResult(body: Body, call: Expression): Type {
  const type = prune(body.cx.facts.types.get(call.id) ?? ANY);
  return isCon(type, CON.Result) ? (type.args[0] ?? ANY) : ANY;
}

/** What follows `listen` must start a session of an agent. */
function checkSession(body: Body, call: Expression): void {
  body.check(call);
  const inner = unwrapParens(call);
  const receiver = inner.kind === 'MethodCallExpression' ? inner.receiver : undefined;
  const type = prune(body.cx.facts.types.get((receiver ?? inner).id) ?? ANY);
  if (isDynamic(type) || type.kind === 'never') return;
  const kind = type.kind === 'applied' ? (type.con.base?.con.name ?? type.con.name) : '';
  if (receiver !== undefined && (kind === 'AgentRef' || kind === 'Builder')) return;
  const isModel = kind === 'ModelRef';
  body.cx.report.error(
    CODE.listen,
    call.span,
    isModel ? '`listen` is for agents, and this is a model' : '`listen` needs a call of an agent',
    {
      help: isModel
        ? 'a model answers at once: call `execute` without `listen`'
        : 'write `listen Agent.execute(prompt) { … }`',
    },
  );
}

function unwrapParens(node: Expression): Expression {
  return node.kind === 'ParenExpression' ? unwrapParens(node.expression) : node;
}

/** A handler is a closure of its own: `return`, `?` and `throw` end it, not the function around it. */
function checkHandler(body: Body, handler: ListenHandler): void {
  const declared = handler.returnType === undefined ? undefined : readType(body, handler.returnType);
  const fn = functionScope({
    id: handler.id,
    kind: 'handler',
    parent: body.fn,
    isAsync: true,
    returnType: declared ?? ANY,
    returnDeclared: declared !== undefined,
    failure: 'result',
    errorType: ANY,
    path: body.fn.path,
  });
  inFunction(body, fn, () => {
    const { parameter } = handler;
    if (parameter !== undefined) {
      const type = parameter.type === undefined ? ANY : readType(body, parameter.type);
      if (parameter.type !== undefined) body.cx.facts.schemaArguments.set(parameter.id, typeTag(type));
      declareHandlerParameter(body, parameter, type);
    }
    const type =
      declared === undefined ? body.check(handler.body) : checkReturned(body, handler.body, 'handler result');
    lintHandler(body, handler, prune(type));
  });
  recordFunction(body, fn, 'value');
}

/** A handler often takes its message only because the form asks for it; that is no reason to warn. */
function declareHandlerParameter(body: Body, parameter: Parameter, type: Type): void {
  const { text, span } = parameter.name;
  declareLocal(body, { id: parameter.id, name: text, span, type, mutable: true, what: undefined });
}

function handlerKeys(handler: ListenHandler): { readonly key: string; readonly span: Span }[] {
  if (handler.messages.length === 0)
    return [{ key: '_', span: { start: handler.span.start, end: handler.span.start + 1 } }];
  return handler.messages.map((message) => ({ key: message.value, span: message.span }));
}

function lintHandler(body: Body, handler: ListenHandler, type: Type): void {
  const gives = !(isCon(type, CON.Nil) || type.kind === 'never' || isDynamic(type));
  for (const { value, span } of handler.messages) {
    if (OBSERVED.has(value) && gives) {
      body.cx.report.warning(
        CODE.observerValue,
        span,
        `a handler for \`${value}\` only observes; its value is not used`,
        {
          help: 'end its body with `;`',
        },
      );
    }
    if (NEEDS_ANSWER.has(value) && isCon(type, CON.Nil) && !body.diverges) {
      body.cx.report.warning(
        CODE.silentHandler,
        span,
        `the agent waits for an answer to \`${value}\`, but this handler gives none`,
        { help: 'let the body end with the answer' },
      );
    }
  }
}
