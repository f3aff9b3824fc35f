import type { AgentOutput, OutputPlace } from '@concerto/agents';
import type { JsonObject } from '@concerto/base';
import type { WorkEvent } from '@concerto/protocol';
import type { MintId, SessionConnection, SessionOutput } from '../ports.ts';
import type { AgentLink } from './agent-link.ts';
import { reportOf, type Speaker, sessionError } from './agent-report.ts';
import { estimatedUsage } from './estimated-usage.ts';
import { isHeard } from './kept-agents.ts';
import { MessageIds } from './message-ids.ts';
import type { OwnerWriter } from './owner-writer.ts';
import type { Route } from './route-request.ts';
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
  /** So much of what it says is on record already: an agent that was taken up says all of it again. */
  readonly heard: OutputPlace | undefined;
  /** Who answers before a person does; undefined leaves it to people. */
  readonly route: Route | undefined;
  readonly announced: (capabilities: readonly string[]) => void;
  readonly exited: (exit: Exit, observed: readonly WorkEvent[]) => Promise<void>;
};

/** Hears one process to its end and passes on what it says: events as they are, what changes the session as reports. */
export class AgentListener {
  readonly #options: ListenerOptions;
  /** Names of the calls under way, for their results. */
  readonly #tools = new Map<string, string>();
  readonly #ids: MessageIds;
  /** Of what is being passed on. */
  #at: OutputPlace | undefined;
  /** Where what was just heard left its shape. */
  readonly #complaints: WorkEvent[] = [];

  constructor(options: ListenerOptions) {
    this.#options = options;
    const { link, speaker } = options;
    // The next owner of an agent that is kept goes on with its names.
    this.#ids = new MessageIds(link.kept === undefined ? String(speaker.epoch) : `p${link.incarnation}`);
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
      this.#at = placeOf(output);
      const heard = this.#translated(output);
      const complaints = this.#complaints.splice(0);
      if (isHeard(this.#at, this.#options.heard)) {
        this.#recall(output, heard);
        continue;
      }
      this.#options.said(output, heard?.kind === 'request' ? heard.event.requestId : undefined);
      observed.push(...complaints);
      if (heard?.kind === 'events') {
        observed.push(...heard.events);
        this.#noteCalls(heard.events);
        continue;
      }
      await this.#passOn(output, heard, observed);
      observed = [];
    }
    await writer.show(observed, this.#at);
  }

  /** What it said then is on record; only what its own links need is made again. */
  #recall(output: SessionOutput, heard: Translation | undefined): void {
    const { link } = this.#options;
    if (heard?.kind === 'events') this.#noteCalls(heard.events);
    else if (heard?.kind === 'request' && output.kind === 'message') link.askedBefore(heard.event, output.raw);
    else if (heard !== undefined && heard.kind !== 'request') this.#turnWasOver();
    else if (output.kind === 'withdrawn') link.questions.withdraw(output.id);
  }

  #turnWasOver(): void {
    this.#tools.clear();
    this.#ids.turnOver();
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

  /** For the author of the agent, where its users look too. */
  #complaint(problem: string): WorkEvent {
    const { agent, link } = this.#options;
    const message = `${problem}; \`concerto doctor ${agent}\` shows how it should look`;
    return { type: 'subagentAddJson', callId: link.callId, title: 'log', data: { level: 'warn', message } };
  }

  #meaning(output: SessionOutput): Translation | undefined {
    const { mintId, link } = this.#options;
    const newId = (): string => (this.#at === undefined ? mintId('req') : link.requestAt(this.#at));
    switch (output.kind) {
      case 'events':
        return output;
      case 'message': {
        const { message, raw, shown, requestId, problem } = output;
        if (shown !== undefined) return { kind: 'events', events: shown };
        if (message.type === 'ack' && message.in_reply_to === 'steer')
          return { kind: 'events', events: link.heardSteer(message.in_reply_to_id) };
        const meaning = translate(this.#turn(), message, raw, () => requestId ?? newId());
        if (problem !== undefined) this.#complaints.push(this.#complaint(problem));
        return meaning;
      }
      case 'suspend':
        return { kind: 'request', event: { ...output.event, requestId: newId() } };
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
        const { usage, source } = estimatedUsage(output.usage, output.source);
        await writer.tell({ type: 'usage', epoch: speaker.epoch, usage, source, observed }, this.#at);
        return;
      }
      case 'withdrawn': {
        const { writer, speaker, link } = this.#options;
        const requestId = link.questions.withdraw(output.id);
        if (requestId === undefined) return await writer.show(observed, this.#at);
        const { reason } = output;
        await writer.tell({ type: 'request-withdrawn', ...speaker, observed, requestId, reason }, this.#at);
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
    if (translation.kind === 'error' && this.#options.isDismissed()) return await writer.show(observed, this.#at);
    if (translation.kind === 'request') link.questions.add(translation.event, raw);
    if (translation.kind === 'result' || translation.kind === 'error') this.#turnEnded();
    const routing = translation.kind === 'request' ? await this.#options.route?.(translation.event) : undefined;
    const report = reportOf({ ...speaker, turn: link.turn }, translation, observed);
    const state = await writer.tell(report.type === 'request-opened' ? { ...report, routing } : report, this.#at);
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
        await writer.tell({ type: 'agent-ready', ...speaker, capabilities: output.capabilities, observed }, this.#at);
        return announced(output.capabilities);
      case 'violation': {
        const error = sessionError(output.error);
        const seen = [...observed, errorEvent(this.#turn().callId, error.message)];
        if (!output.fatal) return await writer.show(seen, this.#at);
        this.#turnEnded();
        await writer.tell({ type: 'turn-ended', ...speaker, outcome: 'error', observed: seen, error }, this.#at);
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

function placeOf(output: SessionOutput): OutputPlace | undefined {
  return 'at' in output ? output.at : undefined;
}
