import { assert } from '@concerto/base';
import { cancelTasks, startTask, tasksOf } from '../group.ts';
import type { FiberBegin } from '../machine.ts';

/** closure: runs it beside the calling frame. */
const start: FiberBegin = (vm, fiber, [closure]) => {
  assert(typeof closure === 'object' && closure !== null && closure.kind === 'closure', 'a closure to start');
  startTask(vm, fiber, closure);
  return true;
};

/** most: waits until no more tasks of the calling frame than that are left. */
const wait: FiberBegin = (_vm, fiber, [most]) => {
  assert(typeof most === 'number', 'how many tasks may be left');
  const frame = fiber.depth - 1;
  if (tasksOf(fiber, frame).length <= most) return false;
  fiber.wait = { kind: 'tasks', frame, most };
  return true;
};

/** Ends the tasks of the calling frame. */
const cancel: FiberBegin = (vm, fiber) => {
  cancelTasks(vm, fiber, fiber.depth - 1);
  return false;
};

export const TASK_INTERNALS = {
  $task_start: { begin: start },
  $tasks_wait: { begin: wait },
  $tasks_cancel: { begin: cancel },
};
