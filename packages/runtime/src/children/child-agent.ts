import type { AgentPrompt } from '@concerto/agents';
import type { JsonObject } from '@concerto/base';
import {
  couldNotStart,
  isToProgram,
  messageOf,
  onlyWaits,
  openRequests,
  promptProgress,
  type SessionState,
} from '@concerto/session';
import type { AgentHearer, Message, ProgramAgent, ProgramAgentOutput, ProgramCall } from '../program/program-agent.ts';
import { WorldFailure } from '../program/program-world.ts';
import { type HeardEntry, readJournalEntry } from '../session/read-journal-entry.ts';
import { SessionGrowth } from '../session/session-growth.ts';
import type { WordAhead } from '../session/words-ahead.ts';
import type { ChildAgentOptions, ChildCall } from './child-agent-options.ts';
import { childFailure, exitedCall, stoppedCall } from './child-failure.ts';
import { ChildQuestions, type Question } from './child-questions.ts';
import { callEvents, callResult } from './child-sessions.ts';
import { startChild } from './child-start.ts';
import { ReadingPace } from './reading-pace.ts';

const pageEntries = 512;
/** Words that the program has not taken: then the child's journal is read no further, nor written where that can wait. */
const unreadMax = 10_000;

/**
 * A program's agent that is a session: it is prompted through the session's queue, answered through its requests, and heard
 * through its journal, like anybody else would.
 */
export class ChildAgent implements ProgramAgent {
  readonly #options: ChildAgentOptions;
  #state: SessionState | undefined;
  #position = 0;
  readonly #pace: ReadingPace;
  #hearer: AgentHearer | undefined;
  #call: ChildCall | undefined;
  readonly #earlier = new Set<string>();
  readonly #questions = new ChildQuestions();
  #isGone = false;
  #isEnding = false;
  #isDetached = false;
  #rewinds = false;
  /** Its call only waits for answers. */
  #isWaiting = false;
  /** Of the last word that belonged to no call. */
  #stalePlace = 0;
  readonly #growth: SessionGrowth;
  readonly #deafen: () => void;

  constructor(options: ChildAgentOptions) {
    this.#options = options;
    const { children, id, forgets } = options;
    const forget = (through: number): Promise<void> => children.log.trim(id, 'journal', through);
    this.#pace = new ReadingPace(unreadMax, forgets ? forget : undefined);
    this.#growth = new SessionGrowth(children, id);
    this.#deafen = children.store.ahead.listen(id, {
      hear: (word) => this.#hearAhead(word),
      room: (head) => this.#pace.room(head),
    });
  }

  get id(): string {
    return this.#options.id;
  }

  get capabilities(): readonly string[] {
    return this.#state?.capabilities ?? [];
  }

  get version(): string | undefined {
    return this.#state?.version;
  }

  isHeld(): boolean {
    const state = this.#state;
    if (state === undefined) return false;
    const byProgram = this.#call?.listens === true && this.#questions.size > 0 && !this.#options.programAsks();
    return (
      state.hold?.kind === 'paused' || state.control !== undefined || (openRequests(state).length > 0 && !byProgram)
    );
  }

  onlyWaits(): string | undefined {
    const state = this.#state;
    if (!this.#isWaiting || state === undefined) return undefined;
    // What the program has answered is not in its session yet, and must get there before anybody rests.
    const isAnswered = openRequests(state).some((request) => isToProgram(request) && !this.#questions.waits(request));
    return isAnswered ? undefined : this.id;
  }

  /** With its program, which is not held any more. One that is still about to hold for it can only when it does. */
  async goOn(): Promise<void> {
    const { children, id, programHolds } = this.#options;
    for (;;) {
      const since = this.#growth.seen;
      const state = await children.stateOf(id);
      if (state === undefined || state.end !== undefined || this.#isDetached || programHolds()) return;
      if (!(await children.isPausedWithProgram(state))) return;
      if (state.control === undefined) await children.control(id, 'resume', `go-on-${state.updatedAt}`);
      await this.#growth.since(since);
    }
  }

  /** Resolves when its agent is up, or comes up with its prompt; rejects with how that failed. */
  async start(signal: AbortSignal): Promise<void> {
    const stands = (state: SessionState | undefined): void => {
      this.#state = state;
    };
    try {
      await startChild(this.#options, { growth: this.#growth, signal, stands });
    } catch (cause) {
      await this.end();
      throw cause;
    }
  }

  heardBy(hearer: AgentHearer): void {
    this.#hearer = hearer;
    void this.#listen(hearer).catch((cause: unknown) => this.#lost(cause));
  }

  async prompt({ text, context }: AgentPrompt, call: ProgramCall): Promise<void> {
    const { children, id, agent, written } = this.#options;
    const message = children.idOf('m', call.name);
    const isKnown = this.knows(call.name);
    this.#begin(call, { message, place: 0, rewinds: isKnown });
    await written();
    const wish = {
      type: 'enqueue',
      messageId: message,
      content: text,
      priority: 'queued',
      source: 'program',
      ...(call.listens ? { listens: true as const } : {}),
      ...(context === undefined ? {} : { context }),
    } as const;
    // After a restart it may be said already.
    const isShown = isKnown || children.showsCall(call.name);
    const events = callEvents({ callId: call.name, agent, prompt: text, child: id });
    const refused = isShown
      ? await children.ask(id, wish)
      : await children.showAndAsk(events, { id, wish: () => wish });
    if (refused !== undefined) throw new WorldFailure('exited', `agent ${agent}: ${refused.message}`);
  }

  knows(call: string): boolean {
    const message = this.#options.children.idOf('m', call);
    return this.#state !== undefined && messageOf(this.#state, message) !== undefined;
  }

  /** What was replied and did not reach the session any more is replied again: the first answer counts. */
  async takeUp(call: ProgramCall, place: number, replies: readonly string[]): Promise<void> {
    const { children, id } = this.#options;
    this.#begin(call, { message: children.idOf('m', call.name), place, rewinds: true });
    const state = await children.stateOf(id);
    for (let after = 0; after < place; ) {
      const entries = await children.journalOf(id, after, pageEntries);
      for (const stored of entries) {
        const entry = readJournalEntry(stored);
        if (stored.position <= place && entry.by === this.#call?.message) this.#questions.add(entry, state);
      }
      after = entries.at(-1)?.position ?? place;
    }
    for (const question of this.#questions.settledBefore()) await this.#overtaken(question);
    for (const line of replies) if (this.#questions.has(line)) await this.replyLine(line);
  }

  /** Lets go of it: its session goes on, and whoever runs the program next takes it up. */
  detach(): void {
    this.#isGone = true;
    this.#isEnding = true;
    this.#isDetached = true;
    this.#close();
  }

  /** For an agent that an earlier process of the run had opened. */
  async attach(): Promise<boolean> {
    const { children, id } = this.#options;
    this.#state = await children.stateOf(id);
    if (this.#state === undefined) return false;
    this.#stalePlace = await children.log.head(id, 'journal');
    void this.goOn().catch((cause: unknown) => this.#lost(cause));
    return true;
  }

  /** `rewinds`: what it has said already for this call is read once more. */
  #begin(
    call: ProgramCall,
    { rewinds, ...at }: { readonly message: string; readonly place: number; readonly rewinds: boolean },
  ): void {
    if (this.#call !== undefined) this.#earlier.add(this.#call.message);
    this.#call = { ...call, ...at, isOver: false };
    this.#questions.clear();
    this.#rewinds = rewinds;
    this.#growth.signal();
  }

  async replyLine(line: string): Promise<void> {
    // A call without handlers answers nothing: whoever else may do so has the question.
    if (this.#call?.listens === false && this.#questions.decline(line)) return this.#growth.signal();
    await this.#reply(line);
  }

  async #reply(line: string): Promise<void> {
    const { children, id, written } = this.#options;
    const answer = this.#questions.answeredBy(line);
    if (answer === 'settled') return;
    if (answer === undefined) {
      await children.ask(id, { type: 'respond', line });
      return;
    }
    const { requestId, response } = answer;
    const data = { request: requestId, session: id, response };
    const callId = this.#call?.name ?? id;
    await written();
    const cause = `a_${requestId}`;
    // Refused where somebody was quicker: the first answer counts.
    await children.showAndAsk([{ type: 'subagentAddJson', callId, title: 'answer', data }], {
      id,
      cause,
      wish: (because) => ({ type: 'answer', requestId, response, line, because }),
    });
  }

  /** The session ends as it stands, and its turn, if one runs, is cancelled. */
  async end(): Promise<void> {
    try {
      if (!this.#isEnding) await this.#dismiss();
      for (;;) {
        const since = this.#growth.seen;
        const state = this.#isDetached ? undefined : await this.#options.children.stateOf(this.id);
        if (state === undefined || state.end !== undefined) break;
        await this.#growth.since(since);
      }
    } catch {
      // The store is away for long: whoever owns the program's session next finds its agents.
    }
    this.#close();
  }

  async #dismiss(): Promise<void> {
    this.#isEnding = true;
    const { children, id } = this.#options;
    const state = await children.stateOf(id);
    await this.#closeCall({ $error: 'the program ended the call' });
    if (state === undefined || state.end !== undefined) return;
    const isBusy = state.turn.active || (state.agentProcess.kind === 'starting' && state.hold === undefined);
    const refused = isBusy ? await children.control(id, 'cancel', `end-${id}`) : undefined;
    if (!isBusy || refused !== undefined) await children.ask(id, { type: 'finish' });
  }

  async #listen(hearer: AgentHearer): Promise<void> {
    const { children, id } = this.#options;
    while (!this.#isGone && !this.#isEnding) {
      const since = this.#growth.seen;
      // The state first: whatever it tells of, the journal holds by now.
      const state = await children.stateOf(id);
      await this.#readOn(hearer);
      if (state !== undefined) await this.#judge(state);
      await this.#growth.since(since);
    }
  }

  #close(): void {
    this.#deafen();
    this.#pace.close();
    this.#growth.close();
    this.#options.onClosed();
  }

  async #readOn(hearer: AgentHearer): Promise<void> {
    const { children, id } = this.#options;
    for (;;) {
      if (this.#rewinds) this.#position = 0;
      this.#rewinds = false;
      const entries = await children.journalOf(id, this.#position, pageEntries);
      for (const entry of entries) {
        if (this.#rewinds) break;
        // It may have been heard ahead meanwhile.
        if (entry.position <= this.#position) continue;
        this.#position = entry.position;
        const heard = this.#hear(readJournalEntry(entry), entry.position);
        if (heard !== undefined) await heard;
      }
      const room = hearer.room();
      if (room !== undefined) await room;
      await this.#pace.read(this.#position);
      if (entries.length < pageEntries && !this.#rewinds) return;
    }
  }

  /** A question of the call under way, when all before it was heard. */
  #hearAhead({ entry, place, secured }: WordAhead): boolean {
    const call = this.#call;
    if (this.#isGone || this.#isEnding || this.#rewinds || this.#position !== place - 1) return false;
    if (call === undefined || call.isOver || !call.listens || entry.by !== call.message) return false;
    this.#options.children.heardAhead(this.id, secured);
    this.#position = place;
    void this.#hear(entry, place);
    return true;
  }

  /** A promise only where there is something to be done: words come in masses. */
  #hear(entry: HeardEntry, place: number): Promise<void> | undefined {
    const call = this.#call;
    const isOurs = entry.by !== undefined && entry.by === call?.message;
    // Somebody else's turn in the same session is none of the program's business.
    if (!isOurs && entry.by !== undefined && !this.#earlier.has(entry.by)) return undefined;
    if (place <= (isOurs ? call.place : this.#stalePlace)) return undefined;
    if (isOurs) call.place = place;
    else this.#stalePlace = place;
    switch (entry.type) {
      case 'message': {
        const { message: raw } = entry;
        if (isOurs) this.#questions.add(entry);
        const isLast = isOurs && !call.isOver && (raw.type === 'result' || raw.type === 'error');
        if (isLast) return this.#hearLast(raw, call);
        this.#say({ kind: 'message', raw, place, isStale: !isOurs || call.isOver });
        return undefined;
      }
      case 'stderr':
        this.#say({ kind: 'stderr', text: entry.text });
        return undefined;
      case 'violation':
        this.#say({ kind: 'violation', message: entry.message });
        return undefined;
      case 'exit': {
        // Between two calls, parked for example, it costs nothing: its session has another process for the next.
        if (!isOurs || call.isOver) return undefined;
        return exitedCall(this.#options, entry).then((failure) => this.#gone(failure));
      }
    }
  }

  /** What is said last is no result where somebody has stopped the turn. */
  async #hearLast(raw: Message, call: ChildCall): Promise<void> {
    const stopped = await stoppedCall(this.#options, call.message);
    if (stopped !== undefined) return await this.#gone(stopped);
    this.#say({ kind: 'message', raw, place: call.place });
    await this.#closeCall(raw);
  }

  /** Whether what the program waits for can still come. */
  async #judge(state: SessionState): Promise<void> {
    this.#state = state;
    if (this.#isGone) return;
    const call = this.#call;
    const isWaiting = call !== undefined && !call.isOver && onlyWaits(state);
    if (isWaiting !== this.#isWaiting) {
      this.#isWaiting = isWaiting;
      this.#options.onWaits();
    }
    if (state.end !== undefined) return await this.#gone(await childFailure(this.#options, state));
    if (call === undefined || call.isOver) return;
    for (const question of this.#questions.settledIn(state)) await this.#overtaken(question);
    // Where nobody sits who could answer instead of the program, its own word is the last.
    if (!this.#options.peopleAnswer) for (const line of this.#questions.leftIn(state)) await this.#reply(line);
    const progress = promptProgress(state, call.message);
    if (progress === 'over' || (progress === 'waiting' && couldNotStart(state)))
      await this.#gone(await childFailure(this.#options, state));
  }

  /** Somebody was quicker than the program: it need not go on looking for an answer. */
  async #overtaken({ type, id, requestId }: Question): Promise<void> {
    const { children } = this.#options;
    const by = await children.settledBy(this.id, requestId);
    if (by !== children.actor) this.#say({ kind: 'overtaken', type, id, by });
  }

  async #gone(failure: WorldFailure): Promise<void> {
    this.#isGone = true;
    await this.#closeCall({ $error: failure.message }, failure.kind === 'cancelled');
    this.#say({ kind: 'gone', failure });
    if (this.#state?.end === undefined) await this.end();
    else this.#close();
  }

  async #closeCall(response: JsonObject, isStopped = false): Promise<void> {
    const call = this.#call;
    if (call === undefined || call.isOver) return;
    call.isOver = true;
    const { children, agent } = this.#options;
    // Whoever was killed before may have shown it, and not have told the program.
    if (children.showsCall(call.name)) await children.show([callResult(call.name, agent, response, isStopped)]);
  }

  #say(output: ProgramAgentOutput): void {
    this.#hearer?.hear(output);
  }

  #lost(cause: unknown): void {
    if (this.#isGone) return;
    this.#isGone = true;
    const why = cause instanceof Error ? cause.message : String(cause);
    this.#say({ kind: 'gone', failure: new WorldFailure('exited', why, { cause }) });
  }
}
