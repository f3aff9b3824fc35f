import type { ByNumber } from '@concerto/base';
import type { Answer, Notice, Request } from './effects.ts';
import type { LinkedFunction, Program } from './program.ts';
import type { ClosureValue, Value } from './value.ts';

/** How a built-in runs. `min` and `max` are how many arguments it takes, the receiver of a method included. */
export type Implementation = { readonly name: string; readonly min: number; readonly max: number } & (
  | { readonly kind: 'native'; readonly run: Native }
  /** Written in instructions, because it calls functions of the program. */
  | { readonly kind: 'prelude' }
  /** Calls its first argument with the list that is its second. */
  | { readonly kind: 'apply' }
  | { readonly kind: 'request'; readonly start: RequestStart; readonly finish: RequestFinish }
  | { readonly kind: 'fiber'; readonly begin: FiberBegin }
);

/** Reads its arguments from `stack[at]` on. A mutating method puts the changed receiver back to `stack[at]`. */
export type Native = (stack: Value[], at: number, count: number, vm: Vm) => Value;

/** What to ask the world; or a value when it need not be asked. */
export type RequestStart = (
  args: readonly Value[],
  vm: Vm,
) => { readonly request: Request } | { readonly value: Value };

/** The value of the call out of the answer. Throws a Fault to raise one. */
export type RequestFinish = (answer: Answer, args: readonly Value[], vm: Vm, request: Request) => Value;

/** Works on the fiber itself. True when the fiber stops here: it waits, or others have their turn first. */
export type FiberBegin = (vm: Vm, fiber: Fiber, args: readonly Value[]) => boolean;

export interface Fiber {
  readonly id: number;
  readonly parent: number | null;
  /** Which result of the parent's group it is. */
  readonly slot: number;
  stack: Value[];
  /** Frames, innermost last; parallel lists so that a call allocates nothing. `next` is where the frame goes on. */
  depth: number;
  readonly functions: LinkedFunction[];
  readonly next: number[];
  readonly bases: number[];
  /** The caller's register that gets the result. */
  readonly results: number[];
  wait: Wait | null;
  /** Fibers that one of its frames has started and not waited for yet. They end with the frame. */
  tasks: Task[];
  /** What a handler got last. Not part of a snapshot: it only says where a fault came from. */
  raised: Raised | null;
}

/** A fault, and where it stood when a handler got it: a `try` without a clause for it raises it again. */
export interface Raised {
  readonly error: Value;
  /** The frame that has got it. */
  readonly frame: number;
  /** Of the fibers below this one. */
  readonly below: readonly TraceEntry[];
  /** Frames up to that of the handler, innermost first. */
  readonly frames: readonly { readonly fn: LinkedFunction | undefined; readonly at: number }[];
}

export interface Task {
  readonly fiber: number;
  /** Index of the frame. */
  readonly frame: number;
}

export type Wait =
  | {
      readonly kind: 'request';
      readonly id: number;
      readonly name: string;
      readonly args: readonly Value[];
      readonly result: number;
    }
  | { readonly kind: 'group'; readonly group: Group; readonly result: number }
  /** Until the frame has no more than `most` tasks. */
  | { readonly kind: 'tasks'; readonly frame: number; readonly most: number };

/** Closures that run at the same time for one fiber. */
export interface Group {
  readonly mode: 'all' | 'race' | 'deadline';
  readonly waiting: ClosureValue[];
  /** How many have been started. */
  started: number;
  readonly limit: number;
  readonly values: Value[];
  left: number;
  running: number[];
  /** The request whose answer ends a deadline. */
  timer: number | null;
}

export interface TraceEntry {
  readonly function: string;
  readonly file: string | undefined;
  readonly line: number;
  readonly column: number;
}

export interface Failure {
  readonly value: Value;
  readonly message: string;
  /** Innermost first. */
  readonly trace: readonly TraceEntry[];
  /** `panic`: cannot be caught. */
  readonly panic: boolean;
}

export type Outcome =
  | { readonly status: 'done'; readonly value: Value }
  | { readonly status: 'failed'; readonly failure: Failure };

export interface Limits {
  /** Frames of one fiber. */
  readonly depth: number;
  /** Calls and loop turns between two effects: a program that neither says nor asks anything for so long never will. */
  readonly steps: number;
  /** Bytes that all its values take together, roughly. */
  readonly memory: number;
  /** Elements of one collection, characters of one string. */
  readonly size: number;
  /** Fibers at the same time. */
  readonly fibers: number;
}

export interface Mock {
  readonly config: ReadonlyMap<string, Value>;
  /** How many scripted answers were used. */
  used: number;
  readonly calls: Value[];
}

/** A running program. All of it is data: see `snapshot`. */
export interface Vm {
  readonly program: Program;
  readonly limits: Limits;
  /** A test: emits are kept for `test_emits`. */
  readonly capture: boolean;
  readonly globals: Value[];
  readonly fibers: ByNumber<Fiber>;
  /** Fibers that can go on, in order. */
  readonly ready: number[];
  /** What was asked, by id, and the fiber that waits for it. */
  readonly pending: ByNumber<{ readonly id: number; readonly fiber: number; readonly request: Request }>;
  readonly captured: { readonly channel: string; readonly payload: Value }[];
  readonly mocks: Map<string, Mock>;
  outbox: (Notice | (Request & { readonly id: number }))[];
  /** What runs after the current entry ends: `init`, then `main`. */
  readonly entries: number[];
  nextFiber: number;
  nextRequest: number;
  /** Since the last effect. */
  steps: number;
  /** Bytes, roughly, that it has made since it was last measured, and how many lead to the next time. */
  made: number;
  measureAt: number;
  outcome: Outcome | null;
}
