import type { OutputPlace } from '@concerto/agents';
import { type JsonObject, strictValue } from '@concerto/base';
import type { WorkEvent } from '@concerto/protocol';
import { type SessionState, turnCallId } from '@concerto/session';
import type { Prepare } from '../agent/agent-details.ts';
import { estimatedUsage } from '../agent/estimated-usage.ts';
import { isHeard } from '../agent/kept-agents.ts';
import { asked, errorEvent, type Heard, type Told, type Turn, translate } from '../agent/translate.ts';
import { mayTellNothing, UntoldUsage } from '../agent/untold-usage.ts';
import { WholeCharacters } from '../agent/whole-characters.ts';
import type { Route } from '../answer/route-request.ts';
import type { CatalogEntry } from '../catalog.ts';
import { type KeepingPlace, keepLargeFiles } from '../contents/keep-parts.ts';
import type { Clock, MintId } from '../ports.ts';
import { MessageIds } from '../session/message-ids.ts';
import { notSilent, toldSilent } from '../session/told-silent.ts';
import type { KeptLine } from '../session/words-ahead.ts';
import { within } from '../within.ts';
import type { Worker, WorkerOutput, WorkerPlace } from '../worker.ts';
import { type Incarnation, undelivered } from './incarnation.ts';
import type { OwnerWriter } from './owner-writer.ts';
import type { TurnTimeouts } from './turn-timeouts.ts';
import type { WorkerJournal } from './worker-journal.ts';

/** Output waits this long at most for our own write to be confirmed, so that a deaf agent cannot stop its reader. */
const writeConfirmMs = 1_000;

/** So often it is looked whether it is still worth waiting for its program. */
const roomLookMs = 1_000;

export type HearingParts = {
  readonly incarnation: Incarnation;
  readonly entry: CatalogEntry;
  readonly writer: OwnerWriter;
  readonly timeouts: TurnTimeouts;
  readonly journal: WorkerJournal | undefined;
  readonly mintId: MintId;
  readonly clock: Clock;
  readonly prepare: Prepare;
  /** Who answers before a person does; undefined leaves it to people. */
  readonly route: Route | undefined;
  /** Where files are kept that are too large for an event. */
  readonly files: KeepingPlace;
  /** So much of what it says is on record already: a worker that was taken up says all of it again. */
  readonly heard: OutputPlace | undefined;
  /** Its owner before had told how long nothing was heard of it. */
  readonly isToldSilent: boolean;
};

type Raw = JsonObject & { readonly type: string };

/** Hears one worker to its end and passes on what it says: events as they are, what changes the session as reports. */
export class Hearing {
  readonly #parts: HearingParts;
  /** Names of the calls under way, for their results. */
  readonly #tools = new Map<string, string>();
  readonly #ids: MessageIds;
  readonly #characters = new WholeCharacters();
  /** Of what is being passed on. */
  #at: WorkerPlace | undefined;
  /** Of the last that had one. */
  #heardTo: WorkerPlace | undefined;
  #isToldSilent: boolean;
  /** Of this turn; undefined once its usage was told, or where that is counted elsewhere. */
  #untold: UntoldUsage | undefined;
  /** One for all that it says: it reads what stands now. */
  readonly #turn: Turn;
  readonly #newRequestId = (): string => {
    const { mintId, incarnation } = this.#parts;
    return this.#at === undefined ? mintId('req') : incarnation.requestAt(this.#at);
  };

  constructor(parts: HearingParts) {
    this.#parts = parts;
    this.#isToldSilent = parts.isToldSilent;
    this.#newTurn();
    const { number, speaker, worker } = parts.incarnation;
    this.#turn = {
      agent: parts.entry.name,
      get number() {
        return parts.incarnation.turn;
      },
      get callId() {
        return parts.incarnation.callId;
      },
      toolName: (id) => this.#tools.get(id) ?? '',
      knowsMessage: (id) => this.#ids.knows(parts.incarnation.callId, id),
    };
    // The next owner of a worker that is kept goes on with its names.
    this.#ids = new MessageIds(worker?.kept === undefined ? String(speaker.epoch) : `p${number}`);
  }

  /**
   * When its word does not count any more, it is read to its end all the same, so that it can go; unless it rests, and is
   * left: in the same moment, before anything is asked of it.
   */
  async listen(
    { output }: Pick<Worker, 'output'>,
    leave: (rests: NonNullable<Worker['rests']>) => Promise<unknown>,
  ): Promise<void> {
    const { incarnation, clock, timeouts, entry, prepare } = this.#parts;
    // A program is silent while those speak for whom it waits.
    if (entry.kind !== 'program') timeouts.listenForSilence((ms) => this.#silent(ms));
    let left: Promise<unknown> | undefined;
    for await (const said of output) {
      const prepared = prepare(said);
      const batch = prepared instanceof Promise ? await prepared : prepared;
      const { recorded } = incarnation;
      // What it answers comes after our own words to it.
      if (recorded !== undefined) await within(clock, writeConfirmMs, recorded);
      await this.#room();
      if (incarnation.counts) await this.#hear(batch);
      // Another one has its place: how it ended is on record, and nobody will ask its keeper.
      else if (incarnation.isGone && batch.at(-1)?.kind === 'gone') incarnation.worker?.kept?.forget();
      const rests = batch.at(-1)?.kind === 'rests' ? incarnation.worker?.rests : undefined;
      if (rests === undefined) continue;
      left = leave(rests);
      break;
    }
    await left;
  }

  /** Where its program takes less than it says, it waits, as at a pipe that is full; one that is being ended does not. */
  async #room(): Promise<void> {
    const { incarnation, clock, writer } = this.#parts;
    while (incarnation.counts && !incarnation.isDismissed) {
      const room = writer.room();
      if (room === undefined) return;
      await within(clock, roomLookMs, room);
    }
  }

  /** Whether it waits for its model, or a command takes its time: a person should know how long nothing has come. */
  #silent(ms: number): void {
    const { incarnation, writer, files } = this.#parts;
    if (!incarnation.counts || (ms === 0 && !this.#isToldSilent)) return;
    this.#isToldSilent = ms > 0;
    const names = [...this.#tools.values()].join(', ');
    const why = names === '' ? 'it may be waiting for its model' : `it is at ${names}`;
    const status = ms > 0 ? `nothing heard for ${ms / 1_000} s: ${why}` : null;
    // Who takes it up does not know it otherwise.
    if (incarnation.worker?.kept !== undefined)
      writer.note(ms > 0 ? toldSilent(files.session, incarnation.number) : notSilent(files.session));
    // A store that fails is told of by the next word that it should keep.
    writer.show([{ type: 'functionCallUpdate', callId: incarnation.callId, status }]).catch(() => undefined);
  }

  /** Events of a batch go together; what changes the session carries those before it along. */
  async #hear(batch: readonly WorkerOutput[]): Promise<void> {
    const { timeouts, writer, incarnation } = this.#parts;
    let observed: WorkEvent[] = [];
    timeouts.heard();
    for (const output of batch) {
      this.#at = output.at;
      this.#heardTo = output.at ?? this.#heardTo;
      const meaning = this.#meaning(output);
      const shown = this.#characters.in(this.#named(meaning.shown));
      // Shown events are written so; what is told stands in views, lists and the audit as well.
      const told = this.#namedEnd(meaning.told && strictValue(meaning.told));
      const isKnown = isHeard(this.#at, this.#parts.heard);
      const line = isKnown ? undefined : this.#keep(output, told);
      this.#noteCalls(shown);
      if (isKnown) {
        this.#recall(output, told);
        continue;
      }
      // Where an owner before us had told of its silence, our own clock does not.
      if (this.#isToldSilent) this.#silent(0);
      this.#untold?.read(shown);
      const kept = keepLargeFiles(shown, this.#parts.files);
      // Most has no file: a promise for each word would cost as much as what is done with it.
      observed.push(...(kept instanceof Promise ? await kept : kept));
      // Of one that we have ended only what it showed counts.
      const isMoot = incarnation.isDismissed && told?.type === 'turn-ended' && told.outcome === 'error';
      if (told === undefined || isMoot) continue;
      await this.#tell(output, told, { observed, line });
      observed = [];
    }
    await writer.show(observed, this.#heardTo);
  }

  #keep(output: WorkerOutput, told: Told | undefined): KeptLine | undefined {
    const { journal, incarnation } = this.#parts;
    if (output.kind === 'gone' && incarnation.isDismissed) return undefined;
    return journal?.said(output, told?.type === 'request-opened' ? told.requestId : undefined);
  }

  /** What it said then is on record; only what its own links need is made again. */
  #recall(output: WorkerOutput, told: Told | undefined): void {
    if (told?.type === 'request-opened') this.#parts.incarnation.askedBefore(told.event, rawOf(output));
    if (told?.type !== 'turn-ended') return;
    this.#tools.clear();
    this.#ids.turnOver();
  }

  #noteCalls(events: readonly WorkEvent[]): void {
    for (const event of events) {
      if (event.type === 'functionCall') this.#tools.set(event.callId, event.name);
      else if (event.type === 'functionResult') this.#tools.delete(event.callId);
    }
  }

  /** With the message that each event belongs to: the same list where none needs a name. */
  #named(events: readonly WorkEvent[]): readonly WorkEvent[] {
    const { callId } = this.#parts.incarnation;
    let named: WorkEvent[] | undefined;
    let index = 0;
    for (const event of events) {
      const stamped = this.#ids.stamp(callId, event);
      if (stamped !== event) (named ??= [...events])[index] = stamped;
      index += 1;
    }
    return named ?? events;
  }

  #namedEnd(told: Told | undefined): Told | undefined {
    if (told?.type !== 'turn-ended' || told.closing === undefined) return told;
    return { ...told, closing: this.#named(told.closing) };
  }

  #meaning(output: WorkerOutput): Heard {
    const { incarnation } = this.#parts;
    switch (output.kind) {
      case 'rests':
        return { shown: [] };
      case 'events':
        return { shown: output.events };
      case 'message': {
        const { message, raw, shown, requestId, problem } = output;
        if (shown !== undefined) return { shown };
        if (message.type === 'ack' && message.in_reply_to === 'steer')
          return { shown: incarnation.heardSteer(message.in_reply_to_id) };
        const heard = translate(this.#turn, message, raw, this.#requestId(requestId));
        return problem === undefined ? heard : { ...heard, shown: [this.#complaint(problem), ...heard.shown] };
      }
      case 'suspend':
        return asked({ ...output.event, requestId: output.requestId ?? this.#newRequestId() });
      case 'usage':
        return {
          shown: [],
          told: { type: 'usage', ...estimatedUsage(output.usage, output.source, this.#parts.entry.prices) },
        };
      case 'withdrawn': {
        const requestId = incarnation.withdraws(output.id);
        if (requestId === undefined) return { shown: [] };
        return { shown: [], told: { type: 'request-withdrawn', requestId, reason: output.reason } };
      }
      case 'announced':
        return { shown: [], told: { type: 'agent-ready', capabilities: output.capabilities } };
      case 'begun':
        return { shown: [], told: { type: 'turn-started' } };
      case 'violation': {
        const shown = [errorEvent(incarnation.callId, output.error.message)];
        return output.fatal
          ? { shown, told: { type: 'turn-ended', outcome: 'error', error: output.error } }
          : { shown };
      }
      case 'gone':
        return { shown: [], told: { type: 'process-exited', error: output.error } };
    }
  }

  #requestId(given: string | undefined): () => string {
    return given === undefined ? this.#newRequestId : () => given;
  }

  async #tell(
    output: WorkerOutput,
    told: Told,
    { observed, line }: { readonly observed: readonly WorkEvent[]; readonly line: KeptLine | undefined },
  ): Promise<void> {
    const { incarnation, writer, route } = this.#parts;
    const { epoch, incarnation: number } = incarnation.speaker;
    // What is copied comes last: a copy that is given further keys takes the engine twenty times as long.
    const said = { epoch, incarnation: number, observed };
    switch (told.type) {
      case 'request-opened': {
        incarnation.asks(told.event, rawOf(output));
        const routing = await route?.(told.event);
        if (line !== undefined && isForProgram(routing))
          return await writer.tellAhead(Object.assign(said, { routing }, told), line, this.#heardTo);
        const state = await writer.tell(Object.assign(said, { routing }, told), this.#heardTo);
        // A worker may begin a turn by itself, by asking.
        if (state !== undefined) incarnation.turn = state.turn.number;
        return;
      }
      case 'turn-started': {
        const state = await writer.tell(Object.assign(said, told), this.#heardTo);
        if (state !== undefined) incarnation.turn = state.turn.number;
        return;
      }
      case 'turn-ended': {
        const untold = this.#untold?.sum;
        this.#turnEnded();
        await writer.tell(Object.assign(said, { untold }, told), this.#heardTo);
        // It cannot be trusted any more, and ends while we go on hearing it.
        if (output.kind === 'violation') void incarnation.stop().catch(() => undefined);
        return;
      }
      case 'agent-ready': {
        const state = await writer.tell(Object.assign(said, told), this.#heardTo);
        incarnation.announced(state?.control);
        return;
      }
      case 'usage':
        if (isSomething(told)) this.#untold = undefined;
        await writer.tell(Object.assign(said, told), this.#heardTo);
        return;
      case 'process-exited':
        this.#turnEnded();
        return await this.#gone(told, observed, output.kind === 'gone' ? output.failure : undefined);
      default:
        await writer.tell(Object.assign(said, told), this.#heardTo);
    }
  }

  async #gone(
    { error }: Extract<Told, { type: 'process-exited' }>,
    observed: readonly WorkEvent[],
    failure: string | undefined,
  ): Promise<void> {
    const { incarnation, writer } = this.#parts;
    // One that was dismissed is known to be over.
    if (incarnation.isDismissed) return await writer.show(observed);
    incarnation.isGone = true;
    await writer.tell((state) => {
      const message = state?.turn.active === true ? error.message : idleFailure(state, incarnation, failure);
      // An end that was asked for is no error of the worker's.
      const isError = message !== undefined && state?.control === undefined;
      const callId = state?.turn.active === true ? incarnation.callId : turnCallId(state?.turn.number ?? 0);
      return {
        type: 'process-exited',
        ...incarnation.speaker,
        observed: isError ? [...observed, errorEvent(callId, message)] : observed,
        error,
        undelivered: undelivered(state, incarnation),
      };
    }, 'all');
    incarnation.worker?.kept?.forget();
  }

  #newTurn(): void {
    this.#untold = mayTellNothing(this.#parts.entry) ? new UntoldUsage() : undefined;
  }

  #turnEnded(): void {
    this.#newTurn();
    this.#tools.clear();
    this.#parts.incarnation.turnEnded();
  }

  /** For the author of the agent, where its users look too. */
  #complaint(problem: string): WorkEvent {
    const { entry, incarnation } = this.#parts;
    const message = `${problem}; \`concerto doctor ${entry.name}\` shows how it should look`;
    return { type: 'subagentAddJson', callId: incarnation.callId, title: 'log', data: { level: 'warn', message } };
  }
}

/** Of one that had nothing to do, and that nobody has ended: what it knew is gone with it. */
function idleFailure(
  state: SessionState | undefined,
  { ended }: Incarnation,
  failure: string | undefined,
): string | undefined {
  if (failure === undefined || ended.aborted || state?.agentProcess.kind !== 'ready') return undefined;
  // One whose process was signalled may end of it when its turn is over already.
  if (state.hold?.kind === 'interrupted') return undefined;
  return `the next message starts a new process: ${failure}`;
}

/** One may tell no more than how full its model's window is. */
function isSomething({ usage }: Extract<Told, { type: 'usage' }>): boolean {
  return usage.inputTokens > 0 || usage.outputTokens > 0 || (usage.costMicroUsd ?? 0) > 0;
}

/** The program that called the worker has handlers for what it asks, and hears it in this turn of it. */
function isForProgram(routing: Awaited<ReturnType<Route>>): boolean {
  return routing?.answerers?.[0]?.to.startsWith('program:') === true;
}

/** Under which name it wants to be answered. */
function rawOf(output: WorkerOutput): Raw {
  if (output.kind === 'message') return output.raw;
  return output.kind === 'suspend' ? { type: output.event.type, id: output.id } : { type: output.kind };
}
