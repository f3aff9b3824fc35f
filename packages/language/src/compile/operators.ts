import type { Label } from '@concerto/ir';
import { typeOf } from '../check/facts.ts';
import { isNumber } from '../check/types.ts';
import type {
  BinaryExpression,
  BinaryOperator,
  Expression,
  RangeExpression,
  UnaryExpression,
} from '../syntax/expression.ts';
import { isSmallInt, loadFloat, loadInt } from './constants.ts';
import { operand, operandBefore, value } from './evaluate.ts';
import type { Frame } from './frame.ts';

type Arithmetic = '+' | '-' | '*' | '/' | '%' | '**';

const OPCODES = { '+': 'Add', '-': 'Sub', '*': 'Mul', '/': 'Div', '%': 'Mod', '**': 'Pow' } as const;

export function compileUnary(frame: Frame, expression: UnaryExpression, dst: number): void {
  if (expression.operator === '-') {
    if (expression.operand.kind === 'IntLiteral') return loadInt(frame, -expression.operand.value, dst);
    if (expression.operand.kind === 'FloatLiteral') return loadFloat(frame, -expression.operand.value, dst);
  }
  frame.scoped(() => {
    const source = operand(frame, expression.operand);
    frame.at(expression);
    frame.emit(expression.operator === '-' ? 'Neg' : 'Not', dst, source);
  });
}

export function compileBinary(frame: Frame, expression: BinaryExpression, dst: number): void {
  const { operator } = expression;
  switch (operator) {
    case '&&':
    case '||': {
      const end = frame.label();
      value(frame, expression.left, dst);
      frame.emit(operator === '&&' ? 'JumpIfNot' : 'JumpIf', dst, end);
      value(frame, expression.right, dst);
      frame.place(end);
      return;
    }
    case '??':
      return compileCoalesce(frame, expression, dst);
    case '==':
    case '!=':
    case '<':
    case '<=':
    case '>':
    case '>=':
      return compileComparison(frame, expression, operator, dst);
    default:
      return arithmetic(frame, { expression, operator, dst });
  }
}

function compileCoalesce(frame: Frame, expression: BinaryExpression, dst: number): void {
  const end = frame.label();
  if (frame.facts.coalesces.get(expression.id) === 'keep') {
    value(frame, expression.left, dst);
    frame.emit('JumpIfNotNone', dst, end);
  } else {
    frame.scoped(() => frame.emit('Coalesce', dst, operand(frame, expression.left), end));
  }
  value(frame, expression.right, dst);
  frame.place(end);
}

interface ArithmeticPlace {
  readonly expression: BinaryExpression;
  readonly operator: Arithmetic;
  readonly dst: number;
}

function arithmetic(frame: Frame, { expression, operator, dst }: ArithmeticPlace): void {
  frame.scoped(() => {
    const left = operandBefore(frame, expression.left, [expression.right]);
    const isNumeric = isNumber(typeOf(frame.facts, expression.left));
    combine(frame, { operator, dst, left, isNumeric, right: expression.right, at: expression });
  });
}

export interface Combination {
  readonly operator: Arithmetic;
  readonly dst: number;
  readonly left: number;
  /** The left side is known to be a number. */
  readonly isNumeric: boolean;
  readonly right: Expression;
  readonly at: Expression;
}

/** `dst = left OPERATOR right`, with the short forms for small literals. */
export function combine(frame: Frame, { operator, dst, left, isNumeric, right, at }: Combination): void {
  const literal = right.kind === 'IntLiteral' && !frame.facts.coercions.has(right.id) ? right.value : undefined;
  if (literal !== undefined && isSmallInt(literal)) {
    frame.at(at);
    if (operator === '+') return frame.emit('AddInt', dst, left, literal);
    // Of anything else the sum with a negative number might be a text.
    if (operator === '-' && isNumeric) return frame.emit('AddInt', dst, left, -literal);
    if (operator === '*') return frame.emit('MulInt', dst, left, literal);
    if (operator === '%' && literal !== 0) return frame.emit('ModInt', dst, left, literal);
  }
  frame.scoped(() => {
    const source = operand(frame, right);
    frame.at(at);
    frame.emit(OPCODES[operator], dst, left, source);
  });
}

type Comparison = '==' | '!=' | '<' | '<=' | '>' | '>=';

function compileComparison(frame: Frame, expression: BinaryExpression, operator: Comparison, dst: number): void {
  frame.scoped(() => {
    const left = operandBefore(frame, expression.left, [expression.right]);
    const right = operand(frame, expression.right);
    frame.at(expression);
    switch (operator) {
      case '==':
        return frame.emit('Eq', dst, left, right);
      case '!=':
        return frame.emit('Ne', dst, left, right);
      case '<':
        return frame.emit('Lt', dst, left, right);
      case '<=':
        return frame.emit('Le', dst, left, right);
      case '>':
        return frame.emit('Lt', dst, right, left);
      case '>=':
        return frame.emit('Le', dst, right, left);
    }
  });
}

export function compileRange(frame: Frame, expression: RangeExpression, dst: number): void {
  frame.scoped(() => {
    const start = bound(frame, expression.start, expression.end === undefined ? [] : [expression.end]);
    const end = bound(frame, expression.end, []);
    frame.at(expression);
    frame.emit('MakeRange', dst, start, end, expression.inclusive ? 1 : 0);
  });
}

function bound(frame: Frame, expression: Expression | undefined, later: readonly Expression[]): number {
  if (expression !== undefined) return operandBefore(frame, expression, later);
  const register = frame.reserve();
  frame.emit('LoadNil', register);
  return register;
}

const COMPARISONS: ReadonlySet<BinaryOperator> = new Set(['==', '!=', '<', '<=', '>', '>=']);

function isComparison(operator: BinaryOperator): operator is Comparison {
  return COMPARISONS.has(operator);
}

/** Goes to `target` when the condition is truthy (`when`) or falsy (not `when`), and on otherwise. */
export function jumpIf(frame: Frame, condition: Expression, when: boolean, target: Label): void {
  if (!frame.facts.coercions.has(condition.id)) {
    if (condition.kind === 'ParenExpression') return jumpIf(frame, condition.expression, when, target);
    if (condition.kind === 'UnaryExpression' && condition.operator === '!') {
      return jumpIf(frame, condition.operand, !when, target);
    }
    if (condition.kind === 'BinaryExpression') {
      const { operator } = condition;
      if (operator === '&&' || operator === '||') return jumpIfBoth(frame, condition, when, target);
      if (isComparison(operator)) return jumpIfCompared(frame, { condition, operator, when, target });
    }
  }
  frame.scoped(() => frame.emit(when ? 'JumpIf' : 'JumpIfNot', operand(frame, condition), target));
}

function jumpIfBoth(frame: Frame, condition: BinaryExpression, when: boolean, target: Label): void {
  // `a && b` jumps when false as soon as one is false; when true only after both. `||` is its mirror image.
  const eager = (condition.operator === '&&') !== when;
  if (eager) {
    jumpIf(frame, condition.left, when, target);
    jumpIf(frame, condition.right, when, target);
    return;
  }
  const stay = frame.label();
  jumpIf(frame, condition.left, !when, stay);
  jumpIf(frame, condition.right, when, target);
  frame.place(stay);
}

const UNLESS_INT = {
  '<': 'JumpIfNotLtInt',
  '<=': 'JumpIfNotLeInt',
  '>': 'JumpIfNotGtInt',
  '>=': 'JumpIfNotGeInt',
  '==': 'JumpIfNotEqInt',
  '!=': 'JumpIfEqInt',
} as const;

interface ComparedJump {
  readonly condition: BinaryExpression;
  readonly operator: Comparison;
  readonly when: boolean;
  readonly target: Label;
}

function jumpIfCompared(frame: Frame, { condition, operator, when, target }: ComparedJump): void {
  const { right } = condition;
  frame.scoped(() => {
    const left = operandBefore(frame, condition.left, [right]);
    const literal = right.kind === 'IntLiteral' && isSmallInt(right.value) && !frame.facts.coercions.has(right.id);
    if (literal && !when) {
      frame.at(condition);
      return frame.emit(UNLESS_INT[operator], left, right.value, target);
    }
    if (literal && operator === '==') {
      frame.at(condition);
      return frame.emit('JumpIfEqInt', left, right.value, target);
    }
    const source = operand(frame, right);
    frame.at(condition);
    return compareAndJump(frame, operator, when, { left, right: source, target });
  });
}

interface ComparedRegisters {
  readonly left: number;
  readonly right: number;
  readonly target: Label;
}

function compareAndJump(frame: Frame, operator: Comparison, when: boolean, place: ComparedRegisters): void {
  const { left, right, target } = place;
  switch (operator) {
    case '==':
      return frame.emit(when ? 'JumpIfEq' : 'JumpIfNe', left, right, target);
    case '!=':
      return frame.emit(when ? 'JumpIfNe' : 'JumpIfEq', left, right, target);
    case '<':
      return frame.emit(when ? 'JumpIfLt' : 'JumpIfNotLt', left, right, target);
    case '<=':
      return frame.emit(when ? 'JumpIfLe' : 'JumpIfNotLe', left, right, target);
    case '>':
      return frame.emit(when ? 'JumpIfLt' : 'JumpIfNotLt', right, left, target);
    case '>=':
      return frame.emit(when ? 'JumpIfLe' : 'JumpIfNotLe', right, left, target);
  }
}
