import type { Block, Expression } from '../syntax/expression.ts';
import { into, value } from './evaluate.ts';
import type { Frame } from './frame.ts';
import { compileStatement } from './statements.ts';
import { raiseWhenErr } from './throwing.ts';

export function compileBlock(frame: Frame, block: Block, dst: number | undefined): void {
  frame.scoped(() => {
    for (const statement of block.statements) compileStatement(frame, statement);
    if (block.tail !== undefined && frame.facts.raisedWhenErr.has(block.tail.id)) {
      droppedTail(frame, block.tail, dst ?? frame.reserve());
    } else if (block.tail !== undefined) into(frame, block.tail, dst);
    else if (dst !== undefined) frame.emit('LoadNil', dst);
  });
}

/** The value of a block inside a `try` that nobody reads: an `Err` must not get lost. */
function droppedTail(frame: Frame, tail: Expression, dst: number): void {
  value(frame, tail, dst);
  frame.scoped(() => {
    const copy = frame.reserve();
    frame.emit('Borrow', copy, dst);
    frame.at(tail);
    raiseWhenErr(frame, copy);
  });
}
