import type { Expression } from '../syntax/expression.ts';
import { checkField, checkIndex, checkTupleField } from './check-access.ts';
import { checkBlock } from './check-block.ts';
import { checkCall, checkPipe } from './check-call.ts';
import { checkChain, isChain } from './check-chain.ts';
import { checkClosure } from './check-closure.ts';
import { checkBreak, checkContinue, checkFor, checkIf, checkLoop, checkWhile } from './check-control.ts';
import { checkAwait, checkPropagate, checkRace, checkReturn, checkThrow, checkTry } from './check-failure.ts';
import { checkListen } from './check-listen.ts';
import { checkArray, checkInterpolated, checkMap, checkRange, checkString, checkTuple } from './check-literal.ts';
import { checkMatch } from './check-match.ts';
import { checkMethodCall } from './check-method.ts';
import { typeOfValue } from './check-name.ts';
import { checkBinary, checkCast, checkUnary } from './check-operator.ts';
import { checkAssign } from './check-place.ts';
import { checkStruct } from './check-struct.ts';
import { CODE } from './codes.ts';
import type { Body } from './context.ts';
import { resolveName, resolvePathValue } from './resolve-value.ts';
import { limitType } from './type-size.ts';
import { BOOL, ERROR, FLOAT, INT, NIL, type Type } from './types.ts';

/** Deeper nesting than anyone writes; the tree of a hostile text must not exhaust the stack. */
const MOST_DEPTH = 1000;

/** The type of an expression, which is also kept in the facts. */
export function checkExpression(body: Body, node: Expression, expected?: Type): Type {
  if (body.depth > MOST_DEPTH) {
    body.cx.report.error(CODE.cycle, node.span, 'this is nested too deeply', { help: 'move a part into a function' });
    return ERROR;
  }
  body.depth++;
  const type = limitType(body.cx, dispatch(body, node, expected), node.span);
  body.depth--;
  body.cx.facts.types.set(node.id, type);
  return type;
}

function dispatch(body: Body, node: Expression, expected: Type | undefined): Type {
  switch (node.kind) {
    case 'IntLiteral':
      return INT;
    case 'FloatLiteral':
      return FLOAT;
    case 'BoolLiteral':
      return BOOL;
    case 'NilLiteral':
      return NIL;
    case 'StringLiteral':
      return checkString(body, node, expected);
    case 'InterpolatedString':
      return checkInterpolated(body, node);
    case 'NameExpression':
      return typeOfValue(body, node, resolveName(body, node));
    case 'PathExpression':
      return typeOfValue(body, node, resolvePathValue(body, node));
    case 'ParenExpression':
      if (body.cx.unused.has(node.id)) body.cx.unused.add(node.expression.id);
      return body.check(node.expression, expected);
    case 'TupleExpression':
      return checkTuple(body, node, expected);
    case 'ArrayExpression':
      return checkArray(body, node, expected);
    case 'MapExpression':
      return checkMap(body, node, expected);
    case 'StructExpression':
      return checkStruct(body, node, expected);
    case 'CallExpression':
      return checkCall(body, node, expected);
    case 'MethodCallExpression':
      return isChain(node)
        ? checkChain(body, node, () => checkMethodCall(body, node, { expected }))
        : checkMethodCall(body, node, { expected });
    case 'FieldExpression':
      return isChain(node) ? checkChain(body, node, () => checkField(body, node)) : checkField(body, node);
    case 'TupleFieldExpression':
      return isChain(node) ? checkChain(body, node, () => checkTupleField(body, node)) : checkTupleField(body, node);
    case 'IndexExpression':
      return isChain(node) ? checkChain(body, node, () => checkIndex(body, node)) : checkIndex(body, node);
    case 'UnaryExpression':
      return checkUnary(body, node);
    case 'BinaryExpression':
      return checkBinary(body, node);
    case 'AssignExpression':
      return checkAssign(body, node);
    case 'PipeExpression':
      return checkPipe(body, node, expected);
    case 'RangeExpression':
      return checkRange(body, node);
    case 'CastExpression':
      return checkCast(body, node);
    case 'ErrorExpression':
      return ERROR;
    default:
      return dispatchFlow(body, node, expected);
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
      | 'ThrowExpression';
  }
>;

/** Expressions that decide what runs next. */
function dispatchFlow(body: Body, node: FlowExpression, expected: Type | undefined): Type {
  switch (node.kind) {
    case 'AwaitExpression':
      return checkAwait(body, node, expected);
    case 'PropagateExpression':
      return checkPropagate(body, node);
    case 'ClosureExpression':
      return checkClosure(body, node, expected);
    case 'Block':
      return checkBlock(body, node, expected);
    case 'IfExpression':
      return checkIf(body, node, expected);
    case 'MatchExpression':
      return checkMatch(body, node, expected);
    case 'ForExpression':
      return checkFor(body, node);
    case 'WhileExpression':
      return checkWhile(body, node);
    case 'LoopExpression':
      return checkLoop(body, node, expected);
    case 'TryExpression':
      return checkTry(body, node, expected);
    case 'ListenExpression':
      return checkListen(body, node);
    case 'RaceExpression':
      return checkRace(body, node);
    case 'ReturnExpression':
      return checkReturn(body, node);
    case 'BreakExpression':
      return checkBreak(body, node);
    case 'ContinueExpression':
      return checkContinue(body, node);
    case 'ThrowExpression':
      return checkThrow(body, node);
  }
}
