import type { Fiber, Implementation, Vm } from './machine.ts';
import type { Value } from './value.ts';

type Requesting = Extract<Implementation, { kind: 'request' }>;

/** Asks the world and makes the fiber wait. False when the built-in knew the value: the fiber goes on. */
export function suspend(
  vm: Vm,
  fiber: Fiber,
  target: Requesting,
  call: { readonly args: readonly Value[]; readonly result: number },
): boolean {
  const started = target.start(call.args, vm);
  if ('value' in started) {
    fiber.stack[call.result] = started.value;
    return false;
  }
  const id = vm.nextRequest++;
  fiber.wait = { kind: 'request', id, name: target.name, args: call.args, result: call.result };
  vm.pending.set(id, { id, fiber: fiber.id, request: started.request });
  // A copy that is given a further key would be most of what a message of an agent costs here.
  const effect = Object.assign({}, started.request, { id });
  // Most often it is the only one: an empty list that something is put into makes room for many.
  if (vm.outbox.length === 0) vm.outbox = [effect];
  else vm.outbox.push(effect);
  return true;
}
