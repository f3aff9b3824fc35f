import type { ProcessIdentity } from '@concerto/agents';
import { assert, ByNumber, type Json } from '@concerto/base';
import type { IrModule } from '@concerto/ir';
import type { Answer } from '@concerto/vm';
import { systemClock } from '../ports.ts';
import type { Given, ProgramEffect, ProgramRequest } from './machine/machine.ts';
import type { CachedAnswer, Input, Recovery } from './open-work.ts';
import { performRequest } from './perform-request.ts';
import type { StartProgramAgent } from './program-agent.ts';
import { ProgramAgents } from './program-agents.ts';
import { ProgramModels } from './program-models.ts';
import { type ProgramWorld, type Rests, WorldFailure } from './program-world.ts';

/** Requests under way, and the answers that have come in. */
export class RequestDesk {
  readonly #world: ProgramWorld;
  readonly #open = new ByNumber<OpenRequest>();
  readonly #agents: ProgramAgents;
  readonly #models: ProgramModels;
  /** Begun before this process: made again once it is known which of them somebody still waits for. */
  readonly #held = new Map<number, ProgramRequest>();
  /** The session whose next message was there when it was asked for. */
  #heard = '';
  /** The session of which something was sent ahead last. */
  #ahead = '';
  #expired: Input[] = [];
  #arrived: Input[] = [];
  #stale: Input[] = [];
  #woken: (() => void) | undefined;
  #awake = false;
  #isLetGo = false;

  constructor(module: IrModule, world: ProgramWorld) {
    this.#world = world;
    this.#models = new ProgramModels(module, world);
    const start = world.startAgent ?? noAgents;
    this.#agents = new ProgramAgents(module, world.clock ?? systemClock, start, {
      onExpired: (session, failure) => {
        this.#expired.push({ kind: 'expired', session, error: asWorldError(failure) });
        this.wake();
      },
      onOvertaken: (overtaken) => {
        this.#stale.push({ kind: 'overtaken', ...overtaken });
        this.wake();
      },
      onStale: (agent, message) => {
        this.#stale.push({ kind: 'stale', agent, message });
        this.wake();
      },
    });
  }

  take(effect: ProgramEffect): void {
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
        this.#held.delete(effect.id);
        return;
      default:
        this.#start(effect);
    }
  }

  #start(request: ProgramRequest): void {
    if (this.#isLetGo) return;
    if (request.kind === 'agent_next') {
      this.#startNext(request.id, request.session);
      return;
    }
    const controller = new AbortController();
    this.#world.watch?.(request);
    this.#open.set(request.id, {
      abort: () => controller.abort(),
      rests: restsWith(request, this.#world.clock?.now() ?? Date.now()),
      asks: request.kind === 'ask',
    });
    const rooms = { world: this.#world, agents: this.#agents, models: this.#models };
    this.#await(request.id, performRequest(request, rooms, controller.signal), request);
  }

  /** The request that comes with every message of an agent: a signal for each would be most of its cost. */
  #startNext(id: number, session: string): void {
    const said = this.#agents.said(session);
    this.#heard = said === undefined ? '' : session;
    if (said === undefined) this.#awaitNext(id, session);
    else this.#give(id, { ok: true, value: said });
  }

  #awaitNext(id: number, session: string): void {
    // Whether it only waits its agent tells.
    this.#open.set(id, { abort: () => this.#agents.abandon(session), rests: {} });
    this.#await(id, this.#agents.next(session));
  }

  /** What comes after the message that the program is given now, as far as it asks for nothing. It stays here until it is asked for. */
  ahead(most: number): Given['ahead'] {
    const said = this.#heard === '' ? [] : this.#agents.ahead(this.#heard, most);
    this.#ahead = this.#heard;
    return said.length === 0 ? undefined : { session: this.#heard, said };
  }

  /** What a machine was sent ahead, now that it has asked for it. */
  inputAhead(effects: readonly ProgramEffect[]): readonly Input[] {
    const next = effects.find((effect) => effect.kind === 'agent_next' && effect.session === this.#ahead);
    const at = this.#arrived.findIndex(
      (input) => input.kind === 'answer' && next?.kind === 'agent_next' && input.id === next.id,
    );
    assert(at >= 0, 'what was sent ahead is still there');
    return this.#arrived.splice(at, 1);
  }

  #await(id: number, value: Promise<Json>, request?: ProgramRequest): void {
    value.then(
      (found) => this.#arrive(id, { ok: true, value: found }, request),
      (cause: unknown) => this.#arrive(id, { ok: false, error: asWorldError(cause) }, request),
    );
  }

  #arrive(id: number, answer: Answer, request?: ProgramRequest): void {
    if (!this.#open.delete(id)) return;
    if (request !== undefined) this.#world.watch?.(request, answer);
    this.#give(id, answer);
  }

  #give(id: number, answer: Answer): void {
    const input = { kind: 'answer', id, answer } as const;
    // An empty list that something is put into makes room for many at once, and most often it is one.
    if (this.#arrived.length === 0) this.#arrived = [input];
    else this.#arrived.push(input);
    this.wake();
  }

  /** Until when nothing but people can want something of it; undefined where anything else may come. */
  get rests(): Rests | undefined {
    const on = this.#agents.onlyWait;
    if (on === undefined || this.hasInput) return undefined;
    let until = Number.POSITIVE_INFINITY;
    for (const { rests } of this.#open.things()) {
      if (rests === undefined) return undefined;
      until = Math.min(until, rests.until ?? until);
    }
    return { ...(until === Number.POSITIVE_INFINITY ? {} : { until }), ...(on.length === 0 ? {} : { on }) };
  }

  /** All that is open in the program itself waits for people or for a time, and some of it for people. */
  get asks(): boolean {
    const open = this.#open.things();
    return open.some(({ asks }) => asks === true) && open.every(({ rests }) => rests !== undefined);
  }

  /** Nothing more is begun for the program, and nothing is waited for; what was answered by now is still there. */
  letGo(): void {
    this.#isLetGo = true;
    for (const request of this.#open.things()) request.abort();
    this.#open.clear();
    this.wake();
  }

  wake(): void {
    this.#awake = true;
    this.#woken?.();
    this.#woken = undefined;
  }

  /** Resolves when there is something for the program, or when it was cancelled. */
  async someInput(): Promise<void> {
    if (!this.#awake) {
      await new Promise<void>((resolve) => {
        this.#woken = resolve;
      });
    }
    this.#awake = false;
  }

  get hasInput(): boolean {
    return this.#arrived.length > 0 || this.#expired.length > 0 || this.#stale.length > 0;
  }

  inputs(): readonly Input[] {
    this.#awake = false;
    const arrived = this.#arrived;
    this.#arrived = [];
    // With every message of an agent: the others are rare.
    if (this.#expired.length + this.#stale.length === 0) return arrived;
    return [...this.#expired.splice(0), ...arrived, ...this.#stale.splice(0)];
  }

  /** Answers that have come and that the program was not given. */
  answersLeft(): readonly Input[] {
    return this.#arrived.splice(0);
  }

  async recover({ again, streams, calls }: Recovery, answers: readonly CachedAnswer[]): Promise<void> {
    for (const request of again) this.#held.set(request.id, request);
    const left = await this.#world.agentsLeft?.(calls.map(({ session }) => session));
    await this.#agents.recover(calls, left ?? []);
    this.#models.recover(streams, answers);
  }

  startHeld(): void {
    for (const request of this.#held.values()) this.#start(request);
    this.#held.clear();
  }

  async close(): Promise<void> {
    this.letGo();
    await Promise.all([this.#agents.end(), this.#models.close()]);
  }
}

type OpenRequest = { abort(): void; readonly rests?: Rests | undefined; readonly asks?: boolean };

/** How long it takes where only a person or the time can answer it; undefined for anything else. */
function restsWith(request: ProgramRequest, now: number): Rests | undefined {
  if (request.kind === 'ask') return {};
  return request.kind === 'sleep' && request.limit !== true ? { until: now + request.ms } : undefined;
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

/** Agents that the old run had left: they would work beside those that take their place. */
export async function endOrphans(orphans: readonly ProcessIdentity[], world: ProgramWorld): Promise<void> {
  if (orphans.length === 0) return;
  const { endOrphan } = await import('@concerto/agents');
  const ended = await Promise.all(orphans.map((identity) => endOrphan(identity)));
  const count = ended.filter((wasThere) => wasThere).length;
  if (count > 0) world.log('warn', `ended ${count} agent process${count === 1 ? '' : 'es'} that the old run had left`);
}

const noAgents: StartProgramAgent = async ({ name }) => {
  throw new WorldFailure('spawn', `agent ${name} cannot be started here`);
};
