import type { Json } from '@concerto/base';
import { type IrAgent, type IrModule, SUPERVISED } from '@concerto/ir';
import type { AgentOpenRequest, Overtaken } from '@concerto/vm';
import type { Clock } from '../ports.ts';
import { AgentSession } from './agent-session.ts';
import { LiveAgent } from './live-agent.ts';
import type { OpenCall } from './open-work.ts';
import {
  callSeconds,
  type LeftAgent,
  type Message,
  type ProgramAgent,
  type ProgramCall,
  type StartProgramAgent,
  secondsOf,
} from './program-agent.ts';
import { WorldFailure } from './program-world.ts';

/** The agents of one program: one is started when first needed, serves one call after another, and ends with us. */
export class ProgramAgents {
  readonly #module: IrModule;
  readonly #clock: Clock;
  readonly #start: StartProgramAgent;
  readonly #events: AgentEvents;
  readonly #live = new Map<string, Set<LiveAgent>>();
  readonly #starting = new Map<string, number>();
  /** The last start of each agent that did not fail. */
  readonly #latest = new Map<string, Promise<LiveAgent>>();
  /** Processes that come or go: nothing of them may be left when the program is. */
  readonly #ending = new Set<Promise<unknown>>();
  readonly #sessions = new Map<string, { readonly session: AgentSession; readonly opening: Opening }>();
  #abouts = 0;
  #closed = false;

  constructor(module: IrModule, clock: Clock, start: StartProgramAgent, events: AgentEvents) {
    this.#module = module;
    this.#clock = clock;
    this.#start = start;
    this.#events = events;
  }

  /** The sessions of all agents that are called, where each only waits for answers; undefined where one is at work. */
  get onlyWait(): readonly string[] | undefined {
    const waiting: string[] = [];
    for (const { session } of this.#sessions.values()) {
      const id = session.owesReplies ? undefined : session.live.agent.onlyWaits();
      if (id === undefined) return undefined;
      waiting.push(id);
    }
    return waiting;
  }

  async open(request: AgentOpenRequest & { readonly id: number }, signal: AbortSignal): Promise<Json> {
    const agent = this.#declared(request.agent);
    const timeoutSeconds = callSeconds(agent, request.timeoutSeconds);
    // The same when the request is made again after a restart.
    const id = `${request.agent}-${request.id}`;
    await this.#begin(id, { agent, request, timeoutSeconds, signal });
    return { session: id };
  }

  /** What it announced when it was last started; one that never was is started for it. */
  async about(name: string, signal: AbortSignal): Promise<Json> {
    const agent = this.#declared(name);
    for (;;) {
      const latest = this.#latest.get(name);
      if (latest === undefined) {
        const limits = { signal, timeoutSeconds: callSeconds(agent, null) };
        (await this.#take(agent, `about-${name}-${++this.#abouts}`, limits)).release();
        continue;
      }
      const live = await latest.catch(() => undefined);
      if (live === undefined) continue;
      const { capabilities, version } = live.agent;
      return { capabilities, version: version ?? null };
    }
  }

  #declared(name: string): IrAgent {
    if (name === SUPERVISED) return { name, connector: '', config: {}, decorators: [] };
    const agent = this.#module.agents.find((candidate) => candidate.name === name);
    if (agent === undefined) throw new WorldFailure('spawn', `agent ${name} is not declared`);
    return agent;
  }

  /** Goes on for a program that was ended: these agents are still there, and these calls of them were open. */
  async recover(calls: readonly OpenCall[], left: readonly LeftAgent[]): Promise<void> {
    for (const { name, agent } of left) {
      const live = this.#liveOf(name, agent);
      const call = calls.find(({ session, request }) => request.agent === name && agent.knows(session));
      this.#groupOf(name).add(live);
      this.#latest.set(name, Promise.resolve(live));
      if (call === undefined) live.release();
      else await this.#takeUp(call, live);
    }
    for (const { session, request } of calls) {
      if (this.#sessions.has(session)) continue;
      const why = `agent ${request.agent}: its session is gone`;
      this.#events.onExpired(session, new WorldFailure('exited', why));
    }
  }

  async #takeUp({ session: id, request, place, replies }: OpenCall, live: LiveAgent): Promise<void> {
    const agent = this.#declared(request.agent);
    const timeoutSeconds = callSeconds(agent, request.timeoutSeconds);
    const { signal } = new AbortController();
    const session = this.#sessionOf(id, live, { agent, request, timeoutSeconds, signal });
    session.goOn();
    await live.agent.takeUp(callOf(id, request), place, replies);
  }

  async #begin(id: string, opening: Opening): Promise<void> {
    const { agent, timeoutSeconds, signal } = opening;
    const live = await this.#take(agent, id, { signal, timeoutSeconds });
    // At once: whoever asks next, in the same breath, must not find the agent still taken.
    const onAbort = (): void => (this.#sessions.has(id) ? this.close(id) : live.release());
    signal.addEventListener('abort', onAbort, { once: true });
    try {
      if (signal.aborted) onAbort();
      else await live.settled();
      if (signal.aborted) throw nobodyWaits();
      await this.#prompt(id, live, opening);
      if (signal.aborted) throw nobodyWaits();
    } finally {
      signal.removeEventListener('abort', onAbort);
    }
  }

  #sessionOf(id: string, live: LiveAgent, opening: Opening): AgentSession {
    const { agent, request, timeoutSeconds } = opening;
    const session = new AgentSession(request.agent, live, {
      // The call begins with the prompt; starting the agent has a limit of its own.
      deadline: this.#clock.now() + timeoutSeconds * 1000,
      timeoutSeconds,
      idleSeconds: secondsOf(agent.config.idle_timeout, agent.manifest?.idle_timeout),
      replySeconds: secondsOf(agent.config.reply_timeout),
      watchesStderr: request.stderr,
      onOvertaken: (message) => this.#events.onOvertaken({ session: id, ...message }),
      onExpired: (failure) => this.#events.onExpired(id, failure),
    });
    this.#sessions.set(id, { session, opening });
    return session;
  }

  async #prompt(id: string, live: LiveAgent, opening: Opening): Promise<void> {
    const { request } = opening;
    const session = this.#sessionOf(id, live, opening);
    try {
      await session.prompt(request.prompt, request.context, callOf(id, request));
    } catch (cause) {
      const isLost = session.isLost(cause);
      this.#sessions.delete(id);
      await this.#drop(session);
      if (!isLost) throw asFailure(cause);
      await this.#begin(id, opening);
    }
  }

  /** A message that has come already. */
  said(id: string): Json | undefined {
    return this.#sessions.get(id)?.session.take();
  }

  /** Messages after it that ask for nothing, which stay where they are. */
  ahead(id: string, most: number): readonly Json[] {
    return this.#sessions.get(id)?.session.ahead(most) ?? [];
  }

  async next(id: string): Promise<Json> {
    const open = this.#sessions.get(id);
    if (open === undefined) throw new WorldFailure('protocol', 'the session has ended');
    try {
      return await open.session.next();
    } catch (cause) {
      const isLost = open.session.isLost(cause);
      // Whoever waits learns of it at once; the agent may take its time to end.
      void this.#drop(open.session);
      if (!isLost) throw asFailure(cause);
      await this.#begin(id, open.opening);
      return this.next(id);
    }
  }

  /** Nobody waits for its next message any more. */
  abandon(id: string): void {
    this.#sessions.get(id)?.session.abandon();
  }

  handling(id: string, isHandling: boolean): void {
    this.#sessions.get(id)?.session.handling(isHandling);
  }

  reply(id: string, line: string): void {
    this.#sessions.get(id)?.session.reply(line);
  }

  /** The program is done with the session. An agent that is still at it is ended: its answer would be in the way. */
  close(id: string): void {
    const open = this.#sessions.get(id);
    this.#sessions.delete(id);
    if (open !== undefined && !open.session.close()) void this.#drop(open.session);
  }

  async shutdown(name: string): Promise<void> {
    const live = [...(this.#live.get(name) ?? [])];
    this.#live.delete(name);
    await Promise.all(live.map((agent) => agent.end()));
  }

  async end(): Promise<void> {
    this.#closed = true;
    for (const id of this.#sessions.keys()) this.close(id);
    await Promise.all([...this.#live.keys()].map((name) => this.shutdown(name)));
    await Promise.allSettled(this.#ending);
  }

  /** Ends the agent of a call that did not come to its end. */
  #drop(session: AgentSession): Promise<void> {
    const { live } = session;
    session.close();
    for (const group of this.#live.values()) group.delete(live);
    const ending = live.end();
    this.#ending.add(ending);
    return ending.finally(() => this.#ending.delete(ending));
  }

  /** An agent that is free, or a new one as far as `instances` allows. */
  async #take(agent: IrAgent, name: string, limits: StartLimits): Promise<LiveAgent> {
    const group = this.#groupOf(agent.name);
    for (const live of group) if (live.isGone) group.delete(live);
    const free = [...group].filter((live) => live.isFree);
    // One that was prompted for this call before a restart has it.
    const known = free.find((live) => live.agent.knows(name)) ?? free[0];
    if (known !== undefined) return known.claim();
    const instances = count(agent.config.instances ?? agent.manifest?.instances);
    const starting = this.#starting.get(agent.name) ?? 0;
    if (group.size + starting >= instances) {
      throw new WorldFailure('busy', `agent ${agent.name} is at work already; \`instances\` allows ${instances}`);
    }
    const live = await this.#startCounted(agent, name, limits);
    if (this.#closed || limits.signal.aborted) {
      await live.end();
      throw nobodyWaits();
    }
    group.add(live);
    return live;
  }

  #groupOf(name: string): Set<LiveAgent> {
    const group = this.#live.get(name) ?? new Set();
    this.#live.set(name, group);
    return group;
  }

  #liveOf(name: string, agent: ProgramAgent): LiveAgent {
    const onStale = (message: Message): void => this.#events.onStale(name, message);
    return new LiveAgent(agent, { clock: this.#clock, onStale });
  }

  /** Counts as one that runs until it does, or until nobody wants it any more. */
  async #startCounted(agent: IrAgent, call: string, limits: StartLimits): Promise<LiveAgent> {
    const { name } = agent;
    this.#starting.set(name, (this.#starting.get(name) ?? 0) + 1);
    let isCounted = true;
    const forget = (): void => {
      if (isCounted) this.#starting.set(name, (this.#starting.get(name) ?? 1) - 1);
      isCounted = false;
    };
    limits.signal.addEventListener('abort', forget, { once: true });
    const started = this.#startOne(agent, call, limits);
    this.#ending.add(started);
    this.#latest.set(name, started);
    try {
      return await started;
    } catch (cause) {
      if (this.#latest.get(name) === started) this.#latest.delete(name);
      throw cause;
    } finally {
      this.#ending.delete(started);
      limits.signal.removeEventListener('abort', forget);
      forget();
    }
  }

  async #startOne(agent: IrAgent, name: string, { signal }: StartLimits): Promise<LiveAgent> {
    try {
      return this.#liveOf(agent.name, await this.#start(agent, { name, signal }));
    } catch (cause) {
      throw asStartFailure(cause);
    }
  }
}

function callOf(name: string, { listen: listens, wants }: AgentOpenRequest): ProgramCall {
  return { name, listens, wants };
}

function nobodyWaits(): WorldFailure {
  return new WorldFailure('cancelled', 'nobody waits for the agent any more');
}

export type AgentEvents = {
  /** The deadline of a session has passed while the program is busy with what the agent said. */
  readonly onExpired: (session: string, failure: WorldFailure) => void;
  /** Somebody else has answered what the agent asked. */
  readonly onOvertaken: (overtaken: Overtaken) => void;
  /** The agent said something that belongs to no session. */
  readonly onStale: (agent: string, message: Message) => void;
};

type Opening = StartLimits & { readonly agent: IrAgent; readonly request: AgentOpenRequest };
type StartLimits = { readonly signal: AbortSignal; readonly timeoutSeconds: number };

/** One that ends or talks of something else before its `init_ack` has not acknowledged its params. */
function asStartFailure(cause: unknown): WorldFailure {
  const failure = asFailure(cause);
  if (failure.kind !== 'exited' && failure.kind !== 'protocol') return failure;
  return new WorldFailure('init', failure.message, {
    cause,
    ...(failure.details === undefined ? {} : { details: failure.details }),
  });
}

function asFailure(cause: unknown): WorldFailure {
  if (cause instanceof WorldFailure) return cause;
  return new WorldFailure('protocol', cause instanceof Error ? cause.message : String(cause), { cause });
}

function count(candidate: Json | undefined): number {
  return typeof candidate === 'number' && candidate >= 1 ? candidate : 1;
}
