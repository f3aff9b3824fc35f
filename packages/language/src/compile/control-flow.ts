import { assert } from '@concerto/base';
import type {
  Block,
  BreakExpression,
  ContinueExpression,
  Expression,
  IfExpression,
  ReturnExpression,
} from '../syntax/expression.ts';
import { effect, temporary, value } from './expressions.ts';
import type { Frame, LoopTarget } from './frame.ts';
import { localRegister } from './names.ts';
import { jumpIf } from './operators.ts';
import { compileStatement } from './statements.ts';

/** A value nobody reads has no `dst`. */
export function into(frame: Frame, expression: Expression, dst: number | undefined): void {
  if (dst === undefined) effect(frame, expression);
  else value(frame, expression, dst);
}

export function compileBlock(frame: Frame, block: Block, dst: number | undefined): void {
  frame.scoped(() => {
    for (const statement of block.statements) compileStatement(frame, statement);
    if (block.tail !== undefined) into(frame, block.tail, dst);
    else if (dst !== undefined) frame.emit('LoadNil', dst);
  });
}

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

/** A variable that dies with the function is handed over; an argument belongs to the caller and is copied. */
export function returnValue(frame: Frame, expression: Expression): void {
  frame.scoped(() => {
    const own = localRegister(frame, expression);
    if (own !== undefined && !frame.isBorrowed(own)) leave(frame, own);
    else leave(frame, temporary(frame, expression));
  });
}

export function leave(frame: Frame, register: number | undefined): void {
  if (frame.selfCell !== undefined) frame.emit('LoadCell', 0, frame.selfCell);
  if (register === undefined) frame.emit('ReturnNil');
  else frame.emit('Return', register);
}

export function compileBreak(frame: Frame, expression: BreakExpression): void {
  const loop = findLoop(frame, expression.label?.text);
  if (expression.value !== undefined) {
    if (loop.result === undefined) effect(frame, expression.value);
    else value(frame, expression.value, loop.result);
  } else if (loop.result !== undefined) frame.emit('LoadNil', loop.result);
  frame.jump(loop.end);
}

export function compileContinue(frame: Frame, expression: ContinueExpression): void {
  frame.jump(findLoop(frame, expression.label?.text).next);
}

function findLoop(frame: Frame, label: string | undefined): LoopTarget {
  const loop = frame.loops.findLast((candidate) => label === undefined || candidate.label === label);
  assert(loop !== undefined, 'break and continue are inside a loop');
  return loop;
}
