import { assert } from '@concerto/base';
import type { IrModel } from '@concerto/ir';
import { wrong } from '../builtins/arguments.ts';
import type { Vm } from '../machine.ts';
import type { BuilderOptions, RefValue, Value } from '../value.ts';

export function targetOf(value: Value): { readonly ref: RefValue; readonly options: BuilderOptions } {
  if (typeof value === 'object' && value !== null) {
    if (value.kind === 'ref') return { ref: value, options: {} };
    if (value.kind === 'builder') return { ref: value.target, options: value.options };
  }
  throw wrong('the receiver', 'a model or an agent', value);
}

export function modelOf(vm: Vm, name: string): IrModel {
  const model = vm.program.module.models.find((candidate) => candidate.name === name);
  assert(model !== undefined, `a model called ${name}`);
  return model;
}

export function declaredMemory(vm: Vm, model: IrModel): BuilderOptions['memory'] {
  const store = model.memory === undefined ? undefined : vm.program.stores.get(`memory ${model.memory}`);
  return store?.kind === 'memory' ? store : undefined;
}
