import type { Json } from '@concerto/base';
import type { IrModule } from '@concerto/ir';
import { decodeRequest } from './effects.ts';
import type { Fiber, Group, Vm, Wait } from './machine.ts';
import { fingerprint } from './program.ts';
import { SNAPSHOT_VERSION } from './snapshot.ts';
import { array, type Fields, number, numbers, object, pairs, SnapshotError, text } from './snapshot-data.ts';
import { functionAt, ObjectReader } from './snapshot-objects.ts';
import type { ClosureValue, Value } from './value.ts';
import { emptyVm } from './vm.ts';

/** A VM that goes on exactly where `snapshot` was taken. Requests that were open are in `pendingRequests`. */
export function restore(module: IrModule, data: Json): Vm {
  try {
    return decode(module, data);
  } catch (cause) {
    if (cause instanceof SnapshotError) throw cause;
    throw new SnapshotError('it is damaged', cause);
  }
}

function decode(module: IrModule, data: Json): Vm {
  const state = object(data);
  if (state.format !== 'conc-vm' || state.version !== SNAPSHOT_VERSION) throw new SnapshotError('another version');
  const vm = emptyVm(module, { capture: state.capture === true, limits: numbers(state.limits) });
  if (state.module !== module.name || state.fingerprint !== fingerprint(vm.program)) {
    throw new SnapshotError('it was taken from another program');
  }
  const objects = new ObjectReader(vm, array(state.objects));
  objects.list(state.globals).forEach((value, index) => {
    vm.globals[index] = value;
  });
  for (const entry of array(state.fibers)) {
    const fiber = decodeFiber(vm, object(entry), objects);
    vm.fibers.set(fiber.id, fiber);
  }
  vm.ready.push(...array(state.ready).map(number));
  for (const entry of array(state.pending).map(object)) {
    const request = decodeRequest(entry.request ?? null, (value) => objects.value(value));
    const id = number(entry.id);
    vm.pending.set(id, { id, fiber: number(entry.fiber), request });
  }
  for (const entry of array(state.captured).map(object)) {
    vm.captured.push({ channel: text(entry.channel), payload: objects.value(entry.payload) });
  }
  for (const entry of array(state.mocks).map(object)) {
    const config = new Map(
      pairs(entry.config).map(([key, value]): [string, Value] => [text(key), objects.value(value)]),
    );
    vm.mocks.set(text(entry.name), { config, used: number(entry.used), calls: objects.list(entry.calls) });
  }
  vm.entries.push(...array(state.entries).map(number));
  vm.nextFiber = number(state.nextFiber);
  vm.nextRequest = number(state.nextRequest);
  vm.steps = number(state.steps);
  restoreOutcome(vm, state.outcome, objects);
  return vm;
}

function restoreOutcome(vm: Vm, data: Json | undefined, objects: ObjectReader): void {
  if (data === null || data === undefined) return;
  const outcome = object(data);
  const value = objects.value(outcome.value);
  if (outcome.status === 'done') {
    vm.outcome = { status: 'done', value };
    return;
  }
  const trace = array(outcome.trace)
    .map(object)
    .map((entry) => ({
      function: text(entry.function),
      file: typeof entry.file === 'string' ? entry.file : undefined,
      line: number(entry.line),
      column: number(entry.column),
    }));
  vm.outcome = {
    status: 'failed',
    failure: { value, message: text(outcome.message), trace, panic: outcome.panic === true },
  };
}

function decodeFiber(vm: Vm, data: Fields, objects: ObjectReader): Fiber {
  const functions = array(data.functions).map((index) => functionAt(vm, index));
  const stack = objects.list(data.stack);
  while (stack.length < 64) stack.push(undefined);
  return {
    id: number(data.id),
    parent: data.parent === null ? null : number(data.parent),
    slot: number(data.slot),
    stack,
    depth: number(data.depth),
    functions,
    next: array(data.next).map(number),
    bases: array(data.bases).map(number),
    results: array(data.results).map(number),
    wait: data.wait === null ? null : decodeWait(object(data.wait), objects),
    tasks: pairs(data.tasks).map(([task, frame]) => ({ fiber: number(task), frame: number(frame) })),
    raised: null,
  };
}

function decodeWait(data: Fields, objects: ObjectReader): Wait {
  if (data.kind === 'tasks') return { kind: 'tasks', frame: number(data.frame), most: number(data.most) };
  const result = number(data.result);
  if (data.kind === 'request') {
    return { kind: 'request', id: number(data.id), name: text(data.name), args: objects.list(data.args), result };
  }
  const group = object(data.group);
  const { mode } = group;
  if (mode !== 'all' && mode !== 'race' && mode !== 'deadline') throw new SnapshotError('a damaged group');
  const decoded: Group = {
    mode,
    waiting: objects.list(group.waiting).map(closure),
    started: number(group.started),
    limit: number(group.limit),
    values: objects.list(group.values),
    left: number(group.left),
    running: array(group.running).map(number),
    timer: group.timer === null ? null : number(group.timer),
  };
  return { kind: 'group', group: decoded, result };
}

function closure(value: Value): ClosureValue {
  if (typeof value === 'object' && value !== null && value.kind === 'closure') return value;
  throw new SnapshotError('a damaged closure');
}
