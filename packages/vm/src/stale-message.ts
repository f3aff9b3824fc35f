import type { JsonObject } from '@concerto/base';
import { systemEvent } from './builtins/functions.ts';
import { fromJson } from './json.ts';
import type { Vm } from './machine.ts';
import { record } from './value.ts';

/** An agent said something that belongs to no session: the next one must not hear it, but whoever watches may. */
export function staleMessage(vm: Vm, agent: string, message: JsonObject): void {
  if (vm.outcome !== null) return;
  const type = typeof message.type === 'string' ? message.type : '';
  systemEvent(vm, 'listen:stale', record({ agent, type, message: fromJson(message) }));
}
