import { ByNumber } from '@concerto/base';
import type { IrModule } from '@concerto/ir';
import { display } from './display.ts';
import type { Answer, Effect, Request } from './effects.ts';
import { errorValue, Fault, fault } from './fault.ts';
import { cancelFiber, childFinished, deadlinePassed, failFiber, raise, spawn } from './group.ts';
import { implementation } from './implementations.ts';
import { interpret } from './interpreter.ts';
import type { Fiber, Limits, Outcome, TraceEntry, Vm } from './machine.ts';
import { account, firstMeasure } from './memory.ts';
import { PRELUDE } from './prelude/prelude.ts';
import { at, link } from './program.ts';
import { Exhausted, innermost, Panic, trace } from './unwind.ts';
import type { Value } from './value.ts';

/** Deep enough for any sensible recursion, small enough that a runaway one fails within milliseconds. */
const DEFAULT_LIMITS: Limits = {
  depth: 10_000,
  steps: 5_000_000_000,
  memory: 1024 * 1024 * 1024,
  size: 32 * 1024 * 1024,
  fibers: 4096,
};

/** A step makes something now and then; what makes much is counted where it does. */
const STEP_BYTES = 8;

/** Limits are looked at after so many steps at most. */
const MEASURED_STEPS = 1_000_000;

export interface VmOptions {
  /** What to run after the module's own initialisation: `main`, a test, a function; nothing for null. */
  readonly entry: 'main' | { readonly test: number } | { readonly function: number } | null;
  /** Keep emits for `test_emits`. */
  readonly capture?: boolean;
  readonly limits?: Partial<Limits>;
}

export type RunStatus =
  /** Fibers wait for answers to `resume`. */
  | { readonly status: 'waiting' }
  /** The budget is used up: call `run` again. */
  | { readonly status: 'running' }
  | Outcome;

/** A program before its first step. The module must have passed `checkModule`. */
export function createVm(module: IrModule, options: VmOptions): Vm {
  const vm = emptyVm(module, options);
  if (module.init !== undefined) vm.entries.push(module.init);
  const { entry } = options;
  if (entry === 'main') {
    if (module.main !== undefined) vm.entries.push(module.main);
  } else if (entry !== null) {
    vm.entries.push('test' in entry ? at(module.tests, entry.test).function : entry.function);
  }
  nextEntry(vm, null);
  return vm;
}

export function emptyVm(module: IrModule, options: Pick<VmOptions, 'capture' | 'limits'>): Vm {
  const program = link(module, PRELUDE, implementation);
  const limits = { ...DEFAULT_LIMITS, ...options.limits };
  return {
    program,
    limits,
    capture: options.capture === true,
    globals: Array.from({ length: program.globals }, (): Value => undefined),
    fibers: new ByNumber(),
    ready: [],
    pending: new ByNumber(),
    captured: [],
    mocks: new Map(),
    outbox: [],
    entries: [],
    nextFiber: 1,
    nextRequest: 1,
    steps: 0,
    made: 0,
    measureAt: firstMeasure(limits),
    outcome: null,
  };
}

function nextEntry(vm: Vm, value: Value): void {
  const index = vm.entries.shift();
  if (index === undefined) {
    vm.outcome = { status: 'done', value };
    return;
  }
  const target = at(vm.program.unit.functions, index);
  spawn(vm, { kind: 'closure', target, captures: [] }, { parent: null, slot: 0 });
}

/** Runs every fiber that can, at most `budget` calls and loop turns. The effects are in the order they happened. */
export function run(vm: Vm, budget = 1_000_000): RunStatus & { readonly effects: readonly Effect[] } {
  let fuel = budget;
  while (vm.outcome === null && vm.ready.length > 0 && fuel > 0) {
    const id = vm.ready.shift();
    const fiber = id === undefined ? undefined : vm.fibers.get(id);
    if (fiber === undefined) continue;
    const said = vm.outbox.length;
    const turn = Math.min(fuel, MEASURED_STEPS);
    const used = turn - runFiber(vm, fiber, turn);
    vm.steps = vm.outbox.length > said ? 0 : vm.steps + used;
    fuel -= used;
    if (vm.outcome === null) checkLimits(vm, fiber, used);
  }
  if (vm.outcome !== null) for (const id of vm.fibers.numbers()) cancelFiber(vm, id);
  const effects = vm.outbox;
  vm.outbox = [];
  if (vm.outcome !== null) return { ...vm.outcome, effects };
  return { status: vm.ready.length > 0 ? 'running' : 'waiting', effects };
}

function runFiber(vm: Vm, fiber: Fiber, budget: number): number {
  try {
    const { stop, fuel } = interpret(vm, fiber, budget);
    if (stop === 'out of fuel') vm.ready.push(fiber.id);
    else if (stop === 'finished') finished(vm, fiber, fiber.stack[0]);
    else if (stop === 'failed') failFiber(vm, fiber, fiber.stack[0]);
    return Math.max(0, fuel);
  } catch (cause) {
    if (cause instanceof Exhausted) {
      exhausted(vm, fiber, cause);
      return budget;
    }
    if (!(cause instanceof Panic)) throw cause;
    const value = errorValue('RuntimeError', cause.message, { kind: 'panic' });
    vm.outcome = { status: 'failed', failure: { value, message: cause.message, trace: trace(fiber), panic: true } };
    return budget;
  }
}

function finished(vm: Vm, fiber: Fiber, value: Value): void {
  vm.fibers.delete(fiber.id);
  // The top level of the file may fail as `main` does; then nothing follows.
  const failed = typeof value === 'object' && value !== null && value.kind === 'err';
  if (fiber.parent === null && failed) vm.outcome = { status: 'done', value };
  else if (fiber.parent === null) nextEntry(vm, value);
  else childFinished(vm, fiber, value);
}

/** After a turn of the fiber. */
function checkLimits(vm: Vm, fiber: Fiber, used: number): void {
  try {
    account(vm, used * STEP_BYTES);
    if (vm.steps <= vm.limits.steps) return;
    throw new Exhausted(
      `more than ${vm.limits.steps} steps without an effect, its limit \`steps\`: a loop that never ends`,
      'steps',
    );
  } catch (cause) {
    if (!(cause instanceof Exhausted)) throw cause;
    exhausted(vm, fiber, cause);
  }
}

/** The program ends, and nothing but it. */
function exhausted(vm: Vm, fiber: Fiber, { message, kind }: Exhausted): void {
  const places = trace(fiber);
  const [place] = places;
  const where = place?.file === undefined ? '' : ` (${place.file}:${place.line})`;
  const value = errorValue('LimitError', `${message}${where}`, { kind });
  vm.outcome = { status: 'failed', failure: { value, message: display(value), trace: places, panic: false } };
}

/** Answers a request. False when nobody waits for it any more. */
export function resume(vm: Vm, id: number, answer: Answer): boolean {
  const asked = vm.pending.get(id);
  const fiber = asked === undefined ? undefined : vm.fibers.get(asked.fiber);
  if (asked === undefined || fiber === undefined || fiber.wait === null) return false;
  // Tasks end by themselves; nobody is asked to end them.
  if (fiber.wait.kind === 'tasks') return false;
  vm.pending.delete(id);
  vm.steps = 0;
  if (fiber.wait.kind === 'group') {
    deadlinePassed(vm, fiber);
    return true;
  }
  const { name, args, result } = fiber.wait;
  const target = implementation(name);
  try {
    if (target.kind !== 'request') throw fault('RuntimeError', `${name} asks for nothing`);
    const value = target.finish(answer, args, vm, asked.request);
    fiber.stack[result] = value;
    fiber.wait = null;
    vm.ready.push(fiber.id);
  } catch (cause) {
    if (!(cause instanceof Fault)) throw cause;
    fiber.wait = null;
    raise(vm, fiber, cause.value);
  }
  return true;
}

/** What the program waits for: after `restore`, ask the world again. */
export function pendingRequests(vm: Vm): readonly (Request & { readonly id: number })[] {
  return vm.pending.things().map(({ id, request }) => ({ ...request, id }));
}

/** Where in the source whatever waits for the world stands. */
export function waitingPlaces(vm: Vm): readonly TraceEntry[] {
  return vm.pending.things().flatMap(({ fiber }) => {
    const waiting = vm.fibers.get(fiber);
    return waiting === undefined ? [] : innermost(waiting);
  });
}

/** Ends the program from outside; what it waited for is cancelled with the next `run`. */
export function cancel(vm: Vm, reason: string): void {
  if (vm.outcome !== null) return;
  const value = errorValue('CancelledError', reason);
  vm.outcome = { status: 'failed', failure: { value, message: reason, trace: [], panic: false } };
}
