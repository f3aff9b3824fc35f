import { type JsonObject, unreachable } from '@concerto/base';
import type { AgentCapability, CodexParams } from '@concerto/protocol';
import { CodexRequest, TerminalsResult, TurnResult } from '@concerto/protocol/codex';
import type { AgentPrompt, AgentReply, AgentSettings, AgentSteer, AgentVerb } from '../agent-connection.ts';
import { AgentError } from '../agent-error.ts';
import type { AgentLink } from '../agent-link.ts';
import type { Conversation } from '../driver.ts';
import { conversation, conversationPlace, log, passedOn, said, toolOutput } from '../driver-output.ts';
import { type JsonRpcPeer, JsonRpcRefusal, jsonRpcCodes, type PeerAnswer, type PeerRequest } from '../json-rpc-peer.ts';
import { OutputPieces } from '../output-pieces.ts';
import { openPeer } from '../peer-link.ts';
import { joined, promptPieces, type Utterance } from '../prompt-parts.ts';
import { ToolGuard } from '../tool-guard.ts';
import { TurnStops } from '../turn-stops.ts';
import { endSaid } from './codex-end.ts';
import { inputOf } from './codex-input.ts';
import { ruleNames } from './codex-items.ts';
import { CodexRequests, type CodexStep, itemsAsked } from './codex-requests.ts';
import { switchCodex } from './codex-switch.ts';
import { type CodexEnd, type CodexMeaning, CodexTranslator } from './codex-translator.ts';
import { newTurn, type Turn } from './codex-turn.ts';

/** For a message to be taken into the turn, or refused. */
const steerWithinMs = 10_000;
/** For the commands in the background to be ended, or told. */
const quietWithinMs = 2_000;
/** After a part of a turn: for the program to go on towards its goal. */
const goesOnWithinMs = 5_000;
/** For a command that was ended to tell so. */
const endsWithinMs = 500;
/** How often we look whether the commands in the background have ended. */
const terminalsMs = 1_000;

/** `codex app-server`: JSON-RPC without its version, requests in both directions, one thread. */
export class CodexConversation implements Conversation {
  readonly capabilities: ReadonlySet<AgentCapability> = new Set<AgentCapability>([
    'steer',
    'interrupt',
    'cancel',
    'images',
  ]);
  readonly peer: JsonRpcPeer;
  version: string | undefined;
  readonly #link: AgentLink;
  readonly #translator = new CodexTranslator();
  readonly #requests: CodexRequests;
  readonly #stops: TurnStops;
  readonly #guard: ToolGuard;
  readonly #pieces: OutputPieces;
  #thread = '';
  #effort: string | undefined;
  #isNamed = false;
  #onCommandsEnded: (() => void) | undefined;
  #turn: Turn | undefined;
  /** Messages that came too late for their turn; they go with the next prompt. */
  #late: Utterance[] = [];

  constructor(link: AgentLink, params: CodexParams) {
    this.#link = link;
    this.#effort = params.effort;
    this.#requests = new CodexRequests(params);
    this.#stops = new TurnStops(link);
    this.#guard = new ToolGuard(
      params.tools,
      (ms, call) => link.later(ms, call),
      (reason) => this.#breaksRules(reason),
    );
    this.#pieces = new OutputPieces(
      (ms, call) => link.later(ms, call),
      (callId, text) => link.say(toolOutput(callId, text)),
    );
    this.peer = openPeer(link, {
      namesVersion: false,
      onRequest: (request) => this.#requested(request),
      onNotification: (method, told) => {
        for (const meaning of this.#translator.read(method, told)) this.#act(meaning);
      },
      stray: (_line, why) => link.say(log('warn', `codex wrote a line that is no frame: ${why}`)),
    });
  }

  /** From here on it can be prompted. */
  opened(thread: string, { version, model }: { readonly version: string | undefined; readonly model?: string }): void {
    this.#thread = thread;
    this.version = version;
    this.#translator.opened(thread, model);
  }

  async prompt(prompt: AgentPrompt): Promise<void> {
    // It has just begun to work by itself: what it is told now is part of that.
    if (this.#turn?.isItsOwn === true) return await this.#tell(prompt, () => this.#late.push(prompt));
    if (this.#turn !== undefined) {
      throw new AgentError('protocol', `agent "${this.#link.spec.name}" is still at work on its last prompt`);
    }
    const turn = newTurn();
    this.#turn = turn;
    const late = this.#late.splice(0);
    if (late.length > 0) this.#link.say(passedOn(late));
    const input = inputOf(joined([...late, prompt].flatMap(promptPieces)));
    const effort = this.#effort === undefined ? {} : { effort: this.#effort };
    try {
      await this.peer.call('turn/start', { ...this.#about(), input, ...effort }, (answer) => this.#begun(turn, answer));
    } catch (cause) {
      if (this.#turn === turn) this.#turn = undefined;
      throw cause;
    }
  }

  async reply({ inReplyToId, ...answered }: AgentReply): Promise<void> {
    const step = this.#requests.answer(inReplyToId, answered);
    // It waits no more: the turn was interrupted, or the program has changed its mind.
    if (step !== undefined) await this.#take(step);
  }

  async steer(steer: AgentSteer): Promise<void> {
    await this.#tell(steer, () => this.#late.push(steer));
  }

  async request(verb: AgentVerb, id: string): Promise<void> {
    this.#stops.ask(verb, id);
    this.#translator.isStopped = true;
    this.#requests.clear();
    // What a turn has left in the background runs on after it.
    if (this.#turn === undefined) return this.#quieten();
    await this.#interrupt();
    this.#settle();
  }

  /** From its next step on. */
  async configure(settings: AgentSettings): Promise<void> {
    await switchCodex(this.peer, this.#link, this.#thread, settings);
    this.#effort = settings.effort ?? this.#effort;
    if (settings.model !== undefined) this.#translator.opened(this.#thread, settings.model);
  }

  /** The turn, and those of its sub-agents. One that has no id yet is stopped as soon as it has one. */
  async #interrupt(): Promise<void> {
    const own = this.#turn?.end === undefined ? this.#turn?.id : undefined;
    const turns = [
      ...(own === undefined ? [] : [{ threadId: this.#thread, turnId: own }]),
      ...this.#translator.threads.working,
    ];
    for (const { threadId, turnId } of turns) {
      if (turnId === undefined) continue;
      await this.peer.call('turn/interrupt', { threadId, turnId }, (answer) => {
        // It was over just before: its end is told, or has been.
        if (!answer.ok) this.#link.say(log('debug', `codex: ${answer.error.message}`));
      });
    }
  }

  /** Into the turn that runs, unless it is over or about to be, which only the program knows. */
  async #tell(said: Utterance, tooLate: () => void): Promise<void> {
    const expectedTurnId = this.#turn?.id;
    if (expectedTurnId === undefined || this.#stops.isStopping) return tooLate();
    if (this.#turn?.end !== undefined) return await this.#goOn(this.#turn, said);
    const input = inputOf(promptPieces(said));
    try {
      await this.peer.request('turn/steer', { ...this.#about(), expectedTurnId, input }, steerWithinMs);
    } catch (cause) {
      if (cause instanceof JsonRpcRefusal) return tooLate();
      if (cause instanceof AgentError) throw cause;
      throw new AgentError('protocol', `agent "${this.#link.spec.name}" did not take a message into its turn`, {
        cause,
      });
    }
  }

  /** It waits for its sub-agents; what is said to it then begins a part of the same turn. */
  async #goOn(turn: Turn, said: Utterance): Promise<void> {
    turn.end = undefined;
    turn.id = undefined;
    await this.peer.call('turn/start', { ...this.#about(), input: inputOf(promptPieces(said)) }, (answer) =>
      this.#begun(turn, answer),
    );
  }

  #begun(turn: Turn, answer: PeerAnswer): void {
    if (this.#turn !== turn) return;
    const begun = answer.ok ? TurnResult.safeParse(answer.value) : undefined;
    if (begun?.success === true) return this.#hasBegun(begun.data.turn.id);
    // The process is gone, and its exit tells it.
    if (!answer.ok && answer.error instanceof AgentError) return;
    const why = answer.ok ? 'it names no turn' : answer.error.message;
    this.#ended({ kind: 'failed', code: 'refused', message: `it did not take the prompt: ${why}` });
  }

  #hasBegun(turnId: string): void {
    if (this.#turn === undefined) {
      this.#turn = newTurn(true);
      this.#link.say({ kind: 'begun' });
    }
    if (this.#turn.id === turnId) return;
    this.#turn.timer?.cancel();
    Object.assign(this.#turn, { id: turnId, end: undefined, isStill: false });
    if (this.#stops.isStopping) this.#interrupt().catch(() => undefined);
    if (this.#isNamed || this.#thread === '') return;
    // A thread without a turn is not kept.
    this.#isNamed = true;
    this.#link.say(conversation(this.#thread));
  }

  #requested({ id, method, params }: PeerRequest): void {
    const request = CodexRequest.safeParse({ method, params });
    if (!request.success) {
      const error = { code: jsonRpcCodes.methodNotFound, message: `${method} is not served here` };
      this.#link.say(log('warn', `codex asked for ${method}, which is not served here`));
      this.peer.refuse(id, error).catch(() => undefined);
      return;
    }
    const { work, threads } = this.#translator;
    for (const item of itemsAsked(request.data, work)) this.#guard.asked(item);
    const { threadId } = request.data.params;
    const agent = typeof threadId === 'string' && threads.has(threadId) ? threads.nameOf(threadId) : undefined;
    for (const step of this.#requests.serve(id, request.data, { work, agent })) {
      // A write that fails means that the process is gone, which its exit reports.
      this.#take(step).catch(() => undefined);
    }
  }

  async #take(step: CodexStep): Promise<void> {
    switch (step.kind) {
      case 'say':
        return this.#link.say(step.output);
      case 'tell':
        return await this.#tell({ text: step.text }, () => this.#late.push({ text: step.text }));
      case 'respond':
        await this.peer.respond(step.requestId, step.result);
        // Its refusals carry no words; what was said beside a no is told as a message.
        if (step.reason !== undefined)
          await this.#tell({ text: `The supervisor refused this: ${step.reason}` }, () => {});
        return;
      default:
        unreachable(step);
    }
  }

  #act(meaning: CodexMeaning): void {
    switch (meaning.kind) {
      case 'say':
        return this.#link.say(meaning.output);
      case 'began':
        return this.#guard.began(meaning.item.id, ruleNames(meaning.item));
      case 'done':
        this.#pieces.end(meaning.item.id);
        if (!this.#runsCommand) this.#onCommandsEnded?.();
        return this.#guard.ended(meaning.item.id, meaning.item.status === 'completed');
      case 'output':
        return this.#pieces.push(meaning.callId, meaning.text);
      case 'asks':
        return this.#link.say(...this.#requests.askAside(meaning.item));
      case 'usage':
        return this.#used(meaning);
      case 'resolved': {
        const id = this.#requests.withdraw(meaning.requestId);
        if (id !== undefined) this.#link.say({ kind: 'withdrawn', id, reason: 'the agent no longer waits for it' });
        return;
      }
      case 'begun':
        return this.#hasBegun(meaning.turnId);
      case 'ended':
        return this.#endedPart(meaning.turnId, meaning.end);
      case 'background':
        return this.#settle();
      default:
        unreachable(meaning);
    }
  }

  #used({ usage, source, turnId, thoughtTokens }: Extract<CodexMeaning, { kind: 'usage' }>): void {
    // What an earlier process has used is told again when its thread is taken up, maybe while we work already.
    if (this.#turn === undefined || (turnId !== undefined && turnId !== this.#turn.id)) return;
    this.#turn.used.input += usage.inputTokens;
    this.#turn.used.output += usage.outputTokens;
    this.#turn.used.thought += thoughtTokens;
    this.#link.say({ kind: 'usage', usage, source });
  }

  #endedPart(turnId: string, end: CodexEnd): void {
    if (this.#turn?.id !== turnId) return;
    this.#turn.end = end;
    if (end.kind === 'completed' && end.durationMs !== undefined)
      this.#turn.durationMs = (this.#turn.durationMs ?? 0) + end.durationMs;
    this.#settle();
  }

  /** The turn is over when all that it has begun is. */
  #settle(): void {
    const turn = this.#turn;
    if (turn?.end === undefined) return;
    const { threads } = this.#translator;
    const isDone = turn.end.kind === 'completed' && !this.#stops.isStopping;
    const agents = threads.working.length;
    if (agents > 0 && isDone) return this.#waits(turn, `${agents === 1 ? 'a sub-agent' : `${agents} sub-agents`}`);
    if (agents > 0 && this.#stops.isAsked) return this.#settleLater(turn, () => this.#ended(turn.end));
    if (isDone && this.#translator.hasGoal && !turn.isStill) {
      return this.#settleLater(turn, () => this.#standsStill(turn), goesOnWithinMs);
    }
    if (isDone && this.#runsCommand) return void this.#awaitTerminals(turn);
    this.#ended(turn.end);
  }

  #standsStill(turn: Turn): void {
    turn.isStill = true;
    this.#settle();
  }

  #waits(turn: Turn, what: string): void {
    if (turn.waitsFor === what) return;
    turn.waitsFor = what;
    this.#link.say(said({ type: 'progress', message: `waits for ${what}`, stage: 'background' }));
  }

  async #awaitTerminals(turn: Turn): Promise<void> {
    const listed = await this.peer
      .request('thread/backgroundTerminals/list', this.#about(), quietWithinMs)
      .catch(() => undefined);
    const terminals = TerminalsResult.safeParse(listed);
    if (this.#turn !== turn || turn.end === undefined) return;
    const running = terminals.success ? terminals.data.data.length : 0;
    if (running === 0 || this.#stops.isStopping) return this.#ended(turn.end);
    this.#waits(turn, running === 1 ? 'a command in the background' : `${running} commands in the background`);
    this.#settleLater(turn, () => this.#settle(), terminalsMs);
  }

  #settleLater(turn: Turn, act: () => void, milliseconds = quietWithinMs): void {
    turn.timer?.cancel();
    turn.timer = this.#link.later(milliseconds, () => {
      if (this.#turn === turn) act();
    });
  }

  #ended(end: CodexEnd | undefined): void {
    const turn = this.#turn;
    if (turn === undefined || end === undefined) return;
    this.#turn = undefined;
    turn.timer?.cancel();
    this.#requests.clear();
    this.#guard.clear();
    if (this.#stops.isStopping) void this.#quieten(() => this.#tellEnd(turn, end));
    else this.#tellEnd(turn, end);
  }

  #tellEnd(turn: Turn, end: CodexEnd): void {
    this.#pieces.end();
    this.#link.say(
      ...this.#translator.close(),
      ...conversationPlace(this.#thread, turn.id),
      ...endSaid(end, turn, this.#stops, this.#thread),
    );
    this.#stops.turnEnded();
  }

  /**
   * A stop of a turn leaves the commands running that it has in the background; whoever asked for the stop hears of it
   * when they have ended too, and have told what they wrote up to then.
   */
  async #quieten(end = (): void => {}): Promise<void> {
    try {
      await this.peer.request('thread/backgroundTerminals/clean', this.#about(), quietWithinMs);
      if (this.#runsCommand) await this.#commandsEnded();
    } catch (cause) {
      // Of one that is gone its exit tells; it took its commands along.
      if (!(cause instanceof AgentError)) this.#link.warn(`what it runs in the background may go on: ${String(cause)}`);
    }
    end();
    this.#translator.isStopped = false;
    this.#stops.confirm();
  }

  get #runsCommand(): boolean {
    return this.#translator.work.some(({ type }) => type === 'commandExecution');
  }

  /** Told by the program, or after its time. */
  async #commandsEnded(): Promise<void> {
    await new Promise<void>((resolve) => {
      this.#onCommandsEnded = resolve;
      this.#link.later(endsWithinMs, resolve);
    });
    this.#onCommandsEnded = undefined;
  }

  /** It did something that it may not do: nothing more of this turn. */
  #breaksRules(reason: string): void {
    const turn = this.#turn;
    if (turn === undefined) return;
    this.#stops.breakRules(reason, () => this.#turn !== turn);
    this.#translator.isStopped = true;
    this.#requests.clear();
    this.#interrupt().catch(() => undefined);
  }

  #about(): JsonObject {
    return { threadId: this.#thread };
  }
}
