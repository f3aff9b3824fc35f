import { assert, unreachable } from '@concerto/base';
import type { Expression } from '../syntax/expression.ts';
import { compileAssign } from './assignments.ts';
import { compileCall } from './calls.ts';
import { compileClosure } from './closures.ts';
import { applyCoercion } from './coercions.ts';
import { compileAwait, compileRace } from './concurrency.ts';
import { compileBlock, compileBreak, compileContinue, compileIf, compileReturn } from './control-flow.ts';
import { compilePropagate, compileThrow, compileTry } from './errors.ts';
import type { Frame } from './frame.ts';
import { compileListen } from './listens.ts';
import { compileFor, compileLoop, compileWhile } from './loops.ts';
import { compileMatch } from './matches.ts';
import { loadName, localRegister } from './names.ts';
import { compileBinary, compileRange, compileUnary } from './operators.ts';
import { tagText } from './type-text.ts';
import {
  compileArray,
  compileInterpolation,
  compileMap,
  compileStruct,
  loadFloat,
  loadInt,
  loadText,
} from './values.ts';

/** Puts the value of an expression into `dst`: a fresh value, or one marked as shared, so that it may be kept. */
export function value(frame: Frame, expression: Expression, dst: number): void {
  const coercion = frame.facts.coercions.get(expression.id);
  rawValue(frame, expression, dst);
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
  if (frame.facts.coercions.has(expression.id)) return false;
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
  frame.scoped(() => {
    switch (expression.kind) {
      case 'Block':
        return compileBlock(frame, expression, undefined);
      case 'IfExpression':
        return compileIf(frame, expression, undefined);
      case 'MatchExpression':
        return compileMatch(frame, expression, undefined);
      case 'ForExpression':
        return compileFor(frame, expression, undefined);
      case 'WhileExpression':
        return compileWhile(frame, expression, undefined);
      case 'LoopExpression':
        return compileLoop(frame, expression, undefined);
      case 'AssignExpression':
        return compileAssign(frame, expression, undefined);
      case 'ParenExpression':
        return effect(frame, expression.expression);
      default:
        return rawValue(frame, expression, frame.reserve());
    }
  });
}

function rawValue(frame: Frame, expression: Expression, dst: number): void {
  switch (expression.kind) {
    case 'IntLiteral':
      return loadInt(frame, expression.value, dst);
    case 'FloatLiteral':
      return loadFloat(frame, expression.value, dst);
    case 'StringLiteral':
      return loadText(frame, expression.value, dst);
    case 'BoolLiteral':
      return frame.emit(expression.value ? 'LoadTrue' : 'LoadFalse', dst);
    case 'NilLiteral':
      return frame.emit('LoadNil', dst);
    case 'InterpolatedString':
      return compileInterpolation(frame, expression, dst);
    case 'NameExpression':
    case 'PathExpression':
      return loadName(frame, expression, dst);
    case 'ParenExpression':
      return value(frame, expression.expression, dst);
    case 'TupleExpression':
    case 'ArrayExpression':
      return compileArray(frame, expression, dst);
    case 'MapExpression':
      return compileMap(frame, expression, dst);
    case 'StructExpression':
      return compileStruct(frame, expression, dst);
    case 'CallExpression':
    case 'MethodCallExpression':
    case 'PipeExpression':
      return compileCall(frame, expression, dst);
    case 'FieldExpression':
    case 'TupleFieldExpression':
    case 'IndexExpression':
      return compilePart(frame, expression, dst);
    case 'UnaryExpression':
      return compileUnary(frame, expression, dst);
    case 'BinaryExpression':
      return compileBinary(frame, expression, dst);
    case 'AssignExpression':
      return compileAssign(frame, expression, dst);
    case 'RangeExpression':
      return compileRange(frame, expression, dst);
    case 'CastExpression':
      return compileCast(frame, expression, dst);
    case 'AwaitExpression':
      return compileAwait(frame, expression, dst);
    case 'PropagateExpression':
      return compilePropagate(frame, expression, dst);
    case 'ClosureExpression':
      return compileClosure(frame, expression, dst);
    case 'Block':
      return compileBlock(frame, expression, dst);
    case 'IfExpression':
      return compileIf(frame, expression, dst);
    case 'MatchExpression':
      return compileMatch(frame, expression, dst);
    case 'ForExpression':
      return compileFor(frame, expression, dst);
    case 'WhileExpression':
      return compileWhile(frame, expression, dst);
    case 'LoopExpression':
      return compileLoop(frame, expression, dst);
    case 'TryExpression':
      return compileTry(frame, expression, dst);
    case 'ListenExpression':
      return compileListen(frame, expression, dst);
    case 'RaceExpression':
      return compileRace(frame, expression, dst);
    case 'ReturnExpression':
      return compileReturn(frame, expression);
    case 'BreakExpression':
      return compileBreak(frame, expression);
    case 'ContinueExpression':
      return compileContinue(frame, expression);
    case 'ThrowExpression':
      return compileThrow(frame, expression);
    case 'ErrorExpression':
      return assert(false, 'a program with errors is not compiled');
    default:
      return unreachable(expression);
  }
}

type PartExpression = Extract<
  Expression,
  { kind: 'FieldExpression' | 'TupleFieldExpression' | 'IndexExpression' | 'CastExpression' }
>;

function compilePart(frame: Frame, expression: Exclude<PartExpression, { kind: 'CastExpression' }>, dst: number): void {
  frame.scoped(() => {
    if (expression.kind === 'IndexExpression') {
      const receiver = operandBefore(frame, expression.receiver, [expression.index]);
      const index = operand(frame, expression.index);
      frame.at(expression);
      frame.emit('GetIndex', dst, receiver, index);
      return;
    }
    const receiver = operand(frame, expression.receiver);
    if (expression.kind === 'TupleFieldExpression') {
      frame.at(expression);
      frame.emit('GetItem', dst, receiver, expression.index);
      return;
    }
    frame.at(expression.name);
    frame.emit('GetField', dst, receiver, frame.builder.text(expression.name.text));
  });
}

function compileCast(frame: Frame, expression: Extract<PartExpression, { kind: 'CastExpression' }>, dst: number): void {
  const tag = frame.facts.casts.get(expression.id);
  assert(tag !== undefined, 'every cast has a target');
  frame.scoped(() => {
    const source = operand(frame, expression.operand);
    frame.at(expression);
    frame.emit('Cast', dst, source, frame.builder.type(tagText(frame.builder, tag)));
  });
}
