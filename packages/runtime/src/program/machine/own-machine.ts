import { unreachable } from '@concerto/base';
import {
  cancel,
  createVm,
  display,
  type Effect,
  failSession,
  type Outcome,
  overtakeHandler,
  pendingRequests,
  type RunStatus,
  restore,
  resume,
  run,
  snapshot,
  staleMessage,
  stringify,
  type TraceEntry,
  typeName,
  type Value,
  type Vm,
  waitingPlaces,
} from '@concerto/vm';
import type { Input } from '../open-work.ts';
import type {
  Given,
  Machine,
  MachineStart,
  Machines,
  PlainValue,
  ProgramEffect,
  ProgramOutcome,
  ProgramRequest,
  Turn,
} from './machine.ts';

/** Machines of this thread: for a process that runs one program, and for tests. */
export const ownMachines: Machines = { begin: (start) => new OwnMachine(start) };

export class OwnMachine implements Machine {
  readonly pending: readonly ProgramRequest[];
  readonly isElsewhere = false;
  readonly #vm: Vm;

  constructor({ module, snapshot: data, ...options }: MachineStart) {
    this.#vm = data === undefined ? createVm(module, options) : restore(module, data);
    this.pending = data === undefined ? [] : pendingRequests(this.#vm).map(plainRequest);
  }

  turn({ inputs, steps, cancel: reason }: Given): readonly [Turn] {
    for (const input of inputs) give(this.#vm, input);
    if (reason !== undefined) cancel(this.#vm, reason);
    return [plainTurn(run(this.#vm, steps))];
  }

  places(): readonly TraceEntry[] {
    return waitingPlaces(this.#vm);
  }

  snapshot(): string {
    return JSON.stringify(snapshot(this.#vm));
  }

  close(): void {
    // Nothing of it is anywhere else.
  }
}

function give(vm: Vm, input: Input): void {
  switch (input.kind) {
    case 'answer':
      resume(vm, input.id, input.answer);
      break;
    case 'expired':
      failSession(vm, input.session, input.error);
      break;
    case 'stale':
      staleMessage(vm, input.agent, input.message);
      break;
    case 'overtaken':
      overtakeHandler(vm, input);
      break;
    default:
      unreachable(input);
  }
}

function plainTurn(result: RunStatus & { readonly effects: readonly Effect[] }): Turn {
  const effects = result.effects.map(plainEffect);
  if (result.status === 'waiting' || result.status === 'running') return { status: result.status, effects };
  return { effects, ...plainOutcome(result) };
}

function plainEffect(effect: Effect): ProgramEffect {
  if (effect.kind !== 'emit' && effect.kind !== 'ask') return effect;
  return { ...effect, payload: new LazyValue(effect.payload) };
}

function plainRequest(request: ReturnType<typeof pendingRequests>[number]): ProgramRequest {
  return request.kind === 'ask' ? { ...request, payload: new LazyValue(request.payload) } : request;
}

function plainOutcome(outcome: Outcome): ProgramOutcome {
  if (outcome.status === 'failed') {
    const { value, ...failure } = outcome.failure;
    return { status: 'failed', failure: { ...failure, type: typeName(value) } };
  }
  const { value } = outcome;
  const isResult = typeof value === 'object' && value !== null && (value.kind === 'ok' || value.kind === 'err');
  return {
    status: 'done',
    isError: isResult && value.kind === 'err',
    value: new LazyValue(isResult ? value.value : value),
    shown: display(value),
  };
}

/** Made into text only where somebody reads it. What leaves the machine is not changed by it any more. */
class LazyValue implements PlainValue {
  readonly #value: Value;

  constructor(value: Value) {
    this.#value = value;
  }

  get shown(): string {
    return display(this.#value);
  }

  get written(): string {
    return stringify(this.#value);
  }
}
