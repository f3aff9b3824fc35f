import { assert } from '@concerto/base';
import type {
  BreakExpression,
  ContinueExpression,
  Expression,
  IfExpression,
  ReturnExpression,
} from '../syntax/expression.ts';
import { effect, into, temporary, value } from './evaluate.ts';
import type { Frame, LoopTarget } from './frame.ts';
import { leave, returnValue } from './leaving.ts';
import { jumpIf } from './operators.ts';

export function compileIf(frame: Frame, expression: IfExpression, dst: number | undefined): void {
  const otherwise = frame.label();
  jumpIf(frame, expression.condition, false, otherwise);
  into(frame, expression.then, dst);
  if (expression.otherwise === undefined && dst === undefined) {
    frame.place(otherwise);
    return;
  }
  const end = frame.label();
  frame.jump(end);
  frame.place(otherwise);
  if (expression.otherwise !== undefined) into(frame, expression.otherwise, dst);
  else if (dst !== undefined) frame.emit('LoadNil', dst);
  frame.place(end);
}

export function compileReturn(frame: Frame, expression: ReturnExpression): void {
  if (expression.value === undefined) return leave(frame, undefined);
  returnValue(frame, expression.value);
}

export function compileBreak(frame: Frame, expression: BreakExpression): void {
  if (frame.loops.length === 0 && expression.value !== undefined) return breakListen(frame, expression.value);
  const loop = findLoop(frame, expression.label?.text);
  if (expression.value !== undefined) {
    if (loop.result === undefined) effect(frame, expression.value);
    else value(frame, expression.value, loop.result);
  } else if (loop.result !== undefined) frame.emit('LoadNil', loop.result);
  frame.jump(loop.end);
}

/** `break v` in a handler, outside a loop of its own: the session ends with v. */
function breakListen(frame: Frame, expression: Expression): void {
  frame.scoped(() => {
    const given = temporary(frame, expression);
    frame.at(expression);
    frame.emit('ListenBreak', given);
  });
}

export function compileContinue(frame: Frame, expression: ContinueExpression): void {
  frame.jump(findLoop(frame, expression.label?.text).next);
}

function findLoop(frame: Frame, label: string | undefined): LoopTarget {
  const loop = frame.loops.findLast((candidate) => label === undefined || candidate.label === label);
  assert(loop !== undefined, 'break and continue are inside a loop');
  return loop;
}
