import { assert } from '@concerto/base';
import { prune } from '../check/types.ts';
import type { Expression } from '../syntax/expression.ts';
import type { Frame } from './frame.ts';
import { leave } from './leaving.ts';
import { typeText } from './type-text.ts';

/** An error goes to the catches of this function; without any it leaves as the function's type says. */
export function throwTo(frame: Frame, error: number): void {
  const around = frame.tries.at(-1);
  if (around !== undefined) {
    frame.emit('Borrow', around.register, error);
    frame.emit('LoadFalse', around.register + 1);
    frame.jump(around.target);
    return;
  }
  switch (frame.options.failure) {
    case 'result':
      frame.emit('MakeErr', error, error);
      return leave(frame, error);
    case 'option':
      frame.emit('LoadNone', error);
      return leave(frame, error);
    case 'raise':
      return frame.emit('Raise', error);
  }
}

/** `dst` gets what is inside `Ok` or `Some`; `Err` and `None` leave. */
export function propagateRegister(
  frame: Frame,
  expression: Expression,
  { source, dst }: { readonly source: number; readonly dst: number },
): void {
  const propagation = frame.facts.propagations.get(expression.id);
  if (propagation?.leavesWith === 'chain') return cutChain(frame, expression, { source, dst });
  const inspected = propagation?.operand ?? 'dynamic';
  const failed = frame.label();
  frame.at(expression);
  frame.emit('Try', dst, source, failed);
  const around = frame.tries.at(-1);
  frame.defer(() => {
    frame.place(failed);
    frame.at(expression);
    if (around === undefined && frame.options.failure === 'option') {
      frame.emit('LoadNone', dst);
      return leave(frame, dst);
    }
    if (inspected !== 'result') frame.emit('NoneToErr', dst);
    if (around === undefined && frame.options.failure === 'result') {
      convertError(frame, expression, dst);
      return leave(frame, dst);
    }
    frame.emit('Unwrap', dst, dst);
    if (around === undefined) return frame.emit('Raise', dst);
    frame.emit('Borrow', around.register, dst);
    frame.emit('LoadFalse', around.register + 1);
    return frame.jump(around.target);
  });
}

/** Without a value the rest of the chain is left out. */
function cutChain(
  frame: Frame,
  expression: Expression,
  { source, dst }: { readonly source: number; readonly dst: number },
): void {
  const empty = frame.chains.at(-1);
  assert(empty !== undefined, 'a chain is compiled from its end');
  const present = frame.label();
  frame.at(expression);
  frame.emit('Coalesce', dst, source, present);
  frame.jump(empty);
  frame.place(present);
}

/** `a?.b.c` where nothing may leave the function. */
export function compileChain(
  frame: Frame,
  { dst, kind, body }: { readonly dst: number; readonly kind: 'option' | 'dynamic'; readonly body: () => void },
): void {
  const [empty, done] = [frame.label(), frame.label()];
  frame.chains.push(empty);
  body();
  frame.chains.pop();
  if (kind === 'option') frame.emit('ToOption', dst, dst);
  frame.jump(done);
  frame.place(empty);
  frame.emit(kind === 'option' ? 'LoadNone' : 'LoadNil', dst);
  frame.place(done);
}

/** In a `try`, a value that is dropped and turns out to be `Err` is thrown. */
export function raiseWhenErr(frame: Frame, register: number): void {
  const fine = frame.label();
  frame.emit('JumpIfNotErr', register, fine);
  frame.emit('Unwrap', register, register);
  throwTo(frame, register);
  frame.place(fine);
}

/** `impl From<A> for B`: an error of type A leaves a function whose error type is B as a B. */
function convertError(frame: Frame, expression: Expression, register: number): void {
  const raw = frame.facts.propagations.get(expression.id)?.converts;
  const target = raw === undefined ? undefined : prune(raw);
  if (target?.kind !== 'applied') return;
  const conversions = frame.facts.declaredFunctions.filter(
    (ref) => ref.owner === target.con.path && ref.receiver === 'none' && ref.path.includes('::From::from'),
  );
  frame.scoped(() => {
    const done = frame.label();
    const error = frame.reserve();
    frame.emit('Unwrap', error, register);
    for (const ref of conversions) {
      const [parameter] = ref.item.parameters;
      const type = parameter && frame.facts.locals.get(parameter.id)?.type;
      if (type === undefined) continue;
      const next = frame.label();
      frame.emit('JumpIfNotType', error, frame.builder.type(typeText(frame.builder, type)), next);
      frame.emit('Call', error, frame.builder.functionIndex(ref), error, 1);
      frame.emit('MakeErr', register, error);
      frame.jump(done);
      frame.place(next);
    }
    frame.place(done);
  });
}
