import { share } from './copy-on-write.ts';
import { errorValue, Fault } from './fault.ts';
import type { Fiber, Raised, TraceEntry } from './machine.ts';
import type { LinkedFunction } from './program.ts';
import type { Value } from './value.ts';

/** `panic`: no handler sees it. */
export class Panic extends Error {
  readonly code = 'panic';
  constructor(message: string) {
    super(message);
    this.name = 'Panic';
  }
}

/** A limit of the whole program: no handler sees it, because a program that went on would only reach it again. */
export class Exhausted extends Error {
  readonly code = 'exhausted';
  readonly kind: 'memory' | 'steps';
  constructor(message: string, kind: 'memory' | 'steps') {
    super(message);
    this.name = 'Exhausted';
    this.kind = kind;
  }
}

/** What a catch clause sees; our own mistakes are not turned into values of the program. */
export function faultValue(cause: unknown): Value {
  if (cause instanceof Fault) return cause.value;
  if (cause instanceof RangeError) {
    // The host's stack or a string's length: values nested or grown beyond what can be shown.
    return errorValue('LimitError', `a value is too large or nested too deeply (${cause.message})`, { kind: 'size' });
  }
  throw cause;
}

/**
 * Goes to the innermost handler that covers a frame of the fiber. False when there is none; the frames are then still there.
 * `below` is where the error stood in fibers that this one waited for.
 */
export function unwind(fiber: Fiber, error: Value, below: readonly TraceEntry[] = []): boolean {
  const again = raisedAgain(fiber, error);
  const frames: Raised['frames'][number][] = [];
  for (let frame = fiber.depth - 1; frame >= 0; frame--) {
    const fn = fiber.functions[frame];
    const at = (fiber.next[frame] ?? 0) - 1;
    if (again?.frame === frame) frames.push(...again.frames);
    else frames.push({ fn, at });
    const handler = fn?.handlers.find(({ start, end }) => start <= at && at < end);
    if (handler === undefined) continue;
    fiber.depth = frame + 1;
    fiber.next[frame] = handler.target;
    const base = fiber.bases[frame] ?? 0;
    fiber.stack[base + handler.register] = share(error);
    fiber.stack[base + handler.register + 1] = true;
    fiber.raised = { error, frame, below: again?.below ?? below, frames };
    return true;
  }
  return false;
}

/** What the innermost frame had got before, when that is the error. */
function raisedAgain({ raised, depth }: Fiber, error: Value): Raised | undefined {
  const isSame = raised !== null && raised.frame === depth - 1 && raised.error === error;
  return isSame && typeof error === 'object' ? raised : undefined;
}

/** Where each frame of the fiber is, innermost first; the prelude's own frames say nothing to a reader. */
export function trace(fiber: Fiber): TraceEntry[] {
  return places(fiber, fiber.depth);
}

/** The same for a fault that nothing catches: from where it was raised first. */
export function traceOf(fiber: Fiber, error: Value): TraceEntry[] {
  const again = raisedAgain(fiber, error);
  if (again === undefined) return trace(fiber);
  return [...again.below, ...again.frames.flatMap(({ fn, at }) => place(fn, at)), ...places(fiber, fiber.depth, 1)];
}

/** The first of them. */
export function innermost(fiber: Fiber): TraceEntry[] {
  return places(fiber, 1);
}

function places(fiber: Fiber, most: number, skipped = 0): TraceEntry[] {
  const entries: TraceEntry[] = [];
  for (let frame = fiber.depth - 1 - skipped; frame >= 0 && entries.length < most; frame--) {
    entries.push(...place(fiber.functions[frame], (fiber.next[frame] ?? 0) - 1));
  }
  return entries;
}

function place(fn: LinkedFunction | undefined, at: number): TraceEntry[] {
  if (fn === undefined || fn.positions.length === 0) return [];
  return [{ function: fn.name, file: fn.file, ...position(fn, at) }];
}

function position(fn: LinkedFunction, at: number): { line: number; column: number } {
  let line = fn.positions[1] ?? 0;
  let column = fn.positions[2] ?? 0;
  for (let index = 0; index < fn.positions.length && (fn.positions[index] ?? 0) <= at; index += 3) {
    line = fn.positions[index + 1] ?? line;
    column = fn.positions[index + 2] ?? column;
  }
  return { line, column };
}
