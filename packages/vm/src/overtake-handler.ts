import type { Json } from '@concerto/base';
import { systemEvent } from './builtins/functions.ts';
import { driverOf, dropTask, LISTEN_STATE, leaveHandler, tasksOf } from './group.ts';
import { get, type State, stateOf, textOf } from './internals/state.ts';
import { fromJson, toJson } from './json.ts';
import type { Vm } from './machine.ts';
import { record, type Value } from './value.ts';

/** What somebody else has answered: which message of which session, and who did. */
export type Overtaken = {
  readonly session: string;
  readonly type: string;
  /** As the agent gave it; null for none. */
  readonly id: Json;
  readonly by: string;
};

/**
 * Somebody answered before the handler of a message did: the handler, if it still runs, is ended, and the session goes on
 * with the agent's next message. False when no handler of it runs.
 */
export function overtakeHandler(vm: Vm, { session, type, id, by }: Overtaken): boolean {
  const driver = driverOf(vm, session);
  if (driver === undefined || vm.outcome !== null) return false;
  const { fiber, frame } = driver;
  const isIt = (state: State): boolean => {
    const message = get(state, 'message');
    return isMap(message) && textOf(message, 'type') === type && sameId(get(message, 'id'), id);
  };
  const state = stateOf(fiber.stack[(fiber.bases[frame] ?? 0) + LISTEN_STATE]);
  const told = record({ agent: textOf(state, 'agent'), type, id: fromJson(id), by });
  for (const task of tasksOf(fiber, frame)) {
    const beside = vm.fibers.get(task.fiber);
    const own = beside?.stack[beside.bases[0] ?? 0];
    if (!isMap(own) || !isIt(own)) continue;
    systemEvent(vm, 'listen:overtaken', told);
    dropTask(vm, fiber, task);
    return true;
  }
  // Its handler runs in the frames above it.
  if (fiber.depth <= frame + 1 || !isIt(state)) return false;
  systemEvent(vm, 'listen:overtaken', told);
  leaveHandler(vm, fiber, frame);
  return true;
}

function sameId(is: Value, id: Json): boolean {
  return (is === undefined || is === null ? null : toJson(is)) === id;
}

function isMap(value: Value): value is State {
  return typeof value === 'object' && value !== null && value.kind === 'map';
}
