import { AgentError, type AgentPrompt, type AgentSettings, type AgentVerb } from '@concerto/agents';
import type { Json, JsonObject } from '@concerto/base';
import { ModelFailure } from '@concerto/models';
import type { Request } from '@concerto/session';
import type { ChildrenBudget, ChildrenBudgetOptions } from '../children/children-budget.ts';
import { MessageQueue } from '../message-queue.ts';
import type { Clock, MintId } from '../ports.ts';
import type { Suspend, Worker, WorkerAnswer, WorkerControl, WorkerOutput } from '../worker.ts';
import type { AssistantAgents } from './assistant-agents.ts';
import { type CutShort, type CutStep, cutStep } from './assistant-cut-short.ts';
import type { AssistantFiles } from './assistant-files.ts';
import { Gate, leftToNext, orAborted } from './assistant-gate.ts';
import type { AssistantHistory } from './assistant-history.ts';
import { resultText } from './assistant-result.ts';
import { withAssistantParams } from './assistant-settings.ts';
import { type AssistantSpec, assistantCapabilities } from './assistant-spec.ts';
import type { AssistantTool } from './assistant-tools.ts';
import { runTurn, type Steer, TurnFailure } from './assistant-turn.ts';
import type { AssistantVoice } from './assistant-voice.ts';

/** So much may be said before it is on record; then the model is read no further, which holds it up. */
const unreadMax = 1_000;

type Spoken = Extract<WorkerOutput, { kind: 'message' }>;
type Reply = Extract<WorkerAnswer, { inReplyTo: string }>;

export type AssistantParts = {
  readonly name: string;
  readonly assistant: AssistantSpec;
  readonly history: AssistantHistory;
  readonly files: AssistantFiles;
  /** What processes of its functions carry. */
  readonly marker: string;
  readonly tools: ReadonlyMap<string, AssistantTool>;
  /** Puts into them what its servers have now. */
  readonly renewTools?: (signal: AbortSignal) => Promise<void>;
  /** Lets go of its servers; called once. */
  readonly close: () => Promise<void>;
  readonly mintId: MintId;
  readonly clock: Clock;
  /** The sessions that it opens. */
  readonly agents?: Pick<AssistantAgents, 'size' | 'control'>;
  readonly budget?: (own: Pick<ChildrenBudgetOptions, 'written' | 'hold'>) => ChildrenBudget;
  /** A turn of an owner before us, which goes on. */
  readonly cutShort?: CutShort | undefined;
  /** Whether the next owner goes on with the turn that runs. */
  readonly outlives?: () => Promise<boolean>;
  /** Calls when somebody else has the session. */
  readonly onLost?: (call: () => void) => void;
};

/**
 * A model in our own loop in the place of an agent. A prompt is a turn; what is said into it is heard at its next step,
 * and a pause holds it there: before the model is asked again, or before the next function runs.
 */
export class AssistantWorker implements Worker {
  readonly capabilities: ReadonlySet<string> = new Set(assistantCapabilities);
  readonly output = new MessageQueue<WorkerOutput>();
  readonly #parts: AssistantParts;
  readonly #voice: AssistantVoice;
  readonly #budget: ChildrenBudget | undefined;
  readonly #asked = new Map<string, (reply: Reply) => void>();
  /** What was asked about a call under an owner before us, and is asked again. */
  readonly #askedBefore = new Map<string, Request[]>();
  readonly #paused = new Gate();
  readonly #frozen = new Gate();
  /** The request to pause that is not yet confirmed. */
  #pausing: string | undefined;
  readonly #steered: Steer[] = [];
  #turn: AbortController | undefined;
  #finished: Promise<void> = Promise.resolve();
  #questions = 0;
  /** How many of its works stand at a boundary. */
  #standing = 0;
  #isGone = false;
  /** What it still says is of a turn that is not over: the next owner says it. */
  #isLeft = false;
  #closed: Promise<void> | undefined;
  #assistant: AssistantSpec;

  constructor(parts: AssistantParts) {
    this.#parts = parts;
    this.#assistant = parts.assistant;
    this.#voice = {
      show: (...events) => this.#push({ kind: 'events', events }),
      note: (message, fields = {}) => this.#say({ ...fields, type: 'log', level: 'warn', message }),
      used: (usage, source) => this.#push({ kind: 'usage', usage, source }),
      ask: (event, signal) => this.#ask(event, signal),
      after: (ms, call) => parts.clock.at(parts.clock.now() + ms, call),
      recorded: (signal) => orAborted(this.output.read(), signal),
    };
    this.#budget = parts.budget?.({ written: () => this.output.read(), hold: () => this.#paused.close() });
    parts.onLost?.(() => {
      this.#isLeft = true;
      void this.#stopTurn();
    });
    this.#tellModel();
    if (parts.cutShort !== undefined) this.#goOnWith(parts.cutShort);
  }

  async prompt({ text, parts }: AgentPrompt): Promise<void> {
    if (this.#isGone) throw new AgentError('exited', this.#goneBecause);
    await this.#stopTurn();
    this.#parts.history.add({ kind: 'user', text, ...(parts === undefined ? {} : { parts }) });
    this.#begin();
  }

  #begin(cut?: CutStep): void {
    const turn = new AbortController();
    this.#turn = turn;
    this.#finished = this.#run(turn.signal, cut).finally(() => this.#turnOver(turn));
  }

  #goOnWith(cutShort: CutShort): void {
    const cut = cutStep(cutShort, this.#parts.tools);
    for (const [callId, requests] of cutShort.asked) this.#askedBefore.set(callId, [...requests]);
    for (const { id } of cut.lost) this.#withdraw(id);
    this.#steered.push(...cutShort.steered);
    this.#begin(cut);
  }

  /** Nobody waits for what was asked about a call that is lost. */
  #withdraw(callId: string): void {
    for (const { requestId, event, state } of this.#askedBefore.get(callId) ?? []) {
      if (state !== 'open') continue;
      this.#push({ kind: 'suspend', id: requestId, event, requestId });
      this.#push({ kind: 'withdrawn', id: requestId, reason: 'the call was lost with its owner' });
    }
  }

  async answer(answer: WorkerAnswer): Promise<void> {
    if ('inReplyTo' in answer) this.#asked.get(String(answer.inReplyToId))?.(answer);
  }

  async steer({ id, text, parts }: Steer): Promise<'taken'> {
    // Refused, it waits for the next turn instead of being lost with the one that has just ended.
    if (this.#turn === undefined) throw new AgentError('not-announced', 'no turn is running');
    this.#steered.push({ id, text, ...(parts === undefined ? {} : { parts }) });
    return 'taken';
  }

  control({ verb, id, force = false }: WorkerControl): 'asked' | 'holds' {
    switch (verb) {
      case 'pause':
        this.#paused.close();
        this.#tellAgents(verb, id);
        this.#pausing = force ? undefined : id;
        if (force) this.#frozen.close();
        // Who waits for a person, or for nothing, stands at a boundary already.
        else if (this.#turn === undefined || this.#asked.size > 0 || this.#standing > 0 || this.#hasAgents)
          this.#confirmPause();
        return force ? 'holds' : 'asked';
      case 'resume':
        this.#goOn();
        this.#tellAgents(verb, id);
        this.#confirm(verb, id);
        return 'asked';
      case 'interrupt':
      case 'cancel':
        void this.#stopTurn().then(() => {
          if (!force) this.#confirm(verb, id);
        });
        return 'asked';
    }
  }

  /** Counts from the next turn on. */
  async configure(settings: AgentSettings): Promise<void> {
    const taken = withAssistantParams(this.#assistant, settings);
    if (!taken.ok) throw new Error(taken.error);
    this.#assistant = taken.value;
    this.#tellModel();
  }

  #tellModel(): void {
    const { model, effort } = this.#assistant;
    const info = { ...(model === undefined ? {} : { model }), ...(effort === undefined ? {} : { effort }) };
    if (Object.keys(info).length > 0) this.#push({ kind: 'events', events: [{ type: 'agentInfo', ...info }] });
  }

  async stop(): Promise<void> {
    this.#isLeft ||= this.#turn !== undefined && (await this.#parts.outlives?.()) === true;
    await this.#stopTurn();
    this.#budget?.close();
    this.#closed ??= this.#parts.close();
    await this.#closed;
    if (this.#isGone) return;
    this.#isGone = true;
    this.output.push({ kind: 'gone', error: { code: 'exited', message: this.#goneBecause } });
    this.output.end();
  }

  get #hasAgents(): boolean {
    return (this.#parts.agents?.size ?? 0) > 0;
  }

  /** Those that work for it hold and go on with it; a store that is away is found by what else is written. */
  #tellAgents(verb: 'pause' | 'resume', id: string): void {
    void this.#parts.agents?.control(verb, id).catch(() => undefined);
  }

  get #goneBecause(): string {
    return `assistant "${this.#parts.name}" was ended`;
  }

  async #stopTurn(): Promise<void> {
    this.#turn?.abort(this.#isLeft ? leftToNext : undefined);
    await this.#finished;
    this.#goOn();
  }

  #goOn(): void {
    this.#pausing = undefined;
    this.#paused.open();
    this.#frozen.open();
  }

  #turnOver(turn: AbortController): void {
    if (this.#turn === turn) this.#turn = undefined;
    this.#confirmPause();
  }

  #confirmPause(): void {
    const id = this.#pausing;
    this.#pausing = undefined;
    if (id !== undefined) this.#confirm('pause', id);
  }

  #confirm(verb: AgentVerb, id: string): void {
    this.#say({ type: 'ack', in_reply_to: verb, in_reply_to_id: id });
  }

  /** Never rejects: what goes wrong ends the turn, with an error that says so. */
  async #run(signal: AbortSignal, cut: CutStep | undefined): Promise<void> {
    const { history, files, marker, tools, renewTools, mintId, clock } = this.#parts;
    try {
      const turn = {
        spec: this.#assistant,
        history,
        files,
        marker,
        tools,
        renewTools: async () => renewTools?.(signal),
        voice: this.#voice,
        signal,
        mintId,
        now: () => clock.now(),
        boundary: () => this.#boundary(signal),
        unfrozen: async () => {
          if (this.output.size > unreadMax) await this.#voice.recorded(signal);
          await this.#frozen.pass(signal);
        },
        takeSteered: () => this.#steered.splice(0),
        close: () => {
          if (this.#steered.length > 0) return false;
          this.#turn = undefined;
          return true;
        },
      };
      const fields = await runTurn(turn, cut);
      this.#say({ ...fields, type: 'result' });
    } catch (cause) {
      this.#turn = undefined;
      if (!signal.aborted) this.#say({ type: 'error', ...failureOf(cause) });
    }
  }

  /** A budget that is used up holds it before the next step, also when the word to pause has not come yet. */
  async #boundary(signal: AbortSignal): Promise<void> {
    const settled = this.#budget?.settle();
    if (settled !== undefined) await orAborted(settled, signal);
    if (this.#paused.isClosed) this.#confirmPause();
    this.#standing += 1;
    await this.#paused.pass(signal).finally(() => {
      this.#standing -= 1;
    });
  }

  async #ask(event: Suspend, signal: AbortSignal): Promise<Json> {
    this.#questions += 1;
    const id = `ask-${this.#questions}`;
    const answered = new Promise<Reply>((resolve) => this.#asked.set(id, resolve));
    const before = event.callId === undefined ? undefined : this.#askedBefore.get(event.callId)?.shift();
    this.#push({ kind: 'suspend', id, event, requestId: before?.requestId });
    if (this.#paused.isClosed) this.#confirmPause();
    try {
      const reply = await orAborted(answered, signal);
      if ('error' in reply) throw new Error(`no answer came: ${resultText(reply.error)}`);
      // What follows a no is why.
      return reply.reason === undefined ? reply.value : `no, ${reply.reason}`;
    } finally {
      this.#asked.delete(id);
      const isOfTurn = this.#turn === undefined || this.#turn.signal.aborted;
      if (signal.aborted && !isOfTurn)
        this.#push({ kind: 'withdrawn', id, reason: 'whoever asked does not wait for it any more' });
    }
  }

  #say(message: Extract<Spoken['message'], { type: 'log' | 'result' | 'error' | 'ack' }> & JsonObject): void {
    this.#push({ kind: 'message', message, raw: message });
  }

  #push(output: WorkerOutput): void {
    if (!this.#isGone && !this.#isLeft) this.output.push(output);
  }
}

function failureOf(cause: unknown): { readonly message: string; readonly code: string } {
  if (cause instanceof ModelFailure || cause instanceof TurnFailure)
    return { message: cause.message, code: cause.code };
  return { message: cause instanceof Error ? cause.message : String(cause), code: 'internal' };
}
