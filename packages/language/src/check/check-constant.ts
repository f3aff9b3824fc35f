import type { Expression } from '../syntax/expression.ts';
import type { ConstItem } from '../syntax/item.ts';
import { checkFits, createBody, functionScope } from './body.ts';
import { checkExpression } from './check-expression.ts';
import { settle } from './check-function.ts';
import { CODE } from './codes.ts';
import { inFile } from './collect-items.ts';
import type { Body, Context } from './context.ts';
import { plainScope } from './declare-types.ts';
import { type Evaluation, evaluate } from './evaluate-constant.ts';
import type { ConstantValue } from './facts.ts';
import type { ModuleScope } from './module-scope.ts';
import { ANY, type Type } from './types.ts';

/** A body for expressions outside functions: constants, config fields, defaults. */
export function outerBody(cx: Context, module: ModuleScope, self?: Type): Body {
  const fn = functionScope({
    id: 0,
    kind: 'top',
    isAsync: true,
    returnType: ANY,
    returnDeclared: false,
    failure: undefined,
    errorType: ANY,
    path: module.path,
  });
  return createBody(cx, { ...plainScope(module), self }, fn, checkExpression);
}

export function checkConstant(cx: Context, module: ModuleScope, item: ConstItem): void {
  const entry = module.entries.get(item.name.text);
  const meaning = entry?.meaning.kind === 'constant' && entry.meaning.item === item ? entry.meaning : undefined;
  const body = outerBody(cx, module);
  if (meaning === undefined) {
    body.check(item.value);
    return;
  }
  checkFits(body, item.value, { type: meaning.type, what: `constant \`${item.name.text}\`` });
  settle(cx);
}

/** Evaluates all constants after their types are checked; the order of declaration does not matter. */
export function evaluateConstants(cx: Context): void {
  const states = new Map<ConstItem, 'busy' | ConstantValue | undefined>();
  const constant = (item: ConstItem, file: string): ConstantValue | undefined => {
    if (states.has(item)) {
      const state = states.get(item);
      if (state !== 'busy') return state;
      cx.report.error(CODE.cycle, item.name.span, `constant \`${item.name.text}\` refers to itself`, { file });
      return undefined;
    }
    states.set(item, 'busy');
    const value = inFile(cx, file, () => constantValue(cx, item.value, evaluation));
    states.set(item, value);
    if (value !== undefined) cx.facts.constants.set(item.value.id, value);
    return value;
  };
  const evaluation: Evaluation = {
    facts: cx.facts,
    constant: (ref) => constant(ref.item, ref.file),
    structFields: (path) => cx.structDefaults.get(path),
  };
  cx.evaluation.current = evaluation;
  for (const ref of cx.facts.declaredConstants) constant(ref.item, ref.file);
}

/** The value, or undefined with a report at the part that is not constant. */
export function constantValue(cx: Context, node: Expression, evaluation: Evaluation): ConstantValue | undefined {
  const outcome = evaluate(evaluation, node);
  if (outcome.ok) return outcome.value;
  if (outcome.error.message !== '') {
    cx.report.error(CODE.notConstant, outcome.error.node.span, outcome.error.message, {
      help: outcome.error.message.endsWith('not constant')
        ? 'a constant is made of literals, operators and other constants'
        : undefined,
    });
  }
  return undefined;
}
