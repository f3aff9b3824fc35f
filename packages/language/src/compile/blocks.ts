import type { Block } from '../syntax/expression.ts';
import { into } from './evaluate.ts';
import type { Frame } from './frame.ts';
import { compileStatement } from './statements.ts';

export function compileBlock(frame: Frame, block: Block, dst: number | undefined): void {
  frame.scoped(() => {
    for (const statement of block.statements) compileStatement(frame, statement);
    if (block.tail !== undefined) into(frame, block.tail, dst);
    else if (dst !== undefined) frame.emit('LoadNil', dst);
  });
}
