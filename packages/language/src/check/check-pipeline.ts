import type { FunctionStage, Parameter, PipelineItem, Stage, ValueStage } from '../syntax/item.ts';
import { checkReturned, createBody, functionScope, reportMisfit } from './body.ts';
import { checkStatements } from './check-block.ts';
import { declareParameter, recordFunction } from './check-closure.ts';
import { checkExpression } from './check-expression.ts';
import { settle } from './check-function.ts';
import { CODE } from './codes.ts';
import type { Body, Context } from './context.ts';
import { unwrapResult } from './declare-resources.ts';
import { plainScope } from './declare-types.ts';
import type { Local } from './facts.ts';
import type { ModuleScope } from './module-scope.ts';
import { count, resolveType } from './resolve-type.ts';
import { ANY, isDynamic, NIL, prune, showType, type Type } from './types.ts';
import { assign } from './unify.ts';

interface Chain {
  readonly item: PipelineItem;
  readonly module: ModuleScope;
  /** The pipeline's parameter and the values of earlier stages, which `stage x = …` sees by name. */
  readonly visible: Local[];
  /** What the stage before gives, and its name; undefined when nothing is known. */
  previous: { readonly type: Type; readonly name: string } | undefined;
}

/** Stages fit one another; the ends fit the signature. */
export function checkPipeline(cx: Context, module: ModuleScope, item: PipelineItem): void {
  const scope = plainScope(module);
  const { parameter } = item;
  const input = parameter?.type === undefined ? undefined : resolveType(cx, scope, parameter.type);
  if (parameter !== undefined && parameter.type === undefined) {
    cx.report.error(CODE.parameterType, parameter.span, `parameter \`${parameter.name.text}\` needs a type`);
  }
  const chain: Chain = { item, module, visible: [], previous: undefined };
  if (parameter !== undefined) {
    chain.visible.push(stageLocal(cx, parameter, parameter.name.text, input ?? ANY));
    chain.previous = { type: input ?? ANY, name: 'the pipeline’s input' };
  }
  if (item.stages.length === 0) {
    cx.report.warning(CODE.emptyPipeline, item.name.span, `pipeline \`${item.name.text}\` has no stages`);
  }
  const names = new Set<string>();
  for (const stage of item.stages) {
    if (names.has(stage.name.text) && stage.name.text !== '') {
      cx.report.error(CODE.duplicate, stage.name.span, `there are two stages called \`${stage.name.text}\``);
    }
    names.add(stage.name.text);
    checkStage(cx, chain, stage);
  }
  checkOutput(cx, chain);
}

function checkOutput(cx: Context, chain: Chain): void {
  const { item, module, previous } = chain;
  if (previous !== undefined) cx.pipelineOutputs.set(item, previous.type);
  if (item.returnType === undefined) return;
  const declared = unwrapResult(resolveType(cx, plainScope(module), item.returnType));
  if (item.stages.length === 0 || previous === undefined || adjacent(cx, previous.type, declared)) return;
  const last = item.stages[item.stages.length - 1];
  cx.report.error(
    CODE.pipeline,
    item.returnType.span,
    `pipeline \`${item.name.text}\` gives \`${showType(declared)}\`, but its last stage gives \`${showType(previous.type)}\``,
    { labels: last === undefined ? [] : [{ span: last.name.span, message: 'the last stage' }] },
  );
}

function stageLocal(
  cx: Context,
  node: { readonly id: number; readonly name: { readonly span: Parameter['span'] } },
  name: string,
  type: Type,
): Local {
  const local: Local = {
    id: node.id,
    name,
    mutable: false,
    owner: node.id,
    type,
    captured: false,
    mutated: false,
    used: false,
  };
  cx.facts.locals.set(node.id, local);
  cx.declarations.set(node.id, { span: node.name.span, file: cx.report.file });
  return local;
}

function checkStage(cx: Context, chain: Chain, stage: Stage): void {
  const type =
    stage.kind === 'FunctionStage' ? checkFunctionStage(cx, chain, stage) : checkValueStage(cx, chain, stage);
  chain.previous = { type, name: `stage \`${stage.name.text}\`` };
  chain.visible.push(stageLocal(cx, stage, stage.name.text, type));
  settle(cx);
}

/** As for assignment, but a success is unwrapped first and nothing becomes optional on the way. */
function adjacent(cx: Context, from: Type, to: Type): boolean {
  return assign(cx, unwrapResult(from), to).ok;
}

function stageBody(cx: Context, chain: Chain, stage: Stage, returnType: Type): Body {
  const fn = functionScope({
    id: stage.id,
    kind: 'stage',
    isAsync: true,
    returnType,
    returnDeclared: stage.kind === 'FunctionStage',
    failure: 'result',
    errorType: ANY,
    path: `${chain.item.name.text}::${stage.name.text}`,
  });
  return createBody(cx, plainScope(chain.module), fn, checkExpression);
}

function checkFunctionStage(cx: Context, chain: Chain, stage: FunctionStage): Type {
  const scope = plainScope(chain.module);
  const result = stage.returnType === undefined ? ANY : resolveType(cx, scope, stage.returnType);
  if (stage.returnType === undefined) {
    cx.report.error(CODE.pipeline, stage.name.span, `stage \`${stage.name.text}\` needs a result type`, {
      help: `write \`-> Type\` after its parameters`,
    });
  }
  if (stage.parameters.length > 1) {
    cx.report.error(
      CODE.pipeline,
      stage.parameters[1]?.span ?? stage.name.span,
      `stage \`${stage.name.text}\` has ${count(stage.parameters.length, 'parameter')}, but only one value is passed on`,
    );
  }
  const body = stageBody(cx, chain, stage, result);
  stage.parameters.forEach((parameter, index) => {
    const type = parameter.type === undefined ? ANY : resolveType(cx, scope, parameter.type);
    if (parameter.type === undefined && parameter.name.text !== '') {
      cx.report.error(CODE.parameterType, parameter.span, `parameter \`${parameter.name.text}\` needs a type`);
    }
    if (index === 0) checkInput(cx, chain, stage, { type, parameter });
    declareParameter(body, parameter, type);
  });
  const given = checkStatements(body, stage.body, undefined, (tail) =>
    checkReturned(body, tail, `result of stage \`${stage.name.text}\``),
  );
  cx.facts.types.set(stage.body.id, given);
  if (
    stage.body.tail === undefined &&
    !body.diverges &&
    stage.returnType !== undefined &&
    !assign(body.cx, NIL, unwrapResult(result)).ok
  ) {
    reportMisfit(cx, stage.returnType.span, NIL, {
      type: result,
      what: `stage \`${stage.name.text}\` ends without a value`,
    });
  }
  recordFunction(body, body.fn, 'value');
  return unwrapResult(result);
}

function checkInput(
  cx: Context,
  chain: Chain,
  stage: FunctionStage,
  given: { readonly type: Type; readonly parameter: Parameter },
): void {
  const { previous } = chain;
  if (previous === undefined || isDynamic(prune(previous.type)) || adjacent(cx, previous.type, given.type)) return;
  cx.report.error(
    CODE.pipeline,
    given.parameter.span,
    `stage \`${stage.name.text}\` takes \`${showType(given.type)}\`, but ${previous.name} gives \`${showType(previous.type)}\``,
  );
}

/** `stage x = …;` sees the input and all earlier values; a Result is unwrapped, and an Err fails the stage. */
function checkValueStage(cx: Context, chain: Chain, stage: ValueStage): Type {
  const body = stageBody(cx, chain, stage, ANY);
  body.scope.locals = new Map(chain.visible.map((local) => [local.name, local]));
  const type = body.check(stage.value);
  recordFunction(body, body.fn, 'value');
  return prune(type).kind === 'never' ? ANY : unwrapResult(type);
}
