import { assert, unreachable } from '@concerto/base';
import type { Expression } from '../syntax/expression.ts';
import { compileAssign } from './assignments.ts';
import { compileBlock } from './blocks.ts';
import { compileCall } from './calls.ts';
import { compileClosure } from './closures.ts';
import { compileAwait, compileRace } from './concurrency.ts';
import { loadFloat, loadInt, loadText } from './constants.ts';
import { compileBreak, compileContinue, compileIf, compileReturn } from './control-flow.ts';
import { compilePropagate, compileThrow, compileTry } from './errors.ts';
import { effect, operand, operandBefore, value } from './evaluate.ts';
import type { Frame } from './frame.ts';
import { compileListen } from './listens.ts';
import { compileFor, compileLoop, compileWhile } from './loops.ts';
import { compileMatch } from './matches.ts';
import type { Evaluator } from './module-builder.ts';
import { loadName } from './names.ts';
import { compileBinary, compileRange, compileUnary } from './operators.ts';
import { compileChain } from './throwing.ts';
import { tagText } from './type-text.ts';
import { compileArray, compileInterpolation, compileMap, compileStruct } from './values.ts';

/** What `evaluate.ts` calls for each kind of expression. */
export const EXPRESSIONS: Evaluator = { value: compileValue, effect: compileEffect };

function compileEffect(frame: Frame, expression: Expression): void {
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
      return compileValue(frame, expression, frame.reserve());
  }
}

function compileValue(frame: Frame, expression: Expression, dst: number): void {
  const kind = frame.facts.chains.get(expression.id);
  if (kind === undefined) return compileForm(frame, expression, dst);
  return compileChain(frame, { dst, kind, body: () => compileForm(frame, expression, dst) });
}

function compileForm(frame: Frame, expression: Expression, dst: number): void {
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
    default:
      return compileFlow(frame, expression, dst);
  }
}

type FlowExpression = Extract<
  Expression,
  {
    kind:
      | 'AwaitExpression'
      | 'PropagateExpression'
      | 'ClosureExpression'
      | 'Block'
      | 'IfExpression'
      | 'MatchExpression'
      | 'ForExpression'
      | 'WhileExpression'
      | 'LoopExpression'
      | 'TryExpression'
      | 'ListenExpression'
      | 'RaceExpression'
      | 'ReturnExpression'
      | 'BreakExpression'
      | 'ContinueExpression'
      | 'ThrowExpression'
      | 'ErrorExpression';
  }
>;

/** What has bodies or leaves the straight line. */
function compileFlow(frame: Frame, expression: FlowExpression, dst: number): void {
  switch (expression.kind) {
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
