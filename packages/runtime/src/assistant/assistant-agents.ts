import type { AgentVerb } from '@concerto/agents';
import type { Json } from '@concerto/base';
import { couldNotStart, openRequests, promptProgress, type SessionState, statusOf } from '@concerto/session';
import * as z from 'zod';
import { folderOf } from '../answer/request-risk.ts';
import type { Catalog, CatalogEntry } from '../catalog.ts';
import type { ChildSessions } from '../children/child-sessions.ts';
import type { Clock } from '../ports.ts';
import { SessionGrowth } from '../session/session-growth.ts';
import { makeWorktree, worktreeWish } from '../start/worktrees.ts';
import { leftToNext, orAborted } from './assistant-gate.ts';
import { isObject } from './assistant-result.ts';

/** Sessions within sessions; deeper ones are refused, so that assistants that call each other come to an end. */
const depthMax = 5;
/** So long a call waits for a place in the pool: whoever holds the others may be waiting for this one. */
const slotWithinMs = 5 * 60_000;
const titleCharactersMax = 80;

export type AgentCall = {
  readonly callId: string;
  readonly prompt: string;
  readonly signal: AbortSignal;
  readonly status: (text: string) => void;
};

/** The first of that name, whatever kind of session it is. */
export function findAgent(catalog: Catalog, name: string): CatalogEntry | undefined {
  return catalog.find('agent', name) ?? catalog.find('assistant', name) ?? catalog.find('program', name);
}

/** The sessions that an assistant opens: each call of an agent is one, which ends with its first result. */
export class AssistantAgents {
  readonly #children: ChildSessions;
  readonly #clock: Clock;
  readonly #working = new Set<string>();

  constructor(children: ChildSessions, clock: Clock) {
    this.#children = children;
    this.#clock = clock;
  }

  /** How many are at work. */
  get size(): number {
    return this.#working.size;
  }

  idOf(callId: string): string {
    return this.#children.idOf('s', callId);
  }

  /** Holds them, or lets them go on; one that is over by itself refuses it. */
  async control(verb: Extract<AgentVerb, 'pause' | 'resume'>, request: string): Promise<void> {
    await Promise.all([...this.#working].map(async (id) => await this.#children.control(id, verb, `${request}-${id}`)));
  }

  /** What the agent hands over; rejects with why there is nothing, and leaves no session at work, unless to the next owner. */
  async call(entry: CatalogEntry, { callId, prompt, signal, status }: AgentCall): Promise<Json> {
    const id = this.idOf(callId);
    await this.#checkDepth();
    this.#working.add(id);
    try {
      const message = this.#children.idOf('m', callId);
      await this.#open(id, entry, { messageId: message, content: prompt });
      const state = await this.#over({ id, message }, signal, status);
      return resultOf(state);
    } finally {
      this.#working.delete(id);
      if (signal.reason !== leftToNext) await this.#end(id);
    }
  }

  async #open(id: string, entry: CatalogEntry, prompt: { messageId: string; content: string }): Promise<void> {
    const { kind, name, budget, supervisor } = entry;
    const wish = entry.kind === 'agent' ? worktreeWish(entry.worktree, id) : undefined;
    const folder = entry.kind === 'agent' ? folderOf(entry.spec) : undefined;
    const made = wish === undefined ? undefined : await makeWorktree(folder ?? '.', wish);
    if (made?.ok === false) throw new Error(made.error.message);
    const settings = made === undefined ? {} : { settings: made.value };
    const title = titleOf(prompt.content, name);
    const refused = await this.#children.open(id, {
      kind,
      agent: name,
      title,
      once: true,
      prompt,
      budget,
      supervisor,
      ...settings,
    });
    if (refused !== undefined) throw new Error(refused.message);
  }

  /** Its state once its first turn has come to an end, or cannot any more. */
  async #over(
    { id, message }: { readonly id: string; readonly message: string },
    signal: AbortSignal,
    status: AgentCall['status'],
  ): Promise<SessionState> {
    let isLate = false;
    const growth = new SessionGrowth(this.#children, id);
    const stopClock = this.#clock.at(this.#clock.now() + slotWithinMs, () => {
      isLate = true;
      growth.signal();
    });
    let told = '';
    try {
      for (;;) {
        const { seen } = growth;
        const state = await this.#children.stateOf(id);
        if (state === undefined) throw new Error('its session is gone');
        if (state.end !== undefined || couldNotStart(state) || promptProgress(state, message) === 'over') return state;
        const isWaiting = state.slot.kind === 'wanted';
        if (isWaiting && isLate)
          throw new Error(`no place in the pool came free within ${slotWithinMs / 60_000} minutes`);
        const stands = isWaiting ? 'waits for a place in the pool' : wordsFor(state);
        if (stands !== told && stands !== '') status(stands);
        told = stands;
        await orAborted(growth.since(seen), signal);
      }
    } finally {
      growth.close();
      stopClock();
    }
  }

  /** Nobody waits for it any more. */
  async #end(id: string): Promise<void> {
    const state = await this.#children.stateOf(id);
    if (state === undefined || state.end !== undefined) return;
    const refused = await this.#children.control(id, 'cancel', `end-${id}`);
    if (refused !== undefined) await this.#children.ask(id, { type: 'finish' });
  }

  async #checkDepth(): Promise<void> {
    let state = await this.#children.ownState();
    for (let depth = 2; state?.parent !== undefined; depth++) {
      if (depth >= depthMax) throw new Error(`sessions may be ${depthMax} deep, and this one is`);
      state = await this.#children.stateOf(state.parent);
    }
  }
}

const Text = z.strictObject({ text: z.string() });

/** What a call of it gave, as far as its session tells; rejects with why it gave nothing. */
export function resultOf(state: SessionState): Json {
  const { result, error, end, hold, control } = state;
  // What it says to a question that was withdrawn is no result.
  if (control?.kind === 'cancel' || control?.kind === 'interrupt') {
    throw new Error(`its session was ${control.kind === 'cancel' ? 'cancelled' : 'interrupted'}`);
  }
  const isDone = end?.status === 'completed' || (end === undefined && error === undefined && hold === undefined);
  if (!isDone || result === undefined) {
    throw new Error(error?.message ?? end?.reason ?? hold?.reason ?? `its session is ${statusOf(state)}`);
  }
  const only = Text.safeParse(result);
  if (only.success) return only.data.text;
  return isObject(result) || typeof result === 'string' ? result : JSON.stringify(result);
}

function wordsFor(state: SessionState): string {
  return openRequests(state).length === 0 ? '' : 'waits for an answer';
}

function titleOf(prompt: string, name: string): string {
  const line = prompt.trim().split('\n', 1)[0] ?? '';
  if (line === '') return name;
  return line.length <= titleCharactersMax ? line : `${line.slice(0, titleCharactersMax - 1)}…`;
}
