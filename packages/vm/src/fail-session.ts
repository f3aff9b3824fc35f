import { systemEvent } from './builtins/functions.ts';
import type { WorldError } from './effects.ts';
import { cancelTasks, driverOf, interrupt, LISTEN_STATE, tasksOf } from './group.ts';
import { agentError } from './internals/agent-session.ts';
import { stateOf, textOf } from './internals/state.ts';
import type { Vm } from './machine.ts';
import { errValue, record } from './value.ts';

/**
 * A limit of a session with an agent has passed while the program does not wait for its next message: the handler that runs
 * is ended, and the session with it. False when nobody has that session open any more.
 */
export function failSession(vm: Vm, session: string, error: WorldError): boolean {
  const driver = driverOf(vm, session);
  if (driver === undefined || vm.outcome !== null) return false;
  const { fiber, frame } = driver;
  const agent = textOf(stateOf(fiber.stack[(fiber.bases[frame] ?? 0) + LISTEN_STATE]), 'agent');
  const { wait } = fiber;
  if (wait?.kind !== 'tasks' || wait.frame !== frame || wait.most > 0) {
    interrupt(vm, fiber, frame, errValue(agentError(agent, error)));
    return true;
  }
  // The agent has ended its work in time; only handlers beside it have not.
  systemEvent(vm, 'listen:unfinished', record({ agent, handlers: tasksOf(fiber, frame).length }));
  cancelTasks(vm, fiber, frame);
  fiber.wait = null;
  vm.ready.push(fiber.id);
  return true;
}
