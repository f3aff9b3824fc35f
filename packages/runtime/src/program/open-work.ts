import type { Json, JsonObject } from '@concerto/base';
import type { AgentOpenRequest, Answer, ModelRequest, Overtaken, WorldError } from '@concerto/vm';
import type { OpenWorkData } from './journal-records.ts';
import type { ProgramEffect, ProgramRequest } from './machine/machine.ts';

/** What the VM is given from outside. */
export type Input =
  | { readonly kind: 'answer'; readonly id: number; readonly answer: Answer }
  | { readonly kind: 'expired'; readonly session: string; readonly error: WorldError }
  | { readonly kind: 'stale'; readonly agent: string; readonly message: JsonObject }
  | ({ readonly kind: 'overtaken' } & Overtaken);

/** An answer of a model with `@cache`, and how long ago it came. */
export type CachedAnswer = { readonly request: ModelRequest; readonly answer: Json; readonly at: number };

/** How a program goes on whose world is gone. */
export type Recovery = {
  /** The ends of what is lost. */
  readonly inputs: readonly Input[];
  /** Requests to make again. */
  readonly again: readonly ProgramRequest[];
  /** Those of them that were made before. */
  readonly repeated: ReadonlySet<number>;
  readonly lostSessions: number;
  /** Names of streams that were given out, and must not be given out again. */
  readonly streams: number;
  /** Calls of agents that go on. */
  readonly calls: readonly OpenCall[];
};

/** A call of an agent that had begun and not ended. */
export type OpenCall = {
  readonly session: string;
  readonly request: AgentOpenRequest;
  /** Of the last message that the program has. */
  readonly place: number;
  /** The last lines that it replied. */
  readonly replies: readonly string[];
};

/** An agent waits for no more answers than it may have open. */
const REPLIES_KEPT = 100;

/** As many as are remembered while a program runs. */
const ANSWERS_KEPT = 1_000;

/** `at`: when it was made; undefined when it was not made yet. */
type OpenRequest = { readonly request: ProgramRequest; readonly at: number | undefined };

/** What a program had begun, as its journal tells it: requests without answers, sessions with agents that had not ended. */
export class OpenWork {
  readonly #requests = new Map<number, OpenRequest>();
  readonly #sessions = new Map<
    string,
    { isOver: boolean } & Omit<OpenCall, 'session' | 'replies'> & { replies: string[] }
  >();
  readonly #cached: CachedAnswer[] = [];
  #answered = 0;
  #streamed = 0;

  get answered(): number {
    return this.#answered;
  }

  get cached(): readonly CachedAnswer[] {
    return this.#cached;
  }

  data(): OpenWorkData {
    const made = [...this.#requests].flatMap(([id, { at }]): [number, number][] =>
      at === undefined ? [] : [[id, at]],
    );
    const calls = [...this.#sessions].map(([session, open]) => ({ session, ...open }));
    return { made, calls, cached: this.#cached, answered: this.#answered, streamed: this.#streamed };
  }

  load({ made, calls, cached, answered, streamed }: OpenWorkData, requests: readonly ProgramRequest[]): void {
    const times = new Map(made);
    for (const request of requests) this.#requests.set(request.id, { request, at: times.get(request.id) });
    for (const { session, ...call } of calls) this.#sessions.set(session, call);
    this.#cached.push(...cached);
    this.#answered = answered;
    this.#streamed = streamed;
  }

  took(effect: ProgramEffect, at?: number): void {
    switch (effect.kind) {
      case 'emit':
      case 'print':
      case 'log':
      case 'agent_handling':
        return;
      case 'agent_reply':
        this.#replied(effect.session, effect.line);
        return;
      case 'agent_close':
        this.#sessions.delete(effect.session);
        return;
      case 'cancel':
        this.#requests.delete(effect.id);
        return;
      default:
        if (effect.kind === 'model' && effect.stream) this.#streamed++;
        this.#requests.set(effect.id, { request: effect, at });
    }
  }

  got(input: Input, at: number): void {
    if (input.kind === 'expired') this.#sessions.delete(input.session);
    if (input.kind !== 'answer') return;
    const request = this.#requests.get(input.id)?.request;
    this.#requests.delete(input.id);
    if (request === undefined || !input.answer.ok) return;
    const { value } = input.answer;
    if (request.kind === 'ask') this.#answered++;
    if (request.kind === 'agent_open') {
      this.#sessions.set(textIn(value, 'session'), { isOver: false, request, place: 0, replies: [] });
    }
    if (request.kind === 'agent_next') this.#heard(request.session, value);
    if (request.kind === 'model' && request.cacheMs !== null && !request.stream) {
      if (this.#cached.push({ request, answer: value, at }) > ANSWERS_KEPT) this.#cached.shift();
    }
  }

  #heard(session: string, value: Json): void {
    const call = this.#sessions.get(session);
    if (call === undefined) return;
    const place = isTable(value) ? value.place : undefined;
    const isOver = call.isOver || isLast(value);
    this.#sessions.set(session, { ...call, isOver, place: typeof place === 'number' ? place : call.place });
  }

  #replied(session: string, line: string): void {
    const replies = this.#sessions.get(session)?.replies;
    if (replies !== undefined && replies.push(line) > REPLIES_KEPT) replies.shift();
  }

  /** Everything that was open when the run was ended. With `keepsAgents` its agents, and what was asked of them, go on. */
  recover(now: number, { keepsAgents }: { readonly keepsAgents: boolean }): Recovery {
    const open = [...this.#sessions].flatMap(([session, { isOver, ...call }]) =>
      isOver ? [] : [{ session, ...call }],
    );
    const calls = keepsAgents ? open : [];
    const lost = keepsAgents ? [] : open.map(({ session }) => session);
    const inputs: Input[] = lost.map((session) => ({ kind: 'expired', session, error: LOST_SESSION }));
    const again: ProgramRequest[] = [];
    const sleeping: { readonly request: ProgramRequest & { readonly kind: 'sleep' }; readonly due: number }[] = [];
    const repeated = new Set<number>();
    for (const { request, at } of this.#requests.values()) {
      // The session of this one is among the lost.
      if (request.kind === 'agent_next' && !keepsAgents) continue;
      const goesOn = keepsAgents && request.kind.startsWith('agent_');
      const end = at === undefined || goesOn ? undefined : endOf(request);
      if (end !== undefined) inputs.push({ kind: 'answer', id: request.id, answer: end });
      // What has a limit is done again: it has its whole time.
      else if (request.kind === 'sleep' && request.limit !== true && at !== undefined)
        sleeping.push({ request, due: at + request.ms });
      else again.push(request);
      if (end === undefined && at !== undefined) repeated.add(request.id);
    }
    // From here on they are made.
    for (const [id, { request, at }] of this.#requests)
      if (at === undefined) this.#requests.set(id, { request, at: now });
    // What is over for long still ends in the order of time.
    sleeping.sort((left, right) => left.due - right.due);
    again.push(...sleeping.map(({ request, due }) => ({ ...request, ms: Math.max(0, due - now) })));
    return {
      inputs,
      again,
      repeated,
      lostSessions: lost.length,
      calls,
      streams: this.#streamed,
    };
  }
}

const LOST_SESSION: WorldError = {
  kind: 'exited',
  message: 'agent exited without result (the run was ended while the session was open, and the agent with it)',
};

/** What has no second time. Undefined when it can be asked again. */
function endOf(request: ProgramRequest): Extract<Input, { kind: 'answer' }>['answer'] | undefined {
  switch (request.kind) {
    case 'agent_open':
      return { ok: false, error: LOST_SESSION };
    case 'agent_shutdown':
      return { ok: true, value: null };
    case 'model_next':
      return { ok: false, error: { kind: 'network', message: 'the run was ended while the answer came' } };
    case 'mcp_call':
      return { ok: false, error: unknownEnd(`the tool ${request.tool} of ${request.server} was called`) };
    case 'http':
      if (request.method === 'GET' || request.method === 'HEAD') return undefined;
      return { ok: false, error: unknownEnd(`${request.method} ${request.url} was sent`) };
    case 'file':
      return request.op === 'append' ? { ok: false, error: unknownEnd(`${request.path} was written`) } : undefined;
    default:
      return undefined;
  }
}

/** Doing it twice may be worse than not knowing. */
function unknownEnd(what: string): WorldError {
  return { kind: 'interrupted', message: `the run was ended when ${what}: whether it was done is not known` };
}

/** What an agent ends its work with. */
export function isLast(value: Json): boolean {
  const type = isTable(value) ? textIn(value.message ?? null, 'type') : '';
  return type === 'result' || type === 'error';
}

function textIn(value: Json, key: string): string {
  const found = isTable(value) ? value[key] : undefined;
  return typeof found === 'string' ? found : '';
}

function isTable(value: Json): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
