import type { Result } from '@concerto/base';
import { LogError } from '@concerto/log';
import { type LifecycleVerb, MessageId, type MessagePriority } from '@concerto/protocol';
import type { Caller, ServiceRefusal, Sessions } from '@concerto/runtime';
import { agentNames, type World } from './world.ts';

/** How long a client waits for an answer before it asks again, with the same key. */
const answerWithinMs = 4_000;
const retryAfterMs = 300;

export type Acknowledged =
  | { readonly what: 'start'; readonly session: string }
  | {
      readonly what: 'send' | 'unsend' | 'edit' | 'promote';
      readonly session: string;
      readonly message: string;
      readonly at: number;
    }
  | { readonly what: 'resend' | 'drop'; readonly session: string; readonly message: string; readonly at: number }
  | { readonly what: 'control'; readonly session: string; readonly verb: LifecycleVerb; readonly requestId: string }
  | { readonly what: 'answer'; readonly session: string; readonly request: string }
  | { readonly what: 'reorder'; readonly session: string };

type Ask = (sessions: Sessions, caller: Caller) => Promise<Result<Acknowledged | undefined, ServiceRefusal>>;

/** A user who loses answers, asks again under the same key, and remembers what was acknowledged. */
export class Client {
  readonly acknowledged: Acknowledged[] = [];
  readonly refused = new Map<string, number>();
  readonly sessions: string[] = [];
  /** Asked at least once, acknowledged or not. */
  readonly resent: string[] = [];
  outstanding = 0;
  readonly #world: World;
  readonly #server: () => Sessions | undefined;

  constructor(world: World, server: () => Sessions | undefined) {
    this.#world = world;
    this.#server = server;
  }

  start(wish: { readonly ifFull: 'reject' | 'queue'; readonly once: boolean; readonly agent: number }): Promise<void> {
    const agent = agentNames[wish.agent % agentNames.length] ?? 'alpha';
    return this.#ask(async (sessions, caller) => {
      const started = await sessions.start({ agent, prompt: 'begin', ifFull: wish.ifFull, once: wish.once }, caller);
      if (!started.ok) return started;
      if (!this.sessions.includes(started.value.id)) this.sessions.push(started.value.id);
      return { ok: true, value: { what: 'start', session: started.value.id } };
    });
  }

  send(session: string, priority: MessagePriority): Promise<void> {
    return this.#ask(async (sessions, caller) => {
      const sent = await sessions.send(session, { content: 'more', priority }, caller);
      return sent.ok ? { ok: true, value: this.#about('send', session, sent.value.id) } : sent;
    });
  }

  /** Something with one of the messages that are listed. */
  change(what: 'unsend' | 'edit' | 'promote' | 'resend' | 'drop', session: string, pick: number): Promise<void> {
    let chosen: string | undefined;
    return this.#ask(async (sessions, caller) => {
      const listed = (await sessions.messages(session))?.pending ?? [];
      chosen ??= listed[pick % Math.max(1, listed.length)]?.id;
      if (chosen === undefined) return { ok: true, value: undefined };
      const target = { session, message: chosen };
      if (what === 'resend') this.resent.push(chosen);
      const changed =
        what === 'unsend'
          ? await sessions.unsend(target, caller)
          : await sessions.revise(target, revisionOf(what, pick), caller);
      return changed.ok ? { ok: true, value: this.#about(what, session, chosen) } : changed;
    });
  }

  reorder(session: string): Promise<void> {
    return this.#ask(async (sessions, caller) => {
      const list = await sessions.messages(session);
      if (list === undefined) return { ok: true, value: undefined };
      const ids = list.pending
        .filter((one) => one.priority === 'queued' && one.inFlight !== true)
        .map((one) => MessageId.parse(one.id));
      const ordered = await sessions.order(session, { ids: ids.toReversed(), version: list.version }, caller);
      return ordered.ok ? { ok: true, value: { what: 'reorder', session } } : ordered;
    });
  }

  control(session: string, verb: LifecycleVerb): Promise<void> {
    return this.#ask(async (sessions, caller) => {
      const accepted = await sessions.control(session, verb, caller);
      if (!accepted.ok) return accepted;
      return { ok: true, value: { what: 'control', session, verb, requestId: accepted.value.requestId } };
    });
  }

  answer(session: string): Promise<void> {
    return this.#ask(async (sessions, caller) => {
      const request = (await sessions.requests(session))?.requests[0]?.requestId;
      if (request === undefined) return { ok: true, value: undefined };
      const answered = await sessions.answer({ session, request }, { response: true }, caller);
      return answered.ok ? { ok: true, value: { what: 'answer', session, request } } : answered;
    });
  }

  startProgram(program: string): Promise<void> {
    return this.#ask(async (sessions, caller) => {
      const started = await sessions.start({ program, prompt: 'begin' }, caller);
      if (!started.ok) return started;
      if (!this.sessions.includes(started.value.id)) this.sessions.push(started.value.id);
      return { ok: true, value: { what: 'start', session: started.value.id } };
    });
  }

  configure(max: number): Promise<void> {
    return this.#ask(async (sessions) => {
      await sessions.configurePool(max, 'user');
      return { ok: true, value: undefined };
    });
  }

  #about(what: Extract<Acknowledged, { message: string }>['what'], session: string, message: string): Acknowledged {
    return { what, session, message, at: this.#world.clock.now() };
  }

  async #ask(ask: Ask): Promise<void> {
    const caller = { actor: 'user', key: this.#world.mint('key-padded-to-twenty').slice(-20).padStart(20, '0') };
    this.outstanding += 1;
    for (;;) {
      const server = this.#server();
      const answer = server === undefined ? 'lost' : await this.#withinTime(ask(server, caller));
      if (answer === 'lost') {
        await this.#wait(retryAfterMs);
        continue;
      }
      this.outstanding -= 1;
      if (answer.ok) {
        if (answer.value !== undefined) this.acknowledged.push(answer.value);
      } else {
        this.refused.set(answer.error.code, (this.refused.get(answer.error.code) ?? 0) + 1);
      }
      return;
    }
  }

  async #withinTime<T>(asked: Promise<T>): Promise<T | 'lost'> {
    const failed = asked.catch((cause: unknown) => {
      if (cause instanceof LogError) return 'lost' as const;
      throw cause;
    });
    return await Promise.race([failed, this.#wait(answerWithinMs).then(() => 'lost' as const)]);
  }

  async #wait(ms: number): Promise<void> {
    await new Promise<void>((resolve) => {
      this.#world.clock.at(this.#world.clock.now() + ms, resolve);
    });
  }
}

function revisionOf(what: 'edit' | 'promote' | 'resend' | 'drop', pick: number) {
  if (what === 'edit') return { content: `edited ${pick}` };
  return what === 'promote' ? { priority: 'immediate' as const } : { uncertain: what };
}
