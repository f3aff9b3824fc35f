import type { Span } from '../source/span.ts';
import type { Argument, Expression, MethodCallExpression } from '../syntax/expression.ts';
import type { NodeId } from '../syntax/node.ts';
import type { TypeExpression } from '../syntax/type-expression.ts';
import { readType } from './body.ts';
import type { BuiltinMethod } from './builtins.ts';
import { type CallSite, type CheckedCall, checkArguments, checkBounds, type Piped } from './check-arguments.ts';
import { checkMcpCall } from './check-mcp.ts';
import { mutate, placeRoot } from './check-place.ts';
import { fieldType } from './check-struct.ts';
import { CODE } from './codes.ts';
import type { Body } from './context.ts';
import type { CallTarget } from './facts.ts';
import { findMethod, mayMutate, methodNames } from './find-method.ts';
import type { Instance } from './instantiate.ts';
import { instantiate } from './instantiate.ts';
import { canCall } from './module-scope.ts';
import { methodElsewhere } from './names-elsewhere.ts';
import { didYouMean } from './resolve-path.ts';
import { typeTag } from './type-tag.ts';
import {
  ANY,
  argumentsOf,
  arrayOf,
  CON,
  ERROR,
  isCon,
  isDynamic,
  kindOf,
  type MethodInfo,
  type ParamInfo,
  prune,
  showType,
  substitute,
  type Type,
} from './types.ts';
import { assign } from './unify.ts';

export interface MethodCall {
  readonly id: NodeId;
  /** The receiver's expression, already checked; absent in `Model("…")`. */
  readonly receiver: Expression | undefined;
  readonly receiverType: Type;
  readonly name: string;
  readonly nameSpan: Span;
  readonly span: Span;
  readonly arguments: readonly Argument[];
  readonly typeArguments: readonly TypeExpression[];
  readonly piped: Piped | undefined;
  readonly expected: Type | undefined;
  /** Overrides what the facts say is called. */
  readonly target?: CallTarget;
}

export function checkMethodCall(
  body: Body,
  node: MethodCallExpression,
  options: { readonly id?: NodeId; readonly piped?: Piped; readonly expected: Type | undefined },
): Type {
  const receiverType = body.check(node.receiver);
  return checkMethodOn(body, {
    id: options.id ?? node.id,
    receiver: node.receiver,
    receiverType,
    name: node.method.text,
    nameSpan: node.method.span,
    span: node.span,
    arguments: node.arguments,
    typeArguments: node.typeArguments,
    piped: options.piped,
    expected: options.expected,
  });
}

export function checkMethodOn(body: Body, call: MethodCall): Type {
  const type = prune(call.receiverType);
  if (type.kind === 'error' || call.name === '') return dynamicCall(body, call, ERROR);
  if (isDynamic(type) || type.kind === 'never') return dynamicCall(body, call, ANY);
  const found = findMethod(body.cx, type, call.name);
  if (found === undefined) return fieldCall(body, call, type) ?? unknownMethod(body, call, type);
  if (found.kind === 'builtin') return builtinCall(body, call, type, found.method);
  return declaredCall(body, call, type, found);
}

function site(call: MethodCall, method?: MethodInfo): CallSite {
  const declared =
    method?.item === undefined || method.ref === undefined
      ? undefined
      : { span: method.item.name.span, file: method.ref.file };
  const { arguments: args, typeArguments, piped, expected, span } = call;
  return { name: `\`${call.name}\``, span, arguments: args, typeArguments, piped, expected, declared };
}

/** Nothing is known of the receiver: arguments are checked for themselves, the rest is decided at run time. */
function dynamicCall(body: Body, call: MethodCall, result: Type): Type {
  for (const argument of call.arguments) body.check(argument.value);
  const writesBack = call.receiver !== undefined && mayMutate(body.cx, call.name) && isChangeable(body, call.receiver);
  const given = call.arguments.map((_, index) => ({ kind: 'argument', index }) as const);
  body.cx.facts.calls.set(call.id, {
    target: { kind: 'dynamic-method', method: call.name },
    arguments: call.piped === undefined ? given : [{ kind: 'piped' }, ...given],
    isAsync: true,
    writesBack,
  });
  const [schema] = call.typeArguments;
  if (schema === undefined) return result;
  // `agent_in_a_variable.execute_with_schema<T>(…)` still says what its result is.
  const type = readType(body, schema);
  body.cx.facts.schemaArguments.set(call.id, typeTag(type));
  return result;
}

function isChangeable(body: Body, receiver: Expression): boolean {
  const root = placeRoot(body, receiver);
  if (root.kind === 'local') {
    if (root.local.mutable) root.local.mutated = true;
    return root.local.mutable;
  }
  return root.kind === 'variable' && root.variable.mutable;
}

function declaredCall(
  body: Body,
  call: MethodCall,
  type: Type,
  found: { readonly kind: 'declared' | 'trait'; readonly method: MethodInfo },
): Type {
  const { method } = found;
  if (!canCall(body.cx, body.module, method)) reportPrivate(body, call.nameSpan, method);
  // A tool is its own receiver: `Tool.f(…)` is `Tool::f(…)`.
  if (method.receiver === 'none' && !isTool(type)) {
    body.cx.report.error(CODE.unknownMethod, call.nameSpan, `\`${call.name}\` has no \`self\`, so it is not a method`, {
      help: `call it by its type: \`${method.owner?.name ?? 'Type'}::${call.name}(…)\``,
    });
    return dynamicCall(body, call, ERROR);
  }
  const given = type.kind === 'applied' ? argumentsOf(type) : undefined;
  const isPlain = (given === undefined || given.size === 0) && method.trait === undefined;
  const instance: Instance | undefined = isPlain ? undefined : new Map(given);
  if (method.trait !== undefined && instance !== undefined) {
    instance.set(method.trait.self, type);
    for (const param of method.trait.typeParams) if (!instance.has(param)) instance.set(param, ANY);
  }
  const checked = checkArguments(body, site(call, method), method.signature, instance);
  const writesBack = method.receiver === 'mut-self' && writeBack(body, call);
  body.cx.facts.calls.set(call.id, {
    target: call.target ?? declaredTarget(body, call, method, found.kind),
    arguments: checked.sources,
    isAsync: method.signature.isAsync || isTool(type),
    writesBack,
  });
  return checked.result;
}

function reportPrivate(body: Body, span: Span, method: MethodInfo): void {
  body.cx.report.error(CODE.notVisible, span, `method \`${method.name}\` is private`, {
    help: 'write `pub` before it to use it outside its module',
  });
}

function isTool(type: Type): boolean {
  return kindOf(type) === 'Tool';
}

function declaredTarget(body: Body, call: MethodCall, method: MethodInfo, kind: 'declared' | 'trait'): CallTarget {
  if (kind === 'trait' && method.trait !== undefined) {
    return { kind: 'trait-method', trait: method.trait.path, method: method.name };
  }
  if (method.ref === undefined) return { kind: 'dynamic-method', method: call.name };
  const root = call.receiver === undefined ? undefined : call.receiver;
  const resolved = root === undefined ? undefined : body.cx.facts.names.get(root.id);
  if (resolved?.kind === 'resource' && resolved.resource.kind === 'tool') {
    return { kind: 'tool-method', resource: resolved.resource, function: method.ref };
  }
  if (method.receiver === 'none') return { kind: 'function', function: method.ref };
  return { kind: 'method', function: method.ref };
}

/** A method that changes its receiver needs a place that may change. */
function writeBack(body: Body, call: MethodCall): boolean {
  if (call.receiver === undefined) return false;
  const root = placeRoot(body, call.receiver);
  mutate(body, root, 'change');
  return root.kind !== 'temporary' && root.kind !== 'broken';
}

function builtinCall(body: Body, call: MethodCall, type: Type, method: BuiltinMethod): Type {
  const instance = instantiate(method.signature.typeParams);
  const self = substitute(method.selfType, instance);
  bindReceiver(body, call, type, self);
  const signature = typedRun(body, type, method) ?? method.signature;
  const typeParams = method.takesTypes ? method.signature.typeParams : [];
  const node = method.receiver === 'mut-self' ? undefined : call.receiver;
  const receiver = { node, type, self: method.selfType };
  const where = { ...site(call), receiver };
  const checked = checkArguments(body, where, { ...signature, typeParams }, instance);
  checkBounds(body, where, method.signature.typeParams, instance);
  if (method.takesTypes) recordSchemaArgument(body, call, checked);
  if (method.receiverName === 'McpRef' && method.name === 'call') checkMcpCall(body, call.arguments, type);
  const writesBack = method.receiver === 'mut-self' && writeBack(body, call);
  body.cx.facts.calls.set(call.id, {
    target: call.target ?? { kind: 'builtin-method', receiver: method.receiverName, method: method.name },
    arguments: checked.sources,
    isAsync: false,
    writesBack,
  });
  return checked.result;
}

/** `[[1], [2]].flatten()` asks for an array of arrays; anything else is the receiver's mistake. */
function bindReceiver(body: Body, call: MethodCall, type: Type, self: Type): void {
  const receiver = isCon(type, CON.Tuple) ? arrayOf(ANY) : type;
  if (type.kind === 'applied' && type.con.base !== undefined && assign(body.cx, type.con.base, self).ok) return;
  if (assign(body.cx, receiver, self).ok || type.kind === 'param') return keepSoft(receiver, self);
  if (type.kind === 'applied' && type.con.family === 'failure') return;
  body.cx.report.error(
    CODE.unknownMethod,
    call.nameSpan,
    `\`${call.name}\` needs \`${showType(self)}\`, found \`${showType(type)}\``,
  );
}

/** What may still widen does so here too: `m.set("b", "x")` is `m["b"] = "x"`. */
function keepSoft(receiver: Type, self: Type): void {
  if (receiver.kind !== 'applied' || self.kind !== 'applied') return;
  self.args.forEach((arg, index) => {
    const own = receiver.args[index];
    if (arg.kind === 'var' && own?.kind === 'var' && own.soft) arg.bound = own;
  });
}

/** A pipeline's `run` has the types of its first and last stage. */
function typedRun(body: Body, type: Type, method: BuiltinMethod): MethodInfo['signature'] | undefined {
  if (method.name !== 'run' || type.kind !== 'applied') return undefined;
  return body.cx.pipelineRuns.get(type.con)?.();
}

function recordSchemaArgument(body: Body, call: MethodCall, checked: CheckedCall): void {
  const [first] = call.typeArguments;
  const [inferred] = checked.instance.values();
  const type = first === undefined ? (inferred ?? ANY) : readType(body, first);
  body.cx.later.push(() => {
    body.cx.facts.schemaArguments.set(call.id, typeTag(type));
  });
}

/** `object.field(…)` where the field holds a function. */
function fieldCall(body: Body, call: MethodCall, type: Type): Type | undefined {
  if (type.kind !== 'applied') return undefined;
  const field = type.con.fields?.get(call.name);
  const own = field === undefined ? undefined : fieldType(type, field);
  const raw = isCon(type, CON.Map) ? type.args[1] : own;
  if (raw === undefined) return undefined;
  const held = prune(raw);
  if (isDynamic(held)) {
    if (isCon(type, CON.Map) && held.kind !== 'any') return undefined;
    for (const argument of call.arguments) body.check(argument.value);
    setFieldCall(body, call);
    return ANY;
  }
  if (!isCon(held, CON.Function)) return undefined;
  const params = held.args
    .slice(0, -1)
    .map((param, index): ParamInfo => ({ name: String(index + 1), type: param, hasDefault: false, node: undefined }));
  const result = held.args[held.args.length - 1] ?? ANY;
  checkArguments(body, site(call), { typeParams: [], params, result, isAsync: false });
  setFieldCall(body, call);
  return result;
}

function setFieldCall(body: Body, call: MethodCall): void {
  const given = call.arguments.map((_, index) => ({ kind: 'argument', index }) as const);
  body.cx.facts.calls.set(call.id, {
    target: { kind: 'field' },
    arguments: call.piped === undefined ? given : [{ kind: 'piped' }, ...given],
    isAsync: true,
    writesBack: false,
  });
}

function unknownMethod(body: Body, call: MethodCall, type: Type): Type {
  const isServer = kindOf(type) === 'McpRef';
  if (isServer && body.cx.mcpServers === 'unasked') return dynamicCall(body, call, ANY);
  const names = methodNames(body.cx, type);
  let help = methodElsewhere(call.name, names) ?? didYouMean(call.name, names);
  if (help === undefined && type.kind === 'applied') {
    if (isCon(type, CON.Option)) help = 'take the value out with `?? default`, `?` or `match`';
    else if (isCon(type, CON.Result)) help = 'take the value out with `?`, `match` or `unwrap`';
    else if (type.con.fields?.has(call.name) === true) help = `\`${call.name}\` is a field, not a method`;
    else if (isServer)
      help = `declare it: \`fn ${call.name}(…) -> …;\` in the \`mcp\` block, or let --mcp ask the server`;
  } else if (help === undefined && type.kind === 'param') {
    const { name, bounds } = type.param;
    help =
      bounds.length === 0
        ? `give \`${name}\` a bound: \`${name}: Trait\``
        : `only what its traits declare is known of \`${name}\``;
  }
  body.cx.report.error(CODE.unknownMethod, call.nameSpan, `no method \`${call.name}\` on \`${showType(type)}\``, {
    help,
  });
  return dynamicCall(body, call, ERROR);
}
