import { randomUUID } from 'node:crypto';
import type { Json } from '@concerto/base';
import { ClientError, type ConcertoClient, type StartRequest } from '@concerto/client';
import type { LlmContent, Offers, SuspendEvent } from '@concerto/protocol';
import { AcpFold, chosenAnswer, isForPerson, permissionOf, questionOf, type Told } from '@concerto/wires';
import * as z from 'zod';
import { type AcpOption, modesOf, optionsOf } from './acp-settings.ts';
import { AcpError, type AcpWire, internalError, invalidParams } from './acp-wire.ts';

const Chosen = z.object({
  outcome: z.union([
    z.object({ outcome: z.literal('selected'), optionId: z.string() }),
    z.object({ outcome: z.literal('cancelled') }),
  ]),
});

type StopReason = 'end_turn' | 'cancelled';
type Turn = {
  readonly messageId: string;
  readonly resolve: (reason: StopReason) => void;
  readonly reject: (error: Error) => void;
};

/** How long an agent takes to switch what was chosen for it. */
const switchesWithinMs = 30_000;

type Opened = {
  readonly id: string;
  /** Undefined for one that there is already. */
  readonly start?: StartRequest;
  readonly offers: Offers;
  readonly settable: readonly string[];
};

/** One session as an editor has it: everything that happens in it is told, whoever makes it happen. */
export class AcpSession {
  readonly id: string;
  readonly #client: ConcertoClient;
  readonly #wire: AcpWire;
  readonly #fold = new AcpFold();
  readonly #left = new AbortController();
  /** Permissions that the editor is asked for now. */
  readonly #asked = new Map<string, AbortController>();
  readonly #turns: Turn[] = [];
  #following: Promise<void> | undefined;
  /** Undefined once it is started. */
  #start: StartRequest | undefined;
  #offers: Offers;
  readonly #settable: readonly string[];

  constructor(wire: AcpWire, client: ConcertoClient, { id, start, offers, settable }: Opened) {
    this.#wire = wire;
    this.#client = client;
    this.id = id;
    this.#start = start;
    this.#offers = offers;
    this.#settable = settable;
  }

  options(): readonly AcpOption[] {
    return optionsOf(this.#offers, this.#settable);
  }

  /** As the answer that opens it for the editor has them. */
  choices(): { readonly modes?: object; readonly configOptions?: readonly AcpOption[] } {
    const options = this.options();
    return options.length === 0 ? {} : { ...modesOf(options), configOptions: options };
  }

  /** Resolves when the agent has it; for one that is not started, it will start with it. */
  async set(setting: string, value: string): Promise<void> {
    const option = this.options().find(({ id }) => id === setting);
    if (option?.options.some((offered) => offered.value === value) !== true) {
      const there = option?.options.map((offered) => offered.value).join(', ') ?? 'nothing';
      throw new AcpError(invalidParams, `${setting} cannot be ${JSON.stringify(value)} here; it can be: ${there}`);
    }
    if (this.#start === undefined) await this.#switch(setting, value);
    else this.#start = { ...this.#start, params: { ...this.#start.params, [setting]: value } };
    this.#offers = { ...this.#offers, [setting]: value };
  }

  /** Tells all that was said; resolves when that is told. */
  async load(isReplayed: boolean): Promise<void> {
    const { position } = await this.#client.get(this.id);
    await new Promise<void>((resolve, reject) => {
      this.#following = this.#follow({ caughtUp: position, tellsPast: isReplayed, onCaughtUp: resolve });
      this.#following.then(resolve, reject);
    });
  }

  async prompt(content: string | LlmContent): Promise<StopReason> {
    const question = this.#fold.narration.waiting.find(({ type }) => type === 'waitForInput');
    // What needs words was asked as text; the next words answer it.
    if (question !== undefined) await this.#client.answer(this.id, question.requestId, asAnswer(content));
    const messageId = question === undefined ? randomUUID() : '';
    this.#fold.know(messageId);
    const ended = new Promise<StopReason>((resolve, reject) => {
      this.#turns.push({ messageId, resolve, reject });
    });
    if (question === undefined) await this.#send(messageId, content);
    this.#following ??= this.#follow({ caughtUp: 0, tellsPast: true, onCaughtUp: () => undefined });
    return await ended;
  }

  async cancel(): Promise<void> {
    for (const asking of this.#asked.values()) asking.abort();
    const { narration } = this.#fold;
    for (const turn of this.#turns.filter(({ messageId }) => narration.isPending(messageId))) {
      const isTaken = await this.#client.cancelMessage(this.id, turn.messageId).then(() => true, refused);
      if (isTaken) this.#settle(turn)?.resolve('cancelled');
    }
    // Nothing runs: then there is nothing to stop.
    await this.#client.interrupt(this.id).catch(refused);
  }

  leave(): void {
    this.#left.abort();
  }

  async #send(id: string, content: string | LlmContent): Promise<void> {
    const start = this.#start;
    this.#start = undefined;
    try {
      if (start === undefined) await this.#client.send(this.id, { id, content });
      else await this.#client.start({ ...start, id: this.id, prompt: content, ifFull: 'queue' });
    } catch (error) {
      this.#start = start;
      const turn = this.#turns.find(({ messageId }) => messageId === id);
      if (turn !== undefined) this.#settle(turn);
      throw error;
    }
  }

  /** The session says itself what came of it. */
  async #switch(setting: string, value: string): Promise<void> {
    const { position } = await this.#client.get(this.id);
    const { requestId, outcome } = await this.#client.changeSettings(this.id, { [setting]: value });
    if (outcome === 'kept') return;
    const signal = AbortSignal.timeout(switchesWithinMs);
    for await (const event of this.#client.follow(this.id, { after: position, signal })) {
      if (event.type !== 'settings' || event.requestId !== requestId) continue;
      if (event.outcome !== 'refused') return;
      throw new AcpError(internalError, event.reason ?? `the agent refuses ${setting} ${JSON.stringify(value)}`);
    }
    throw new AcpError(internalError, `the agent has not said yet whether ${setting} is ${JSON.stringify(value)}`);
  }

  async #follow(past: {
    readonly caughtUp: number;
    readonly tellsPast: boolean;
    readonly onCaughtUp: () => void;
  }): Promise<void> {
    const { signal } = this.#left;
    if (past.caughtUp === 0) past.onCaughtUp();
    try {
      for await (const event of this.#client.follow(this.id, { signal })) {
        // The prompt that a session is started with has no id of ours: it is the first that there is.
        if (event.type === 'message' && this.#fold.narration.firstMessage === undefined && past.caughtUp === 0) {
          this.#begunWith(event.message.id);
        }
        const { updates, told } = this.#fold.take(event);
        if (past.tellsPast || event.seq > past.caughtUp) {
          for (const update of updates) this.#wire.notify('session/update', { sessionId: this.id, update });
        }
        for (const each of told) this.#heard(each);
        if (event.type === 'agentInfo') this.#offered(event.seq > past.caughtUp);
        if (event.seq === past.caughtUp) past.onCaughtUp();
        if (event.seq >= past.caughtUp) this.#askAll();
      }
      this.#endAll('the session is over');
    } catch (error) {
      this.#endAll(error instanceof Error ? error.message : String(error));
    }
  }

  #begunWith(messageId: string): void {
    const [first] = this.#turns;
    if (first === undefined) return;
    this.#fold.know(messageId);
    this.#turns[0] = { ...first, messageId };
  }

  #offered(isNew: boolean): void {
    const before = JSON.stringify(this.options());
    this.#offers = { ...this.#offers, ...this.#fold.narration.standing.agent };
    const configOptions = this.options();
    if (!isNew || JSON.stringify(configOptions) === before) return;
    const update = { sessionUpdate: 'config_option_update', configOptions };
    this.#wire.notify('session/update', { sessionId: this.id, update });
  }

  #settle(turn: Turn): Turn | undefined {
    return this.#turns.splice(this.#turns.indexOf(turn), 1)[0];
  }

  #heard(told: Told): void {
    if (told.tell === 'settled') {
      this.#asked.get(told.request.requestId)?.abort();
      this.#asked.delete(told.request.requestId);
    }
    if (told.tell === 'turn-ended') this.#turnEnded(told);
    if (told.tell === 'standing' && told.key === 'queue') this.#takenBack();
  }

  /** What somebody else has taken out of the queue is heard by nobody. */
  #takenBack(): void {
    const { narration } = this.#fold;
    for (const turn of this.#turns.filter(({ messageId }) => narration.isWithdrawn(messageId))) {
      this.#settle(turn)?.resolve('cancelled');
    }
  }

  #turnEnded({ outcome, reason }: Extract<Told, { tell: 'turn-ended' }>): void {
    const { narration } = this.#fold;
    const isHeard = ({ messageId }: Turn): boolean =>
      messageId === '' || (narration.hasHeard(messageId) && !narration.isPending(messageId));
    for (const turn of this.#turns.filter(isHeard)) {
      this.#settle(turn);
      if (outcome === 'done') turn.resolve('end_turn');
      else if (outcome === 'interrupted' || outcome === 'cancelled') turn.resolve('cancelled');
      else turn.reject(new AcpError(internalError, reason ?? `the turn is ${outcome}`));
    }
  }

  #endAll(why: string): void {
    for (const turn of this.#turns.splice(0)) turn.reject(new AcpError(internalError, why));
  }

  /** Everything that waits for a person is put before the one at the editor. */
  #askAll(): void {
    for (const event of this.#fold.narration.waiting) {
      if (this.#asked.has(event.requestId)) continue;
      const asking = new AbortController();
      this.#asked.set(event.requestId, asking);
      void this.#ask(event, asking.signal);
    }
  }

  async #ask(event: SuspendEvent, signal: AbortSignal): Promise<void> {
    const call = event.callId === undefined ? undefined : this.#fold.narration.calls.get(event.callId)?.call;
    const asked = permissionOf(event, call);
    if (asked === undefined) {
      const isForPrompt = isForPerson(event);
      this.#say(
        isForPrompt ? `${questionOf(event)}\n` : `(waits for a client that has the graph: ${questionOf(event)})\n`,
      );
      if (!isForPrompt) return;
      this.#turns.shift()?.resolve('end_turn');
      return;
    }
    try {
      const answer = await this.#wire.ask('session/request_permission', { sessionId: this.id, ...asked }, signal);
      const { outcome } = Chosen.parse(answer);
      if (outcome.outcome === 'cancelled') return;
      const { response, ...more } = chosenAnswer(event, outcome.optionId);
      await this.#client.answer(this.id, event.requestId, response satisfies Json, more);
    } catch {
      // Settled by somebody else, or the editor has no answer: the question stays open for whoever has.
    }
  }

  #say(text: string): void {
    const update = { sessionUpdate: 'agent_message_chunk', content: { type: 'text', text } };
    this.#wire.notify('session/update', { sessionId: this.id, update });
  }
}

function asAnswer(content: string | LlmContent): Json {
  return typeof content === 'string' ? content : JSON.parse(JSON.stringify(content));
}

function refused(error: unknown): false {
  if (!(error instanceof ClientError)) throw error;
  return false;
}
