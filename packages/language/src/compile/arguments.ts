import type { Expression } from '../syntax/expression.ts';
import { isInert, peek, value } from './evaluate.ts';
import type { Frame } from './frame.ts';
import { localRegister } from './names.ts';

export interface ArgumentPlace {
  readonly slot: number;
  /** Evaluated after this argument and before the call. */
  readonly later: readonly Expression[];
}

/**
 * Puts an argument into its slot. Arguments are borrowed, so a variable in a register is not marked as shared, unless
 * something that runs before the call could change it.
 */
export function argument(frame: Frame, expression: Expression, { slot, later }: ArgumentPlace): void {
  const calm = later.every(isInert);
  const own = localRegister(frame, expression);
  if (own !== undefined) {
    frame.emit(calm || !isMutated(frame, expression) ? 'Borrow' : 'Move', slot, own);
    return;
  }
  if (calm && isPathOfRegister(frame, expression) && peek(frame, expression, slot)) return;
  value(frame, expression, slot);
}

function isMutated(frame: Frame, expression: Expression): boolean {
  if (expression.kind === 'ParenExpression') return isMutated(frame, expression.expression);
  const resolved = frame.facts.names.get(expression.id);
  return resolved?.kind === 'local' && resolved.local.mutated;
}

/** `a.b[i]` where `a` lives in a register: no callee can reach it. */
export function isPathOfRegister(frame: Frame, expression: Expression): boolean {
  switch (expression.kind) {
    case 'ParenExpression':
      return isPathOfRegister(frame, expression.expression);
    case 'NameExpression':
      return localRegister(frame, expression) !== undefined;
    case 'FieldExpression':
      return isPathOfRegister(frame, expression.receiver);
    case 'IndexExpression':
      return isPathOfRegister(frame, expression.receiver) && isInert(expression.index);
    default:
      return false;
  }
}
