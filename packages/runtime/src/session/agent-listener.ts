import type { AgentOutput } from '@concerto/agents';
import type { JsonObject } from '@concerto/base';
import type { WorkEvent } from '@concerto/protocol';
import type { MintId, SessionConnection, SessionOutput } from '../ports.ts';
import type { AgentLink } from './agent-link.ts';
import { reportOf, type Speaker, sessionError } from './agent-report.ts';
import { MessageIds } from './message-ids.ts';
import type { OwnerWriter } from './owner-writer.ts';
import { errorEvent, type Translation, type Turn, translate } from './translate.ts';
import type { TurnTimeouts } from './turn-timeouts.ts';

export type Exit = Extract<AgentOutput, { kind: 'exit' }>;

export type ListenerOptions = {
  readonly link: AgentLink;
  readonly speaker: Speaker;
  readonly agent: string;
  readonly writer: OwnerWriter;
  readonly timeouts: TurnTimeouts;
  readonly mintId: MintId;
  /** Whether its word still counts; when not, what comes is read to its end all the same, so that the process can go. */
  readonly counts: () => boolean;
  /** Whether we have ended it: a complaint about that is no failure of its turn, which the next owner settles. */
  readonly isDismissed: () => boolean;
  /** Our own words to the agent are on record: what it answers comes after them. */
  readonly wordsRecorded: () => Promise<void>;
  /** Whatever it says, before anything is made of it; `requestId` where it asks. It is on record with what follows. */
  readonly said: (output: SessionOutput, requestId: string | undefined) => void;
  readonly announced: (capabilities: readonly string[]) => void;
  readonly exited: (exit: Exit, observed: readonly WorkEvent[]) => Promise<void>;
};

/** Hears one process to its end and passes on what it says: events as they are, what changes the session as reports. */
export class AgentListener {
  readonly #options: ListenerOptions;
  /** Names of the calls under way, for their results. */
  readonly #tools = new Map<string, string>();
  readonly #ids: MessageIds;

  constructor(options: ListenerOptions) {
    this.#options = options;
    this.#ids = new MessageIds(String(options.speaker.epoch));
  }

  async listen(output: SessionConnection['output']): Promise<void> {
    for await (const batch of output) {
      this.#options.link.heard();
      await this.#options.wordsRecorded();
      if (this.#options.counts()) await this.#hear(batch);
    }
  }

  /** Events of a batch go together; a message that changes the session carries those before it along. */
  async #hear(batch: readonly SessionOutput[]): Promise<void> {
    const { timeouts, writer } = this.#options;
    let observed: WorkEvent[] = [];
    timeouts.heard();
    for (const output of batch) {
      const heard = this.#translated(output);
      this.#options.said(output, heard?.kind === 'request' ? heard.event.requestId : undefined);
      if (heard?.kind === 'events') {
        observed.push(...heard.events);
        this.#noteCalls(heard.events);
        continue;
      }
      await this.#passOn(output, heard, observed);
      observed = [];
    }
    await writer.show(observed);
  }

  #noteCalls(events: readonly WorkEvent[]): void {
    for (const event of events) {
      if (event.type === 'functionCall') this.#tools.set(event.callId, event.name);
      else if (event.type === 'functionResult') this.#tools.delete(event.callId);
    }
  }

  /** With the message that each event belongs to. Undefined for what is not about the turn. */
  #translated(output: SessionOutput): Translation | undefined {
    const translation = this.#meaning(output);
    if (translation === undefined || !('events' in translation)) return translation;
    const { callId } = this.#options.link;
    return { ...translation, events: translation.events.map((event) => this.#ids.stamp(callId, event)) };
  }

  #meaning(output: SessionOutput): Translation | undefined {
    const { mintId, link } = this.#options;
    switch (output.kind) {
      case 'events':
        return output;
      case 'message': {
        const { message, raw, shown, requestId } = output;
        if (shown !== undefined) return { kind: 'events', events: shown };
        if (message.type === 'ack' && message.in_reply_to === 'steer')
          return { kind: 'events', events: link.heardSteer(message.in_reply_to_id) };
        return translate(this.#turn(), message, raw, () => requestId ?? mintId('req'));
      }
      case 'suspend':
        return { kind: 'request', event: { ...output.event, requestId: mintId('req') } };
      default:
        return undefined;
    }
  }

  async #passOn(
    output: SessionOutput,
    translation: Exclude<Translation, { kind: 'events' }> | undefined,
    observed: readonly WorkEvent[],
  ): Promise<void> {
    switch (output.kind) {
      case 'events':
        return;
      case 'message':
        if (translation !== undefined) await this.#pass(output.raw, translation, observed);
        return;
      case 'suspend':
        if (translation !== undefined)
          await this.#pass({ type: output.event.type, id: output.id }, translation, observed);
        return;
      case 'usage': {
        const { writer, speaker } = this.#options;
        const { usage, source } = output;
        await writer.tell({ type: 'usage', epoch: speaker.epoch, usage, source, observed });
        return;
      }
      case 'withdrawn': {
        const { writer, speaker, link } = this.#options;
        const requestId = link.questions.withdraw(output.id);
        if (requestId === undefined) return await writer.show(observed);
        await writer.tell({ type: 'request-withdrawn', ...speaker, observed, requestId, reason: output.reason });
        return;
      }
      default:
        await this.#passProcess(output, observed);
    }
  }

  async #pass(
    raw: JsonObject & { readonly type: string },
    translation: Exclude<Translation, { kind: 'events' }>,
    observed: readonly WorkEvent[],
  ): Promise<void> {
    const { link, writer, speaker } = this.#options;
    if (translation.kind === 'error' && this.#options.isDismissed()) return await writer.show(observed);
    if (translation.kind === 'request') link.questions.add(translation.event, raw);
    if (translation.kind === 'result' || translation.kind === 'error') this.#turnEnded();
    const state = await writer.tell(reportOf({ ...speaker, turn: link.turn }, translation, observed));
    // An agent may begin a turn by itself, by asking.
    if (translation.kind === 'request' && state !== undefined) link.turn = state.turn.number;
  }

  async #passProcess(
    output: Exclude<AgentOutput, { kind: 'message' | 'events' | 'usage' | 'withdrawn' }>,
    observed: readonly WorkEvent[],
  ): Promise<void> {
    const { writer, speaker, announced, exited, link } = this.#options;
    switch (output.kind) {
      case 'announced':
        await writer.show(observed);
        await writer.tell({ type: 'agent-ready', ...speaker, capabilities: output.capabilities });
        return announced(output.capabilities);
      case 'violation': {
        const error = sessionError(output.error);
        const seen = [...observed, errorEvent(this.#turn().callId, error.message)];
        if (!output.fatal) return await writer.show(seen);
        this.#turnEnded();
        await writer.tell({ type: 'turn-ended', ...speaker, outcome: 'error', observed: seen, error });
        // It ends while we go on hearing it.
        void link.end().catch(() => undefined);
        return;
      }
      case 'exit':
        this.#turnEnded();
        return await exited(output, observed);
    }
  }

  #turnEnded(): void {
    this.#tools.clear();
    this.#options.link.turnEnded();
    this.#options.timeouts.turnEnded();
  }

  #turn(): Turn {
    const { agent, link } = this.#options;
    const { callId } = link;
    return {
      agent,
      callId,
      toolName: (id) => this.#tools.get(id) ?? '',
      knowsMessage: (id) => this.#ids.knows(callId, id),
    };
  }
}
