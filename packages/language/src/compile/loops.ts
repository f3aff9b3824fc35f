import type { Label } from '@concerto/ir';
import type {
  Expression,
  ForExpression,
  LoopExpression,
  RangeExpression,
  WhileExpression,
} from '../syntax/expression.ts';
import type { Name } from '../syntax/node.ts';
import type { Pattern } from '../syntax/pattern.ts';
import { directTarget } from './binding.ts';
import { compileParallelFor } from './concurrency.ts';
import { effect, isInert, operand, value } from './evaluate.ts';
import { type Frame, livesInCell } from './frame.ts';
import { jumpIf } from './operators.ts';
import { bindOrRaise } from './patterns.ts';

interface LoopLabels {
  readonly next: Label;
  /** After the loop, its value in place. */
  readonly end: Label;
}

interface LoopPlace {
  readonly label: Name | undefined;
  readonly dst: number | undefined;
}

/** `body` is the code of one round; it ends the loop by falling through to the nil result. */
function loop(frame: Frame, { label, dst }: LoopPlace, body: (labels: LoopLabels) => void): void {
  const labels = { next: frame.label(), end: frame.label() };
  frame.loops.push({ label: label?.text, result: dst, ...labels });
  frame.scoped(() => body(labels));
  frame.loops.pop();
  if (dst !== undefined) frame.emit('LoadNil', dst);
  frame.place(labels.end);
}

export function compileLoop(frame: Frame, expression: LoopExpression, dst: number | undefined): void {
  // One that never ends is told with its line, and may have nothing else in it.
  frame.at(expression);
  loop(frame, { label: expression.label, dst }, ({ next }) => {
    frame.place(next);
    effect(frame, expression.body);
    frame.jump(next);
  });
}

export function compileWhile(frame: Frame, expression: WhileExpression, dst: number | undefined): void {
  const { condition, body } = expression;
  frame.at(expression);
  loop(frame, { label: expression.label, dst }, ({ next }) => {
    const exit = frame.label();
    if (!isInert(condition)) {
      frame.place(next);
      jumpIf(frame, condition, false, exit);
      effect(frame, body);
      frame.jump(next);
      frame.place(exit);
      return;
    }
    // A cheap condition is tested again at the bottom, which saves a jump in each round.
    const start = frame.label();
    jumpIf(frame, condition, false, exit);
    frame.place(start);
    effect(frame, body);
    frame.place(next);
    jumpIf(frame, condition, true, start);
    frame.place(exit);
  });
}

export function compileFor(frame: Frame, expression: ForExpression, dst: number | undefined): void {
  if (expression.parallel) {
    compileParallelFor(frame, expression, dst ?? frame.reserve());
    return;
  }
  const range = literalRange(frame, expression.iterable);
  loop(frame, { label: expression.label, dst }, (labels) => {
    if (range === undefined) forEach(frame, expression, labels);
    else forRange(frame, expression, range, labels);
  });
}

function literalRange(frame: Frame, iterable: Expression): RangeExpression | undefined {
  if (frame.facts.coercions.has(iterable.id)) return undefined;
  if (iterable.kind === 'ParenExpression') return literalRange(frame, iterable.expression);
  return iterable.kind === 'RangeExpression' ? iterable : undefined;
}

function forRange(frame: Frame, expression: ForExpression, range: RangeExpression, labels: LoopLabels): void {
  const exit = frame.label();
  const body = frame.label();
  const counter = frame.reserve(2);
  bound(frame, range.start, counter);
  bound(frame, range.end, counter + 1);
  frame.at(range);
  frame.emit('ForIntBegin', counter, range.inclusive ? 1 : 0, exit);
  frame.place(body);
  frame.scoped(() => {
    if (!aliasCounter(frame, expression.pattern, counter)) bindOrRaise(frame, expression.pattern, counter);
    effect(frame, expression.body);
  });
  frame.place(labels.next);
  frame.emit('ForIntNext', counter, body);
  frame.place(exit);
}

function bound(frame: Frame, expression: Expression | undefined, dst: number): void {
  if (expression === undefined) frame.emit('LoadNil', dst);
  else value(frame, expression, dst);
}

/** The loop variable is the counter itself, unless the body changes it or shares it. */
function aliasCounter(frame: Frame, pattern: Pattern, counter: number): boolean {
  if (pattern.kind !== 'BindingPattern' || pattern.pattern !== undefined) return false;
  const resolved = frame.facts.patterns.get(pattern.id);
  if (resolved?.kind !== 'binding' || !('owner' in resolved.local)) return false;
  if (resolved.local.mutated || livesInCell(resolved.local)) return false;
  frame.bind(resolved.local, { kind: 'register', register: counter });
  return true;
}

function forEach(frame: Frame, expression: ForExpression, labels: LoopLabels): void {
  const exit = frame.label();
  const iterator = frame.reserve();
  frame.scoped(() => {
    const iterable = operand(frame, expression.iterable);
    frame.at(expression.iterable);
    frame.emit('IterBegin', iterator, iterable);
  });
  frame.place(labels.next);
  frame.scoped(() => {
    const direct = directTarget(frame, expression.pattern);
    const element = direct ?? frame.reserve();
    frame.emit('IterNext', element, iterator, exit);
    if (direct === undefined) bindOrRaise(frame, expression.pattern, element);
    effect(frame, expression.body);
  });
  frame.jump(labels.next);
  frame.place(exit);
}
