import { setImmediate } from 'node:timers/promises';
import type { Json, JsonObject } from '@concerto/base';
import type { IrModule } from '@concerto/ir';
import {
  type Answer,
  cancel,
  createVm,
  type Effect,
  failSession,
  type Outcome,
  resume,
  run,
  staleMessage,
  type VmOptions,
  type WorldError,
} from '@concerto/vm';
import type { StartAgent } from '../ports.ts';
import { performRequest } from './perform-request.ts';
import { ProgramAgents } from './program-agents.ts';
import { ProgramModels } from './program-models.ts';
import { type ProgramRequest, type ProgramWorld, WorldFailure } from './program-world.ts';

export type RunOptions = {
  readonly entry: VmOptions['entry'];
  /** A test: emits are kept for `test_emits`. */
  readonly capture?: boolean;
  readonly limits?: NonNullable<VmOptions['limits']>;
  /** Ends the program: what it started is ended with it. */
  readonly signal?: AbortSignal;
};

/** Calls and loop turns before timers, signals and slow readers get their turn; also how many effects gather at most. */
const TURN_STEPS = 100_000;

/** Runs a compiled program to its end, performing its effects. Nothing it started is left when this resolves. */
export async function runProgram(module: IrModule, world: ProgramWorld, options: RunOptions): Promise<Outcome> {
  const { signal, ...vmOptions } = options;
  const vm = createVm(module, vmOptions);
  const desk = new RequestDesk(module, world);
  const onAbort = (): void => {
    cancel(vm, 'the program was interrupted');
    desk.wake();
  };
  signal?.addEventListener('abort', onAbort, { once: true });
  if (signal?.aborted === true) onAbort();
  try {
    for (;;) {
      const result = run(vm, TURN_STEPS);
      for (const effect of result.effects) desk.take(effect);
      if (world.ready !== undefined && result.effects.length > 1) await world.ready();
      if (result.status === 'done' || result.status === 'failed') return result;
      // Timers, signals and answers get their turn even while a program only computes.
      if (result.status === 'running') await setImmediate();
      else if (!desk.hasAnswer) await desk.someAnswer();
      for (const { agent, message } of desk.stale()) staleMessage(vm, agent, message);
      for (const { session, error } of desk.expired()) failSession(vm, session, error);
      for (const { id, answer } of desk.answers()) resume(vm, id, answer);
    }
  } finally {
    signal?.removeEventListener('abort', onAbort);
    await desk.close();
  }
}

type Arrived = { readonly id: number; readonly answer: Answer };
type Stale = { readonly agent: string; readonly message: JsonObject };
type Expired = { readonly session: string; readonly error: WorldError };

/** Requests under way, and the answers that have come in. */
class RequestDesk {
  readonly #world: ProgramWorld;
  readonly #open = new Map<number, { abort(): void }>();
  readonly #agents: ProgramAgents;
  readonly #models: ProgramModels;
  #arrived: Arrived[] = [];
  #expired: Expired[] = [];
  #stale: Stale[] = [];
  #woken: (() => void) | undefined;
  #awake = false;

  constructor(module: IrModule, world: ProgramWorld) {
    this.#world = world;
    this.#models = new ProgramModels(module, world);
    this.#agents = new ProgramAgents(module, world, startAgentLazily, {
      onExpired: (session, failure) => {
        this.#expired.push({ session, error: asWorldError(failure) });
        this.wake();
      },
      onStale: (agent, message) => {
        this.#stale.push({ agent, message });
        this.wake();
      },
    });
  }

  take(effect: Effect): void {
    switch (effect.kind) {
      case 'emit':
        return this.#world.emit(effect.channel, effect.payload, effect.system);
      case 'print':
        return this.#world.print(effect.text);
      case 'log':
        return this.#world.log(effect.level, effect.text);
      case 'agent_reply':
        return this.#agents.reply(effect.session, effect.line);
      case 'agent_close':
        return this.#agents.close(effect.session);
      case 'agent_handling':
        return this.#agents.handling(effect.session, effect.handling);
      case 'cancel':
        this.#open.get(effect.id)?.abort();
        this.#open.delete(effect.id);
        return;
      default:
        this.#start(effect);
    }
  }

  #start(request: ProgramRequest): void {
    if (request.kind === 'agent_next') {
      this.#startNext(request.id, request.session);
      return;
    }
    const controller = new AbortController();
    this.#open.set(request.id, controller);
    const rooms = { world: this.#world, agents: this.#agents, models: this.#models };
    this.#await(request.id, performRequest(request, rooms, controller.signal));
  }

  /** The request that comes with every message of an agent: a signal for each would be most of its cost. */
  #startNext(id: number, session: string): void {
    this.#open.set(id, { abort: () => this.#agents.abandon(session) });
    const said = this.#agents.said(session);
    if (said === undefined) this.#await(id, this.#agents.next(session));
    else this.#arrive(id, { ok: true, value: said });
  }

  #await(id: number, value: Promise<Json>): void {
    value.then(
      (found) => this.#arrive(id, { ok: true, value: found }),
      (cause: unknown) => this.#arrive(id, { ok: false, error: asWorldError(cause) }),
    );
  }

  #arrive(id: number, answer: Answer): void {
    if (!this.#open.delete(id)) return;
    this.#arrived.push({ id, answer });
    this.wake();
  }

  wake(): void {
    this.#awake = true;
    this.#woken?.();
    this.#woken = undefined;
  }

  /** Resolves when there is an answer, or when the program was cancelled. */
  async someAnswer(): Promise<void> {
    if (!this.#awake) {
      await new Promise<void>((resolve) => {
        this.#woken = resolve;
      });
    }
    this.#awake = false;
  }

  get hasAnswer(): boolean {
    return this.#arrived.length > 0 || this.#expired.length > 0 || this.#stale.length > 0;
  }

  stale(): readonly Stale[] {
    return this.#stale.splice(0);
  }

  expired(): readonly Expired[] {
    return this.#expired.splice(0);
  }

  answers(): readonly Arrived[] {
    const arrived = this.#arrived;
    this.#arrived = [];
    this.#awake = false;
    return arrived;
  }

  async close(): Promise<void> {
    for (const request of this.#open.values()) request.abort();
    this.#open.clear();
    await Promise.all([this.#agents.end(), this.#models.close()]);
  }
}

function asWorldError(cause: unknown): {
  message: string;
  kind?: string;
  details?: NonNullable<WorldFailure['details']>;
} {
  if (cause instanceof WorldFailure) {
    return {
      message: cause.message,
      kind: cause.kind,
      ...(cause.details === undefined || cause.details === null ? {} : { details: cause.details }),
    };
  }
  return { message: cause instanceof Error ? cause.message : String(cause) };
}

/** Most programs start no agent; loading what drives one takes longer than they run. */
const startAgentLazily: StartAgent = async (spec, options) =>
  await (await import('@concerto/agents')).startAgent(spec, options);
