import type { FunctionItem } from '../syntax/item.ts';
import { checkReturned, createBody, declareLocal, functionScope, reportMisfit } from './body.ts';
import { checkStatements } from './check-block.ts';
import { declareParameter, errorOf, failureOf, recordFunction } from './check-closure.ts';
import { checkExpression } from './check-expression.ts';
import { CODE } from './codes.ts';
import { isSupervisor } from './collect-items.ts';
import type { Body, Context, FunctionBody, TypeScope } from './context.ts';
import { ANY, CON, isCon, NIL, prune, type Signature, showType, type Type, type TypeParam } from './types.ts';
import { assign } from './unify.ts';

/** Checks one function or method whose signature is known. */
export function checkFunction(cx: Context, job: FunctionBody): void {
  const { item } = job;
  const signature = cx.signatures.get(item);
  if (signature === undefined) return;
  checkShape(cx, job);
  if (item.body === undefined) {
    if (job.kind !== 'tool') {
      cx.report.error(CODE.traitImpl, item.name.span, `function \`${item.name.text}\` has no body`);
    }
    return;
  }
  const types = bodyTypes(job.scope, signature);
  const fn = functionScope({
    id: item.id,
    kind: job.kind,
    isAsync: item.isAsync || job.kind !== 'function',
    returnType: signature.result,
    returnDeclared: item.returnType !== undefined,
    failure: job.kind === 'test' ? 'result' : failureOf(signature.result, undefined),
    errorType: errorOf(signature.result),
    path: functionPath(job),
  });
  const body = createBody(cx, types, fn, checkExpression);
  if (item.self !== undefined) declareSelf(body, item, job);
  item.parameters.forEach((parameter, index) => {
    const type = signature.params[index]?.type ?? ANY;
    if (parameter.defaultValue !== undefined) checkDefault(body, parameter.defaultValue, type);
    declareParameter(body, parameter, type);
  });
  checkFunctionBody(body, item, signature.result);
  recordFunction(body, fn, item.returnType === undefined ? 'nil' : 'value');
  settle(cx);
}

/** Runs the questions that waited for the types of this body. */
export function settle(cx: Context): void {
  for (const question of cx.later) question();
  cx.later.length = 0;
}

function functionPath(job: FunctionBody): string {
  const { item, self } = job;
  const trait = self?.kind === 'param' ? self.param.bounds[0]?.name : undefined;
  const owner = self?.kind === 'applied' ? self.con.name : trait;
  return owner === undefined ? item.name.text : `${owner}::${item.name.text}`;
}

function bodyTypes(scope: TypeScope, signature: Signature): TypeScope {
  if (signature.typeParams.length === 0) return scope;
  const params = new Map<string, TypeParam>(scope.params);
  for (const param of signature.typeParams) params.set(param.name, param);
  return { ...scope, params };
}

function checkDefault(body: Body, node: Parameters<Body['check']>[0], type: Type): void {
  const actual = body.check(node, type);
  const fit = assign(body.cx, actual, type);
  if (fit.ok) {
    if (fit.coercion !== undefined) body.cx.facts.coercions.set(node.id, fit.coercion);
  } else reportMisfit(body.cx, node.span, actual, { type, what: 'default value' });
}

function declareSelf(body: Body, item: FunctionItem, job: FunctionBody): void {
  const { self } = item;
  if (self === undefined) return;
  declareLocal(body, {
    id: self.id,
    name: 'self',
    span: self.span,
    type: job.self ?? ANY,
    mutable: self.mutable,
    what: undefined,
  });
}

/** The tail is what the function gives; without a written result it is dropped. */
function checkFunctionBody(body: Body, item: FunctionItem, result: Type): void {
  const block = item.body;
  if (block === undefined) return;
  const { facts } = body.cx;
  if (item.returnType === undefined) {
    body.cx.unused.add(block.id);
    const type = checkStatements(body, block);
    facts.types.set(block.id, type);
    warnDropped(body, item);
    return;
  }
  const type = checkReturnedBlock(body, block);
  if (block.tail !== undefined || body.diverges) return;
  if (assign(body.cx, NIL, result).ok && !isCon(prune(result), CON.Option)) return;
  if (prune(type).kind === 'never') return;
  const last = block.statements[block.statements.length - 1];
  const dropped =
    last?.kind === 'ExpressionStatement' && last.semicolon ? facts.types.get(last.expression.id) : undefined;
  const removable = dropped !== undefined && assign(body.cx, dropped, result).ok && !isCon(prune(dropped), CON.Nil);
  reportMisfit(body.cx, item.returnType.span, NIL, {
    type: result,
    what: `\`${item.name.text}\` ends without a value`,
    ...(removable && last !== undefined ? { help: 'remove the last `;` to give this value' } : {}),
  });
}

function checkReturnedBlock(body: Body, block: NonNullable<FunctionItem['body']>): Type {
  if (block.tail === undefined) {
    const type = checkStatements(body, block);
    body.cx.facts.types.set(block.id, type);
    return type;
  }
  const type = checkStatements(body, block, undefined, (tail) => checkReturned(body, tail, '`return` value'));
  body.cx.facts.types.set(block.id, type);
  return type;
}

function warnDropped(body: Body, item: FunctionItem): void {
  const tail = item.body?.tail;
  if (tail === undefined || body.fn.kind === 'test') return;
  const type = prune(body.cx.facts.types.get(tail.id) ?? NIL);
  const isScalar = type.kind === 'applied' && (type.con.family === 'scalar' || type.con.family === 'struct');
  if (!isScalar || isCon(type, CON.Nil) || body.diverges) return;
  const plain =
    tail.kind !== 'CallExpression' && tail.kind !== 'MethodCallExpression' && tail.kind !== 'AssignExpression';
  if (!plain) return;
  body.cx.report.warning(
    CODE.droppedValue,
    tail.span,
    `\`${item.name.text}\` gives nothing, so this value is dropped`,
    {
      help: `write \`-> ${showType(type)}\` after its parameters`,
    },
  );
}

/** What a declaration may look like: types of parameters, tests without parameters. */
function checkShape(cx: Context, job: FunctionBody): void {
  const { item } = job;
  if (job.kind === 'test') {
    const extra = item.parameters[0] ?? item.self ?? item.returnType;
    if (extra !== undefined) {
      cx.report.error(
        CODE.testSignature,
        extra.span,
        `test \`${item.name.text}\` must not have parameters or a result`,
        {
          help: 'write `fn name() { … }`',
        },
      );
    }
  }
  const seen = new Set<string>();
  for (const parameter of item.parameters) {
    const name = parameter.name.text;
    // A method may leave the type out: a model sends what it likes to a tool, and old programs do it elsewhere.
    if (parameter.type === undefined && name !== '' && job.self === undefined) {
      cx.report.error(CODE.parameterType, parameter.span, `parameter \`${name}\` needs a type`, {
        help: `write \`${name}: Type\`, or \`${name}: Any\``,
      });
    }
    if (name !== '' && seen.has(name) && name !== '_') {
      cx.report.error(CODE.duplicate, parameter.name.span, `there are two parameters called \`${name}\``);
    }
    seen.add(name);
  }
  checkMain(cx, job);
  checkSupervisor(cx, job);
}

function checkMain(cx: Context, job: FunctionBody): void {
  const { item } = job;
  if (cx.facts.main?.item !== item || item.parameters.length === 0) return;
  cx.report.error(CODE.argumentCount, item.parameters[0]?.span ?? item.span, '`main` takes no parameters');
}

/** `@supervisor fn guard(session: Session)`: it is called with the session that it answers for. */
function checkSupervisor(cx: Context, job: FunctionBody): void {
  const { item } = job;
  if (!isSupervisor(item)) return;
  const [first, ...others] = item.parameters;
  const isSession = first?.type?.kind === 'NamedType' && first.type.path.segments.at(-1)?.text === 'Session';
  if (isSession && others.length === 0 && job.self === undefined) return;
  cx.report.error(CODE.decoratorPlace, first?.span ?? item.name.span, 'a supervisor takes one parameter: the session', {
    help: `write \`@supervisor fn ${item.name.text}(session: Session) { … }\``,
  });
}
