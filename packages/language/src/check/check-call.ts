import { parseDuration } from '@concerto/base';
import type {
  Argument,
  CallExpression,
  Expression,
  NameExpression,
  PathExpression,
  PipeExpression,
} from '../syntax/expression.ts';
import type { NodeId } from '../syntax/node.ts';
import { readType } from './body.ts';
import { type CallSite, type CheckedCall, checkArguments, type Piped } from './check-arguments.ts';
import { checkMethodCall, checkMethodOn } from './check-method.ts';
import { reportNoBody, typeOfValue } from './check-name.ts';
import { CODE } from './codes.ts';
import type { Body } from './context.ts';
import type { CallTarget, ResolvedCall } from './facts.ts';
import { implOf } from './impls.ts';
import { freshType, variantSignature } from './instantiate.ts';
import { type ResolvedValue, resolveName, resolvePathValue, variantRef } from './resolve-value.ts';
import { typeTag } from './type-tag.ts';
import {
  ANY,
  applied,
  builtinName,
  CON,
  ERROR,
  freshVar,
  functionOf,
  isCon,
  kindOf,
  type MethodInfo,
  NEVER,
  type ParamInfo,
  prune,
  type Signature,
  showType,
  type TraitInfo,
  type Type,
  unionOf,
} from './types.ts';
import { assign } from './unify.ts';

interface Call {
  /** Where the facts of this call are kept: the call, or the pipe around it. */
  readonly id: NodeId;
  readonly node: Expression;
  readonly callee: Expression;
  readonly arguments: readonly Argument[];
  readonly typeArguments: CallExpression['typeArguments'];
  readonly piped: Piped | undefined;
  readonly expected: Type | undefined;
}

export function checkCall(body: Body, node: CallExpression, expected: Type | undefined): Type {
  return callExpression(body, {
    id: node.id,
    node,
    callee: node.callee,
    arguments: node.arguments,
    typeArguments: node.typeArguments,
    piped: undefined,
    expected,
  });
}

/** `x |> f(a)` is `f(x, a)`, `x |> o.m(a)` is `o.m(x, a)`, `x |> f` is `f(x)`. */
export function checkPipe(body: Body, node: PipeExpression, expected: Type | undefined): Type {
  const type = body.check(node.left);
  const piped: Piped = { node: node.left, type };
  const right = unwrapParens(node.right);
  if (right.kind === 'CallExpression') {
    const result = callExpression(body, { ...right, id: node.id, node, piped, expected });
    body.cx.facts.types.set(node.right.id, result);
    return result;
  }
  if (right.kind === 'MethodCallExpression') {
    const result = checkMethodCall(body, right, { id: node.id, piped, expected });
    body.cx.facts.types.set(node.right.id, result);
    return result;
  }
  return callExpression(body, {
    id: node.id,
    node,
    callee: node.right,
    arguments: [],
    typeArguments: [],
    piped,
    expected,
  });
}

function unwrapParens(node: Expression): Expression {
  return node.kind === 'ParenExpression' ? unwrapParens(node.expression) : node;
}

function record(body: Body, call: Call, target: CallTarget, checked: Partial<ResolvedCall> = {}): void {
  body.cx.facts.calls.set(call.id, {
    target,
    arguments: checked.arguments ?? positional(call),
    isAsync: checked.isAsync ?? false,
    writesBack: checked.writesBack ?? false,
  });
}

function positional(call: Call): ResolvedCall['arguments'] {
  const given = call.arguments.map((_, index) => ({ kind: 'argument', index }) as const);
  return call.piped === undefined ? given : [{ kind: 'piped' }, ...given];
}

function callExpression(body: Body, call: Call): Type {
  const callee = unwrapParens(call.callee);
  if (callee.kind === 'NameExpression') return callResolved(body, call, callee, resolveName(body, callee));
  if (callee.kind === 'PathExpression') return callResolved(body, call, callee, resolvePathValue(body, callee));
  // A closure at the end of a pipe is made for what comes to it.
  const given = callee.kind === 'ClosureExpression' ? call.piped?.type : undefined;
  const wanted = given === undefined ? undefined : functionOf([given], freshVar());
  return callValue(body, call, body.check(call.callee, wanted));
}

function callResolved(body: Body, call: Call, callee: NameExpression | PathExpression, value: ResolvedValue): Type {
  switch (value.kind) {
    case 'function':
      return callFunction(body, call, value.meaning.signature, {
        name: value.meaning.item.name.text,
        target: { kind: 'function', function: value.meaning.ref },
        isTest: value.meaning.isTest,
        declared: { span: value.meaning.item.name.span, file: value.meaning.ref.file },
      });
    case 'builtin':
      return callBuiltin(body, call, value);
    case 'variant':
      return callVariant(body, call, value);
    case 'associated':
      return callAssociated(body, call, callee, value);
    case 'resource':
      if (value.meaning.ref.kind === 'model') return callModel(body, call, value.meaning.type);
      return notCallable(body, call, value.meaning.type);
    case 'schema':
    case 'none':
      return notCallable(body, call, typeOfValue(body, callee, value));
    case 'local':
    case 'variable':
    case 'constant':
    case 'session':
    case 'broken': {
      const type = typeOfValue(body, callee, value);
      body.cx.facts.types.set(callee.id, type);
      return callValue(body, call, type);
    }
  }
}

function siteOf(call: Call, name: string, declared?: CallSite['declared']): CallSite {
  const { arguments: args, typeArguments, piped, expected } = call;
  return { name: `\`${name}\``, span: call.node.span, arguments: args, typeArguments, piped, expected, declared };
}

interface Callee {
  readonly name: string;
  readonly target: CallTarget;
  readonly isTest?: boolean;
  readonly declared?: CallSite['declared'];
}

function callFunction(body: Body, call: Call, signature: Signature, callee: Callee): Type {
  if (callee.isTest === true && body.fn.kind !== 'test') {
    body.cx.report.error(CODE.testCalled, call.node.span, `\`${callee.name}\` is a test and cannot be called`, {
      help: 'move what both need into a function without `@test`',
    });
  }
  const checked = checkArguments(body, siteOf(call, callee.name, callee.declared), signature);
  const isAsync = signature.isAsync || callee.target.kind === 'tool-method';
  record(body, call, callee.target, { arguments: checked.sources, isAsync });
  return checked.result;
}

function callBuiltin(body: Body, call: Call, value: Extract<ResolvedValue, { kind: 'builtin' }>): Type {
  const { builtin } = value;
  const short = builtin.name.split('::').slice(-2).join('::');
  const checked =
    builtin.name === 'emit' && call.typeArguments.length > 0
      ? checkTypedEmit(body, call, builtin.signature)
      : checkArguments(body, siteOf(call, short), builtin.signature);
  record(body, call, { kind: 'builtin', name: builtin.name }, { arguments: checked.sources });
  if (builtin.takesTypes) recordSchema(body, call, checked);
  if (builtin.name === 'panic') {
    body.diverges = true;
    return NEVER;
  }
  if (builtin.name === 'len') checkMeasurable(body, call);
  if (builtin.name === 'sleep' || builtin.name === 'every') checkDuration(body, call);
  return checked.result;
}

/** `emit<T>(channel, payload)`: the payload is a `T`. */
function checkTypedEmit(body: Body, call: Call, signature: Signature): CheckedCall {
  const [written] = call.typeArguments;
  const type = written === undefined ? ANY : readType(body, written);
  const params = signature.params.map((param) => (param.name === 'payload' ? { ...param, type } : param));
  return checkArguments(body, siteOf({ ...call, typeArguments: [] }, 'emit'), { ...signature, params });
}

function recordSchema(body: Body, call: Call, checked: CheckedCall): void {
  const [first] = call.typeArguments;
  const [inferred] = checked.instance.values();
  const type = first === undefined ? (inferred ?? ANY) : readType(body, first);
  body.cx.later.push(() => {
    body.cx.facts.schemaArguments.set(call.id, typeTag(type));
  });
}

const MEASURABLE = new Set([
  'String',
  'Array',
  'Map',
  'Range',
  'Tuple',
  'Set',
  'Queue',
  'Stack',
  'HashMap',
  'Memory',
  'Ledger',
]);

/** A text that is written out is known to be a length of time, or not. */
function checkDuration(body: Body, call: Call): void {
  const node = call.piped?.node ?? call.arguments[0]?.value;
  if (node?.kind !== 'StringLiteral' || parseDuration(node.value) !== undefined) return;
  body.cx.report.error(CODE.mismatch, node.span, `\`${node.value}\` is no length of time`, {
    help: 'write `"500ms"`, `"90s"`, `"1h 30m"`, `"3d"`, or a number of milliseconds',
  });
}

function checkMeasurable(body: Body, call: Call): void {
  const node = call.piped?.node ?? call.arguments[0]?.value;
  if (node === undefined) return;
  const type = prune(body.cx.facts.types.get(node.id) ?? ANY);
  if (type.kind !== 'applied' || MEASURABLE.has(builtinName(type)) || type.con.family === 'literals') return;
  if (type.con.family === 'failure' || type.con === CON.Union) return;
  body.cx.report.error(CODE.mismatch, node.span, `\`${showType(type)}\` has no length`);
}

function callVariant(body: Body, call: Call, value: Extract<ResolvedValue, { kind: 'variant' }>): Type {
  const { variant } = value;
  const name = `${variant.owner.name}::${variant.name}`;
  if (variant.shape !== 'tuple') {
    for (const argument of call.arguments) body.check(argument.value);
    const form = variant.shape === 'unit' ? name : `${name} { … }`;
    body.cx.report.error(CODE.notCallable, call.node.span, `\`${name}\` takes no arguments in parentheses`, {
      help: `write \`${form}\``,
    });
    record(body, call, { kind: 'unresolved' });
    return freshType(variant.owner).type;
  }
  const checked = checkArguments(body, siteOf(call, name), variantSignature(variant));
  record(body, call, { kind: 'variant', variant: variantRef(variant) }, { arguments: checked.sources });
  return checked.result;
}

/** `Type::function(…)`; a method with `self` takes the receiver first, except for tools, which are their own receiver. */
function callAssociated(
  body: Body,
  call: Call,
  callee: NameExpression | PathExpression,
  value: Extract<ResolvedValue, { kind: 'associated' }>,
): Type {
  const { method, con, resource } = value;
  const name = `${con.name}::${method.name}`;
  const declared =
    method.item === undefined || method.ref === undefined
      ? undefined
      : { span: method.item.name.span, file: method.ref.file };
  if (resource !== undefined && method.ref !== undefined) {
    const target: CallTarget =
      resource.ref.kind === 'tool'
        ? { kind: 'tool-method', resource: resource.ref, function: method.ref }
        : { kind: 'function', function: method.ref };
    if (resource.ref.kind === 'tool') return callFunction(body, call, method.signature, { name, target, declared });
  }
  const isTrait = con.family === 'trait';
  const { type: fresh, instance } = freshType(con);
  const receiver = isTrait ? freshVar() : fresh;
  if (method.trait !== undefined) instance.set(method.trait.self, receiver);
  const typeArguments =
    callee.kind === 'PathExpression' ? callee.typeArguments.map((type) => readType(body, type)) : [];
  if (typeArguments.length === con.params.length && typeArguments.length > 0)
    assign(body.cx, applied(con, typeArguments), fresh);
  const self: ParamInfo = { name: 'self', type: receiver, hasDefault: false, node: undefined };
  const known = implOf(body.cx, con).conversions;
  const conversions = known.includes(method) ? known : [];
  const own = convertible(method, conversions);
  const params = method.receiver === 'none' ? own : [self, ...own];
  const checked = checkArguments(body, siteOf(call, name, declared), { ...method.signature, params }, instance);
  let target: CallTarget = { kind: 'unresolved' };
  if (isTrait && method.receiver !== 'none' && method.trait !== undefined) {
    checkImplements(body, call, receiver, method.trait);
    target = { kind: 'trait-method', trait: method.trait.path, method: method.name };
  } else {
    const { ref } = conversions.find((conversion) => takes(body, call, conversion)) ?? method;
    if (ref !== undefined) target = { kind: 'function', function: ref };
  }
  if (target.kind === 'unresolved' && method.receiver === 'none') reportNoBody(body, call.node, name);
  record(body, call, target, { arguments: checked.sources, isAsync: method.signature.isAsync });
  return checked.result;
}

/** `Type::from(…)` takes whatever one of its `impl From<…>` takes. */
function convertible(method: MethodInfo, conversions: readonly MethodInfo[]): readonly ParamInfo[] {
  const [param] = method.signature.params;
  if (param === undefined || conversions.length < 2) return method.signature.params;
  return [{ ...param, type: unionOf(conversions.map((each) => each.signature.params[0]?.type ?? ANY)) }];
}

/** Which of them is meant shows by what it is given. */
function takes(body: Body, call: Call, conversion: MethodInfo): boolean {
  const given = call.piped?.type ?? body.cx.facts.types.get(call.arguments[0]?.value.id ?? 0);
  return given !== undefined && assign(body.cx, given, conversion.signature.params[0]?.type ?? ANY).ok;
}

function checkImplements(body: Body, call: Call, receiver: Type, trait: TraitInfo): void {
  const type = prune(receiver);
  const isBound = type.kind === 'param' && type.param.bounds.includes(trait);
  if (isBound || type.kind !== 'applied' || implOf(body.cx, type.con).traits.has(trait) || type.con.trait === trait)
    return;
  body.cx.report.error(CODE.traitBound, call.node.span, `\`${showType(type)}\` does not implement \`${trait.name}\``);
}

/** `Model("…")` is `Model.execute("…")`. */
function callModel(body: Body, call: Call, type: Type): Type {
  record(body, call, { kind: 'model-call' }, { isAsync: true });
  return checkMethodOn(body, {
    id: call.id,
    receiver: undefined,
    receiverType: type,
    name: 'execute',
    nameSpan: call.callee.span,
    span: call.node.span,
    arguments: call.arguments,
    typeArguments: call.typeArguments,
    piped: call.piped,
    expected: call.expected,
    target: { kind: 'model-call' },
  });
}

/** The callee is any expression that gives a function. */
function callValue(body: Body, call: Call, calleeType: Type): Type {
  const type = prune(calleeType);
  if (isCon(type, CON.Function)) {
    const params = type.args
      .slice(0, -1)
      .map((param, index): ParamInfo => ({ name: String(index + 1), type: param, hasDefault: false, node: undefined }));
    const result = type.args[type.args.length - 1] ?? ANY;
    const name = call.callee.kind === 'NameExpression' ? call.callee.name.text : 'this function';
    const signature: Signature = { typeParams: [], params, result, isAsync: false };
    const checked = checkArguments(body, siteOf(call, name), signature);
    record(body, call, { kind: 'value' }, { arguments: checked.sources, isAsync: true });
    return checked.result;
  }
  if (kindOf(type) === 'ModelRef') return callModel(body, call, type);
  if (
    type.kind === 'any' ||
    type.kind === 'never' ||
    type.kind === 'var' ||
    type.kind === 'error' ||
    isCon(type, CON.Union)
  ) {
    for (const argument of call.arguments) body.check(argument.value);
    record(body, call, { kind: 'value' }, { isAsync: true });
    return type.kind === 'error' ? ERROR : ANY;
  }
  if (builtinName(type) === 'Function' && !isCon(type, CON.Function)) return ANY;
  return notCallable(body, call, type);
}

function notCallable(body: Body, call: Call, type: Type): Type {
  for (const argument of call.arguments) body.check(argument.value);
  if (prune(type).kind !== 'never' && prune(type).kind !== 'error') {
    const name = call.callee.kind === 'NameExpression' ? `\`${call.callee.name.text}\`` : 'this';
    body.cx.report.error(
      CODE.notCallable,
      call.callee.span,
      `${name} is \`${showType(type)}\`, which cannot be called`,
    );
  }
  record(body, call, { kind: 'unresolved' });
  return ERROR;
}
