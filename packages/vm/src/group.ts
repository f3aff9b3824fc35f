import { assert } from '@concerto/base';
import { display } from './display.ts';
import { errorValue, fault } from './fault.ts';
import type { Fiber, Group, Task, TraceEntry, Vm } from './machine.ts';
import type { LinkedFunction } from './program.ts';
import { traceOf, unwind } from './unwind.ts';
import { array, type ClosureValue, type Value } from './value.ts';

/** How many closures of a `parallel for` run at once when it does not say. */
export const PARALLEL_LIMIT = 16;

export interface GroupStart {
  readonly mode: Group['mode'];
  readonly closures: readonly Value[];
  readonly limit: number;
  readonly ms: Value;
  /** The stack index that gets the result. */
  readonly result: number;
}

/** Starts closures at the same time; the fiber waits for them. False when there is nothing to wait for. */
export function beginGroup(vm: Vm, fiber: Fiber, start: GroupStart): boolean {
  const waiting = start.closures.map((value): ClosureValue => {
    if (typeof value === 'object' && value !== null && value.kind === 'closure') return value;
    throw fault('TypeError', 'only functions can run at the same time');
  });
  if (waiting.length === 0) {
    fiber.stack[start.result] = start.mode === 'all' ? array([]) : null;
    return false;
  }
  const group: Group = {
    mode: start.mode,
    waiting,
    started: 0,
    limit: start.limit,
    values: waiting.map(() => null),
    left: waiting.length,
    running: [],
    timer: null,
  };
  fiber.wait = { kind: 'group', group, result: start.result };
  if (start.mode === 'deadline' && typeof start.ms === 'number') {
    group.timer = vm.nextRequest++;
    const request = { kind: 'sleep', ms: start.ms, limit: true } as const;
    vm.pending.set(group.timer, { id: group.timer, fiber: fiber.id, request });
    vm.outbox.push({ ...request, id: group.timer });
  }
  startNext(vm, fiber, group);
  return true;
}

function startNext(vm: Vm, fiber: Fiber, group: Group): void {
  while (group.running.length < group.limit && group.started < group.waiting.length) {
    const closure = group.waiting[group.started];
    if (closure === undefined) return;
    if (vm.fibers.size >= vm.limits.fibers) {
      if (group.running.length > 0) return;
      throw fault('LimitError', `more than ${vm.limits.fibers} things at the same time, the limit \`at_once\``, {
        kind: 'fibers',
      });
    }
    const child = spawn(vm, closure, { parent: fiber.id, slot: group.started });
    group.started++;
    group.running.push(child.id);
  }
}

/** A new fiber that calls the closure without arguments. */
export function spawn(
  vm: Vm,
  closure: ClosureValue,
  place: { readonly parent: number | null; readonly slot: number },
): Fiber {
  const { target } = closure;
  const stack: Value[] = Array.from({ length: Math.max(64, target.registers + 8) }, () => undefined);
  closure.captures.forEach((value, index) => {
    stack[target.params + index] = value;
  });
  const fiber: Fiber = {
    id: vm.nextFiber++,
    parent: place.parent,
    slot: place.slot,
    stack,
    depth: 1,
    functions: [target],
    next: [0],
    bases: [0],
    results: [0],
    wait: null,
    tasks: [],
    raised: null,
  };
  vm.fibers.set(fiber.id, fiber);
  vm.ready.push(fiber.id);
  return fiber;
}

/** A fiber has ended with a value: its parent's group, or the frame it is a task of, takes note. */
export function childFinished(vm: Vm, child: Fiber, value: Value): void {
  const parent = child.parent === null ? undefined : vm.fibers.get(child.parent);
  const task = parent?.tasks.find(({ fiber }) => fiber === child.id);
  if (parent !== undefined && task !== undefined) return taskFinished(vm, parent, task, value);
  if (parent?.wait?.kind !== 'group') return;
  const { group, result } = parent.wait;
  group.values[child.slot] = value;
  group.running = group.running.filter((id) => id !== child.id);
  group.left--;
  if (group.mode !== 'all') return complete(vm, parent, group, { value, result });
  if (group.left === 0) return complete(vm, parent, group, { value: array(group.values), result });
  startNext(vm, parent, group);
}

function complete(vm: Vm, fiber: Fiber, group: Group, end: { readonly value: Value; readonly result: number }): void {
  endGroup(vm, group);
  fiber.stack[end.result] = end.value;
  fiber.wait = null;
  vm.ready.push(fiber.id);
}

/** Ends whatever a group still runs. */
function endGroup(vm: Vm, group: Group): void {
  endAll(vm, cancelsOf(takeRunning(vm, group)));
}

/** Ends a fiber and everything it waits for or has started. */
export function cancelFiber(vm: Vm, id: number): void {
  endAll(vm, [{ step: 'cancel', id }]);
}

function endWait(vm: Vm, fiber: Fiber): void {
  endAll(vm, cancelsOf(takeWait(vm, fiber)));
}

/** Frames that will not go on: their tasks end, and the sessions with agents that they had open are closed. */
export function leaveFrames(vm: Vm, fiber: Fiber, from: number, to: number): void {
  endAll(vm, [{ step: 'close', fiber, from, to }, ...cancelsOf(takeTasks(fiber, from))]);
}

type Ending =
  | { readonly step: 'cancel'; readonly id: number }
  | { readonly step: 'close'; readonly fiber: Fiber; readonly from: number; readonly to: number };

/**
 * The last of the steps first; what a fiber has started ends before its own frames are closed. One after the other, not one
 * within the other: a program may have nested its fibers deeper than our stack is.
 */
function endAll(vm: Vm, steps: Ending[]): void {
  for (let next = steps.pop(); next !== undefined; next = steps.pop()) {
    if (next.step === 'close') {
      closeSessions(vm, next);
      continue;
    }
    const fiber = vm.fibers.get(next.id);
    if (fiber === undefined) continue;
    vm.fibers.delete(next.id);
    const queued = vm.ready.indexOf(next.id);
    if (queued >= 0) vm.ready.splice(queued, 1);
    const awaited = takeWait(vm, fiber);
    steps.push({ step: 'close', fiber, from: 0, to: fiber.depth });
    steps.push(...cancelsOf(takeTasks(fiber, 0)), ...cancelsOf(awaited));
  }
}

function cancelsOf(ids: readonly number[]): Ending[] {
  return ids.map((id): Ending => ({ step: 'cancel', id })).reverse();
}

/** What it waits for is forgotten; the fibers in it are left to be ended. */
function takeWait(vm: Vm, fiber: Fiber): readonly number[] {
  const { wait } = fiber;
  fiber.wait = null;
  if (wait?.kind === 'request' && vm.pending.delete(wait.id)) vm.outbox.push({ kind: 'cancel', id: wait.id });
  return wait?.kind === 'group' ? takeRunning(vm, wait.group) : [];
}

function takeRunning(vm: Vm, group: Group): readonly number[] {
  if (group.timer !== null && vm.pending.delete(group.timer)) vm.outbox.push({ kind: 'cancel', id: group.timer });
  const { running } = group;
  group.running = [];
  return running;
}

function takeTasks(fiber: Fiber, from: number): readonly number[] {
  if (fiber.tasks.length === 0) return [];
  const left = fiber.tasks.filter(({ frame }) => frame >= from);
  fiber.tasks = fiber.tasks.filter(({ frame }) => frame < from);
  return left.map((task) => task.fiber);
}

function closeSessions(vm: Vm, { fiber, from, to }: Extract<Ending, { step: 'close' }>): void {
  for (let frame = from; frame < to; frame++) {
    const session = isDriver(vm, fiber.functions[frame]) ? sessionOf(fiber, frame) : undefined;
    if (session !== undefined) vm.outbox.push({ kind: 'agent_close', session, reason: 'cancelled' });
  }
}

/** The functions of the prelude that drive a session with an agent. */
function isDriver(vm: Vm, fn: LinkedFunction | undefined): boolean {
  const { prelude } = vm.program;
  return fn !== undefined && (fn === prelude.get('$listen') || fn === prelude.get('$agent_run'));
}

/** The register of `$listen` and `$agent_run` that holds the session's id. */
export const LISTEN_SESSION = 4;
/** The one with the session's state. */
export const LISTEN_STATE = 5;

/** The session with a process that a driver has open; a scripted one is nobody's business. */
function sessionOf(fiber: Fiber, frame: number): string | undefined {
  const session = fiber.stack[(fiber.bases[frame] ?? 0) + LISTEN_SESSION];
  return typeof session === 'string' && session !== '' && !session.startsWith('mock:') ? session : undefined;
}

/** Starts a closure beside the innermost frame, which goes on when the closure first waits. */
export function startTask(vm: Vm, fiber: Fiber, closure: ClosureValue): void {
  if (vm.fibers.size >= vm.limits.fibers) {
    throw fault('LimitError', `more than ${vm.limits.fibers} things at the same time, the limit \`at_once\``, {
      kind: 'fibers',
    });
  }
  const frame = fiber.depth - 1;
  const isFirst = tasksOf(fiber, frame).length === 0;
  const child = spawn(vm, closure, { parent: fiber.id, slot: 0 });
  fiber.tasks.push({ fiber: child.id, frame });
  vm.ready.push(fiber.id);
  if (isFirst) tellWhetherHandling(vm, fiber, frame);
}

export function tasksOf(fiber: Fiber, frame: number): readonly Task[] {
  return fiber.tasks.filter((task) => task.frame === frame);
}

export function cancelTasks(vm: Vm, fiber: Fiber, frame: number): void {
  const tasks = tasksOf(fiber, frame);
  fiber.tasks = fiber.tasks.filter((task) => task.frame !== frame);
  for (const task of tasks) cancelFiber(vm, task.fiber);
}

/** An agent that is silent while its questions are being answered is not idle. */
function tellWhetherHandling(vm: Vm, fiber: Fiber, frame: number): void {
  const session = sessionOf(fiber, frame);
  if (session === undefined) return;
  vm.outbox.push({ kind: 'agent_handling', session, handling: tasksOf(fiber, frame).length > 0 });
}

/** What a task gives is of no interest, except that it failed or ends the session: then its frame ends its work. */
function taskFinished(vm: Vm, parent: Fiber, task: Task, value: Value): void {
  parent.tasks = parent.tasks.filter((other) => other !== task);
  if (typeof value === 'object' && value !== null && (value.kind === 'err' || value.kind === 'ok')) {
    return interrupt(vm, parent, task.frame, value);
  }
  const left = tasksOf(parent, task.frame).length;
  if (left === 0) tellWhetherHandling(vm, parent, task.frame);
  const { wait } = parent;
  if (wait?.kind !== 'tasks' || wait.frame !== task.frame || left > wait.most) return;
  parent.wait = null;
  vm.ready.push(parent.id);
}

/** Ends whatever a driver of a session is about; it goes on with Err as if the agent had failed, with Ok as after `break`. */
export function interrupt(vm: Vm, fiber: Fiber, frame: number, end: Value): void {
  const fn = fiber.functions[frame];
  // The entry that covers no instruction: no error leads there by itself.
  const entry = fn?.handlers.find(({ start, end }) => start === end);
  assert(entry !== undefined, 'a driver of sessions can be interrupted');
  const isQueued = fiber.wait === null;
  endWait(vm, fiber);
  leaveFrames(vm, fiber, frame + 1, fiber.depth);
  cancelTasks(vm, fiber, frame);
  fiber.depth = frame + 1;
  fiber.next[frame] = entry.target;
  fiber.stack[(fiber.bases[frame] ?? 0) + entry.register] = end;
  if (!isQueued) vm.ready.push(fiber.id);
}

/** Ends what a driver's handler is about; it goes on with the session as if the handler had given nothing. */
export function leaveHandler(vm: Vm, fiber: Fiber, frame: number): void {
  const kept = tasksOf(fiber, frame);
  fiber.tasks = fiber.tasks.filter((task) => task.frame !== frame);
  interrupt(vm, fiber, frame, null);
  fiber.tasks = [...kept, ...fiber.tasks];
}

/** Ends one task of a frame. */
export function dropTask(vm: Vm, fiber: Fiber, task: Task): void {
  fiber.tasks = fiber.tasks.filter((other) => other !== task);
  cancelFiber(vm, task.fiber);
  const left = tasksOf(fiber, task.frame).length;
  if (left === 0) tellWhetherHandling(vm, fiber, task.frame);
  if (fiber.wait?.kind !== 'tasks' || fiber.wait.frame !== task.frame || left > fiber.wait.most) return;
  fiber.wait = null;
  vm.ready.push(fiber.id);
}

/** The fiber and the frame that drive a session. */
export function driverOf(vm: Vm, session: string): { readonly fiber: Fiber; readonly frame: number } | undefined {
  for (const fiber of vm.fibers.things()) {
    for (let frame = 0; frame < fiber.depth; frame++) {
      if (isDriver(vm, fiber.functions[frame]) && sessionOf(fiber, frame) === session) return { fiber, frame };
    }
  }
  return undefined;
}

/** Raises an error where a fiber waits. Goes up to its parents; the root's failure is the outcome. */
export function raise(vm: Vm, fiber: Fiber, error: Value): void {
  raiseFrom(vm, fiber, error, []);
}

/** A fiber has no handler for the error. */
export function failFiber(vm: Vm, fiber: Fiber, error: Value): void {
  const where: TraceEntry[] = [];
  const parent = failed(vm, fiber, error, where);
  if (parent !== undefined) raiseFrom(vm, parent, error, where);
}

/** One after the other, not one within the other: a program may have nested its fibers deeper than our stack is. */
function raiseFrom(vm: Vm, first: Fiber, error: Value, where: TraceEntry[]): void {
  for (let fiber: Fiber | undefined = first; fiber !== undefined; fiber = failed(vm, fiber, error, where)) {
    endWait(vm, fiber);
    const { depth } = fiber;
    if (!unwind(fiber, error, where)) continue;
    leaveFrames(vm, fiber, fiber.depth, depth);
    vm.ready.push(fiber.id);
    return;
  }
}

/** Ends it, and gives the one that waits for it. */
function failed(vm: Vm, fiber: Fiber, error: Value, where: TraceEntry[]): Fiber | undefined {
  where.push(...traceOf(fiber, error));
  vm.fibers.delete(fiber.id);
  leaveFrames(vm, fiber, 0, fiber.depth);
  if (fiber.parent !== null) return vm.fibers.get(fiber.parent);
  vm.outcome = { status: 'failed', failure: { value: error, message: display(error), trace: where, panic: false } };
  return undefined;
}

/** The timer of a deadline has fired. */
export function deadlinePassed(vm: Vm, fiber: Fiber): void {
  raise(vm, fiber, errorValue('TimeoutError', 'took longer than it may'));
}
