import type { Span } from '../source/span.ts';
import type { Argument, Expression, ListenExpression, ListenHandler } from '../syntax/expression.ts';
import type { Parameter } from '../syntax/item.ts';
import type { TypeExpression } from '../syntax/type-expression.ts';
import { checkReturned, declareLocal, fitOrReport, functionScope, inFunction, readType } from './body.ts';
import { recordFunction } from './check-closure.ts';
import { CODE } from './codes.ts';
import type { Body } from './context.ts';
import type { Local } from './facts.ts';
import { checkMessageName, isBuiltinMessage } from './lint-messages.ts';
import { didYouMean } from './resolve-path.ts';
import { typeTag } from './type-tag.ts';
import { ANY, applied, CON, isCon, isDynamic, kindOf, prune, resultOf, showType, type Type } from './types.ts';

/** Message types an agent waits for an answer to. */
const NEEDS_ANSWER = new Set(['question', 'approval']);
/** What a handler only sees: nothing is sent back. */
const OBSERVED = new Set(['result', 'error', 'exit', 'stderr']);

export function checkListen(body: Body, node: ListenExpression): Type {
  const result = checkSession(body, node);
  const isSupervised = listensToSession(body, node);
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
    for (const { value, span } of handler.messages) checkMessageName(body, value, span);
    checkOptions(body, handler);
    checkHandler(body, handler, { result, isSupervised });
  }
  const error = body.cx.builtins.types.get('AgentError');
  return resultOf(result, error === undefined ? ANY : applied(error));
}

/** The call in `listen A.execute(p) as T { … }`; `T` is what the result must be. */
function sessionOf(node: Expression): { readonly call: Expression; readonly as: TypeExpression | undefined } {
  switch (node.kind) {
    case 'ParenExpression':
      return sessionOf(node.expression);
    case 'AwaitExpression':
      return sessionOf(node.operand);
    case 'CastExpression':
      return { ...sessionOf(node.operand), as: node.type };
    default:
      return { call: node, as: undefined };
  }
}

/** The type of the session's result: of `as T`, which is kept with the `listen`, or of the call's own schema. */
function checkSession(body: Body, node: ListenExpression): Type {
  const { facts } = body.cx;
  const { call, as } = sessionOf(node.call);
  body.check(call);
  if (facts.chains.has(call.id)) {
    body.cx.report.error(CODE.listen, call.span, '`listen` needs an agent, and there may be none', {
      help: 'take it out first, with `match` or `??`',
    });
  }
  checkCall(body, call);
  if (as !== undefined) {
    const type = readType(body, as);
    facts.schemaArguments.set(node.id, typeTag(type));
    return type;
  }
  if (call.kind !== 'MethodCallExpression' || call.method.text !== 'execute_with_schema') return ANY;
  const type = prune(facts.types.get(call.id) ?? ANY);
  return isCon(type, CON.Result) ? (type.args[0] ?? ANY) : ANY;
}

/** Methods that send a prompt and give the result. */
const SESSION_METHODS = new Set(['execute', 'execute_with_schema']);

/** What follows `listen` must start a session of an agent. */
function checkCall(body: Body, call: Expression): void {
  const method = call.kind === 'MethodCallExpression' ? call.method : undefined;
  const receiver = call.kind === 'MethodCallExpression' ? call.receiver : undefined;
  const type = prune(body.cx.facts.types.get((receiver ?? call).id) ?? ANY);
  if (isDynamic(type) || type.kind === 'never') return;
  const kind = kindOf(type) === 'Builder' ? builtFrom(body, receiver) : kindOf(type);
  if (method !== undefined && (kind === 'AgentRef' || kind === 'Builder')) {
    if (SESSION_METHODS.has(method.text) || method.text === '') return;
    body.cx.report.error(CODE.listen, method.span, `\`listen\` cannot listen to \`${method.text}\``, {
      help: 'write `listen Agent.execute(prompt) { … }`',
    });
    return;
  }
  if (method === undefined && kind === 'Session') return;
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

/** `listen session { … }`, of a session that was opened by somebody else. */
function listensToSession(body: Body, node: ListenExpression): boolean {
  const { call } = sessionOf(node.call);
  return kindOf(prune(body.cx.facts.types.get(call.id) ?? ANY)) === 'Session';
}

/** What `X.with_memory(m).with_context(c)` was built from, where that can be seen. */
function builtFrom(body: Body, builder: Expression | undefined): string {
  let node = builder;
  while (node?.kind === 'MethodCallExpression') node = node.receiver;
  const kind = node === undefined ? '' : kindOf(prune(body.cx.facts.types.get(node.id) ?? ANY));
  return kind === 'ModelRef' ? kind : 'Builder';
}

/** A handler is a closure of its own: `return`, `?` and `throw` end it, not the function around it. */
function checkHandler(
  body: Body,
  handler: ListenHandler,
  { result: sessionResult, isSupervised }: { readonly result: Type; readonly isSupervised: boolean },
): void {
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
    sessionResult,
  });
  inFunction(body, fn, () => {
    const { parameter } = handler;
    if (parameter !== undefined) {
      const type = parameter.type === undefined ? ANY : readType(body, parameter.type);
      if (parameter.type !== undefined) {
        // A built-in type of messages says what is known of them, and takes them as they come.
        if (!isBuiltinMessage(prune(type))) body.cx.facts.schemaArguments.set(parameter.id, typeTag(type));
        checkMessageType(body, parameter.type, prune(type));
      }
      const local = declareHandlerParameter(body, parameter, type);
      if (parameter.type === undefined)
        body.cx.messages.set(
          local,
          handler.messages.map(({ value }) => value),
        );
    }
    // Anything can be an answer, so branches may differ: `if ok { "yes" } else { Err("no") }`.
    const type =
      declared === undefined ? body.check(handler.body, ANY) : checkReturned(body, handler.body, 'handler result');
    lintHandler(body, handler, prune(type), isSupervised);
  });
  recordFunction(body, fn, 'value');
}

/** Values of these types are what they are; a map or JSON text becomes any other type of result when the session ends. */
const SCALARS = [CON.Int, CON.Float, CON.Bool, CON.String];

/** `break v` in a handler, outside a loop of its own: the value of its `listen`. */
export function checkSessionBreak(body: Body, value: Expression, result: Type): void {
  const given = prune(body.check(value, result));
  const wanted = prune(result);
  const isMade = isCon(given, CON.Map) || isCon(given, CON.String);
  if (isMade && !SCALARS.some((con) => isCon(wanted, con))) return;
  fitOrReport(body, value, given, { type: result, what: 'value of `break`' });
}

const NO_MESSAGE = [CON.Int, CON.Float, CON.String, CON.Bool, CON.Nil, CON.Range, CON.Array, CON.Tuple, CON.Function];

function checkMessageType(body: Body, node: TypeExpression, type: Type): void {
  if (!NO_MESSAGE.some((con) => isCon(type, con))) return;
  body.cx.report.error(CODE.listen, node.span, `a message has fields, so it is never \`${showType(type)}\``, {
    help: 'name a schema or a struct with the fields of the message',
  });
}

/** A handler often takes its message only because the form asks for it; that is no reason to warn. */
function declareHandlerParameter(body: Body, parameter: Parameter, type: Type): Local {
  const { text, span } = parameter.name;
  return declareLocal(body, { id: parameter.id, name: text, span, type, mutable: true, what: undefined });
}

/** What can stand in `"a" (…) =>`. */
const OPTIONS = ['parallel'];

function checkOptions(body: Body, handler: ListenHandler): void {
  const seen = new Map<string, Span>();
  for (const option of handler.options) {
    const name = option.label?.text;
    const span = option.label?.span ?? option.span;
    const first = name === undefined ? undefined : seen.get(name);
    if (name === undefined || !OPTIONS.includes(name)) {
      const what = name === undefined ? 'an option of a handler has a name' : `a handler has no option \`${name}\``;
      const help = (name === undefined ? undefined : didYouMean(name, OPTIONS)) ?? 'write `parallel: true`';
      body.cx.report.error(CODE.listen, span, what, { help });
      // A bare `parallel` is told once, not also as an unknown name.
      if (option.value.kind !== 'NameExpression') body.check(option.value);
      continue;
    }
    if (first !== undefined) {
      body.cx.report.error(CODE.listen, span, `\`${name}\` is given twice`, {
        labels: [{ span: first, message: 'first given here' }],
      });
    }
    seen.set(name, span);
    checkParallel(body, handler, option);
  }
}

/** Known when compiled, and only for messages of which there can be several at a time. */
function checkParallel(body: Body, handler: ListenHandler, option: Argument): void {
  body.check(option.value);
  if (option.value.kind !== 'BoolLiteral') {
    if (option.value.kind === 'ErrorExpression') return;
    body.cx.report.error(CODE.listen, option.value.span, '`parallel` is `true` or `false`');
    return;
  }
  for (const { value, span } of handler.messages) {
    if (!option.value.value || !OBSERVED.has(value)) continue;
    body.cx.report.error(CODE.listen, span, `a handler for \`${value}\` cannot be parallel`, {
      labels: [{ span: option.span, message: 'asked for here' }],
      help: 'it only observes, in order with everything else; give it a handler of its own',
    });
  }
}

function handlerKeys(handler: ListenHandler): { readonly key: string; readonly span: Span }[] {
  if (handler.messages.length === 0)
    return [{ key: '_', span: { start: handler.span.start, end: handler.span.start + 1 } }];
  return handler.messages.map((message) => ({ key: message.value, span: message.span }));
}

function lintHandler(body: Body, handler: ListenHandler, type: Type, isSupervised: boolean): void {
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
    // A supervisor that says nothing leaves it to the next.
    if (NEEDS_ANSWER.has(value) && isCon(type, CON.Nil) && !body.diverges && !isSupervised) {
      body.cx.report.warning(
        CODE.silentHandler,
        span,
        `the agent waits for an answer to \`${value}\`, but this handler gives none`,
        { help: 'let the body end with the answer' },
      );
    }
  }
}
