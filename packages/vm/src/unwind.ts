import { share } from './copy-on-write.ts';
import { errorValue, Fault } from './fault.ts';
import type { Fiber, TraceEntry, Vm } from './machine.ts';
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

/** Goes to the innermost handler that covers a frame of the fiber. False when there is none; the frames are then still there. */
export function unwind(_vm: Vm, fiber: Fiber, error: Value): boolean {
  for (let frame = fiber.depth - 1; frame >= 0; frame--) {
    const fn = fiber.functions[frame];
    const at = (fiber.next[frame] ?? 0) - 1;
    const handler = fn?.handlers.find(({ start, end }) => start <= at && at < end);
    if (handler === undefined) continue;
    fiber.depth = frame + 1;
    fiber.next[frame] = handler.target;
    const base = fiber.bases[frame] ?? 0;
    fiber.stack[base + handler.register] = share(error);
    fiber.stack[base + handler.register + 1] = true;
    return true;
  }
  return false;
}

/** Where each frame of the fiber is, innermost first; the prelude's own frames say nothing to a reader. */
export function trace(fiber: Fiber): TraceEntry[] {
  return places(fiber, fiber.depth);
}

/** The first of them. */
export function innermost(fiber: Fiber): TraceEntry[] {
  return places(fiber, 1);
}

function places(fiber: Fiber, most: number): TraceEntry[] {
  const entries: TraceEntry[] = [];
  for (let frame = fiber.depth - 1; frame >= 0 && entries.length < most; frame--) {
    const fn = fiber.functions[frame];
    if (fn === undefined || fn.positions.length === 0) continue;
    entries.push({ function: fn.name, file: fn.file, ...position(fn, (fiber.next[frame] ?? 0) - 1) });
  }
  return entries;
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
