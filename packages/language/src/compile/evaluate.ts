import type { Expression } from '../syntax/expression.ts';
import { applyCoercion } from './coercions.ts';
import type { Frame } from './frame.ts';
import { localRegister } from './names.ts';

/** Puts the value of an expression into `dst`: a fresh value, or one marked as shared, so that it may be kept. */
export function value(frame: Frame, expression: Expression, dst: number): void {
  const coercion = frame.facts.coercions.get(expression.id);
  frame.builder.evaluator.value(frame, expression, dst);
  if (coercion !== undefined) applyCoercion(frame, expression, coercion, dst);
}

/** The value in a register of its own. */
export function temporary(frame: Frame, expression: Expression): number {
  const register = frame.reserve();
  value(frame, expression, register);
  return register;
}

/**
 * A register to read the value from at once: the variable's own where there is one. Nothing that could change a variable
 * may run between this and the read; `operandBefore` is for the other cases.
 */
export function operand(frame: Frame, expression: Expression): number {
  const own = localRegister(frame, expression);
  if (own !== undefined) return own;
  const register = frame.reserve();
  if (!peek(frame, expression, register)) value(frame, expression, register);
  return register;
}

/** As `operand`, when `later` is evaluated before the value is read. */
export function operandBefore(frame: Frame, expression: Expression, later: readonly Expression[]): number {
  if (later.every(isInert)) return operand(frame, expression);
  const own = localRegister(frame, expression);
  if (own !== undefined && !isMutable(frame, expression)) return own;
  return temporary(frame, expression);
}

/** Reads a variable or a part of one without marking it as shared. False when the expression is nothing of the kind. */
export function peek(frame: Frame, expression: Expression, dst: number): boolean {
  if (frame.facts.coercions.has(expression.id) || frame.facts.chains.has(expression.id)) return false;
  switch (expression.kind) {
    case 'ParenExpression':
      return peek(frame, expression.expression, dst);
    case 'NameExpression': {
      const resolved = frame.facts.names.get(expression.id);
      if (resolved?.kind === 'local') {
        const storage = frame.storage(resolved.local);
        frame.emit(storage.kind === 'cell' ? 'PeekCell' : 'Borrow', dst, storage.register);
        return true;
      }
      if (resolved?.kind !== 'module-variable') return false;
      frame.at(expression);
      frame.emit('PeekGlobal', dst, frame.builder.variable(resolved.variable));
      return true;
    }
    case 'FieldExpression':
      frame.scoped(() => {
        const receiver = operand(frame, expression.receiver);
        frame.at(expression.name);
        frame.emit('PeekField', dst, receiver, frame.builder.text(expression.name.text));
      });
      return true;
    case 'IndexExpression':
      frame.scoped(() => {
        const receiver = operandBefore(frame, expression.receiver, [expression.index]);
        const index = operand(frame, expression.index);
        frame.at(expression);
        frame.emit('PeekIndex', dst, receiver, index);
      });
      return true;
    default:
      return false;
  }
}

/** Evaluating it changes no variable and runs no code of the program. */
export function isInert(expression: Expression): boolean {
  switch (expression.kind) {
    case 'IntLiteral':
    case 'FloatLiteral':
    case 'StringLiteral':
    case 'BoolLiteral':
    case 'NilLiteral':
    case 'NameExpression':
    case 'PathExpression':
      return true;
    case 'ParenExpression':
      return isInert(expression.expression);
    case 'FieldExpression':
    case 'TupleFieldExpression':
      return isInert(expression.receiver);
    case 'IndexExpression':
      return isInert(expression.receiver) && isInert(expression.index);
    case 'UnaryExpression':
    case 'CastExpression':
      return isInert(expression.operand);
    case 'BinaryExpression':
      return isInert(expression.left) && isInert(expression.right);
    case 'InterpolatedString':
      return expression.parts.every((part) => part.kind === 'TextPart' || isInert(part.expression));
    case 'TupleExpression':
    case 'ArrayExpression':
      return expression.elements.every(isInert);
    default:
      return false;
  }
}

function isMutable(frame: Frame, expression: Expression): boolean {
  if (expression.kind === 'ParenExpression') return isMutable(frame, expression.expression);
  const resolved = frame.facts.names.get(expression.id);
  return resolved?.kind === 'local' && resolved.local.mutated;
}

/** Evaluates an expression whose value nobody reads. */
export function effect(frame: Frame, expression: Expression): void {
  frame.scoped(() => frame.builder.evaluator.effect(frame, expression));
}

/** A value nobody reads has no `dst`. */
export function into(frame: Frame, expression: Expression, dst: number | undefined): void {
  if (dst === undefined) effect(frame, expression);
  else value(frame, expression, dst);
}
