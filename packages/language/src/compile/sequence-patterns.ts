import type { Label } from '@concerto/ir';
import type { Pattern, RestPattern } from '../syntax/pattern.ts';
import type { Frame } from './frame.ts';
import { bindVariable, matchPart } from './patterns.ts';
import { loadInt } from './values.ts';

/** `[a, b]`, `(a, b)`, `[first, ..rest]`, `[first, .., last]`. */
export function compileSequence(frame: Frame, elements: readonly Pattern[], register: number, fail: Label): void {
  const restAt = elements.findIndex((element) => element.kind === 'RestPattern');
  if (restAt < 0) {
    frame.emit('JumpIfNotLength', register, elements.length, 0, fail);
    elements.forEach((element, index) => {
      matchPart(frame, element, fail, (dst) => frame.emit('GetItem', dst, register, index));
    });
    return;
  }
  frame.emit('JumpIfNotLength', register, elements.length - 1, 1, fail);
  elements.slice(0, restAt).forEach((element, index) => {
    matchPart(frame, element, fail, (dst) => frame.emit('GetItem', dst, register, index));
  });
  const after = elements.slice(restAt + 1);
  const rest = elements[restAt];
  if (rest?.kind === 'RestPattern') bindRest(frame, rest, { register, start: restAt, after: after.length });
  if (after.length === 0) return;
  const length = frame.reserve();
  emitLength(frame, register, length);
  after.forEach((element, index) => {
    matchPart(frame, element, fail, (dst) =>
      frame.scoped(() => {
        const place = frame.reserve();
        frame.emit('AddInt', place, length, index - after.length);
        frame.emit('GetIndex', dst, register, place);
      }),
    );
  });
}

interface RestPlace {
  readonly register: number;
  readonly start: number;
  /** How many elements follow the rest. */
  readonly after: number;
}

function bindRest(frame: Frame, rest: RestPattern, { register, start, after }: RestPlace): void {
  const resolved = frame.facts.patterns.get(rest.id);
  const variable = resolved?.kind === 'binding' ? resolved.local : frame.facts.locals.get(rest.id);
  if (variable === undefined) return;
  const part = frame.reserve();
  if (after === 0) frame.emit('GetRest', part, register, start);
  else {
    frame.scoped(() => {
      const bounds = frame.reserve(2);
      loadInt(frame, start, bounds);
      emitLength(frame, register, bounds + 1);
      frame.emit('AddInt', bounds + 1, bounds + 1, -after);
      frame.emit('MakeRange', bounds, bounds, bounds + 1, 0);
      frame.emit('GetIndex', part, register, bounds);
    });
  }
  bindVariable(frame, variable, part);
}

function emitLength(frame: Frame, register: number, dst: number): void {
  frame.scoped(() => {
    const window = frame.reserve();
    frame.emit('Borrow', window, register);
    frame.emit('CallBuiltin', dst, frame.builder.builtin('len'), window, 1);
  });
}
