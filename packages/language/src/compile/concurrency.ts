import type { Local } from '../check/facts.ts';
import type { AwaitExpression, Expression, ForExpression, RaceExpression } from '../syntax/expression.ts';
import { type AnyCall, callSite } from './call-site.ts';
import { prepareCall } from './call-targets.ts';
import { compileAsk } from './calls.ts';
import { bindCaptures, captureInto } from './closures.ts';
import { applyCoercion } from './coercions.ts';
import { operand, temporary, value } from './evaluate.ts';
import { Frame } from './frame.ts';
import { freeVariables, mayLeave, mayThrow } from './free-variables.ts';
import { leave, returnValue } from './leaving.ts';
import { bindOrRaise } from './patterns.ts';
import { propagateRegister } from './throwing.ts';

/** Every call is awaited where it stands; `await (a, b)` runs its elements at the same time. */
export function compileAwait(frame: Frame, expression: AwaitExpression, dst: number): void {
  const inner = withoutParens(expression.operand);
  if (inner.kind === 'TupleExpression' && inner.elements.length > 0) return awaitAll(frame, inner.elements, dst);
  if (isCall(inner) && isEmit(frame, inner)) return compileAsk(frame, inner, dst);
  value(frame, expression.operand, dst);
}

function withoutParens(expression: Expression): Expression {
  return expression.kind === 'ParenExpression' ? withoutParens(expression.expression) : expression;
}

function isCall(expression: Expression): expression is AnyCall {
  const { kind } = expression;
  return kind === 'CallExpression' || kind === 'MethodCallExpression' || kind === 'PipeExpression';
}

function isEmit(frame: Frame, call: AnyCall): boolean {
  const target = frame.facts.calls.get(call.id)?.target;
  return target?.kind === 'builtin' && target.name === 'emit';
}

/** What of an element runs in the fiber: not the `?` and `await` around it. */
function core(expression: Expression): Expression {
  switch (expression.kind) {
    case 'ParenExpression':
      return core(expression.expression);
    case 'AwaitExpression':
    case 'PropagateExpression':
      return core(expression.operand);
    default:
      return expression;
  }
}

function awaitAll(frame: Frame, elements: readonly Expression[], dst: number): void {
  frame.scoped(() => {
    const closures = frame.reserve(elements.length);
    elements.forEach((element, index) => {
      frame.scoped(() => startFiber(frame, core(element), closures + index));
    });
    frame.emit('AwaitAll', dst, closures, elements.length);
    if (!elements.some((element) => needsFinish(frame, element))) return;
    const results = frame.reserve(elements.length);
    elements.forEach((element, index) => {
      frame.emit('GetItem', results + index, dst, index);
      finishElement(frame, element, results + index);
    });
    frame.emit('MakeArray', dst, results, elements.length);
  });
}

function needsFinish(frame: Frame, element: Expression): boolean {
  if (frame.facts.coercions.has(element.id)) return true;
  switch (element.kind) {
    case 'ParenExpression':
      return needsFinish(frame, element.expression);
    case 'AwaitExpression':
      return needsFinish(frame, element.operand);
    case 'PropagateExpression':
      return true;
    default:
      return false;
  }
}

/** The `?` and conversions around an element, after its fiber has ended. */
function finishElement(frame: Frame, element: Expression, register: number): void {
  if (element.kind === 'ParenExpression') finishElement(frame, element.expression, register);
  if (element.kind === 'AwaitExpression') finishElement(frame, element.operand, register);
  if (element.kind === 'PropagateExpression') {
    finishElement(frame, element.operand, register);
    propagateRegister(frame, element, { source: register, dst: register });
  }
  const coercion = frame.facts.coercions.get(element.id);
  if (coercion !== undefined) applyCoercion(frame, element, coercion, register);
}

/** A closure that performs the expression. The arguments of a call are evaluated now, in order. */
function startFiber(frame: Frame, expression: Expression, dst: number): void {
  if (!isCall(expression) || frame.facts.chains.has(expression.id)) return detach(frame, expression, dst);
  const options = { detached: true, ask: isEmit(frame, expression) };
  const prepared = prepareCall(frame, callSite(frame, expression), options);
  const { builder } = frame;
  const index = builder.reserveFunction();
  const name = `${frame.name}::{fiber}`;
  const fiber = new Frame(builder, { name, file: frame.options.file, failure: 'raise' });
  const first = fiber.reserve(prepared.size);
  const result = fiber.reserve();
  prepared.perform(fiber, { dst: result, first });
  fiber.emit('Return', result);
  const file = builder.fileIndex(frame.options.file);
  builder.setFunction(index, { name, params: [], captures: prepared.size, file, ...fiber.finish() });
  for (let slot = 0; slot < prepared.size; slot++) frame.emit('Share', prepared.first + slot);
  frame.emit('MakeClosure', dst, index, prepared.first);
}

/** Any other expression as a closure over the variables it uses. What may jump out of it is evaluated here and now. */
function detach(frame: Frame, expression: Expression, dst: number): void {
  if (mayLeave(expression)) return finished(frame, expression, dst);
  const captures = freeVariables(frame.facts, expression);
  const { builder } = frame;
  const index = builder.reserveFunction();
  const name = `${frame.name}::{fiber}`;
  const fiber = new Frame(builder, { name, file: frame.options.file, failure: 'raise' });
  bindCaptures(fiber, captures);
  returnValue(fiber, expression);
  const file = builder.fileIndex(frame.options.file);
  builder.setFunction(index, { name, params: [], captures: captures.length, file, ...fiber.finish() });
  captureInto(frame, { index, captures }, dst);
}

/** A closure that only gives back a value. */
function finished(frame: Frame, expression: Expression, dst: number): void {
  const { builder } = frame;
  const { file } = frame.options;
  const index = builder.adapter('finished', () => {
    const fiber = new Frame(builder, { name: '{fiber}', file, failure: 'raise' });
    const held = fiber.reserve();
    const result = fiber.reserve();
    fiber.emit('Move', result, held);
    fiber.emit('Return', result);
    const place = builder.reserveFunction();
    builder.setFunction(place, { name: '{fiber}', params: [], captures: 1, ...fiber.finish() });
    return place;
  });
  frame.scoped(() => frame.emit('MakeClosure', dst, index, temporary(frame, expression)));
}

export function compileRace(frame: Frame, expression: RaceExpression, dst: number): void {
  frame.scoped(() => {
    const { contenders } = expression;
    const closures = frame.reserve(contenders.length);
    contenders.forEach((contender, index) => {
      const inner = withoutParens(contender);
      const started = inner.kind === 'AwaitExpression' ? withoutParens(inner.operand) : inner;
      frame.scoped(() => startFiber(frame, started, closures + index));
    });
    frame.at(expression);
    frame.emit('Race', dst, closures, contenders.length);
  });
}

/** `parallel for`: a closure for each element; the value is the array of what they give. */
export function compileParallelFor(frame: Frame, expression: ForExpression, dst: number): void {
  const throws = mayThrow(expression.body);
  const captures = freeVariables(frame.facts, [expression.pattern, expression.body]);
  const index = roundFunction(frame, expression, { captures, throws });
  frame.scoped(() => {
    const closures = frame.reserve();
    frame.emit('MakeArray', closures, closures, 0);
    eachElement(frame, expression.iterable, (element) => {
      const first = frame.reserve(captures.length + 1);
      frame.emit('Move', first, element);
      captures.forEach((local, position) => {
        const storage = frame.storage(local);
        frame.emit(storage.kind === 'cell' ? 'Borrow' : 'Move', first + 1 + position, storage.register);
      });
      const closure = frame.reserve();
      frame.emit('MakeClosure', closure, index, first);
      append(frame, closures, closure);
    });
    const limit = frame.reserve();
    frame.emit('LoadNil', limit);
    frame.at(expression);
    if (!throws) return frame.emit('AwaitEach', dst, closures, limit);
    const results = frame.reserve();
    frame.emit('AwaitEach', results, closures, limit);
    return unwrapAll(frame, expression, { results, dst });
  });
}

interface Round {
  readonly captures: readonly Local[];
  /** `throw` and `?` in the body end the round with `Err`, which leaves the loop when all have ended. */
  readonly throws: boolean;
}

function roundFunction(frame: Frame, expression: ForExpression, { captures, throws }: Round): number {
  const { builder } = frame;
  const index = builder.reserveFunction();
  const name = `${frame.name}::{parallel}`;
  const { file } = frame.options;
  const round = new Frame(builder, { name, file, failure: throws ? 'result' : 'raise' });
  const element = round.reserve();
  bindCaptures(round, captures);
  bindOrRaise(round, expression.pattern, element);
  const end = round.label();
  const result = round.reserve();
  round.loops.push({ label: expression.label?.text, result, end, next: end });
  round.emit('LoadNil', result);
  value(round, expression.body, result);
  round.place(end);
  if (throws) round.emit('MakeOk', result, result);
  leave(round, result);
  builder.setFunction(index, {
    name,
    params: [],
    captures: captures.length + 1,
    file: builder.fileIndex(file),
    ...round.finish(),
  });
  return index;
}

function unwrapAll(
  frame: Frame,
  expression: ForExpression,
  at: { readonly results: number; readonly dst: number },
): void {
  const list = frame.reserve();
  frame.emit('MakeArray', list, list, 0);
  const iterator = frame.reserve();
  const element = frame.reserve();
  const [top, exit] = [frame.label(), frame.label()];
  frame.emit('IterBegin', iterator, at.results);
  frame.place(top);
  frame.emit('IterNext', element, iterator, exit);
  propagateRegister(frame, expression, { source: element, dst: element });
  append(frame, list, element);
  frame.jump(top);
  frame.place(exit);
  frame.emit('Borrow', at.dst, list);
}

function eachElement(frame: Frame, iterable: Expression, body: (element: number) => void): void {
  const iterator = frame.reserve();
  frame.scoped(() => {
    const source = operand(frame, iterable);
    frame.at(iterable);
    frame.emit('IterBegin', iterator, source);
  });
  const [top, exit] = [frame.label(), frame.label()];
  frame.place(top);
  frame.scoped(() => {
    const element = frame.reserve();
    frame.emit('IterNext', element, iterator, exit);
    body(element);
  });
  frame.jump(top);
  frame.place(exit);
}

function append(frame: Frame, list: number, item: number): void {
  frame.scoped(() => {
    const window = frame.reserve(2);
    frame.emit('Borrow', window, list);
    frame.emit('Borrow', window + 1, item);
    frame.emit('CallBuiltin', frame.reserve(), frame.builder.builtin('Array.push'), window, 2);
    frame.emit('Borrow', list, window);
  });
}
