import { type Json, type JsonObject, unreachable } from '@concerto/base';
import { type AgentCapability, type ClaudeParams, readClaudeLine } from '@concerto/protocol';
import type { AgentPrompt, AgentReply, AgentSettings, AgentSteer, AgentVerb } from '../agent-connection.ts';
import { AgentError } from '../agent-error.ts';
import type { AgentLink } from '../agent-link.ts';
import type { Alarm } from '../agent-process.ts';
import { type Conversation, type DriverOptions, withinStart } from '../driver.ts';
import { agentInfo, conversation, conversationPlace, passedOn, said } from '../driver-output.ts';
import { memberOf } from '../json-member.ts';
import { joined, promptPieces, type Utterance } from '../prompt-parts.ts';
import { ToolGuard } from '../tool-guard.ts';
import { TurnStops } from '../turn-stops.ts';
import { ClaudeAccount } from './claude-account.ts';
import { ClaudeControl } from './claude-control.ts';
import { userMessage } from './claude-input.ts';
import { claudeBeginning } from './claude-introduction.ts';
import type { ClaudeRequest } from './claude-request.ts';
import { ClaudeRequests } from './claude-requests.ts';
import { claudeSwitches } from './claude-switch.ts';
import { claudeRuleNames, claudeToolRule } from './claude-tool-rule.ts';
import { type ClaudeEnd, type ClaudeMeaning, ClaudeTranslator } from './claude-translator.ts';
import { ClaudeTurn } from './claude-turn.ts';

/** For what runs in the background to end when it is told to. */
const quietWithinMs = 2_000;

const ruleHook = 'tool-rules';
const versionRequest = 'version';
const accountRequest = 'account';
const spentRequest = 'spent';

type Handshake = {
  readonly id: string;
  readonly accept: (answer: Json) => void;
  readonly refuse: (error: AgentError) => void;
};

/** The `claude` program in its stream-json mode: one process, one conversation, prompt after prompt. */
export class ClaudeConversation implements Conversation {
  readonly capabilities: ReadonlySet<AgentCapability> = new Set<AgentCapability>([
    'steer',
    'interrupt',
    'cancel',
    'images',
  ]);
  version: string | undefined;
  readonly #link: AgentLink;
  readonly #params: ClaudeParams;
  readonly #translator: ClaudeTranslator;
  readonly #requests: ClaudeRequests;
  readonly #account: ClaudeAccount;
  readonly #stops: TurnStops;
  readonly #guard: ToolGuard;
  readonly #control: ClaudeControl;
  #handshake: Handshake | undefined;
  #turn: ClaudeTurn | undefined;
  #conversation: string | undefined;
  #onQuiet: (() => void) | undefined;
  #overslept: Alarm | undefined;
  /** Messages that came too late for their turn; they go with the next prompt. */
  #late: Utterance[] = [];

  constructor(
    link: AgentLink,
    options: { readonly params: ClaudeParams; readonly folder: string; readonly resumed: boolean },
  ) {
    this.#link = link;
    this.#params = options.params;
    this.#translator = new ClaudeTranslator(options.folder);
    this.#requests = new ClaudeRequests(options.folder);
    this.#account = new ClaudeAccount(options.resumed);
    this.#stops = new TurnStops(link);
    this.#control = new ClaudeControl(link);
    this.#guard = new ToolGuard(
      options.params.tools,
      (ms, call) => link.later(ms, call),
      (reason) => this.#breaksRules(reason),
    );
    link.read({
      line: (line) => {
        for (const meaning of this.#translator.read(readClaudeLine(line))) this.#act(meaning);
      },
      end: (error) => {
        this.#handshake?.refuse(error);
        this.#control.ended(error);
      },
    });
  }

  /** Nothing else may be asked until it resolves. */
  async initialise(options: DriverOptions): Promise<void> {
    const id = this.#link.uuid();
    const accepted = new Promise<Json>((accept, refuse) => {
      this.#handshake = { id, accept, refuse };
    });
    const hooks = this.#params.tools === undefined ? {} : { PreToolUse: [{ hookCallbackIds: [ruleHook] }] };
    const asked = Promise.all([accepted, this.#askFirst(id, { subtype: 'initialize', hooks })]);
    const late = `did not answer \`initialize\` within ${options.initTimeoutMs / 1000} s; is it Claude Code? \`init_timeout\` gives it longer`;
    try {
      const [answer] = await withinStart(asked, options, () => this.#link.failure('init-timeout', late));
      this.#introduced(answer);
    } finally {
      this.#handshake = undefined;
    }
  }

  async prompt(prompt: AgentPrompt): Promise<void> {
    // It has just begun to work by itself: what it is told now is part of that.
    if (this.#turn?.isItsOwn === true) return await this.#add(this.#turn, { id: '', ...prompt });
    if (this.#turn !== undefined) {
      throw new AgentError('protocol', `agent "${this.#link.spec.name}" is still at work on its last prompt`);
    }
    this.#turn = this.#newTurn(false);
    const late = this.#late.splice(0);
    if (late.length > 0) this.#link.say(passedOn(late));
    await this.#control.send(userMessage(joined([...late, prompt].flatMap(promptPieces))));
  }

  async reply({ inReplyToId, ...answered }: AgentReply): Promise<void> {
    const step = this.#requests.answer(inReplyToId, answered);
    // It waits no more: the turn was interrupted, or the program has changed its mind.
    if (step === undefined) return;
    if (step.kind === 'ask') this.#link.say(step.output);
    else await this.#control.respond(step.requestId, { subtype: 'success', response: step.decision });
  }

  async steer(steer: AgentSteer): Promise<void> {
    if (this.#turn === undefined || this.#stops.isStopping) {
      this.#late.push(steer);
      return;
    }
    await this.#add(this.#turn, steer);
  }

  async #add(turn: ClaudeTurn, said: AgentSteer): Promise<void> {
    const uuid = this.#link.uuid();
    turn.steer(uuid, said);
    await this.#control.send({ ...userMessage(promptPieces(said)), uuid });
  }

  async request(verb: AgentVerb, id: string): Promise<void> {
    this.#stops.ask(verb, id);
    this.#requests.clear();
    if (this.#turn === undefined) return this.#quieten();
    await this.#interrupt();
    // It has said its word, and only what it left in the background goes on.
    if (this.#turn?.isAtRest === true) await this.#endTurn(this.#turn);
  }

  async configure(settings: AgentSettings): Promise<void> {
    const switches = claudeSwitches(settings);
    if (!switches.ok) throw new AgentError('protocol', `agent "${this.#link.spec.name}": ${switches.error}`);
    for (const request of switches.value) await this.#control.ask(request);
    this.#link.say(agentInfo(settings));
  }

  /** What still waits would begin a turn of its own after the one that is stopped. */
  async #interrupt(): Promise<void> {
    await this.#control.tell(this.#link.uuid(), { subtype: 'interrupt', cancel_queued: true });
  }

  /** What is asked along is answered in its own time; an older program may not know it. */
  async #askFirst(id: string, initialize: JsonObject): Promise<void> {
    const requests: readonly (readonly [string, JsonObject])[] = [
      [versionRequest, { subtype: 'get_binary_version' }],
      ...(this.#account.isKnown ? [] : ([[accountRequest, { subtype: 'get_usage' }]] as const)),
      [id, initialize],
    ];
    await Promise.all(requests.map(([requestId, request]) => this.#control.tell(requestId, request)));
  }

  /** What it offers, and whether it can be asked anything at all. */
  #introduced(answer: Json): void {
    const beginning = claudeBeginning(answer, this.#params, this.version);
    if (beginning === undefined) return;
    const { version, asksFirst, login, info } = beginning;
    if (this.#params.tools !== undefined && !asksFirst) {
      const why = "does not ask before it uses a tool, so that the session's rules cannot be held";
      throw this.#link.failure('init-refused', why);
    }
    this.version = version;
    this.#link.say(info);
    if (login !== '') this.#link.warn(`not logged in: ${login}`);
  }

  #act(meaning: ClaudeMeaning): void {
    switch (meaning.kind) {
      case 'say':
        return this.#link.say(meaning.output);
      case 'asked':
        return this.#serve(meaning.requestId, meaning.request);
      case 'withdrawn': {
        const id = this.#requests.withdraw(meaning.requestId);
        if (id !== undefined) this.#link.say({ kind: 'withdrawn', id, reason: 'the agent no longer waits for it' });
        return;
      }
      case 'answered':
        return this.#answered(meaning);
      case 'queued':
        return;
      case 'taken-up':
        this.#turn?.takenUp(meaning.uuid);
        return;
      case 'dropped':
        return this.#dropped(meaning.uuid);
      case 'conversation':
        this.version ??= meaning.version;
        if (this.#conversation === meaning.id) return;
        this.#conversation = meaning.id;
        return this.#link.say(conversation(meaning.id));
      case 'spent':
        // A write that fails means that the process is gone, which its exit reports.
        return void this.#control.tell(spentRequest, { subtype: 'get_usage' }).catch(() => undefined);
      case 'used':
        return this.#guard.began(meaning.callId, claudeRuleNames(this.#params, meaning.tool));
      case 'was-used':
        return this.#guard.ended(meaning.callId, meaning.isDone);
      case 'begun':
        this.#turn?.begun();
        return;
      case 'sleeps':
        this.#overslept?.cancel();
        this.#overslept = this.#link.later(meaning.withinMs, () => this.#oversleeps());
        return;
      case 'woken':
        return this.#woken();
      case 'background':
        if (!this.#translator.tasks.isRunning) this.#onQuiet?.();
        return this.#settle();
      case 'ended':
        return this.#ended(meaning.end);
      default:
        unreachable(meaning);
    }
  }

  #serve(requestId: string, request: ClaudeRequest): void {
    switch (request.kind) {
      case 'tool':
      case 'questions':
        if (request.kind === 'tool' && request.callId !== undefined) this.#guard.asked(request.callId);
        return this.#link.say(this.#requests.ask(requestId, request));
      case 'hook':
        return this.#respondLater(requestId, {
          subtype: 'success',
          response: claudeToolRule(this.#params, request.tool),
        });
      case 'unserved':
        return this.#respondLater(requestId, { subtype: 'error', error: `cannot serve ${request.subtype}` });
      default:
        unreachable(request);
    }
  }

  /** A write that fails means that the process is gone, which its exit reports. */
  #respondLater(requestId: string, response: JsonObject): void {
    this.#control.respond(requestId, response).catch(() => undefined);
  }

  #answered({ requestId, response, error }: Extract<ClaudeMeaning, { kind: 'answered' }>): void {
    const version = requestId === versionRequest ? memberOf(response, 'version') : undefined;
    if (typeof version === 'string') this.version = version;
    if (requestId === accountRequest) this.#account.began(response);
    if (requestId === spentRequest) this.#spent(response);
    this.#control.answered(requestId, error);
    const handshake = this.#handshake;
    if (handshake?.id !== requestId) return;
    if (error === undefined) handshake.accept(response);
    else handshake.refuse(this.#link.failure('init-refused', `refused to begin: ${error}`));
  }

  /** At a time that was set: in the turn that waits for it, else it begins one by itself. */
  #woken(): void {
    if (this.#turn !== undefined) return this.#turn.begun();
    this.#turn = this.#newTurn(true);
    this.#link.say({ kind: 'begun' });
  }

  #oversleeps(): void {
    this.#link.say(...this.#translator.overslept());
    this.#settle();
  }

  /** In the middle of a turn: who has a budget is stopped there, not at its end. */
  #spent(answer: Json): void {
    if (this.#turn === undefined) return;
    const charges = this.#account.interim(answer);
    this.#turn.early.push(...charges);
    this.#link.say(...charges);
  }

  #ended(end: ClaudeEnd): void {
    const charges = this.#account.charge(end.result, end.contextUsed);
    this.#link.say(...charges);
    // Work that nobody asked for is told as a turn's: who was asked for something in it must hear of its end.
    const turn = this.#turn ?? this.#newTurn(true);
    turn.ended(end, charges);
    if (this.#turn === undefined) return this.#tellEnd(turn);
    this.#settle();
  }

  /** The turn is over when nothing of it is left: no message to take up, nothing in the background, no news of it. */
  #settle(): void {
    const turn = this.#turn;
    if (turn?.outcome === undefined || !turn.isAtRest) return;
    if (this.#stops.isStopping || !turn.outcome.ok) return void this.#endTurn(turn);
    const { tasks } = this.#translator;
    if (tasks.count > 0) return this.#link.say(...turn.waits(tasks.count));
    if (turn.isSteered) turn.soon(() => this.#forgetSteered(turn));
    else if (tasks.hasNews) turn.soon(() => this.#isLeft(turn) && void this.#endTurn(turn));
    else void this.#endTurn(turn);
  }

  #isLeft(turn: ClaudeTurn): boolean {
    return this.#turn === turn && turn.isAtRest && this.#translator.tasks.count === 0;
  }

  /** A program that does not tell what becomes of messages would let us wait for ever. */
  #forgetSteered(turn: ClaudeTurn): void {
    if (this.#turn === turn) for (const uuid of turn.steeredIds) this.#dropped(uuid);
  }

  /** It will not be worked on; when nothing else is, the turn is over. */
  #dropped(uuid: string): void {
    const dropped = this.#turn?.drop(uuid);
    if (dropped === undefined) return;
    this.#late.push(dropped);
    this.#settle();
  }

  async #endTurn(turn: ClaudeTurn): Promise<void> {
    if (this.#turn !== turn) return;
    this.#turn = undefined;
    this.#overslept?.cancel();
    turn.over();
    this.#requests.clear();
    this.#guard.clear();
    this.#late.push(...turn.steered);
    if (!this.#stops.isStopping) return this.#tellEnd(turn);
    await this.#stopTasks();
    this.#tellEnd(turn);
    this.#stops.turnEnded();
    this.#stops.confirm();
  }

  #newTurn(isItsOwn: boolean): ClaudeTurn {
    return new ClaudeTurn((ms, call) => this.#link.later(ms, call), isItsOwn);
  }

  #tellEnd(turn: ClaudeTurn): void {
    this.#link.say(...this.#translator.close(), ...conversationPlace(this.#conversation, this.#translator.lastUuid));
    const { outcome } = turn;
    const { broken, isAsked } = this.#stops;
    if (broken !== undefined) this.#link.say(said({ type: 'error', message: broken, code: 'tool_forbidden' }));
    // It may have been done before it heard that it should stop; but what it left in the background was not.
    else if (outcome?.ok === true && !turn.wasWaiting(isAsked)) this.#link.say(said(turn.result(this.#conversation)));
    else if (outcome?.ok === false && !isAsked) {
      this.#link.say(said({ type: 'error', message: outcome.message, code: outcome.code }));
    }
  }

  async #quieten(): Promise<void> {
    await this.#stopTasks();
    this.#stops.confirm();
  }

  /** What runs in the background ends with the turn that began it; what is to come at a time the program cannot be asked to forget. */
  async #stopTasks(): Promise<void> {
    const { tasks } = this.#translator;
    if (tasks.isAsleep) this.#link.warn('its model will be woken at the time that it has set, all the same');
    if (!tasks.isRunning) return;
    const stops = tasks.ids.map((task_id) => this.#control.tell(this.#link.uuid(), { subtype: 'stop_task', task_id }));
    await Promise.all(stops).catch(() => undefined);
    await this.#tasksEnded();
    if (tasks.isRunning) this.#link.warn(`what it runs in the background may go on: ${tasks.ids.join(', ')}`);
    // It would tell the model of their end, which would begin to work again.
    await this.#interrupt().catch(() => undefined);
  }

  /** Told by the program, or after its time. */
  async #tasksEnded(): Promise<void> {
    await new Promise<void>((resolve) => {
      this.#onQuiet = resolve;
      this.#link.later(quietWithinMs, resolve);
    });
    this.#onQuiet = undefined;
  }

  /** It did something that it may not do: nothing more of this turn. */
  #breaksRules(reason: string): void {
    const turn = this.#turn;
    if (turn === undefined) return;
    this.#stops.breakRules(reason, () => this.#turn !== turn);
    this.#requests.clear();
    this.#interrupt().catch(() => undefined);
  }
}
