import type { Expression } from '../syntax/expression.ts';
import { temporary } from './evaluate.ts';
import type { Frame } from './frame.ts';
import { localRegister } from './names.ts';

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
