import { assert } from '@concerto/base';
import { typeOf } from '../check/facts.ts';
import { isNumber } from '../check/types.ts';
import type { AssignExpression, Expression } from '../syntax/expression.ts';
import { isInert, temporary, value } from './evaluate.ts';
import type { Frame } from './frame.ts';
import { type Combination, combine } from './operators.ts';
import { openPlace, type Place, peekPlace, resolvePlace, writePlace } from './places.ts';

const ARITHMETIC = { '+=': '+', '-=': '-', '*=': '*', '/=': '/', '%=': '%' } as const;

/** The value of an assignment to a name is the assigned value, of one to a part nil. */
export function compileAssign(frame: Frame, expression: AssignExpression, dst: number | undefined): void {
  frame.scoped(() => {
    const place = resolvePlace(frame, expression.target);
    assert(place !== undefined, 'the target of an assignment is a place');
    if (place.kind === 'register') assignRegister(frame, expression, place.register);
    else assignThrough(frame, expression, place);
    if (dst === undefined) return;
    if (place.kind === 'field' || place.kind === 'index') frame.emit('LoadNil', dst);
    else loadPlace(frame, place, dst);
  });
}

function loadPlace(frame: Frame, place: Place, dst: number): void {
  if (place.kind === 'register') frame.emit('Move', dst, place.register);
  if (place.kind === 'cell') frame.emit('LoadCell', dst, place.register);
  if (place.kind === 'global') frame.emit('LoadGlobal', dst, place.slot);
}

function assignRegister(frame: Frame, expression: AssignExpression, register: number): void {
  const { operator } = expression;
  if (operator === '=') {
    if (writesOnce(expression.value)) value(frame, expression.value, register);
    else frame.emit('Borrow', register, temporary(frame, expression.value));
    return;
  }
  let left = register;
  if (!isInert(expression.value)) {
    left = frame.reserve();
    frame.emit('Move', left, register);
  }
  combine(frame, { ...combination(frame, expression, operator), dst: register, left });
}

function assignThrough(frame: Frame, expression: AssignExpression, place: Place): void {
  const { operator } = expression;
  if (operator === '=') {
    const source = temporary(frame, expression.value);
    frame.at(expression.target);
    writePlace(frame, openPlace(frame, place), source);
    return;
  }
  const isVariable = place.kind === 'cell' || place.kind === 'global';
  if (isVariable || isInert(expression.value)) {
    frame.at(expression.target);
    const open = openPlace(frame, place);
    const current = frame.reserve();
    if (isVariable) loadPlace(frame, place, current);
    else peekPlace(frame, open, current);
    combine(frame, { ...combination(frame, expression, operator), dst: current, left: current });
    writePlace(frame, open, current);
    return;
  }
  // What is on the right may change the same container: it goes first, and the place is opened after it.
  const source = temporary(frame, expression.value);
  frame.at(expression.target);
  const open = openPlace(frame, place);
  const current = frame.reserve();
  peekPlace(frame, open, current);
  frame.at(expression);
  frame.emit(OPCODES[operator], current, current, source);
  writePlace(frame, open, current);
}

type CompoundOperator = keyof typeof ARITHMETIC;

function combination(
  frame: Frame,
  expression: AssignExpression,
  operator: CompoundOperator,
): Omit<Combination, 'dst' | 'left'> {
  const isNumeric = isNumber(typeOf(frame.facts, expression.target));
  return { operator: ARITHMETIC[operator], isNumeric, right: expression.value, at: expression };
}

const OPCODES = { '+=': 'Add', '-=': 'Sub', '*=': 'Mul', '/=': 'Div', '%=': 'Mod' } as const;

/** Its code writes the result in its last instruction only, so that it may go straight into the variable it reads. */
function writesOnce(expression: Expression): boolean {
  switch (expression.kind) {
    case 'ParenExpression':
      return writesOnce(expression.expression);
    case 'BinaryExpression':
      return expression.operator !== '&&' && expression.operator !== '||' && expression.operator !== '??';
    case 'IntLiteral':
    case 'FloatLiteral':
    case 'StringLiteral':
    case 'BoolLiteral':
    case 'NilLiteral':
    case 'InterpolatedString':
    case 'NameExpression':
    case 'TupleExpression':
    case 'ArrayExpression':
    case 'MapExpression':
    case 'StructExpression':
    case 'CallExpression':
    case 'MethodCallExpression':
    case 'PipeExpression':
    case 'FieldExpression':
    case 'TupleFieldExpression':
    case 'IndexExpression':
    case 'UnaryExpression':
    case 'RangeExpression':
    case 'CastExpression':
    case 'ClosureExpression':
      return true;
    default:
      return false;
  }
}
