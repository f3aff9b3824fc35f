import { setTimeout as sleep } from 'node:timers/promises';
import { type Json, type JsonObject, unreachable } from '@concerto/base';
import type { EndOptions, InterruptOptions, ProcessIdentity } from '@concerto/keeper';
import { type AgentCapability, type ClaudeParams, type Line, LineError, readClaudeLine } from '@concerto/protocol';
import type {
  AgentConnection,
  AgentExit,
  AgentOutput,
  AgentPrompt,
  AgentReply,
  AgentSpec,
  AgentVerb,
} from '../agent-connection.ts';
import { AgentError } from '../agent-error.ts';
import type { AgentProcess } from '../agent-process.ts';
import { conversation, log, said } from '../driver-output.ts';
import { OutputBuffer } from '../output-buffer.ts';
import { promptText } from '../prompt-text.ts';
import { stderrExcerpt } from '../stderr-tail.ts';
import { ClaudeAccount } from './claude-account.ts';
import { ClaudeRequests } from './claude-requests.ts';
import { type ClaudePart, claudeResult } from './claude-result.ts';
import { claudeToolRule } from './claude-tool-rule.ts';
import { type ClaudeEnd, type ClaudeMeaning, type ClaudeRequest, ClaudeTranslator } from './claude-translator.ts';

/** For an agent that is cancelled to stop its turn; then it is ended all the same. */
const cancelWithinMs = 2_000;

/** After the end of a turn: for the program to tell that it goes on with a message that came late. */
const steeredWithinMs = 3_000;

const ruleHook = 'tool-rules';
const versionRequest = 'version';
const accountRequest = 'account';

/** A prompt that is being worked on. */
type Turn = {
  /** Messages that steer, by id, and that the program has not taken up yet: its work is not done before. */
  readonly steered: Map<string, string>;
  /** Earlier parts of a turn that was steered into several. */
  readonly parts: ClaudePart[];
  /** How the last of them ended. */
  outcome?: ClaudeEnd['outcome'];
  /** A message was taken up after the last of them: there will be another. */
  isGoingOn: boolean;
};

type Stopping = { readonly verb: 'interrupt' | 'cancel'; readonly id: string };

type Handshake = { readonly id: string; readonly accept: () => void; readonly refuse: (error: AgentError) => void };

/** The `claude` program in its stream-json mode: one process, one conversation, prompt after prompt. */
export class ClaudeConnection implements AgentConnection {
  readonly spec: AgentSpec;
  readonly identity: ProcessIdentity;
  readonly exited: Promise<AgentExit>;
  readonly capabilities: ReadonlySet<AgentCapability> = new Set<AgentCapability>(['steer', 'interrupt', 'cancel']);
  readonly output: OutputBuffer<AgentOutput>;
  version: string | undefined;
  readonly #process: AgentProcess;
  readonly #params: ClaudeParams;
  readonly #translator = new ClaudeTranslator();
  readonly #requests = new ClaudeRequests();
  readonly #account: ClaudeAccount;
  #handshake: Handshake | undefined;
  #turn: Turn | undefined;
  #stopping: Stopping[] = [];
  #conversation: string | undefined;
  /** Messages that came too late for their turn; they go with the next prompt. */
  #late: string[] = [];
  #isOver = false;

  constructor(
    spec: AgentSpec,
    agentProcess: AgentProcess,
    options: {
      readonly params: ClaudeParams;
      readonly resumed: boolean;
      readonly onLine: ((line: Line) => void) | undefined;
    },
  ) {
    this.spec = spec;
    this.identity = agentProcess.identity;
    this.exited = agentProcess.exited;
    this.#process = agentProcess;
    this.#params = options.params;
    this.#account = new ClaudeAccount(options.resumed);
    this.output = new OutputBuffer(agentProcess);
    agentProcess.readLines({
      line: (line) => {
        options.onLine?.(line);
        this.#readLine(line);
      },
      isFull: () => this.output.isFull,
      end: (exit) => this.#finish(exit),
    });
  }

  /** Nothing else may be asked until it resolves. */
  async initialise(timeoutMs: number, signal: AbortSignal | undefined): Promise<void> {
    const id = this.#process.uuid();
    const accepted = new Promise<void>((accept, refuse) => {
      this.#handshake = { id, accept, refuse };
    });
    const settled = new AbortController();
    const limits = signal === undefined ? settled.signal : AbortSignal.any([settled.signal, signal]);
    const hooks = this.#params.tools === undefined ? {} : { PreToolUse: [{ hookCallbackIds: [ruleHook] }] };
    try {
      await Promise.race([
        Promise.all([this.#askFirst(id, { subtype: 'initialize', hooks }), accepted]),
        sleep(timeoutMs, undefined, { signal: limits }).then(() => {
          throw this.#initTimeout(timeoutMs);
        }),
      ]);
    } finally {
      this.#handshake = undefined;
      settled.abort();
    }
  }

  /** A word of ours about the agent. */
  note(message: string): void {
    this.#push(log('warn', message));
  }

  async prompt(prompt: AgentPrompt): Promise<void> {
    if (this.#turn !== undefined) {
      throw new AgentError('protocol', `agent "${this.spec.name}" is still at work on its last prompt`);
    }
    this.#turn = { steered: new Map(), parts: [], isGoingOn: false };
    const late = this.#late.splice(0);
    if (late.length > 0) {
      this.#push(log('info', `passed on with this prompt, because the last turn was over: ${late.join(' | ')}`));
    }
    await this.#send(userMessage([...late, promptText(prompt)].join('\n\n')));
  }

  async reply({ inReplyToId, ...answered }: AgentReply): Promise<void> {
    const step = this.#requests.answer(inReplyToId, answered);
    // It waits no more: the turn was interrupted, or the program has changed its mind.
    if (step === undefined) return;
    if (step.kind === 'ask') this.#push(step.output);
    else await this.#respond(step.requestId, { subtype: 'success', response: step.decision });
  }

  async steer({ text }: { readonly id: string; readonly text: string }): Promise<void> {
    if (this.#turn === undefined || this.#stopping.length > 0) {
      this.#late.push(text);
      return;
    }
    const uuid = this.#process.uuid();
    this.#turn.steered.set(uuid, text);
    await this.#send({ ...userMessage(text), uuid });
  }

  async request(verb: AgentVerb, id: string): Promise<void> {
    if (verb !== 'interrupt' && verb !== 'cancel') {
      throw new AgentError('not-announced', `agent "${this.spec.name}" has not announced that it can ${verb}`);
    }
    this.#requests.clear();
    if (this.#turn === undefined) return this.#stopped({ verb, id });
    this.#stopping.push({ verb, id });
    if (verb === 'cancel') this.#endIfDeaf();
    // What still waits would begin a turn of its own after the one that is stopped.
    await this.#control(this.#process.uuid(), { subtype: 'interrupt', cancel_queued: true });
  }

  interruptProcess(options?: InterruptOptions): Promise<AgentExit | undefined> {
    return this.#process.interrupt(options);
  }

  freeze(): void {
    this.#process.freeze();
  }

  thaw(): void {
    this.#process.thaw();
  }

  end(options?: EndOptions): Promise<AgentExit> {
    return this.#process.end(options);
  }

  /** What is asked along is answered in its own time; an older program may not know it. */
  async #askFirst(id: string, initialize: JsonObject): Promise<void> {
    const requests: readonly (readonly [string, JsonObject])[] = [
      [versionRequest, { subtype: 'get_binary_version' }],
      ...(this.#account.isKnown ? [] : ([[accountRequest, { subtype: 'get_usage' }]] as const)),
      [id, initialize],
    ];
    await Promise.all(requests.map(([requestId, request]) => this.#control(requestId, request)));
  }

  #endIfDeaf(): void {
    this.#process.later(cancelWithinMs, () => {
      for (const stopping of this.#stopping.splice(0)) this.#stopped(stopping);
    });
  }

  async #send(message: JsonObject): Promise<void> {
    await this.#process.write(JSON.stringify(message));
  }

  async #control(requestId: string, request: JsonObject): Promise<void> {
    await this.#send({ type: 'control_request', request_id: requestId, request });
  }

  async #respond(requestId: string, response: JsonObject): Promise<void> {
    await this.#send({ type: 'control_response', response: { ...response, request_id: requestId } });
  }

  #readLine(line: Line): void {
    if (line instanceof LineError) {
      const error = new AgentError(line.code, `agent "${this.spec.name}": ${line.message}`, { cause: line });
      // A line that was only repaired follows; one that was skipped may have been the result.
      this.#push({ kind: 'violation', error, fatal: line.code === 'line-too-long' });
      if (line.text !== undefined) this.#readLine(line.text);
      return;
    }
    for (const meaning of this.#translator.read(readClaudeLine(line))) this.#act(meaning, line.length);
  }

  #act(meaning: ClaudeMeaning, length: number): void {
    switch (meaning.kind) {
      case 'say':
        this.#push(meaning.output, length);
        return;
      case 'asked':
        this.#serve(meaning.requestId, meaning.request);
        return;
      case 'withdrawn': {
        const id = this.#requests.withdraw(meaning.requestId);
        if (id !== undefined) this.#push({ kind: 'withdrawn', id, reason: 'the agent no longer waits for it' });
        return;
      }
      case 'answered':
        this.#answered(meaning);
        return;
      case 'queued':
        return;
      case 'taken-up':
        if (this.#turn?.steered.delete(meaning.uuid) === true) this.#turn.isGoingOn = true;
        return;
      case 'dropped':
        this.#dropped(meaning.uuid);
        return;
      case 'conversation':
        this.version ??= meaning.version;
        if (this.#conversation === meaning.id) return;
        this.#conversation = meaning.id;
        this.#push(conversation(meaning.id));
        return;
      case 'ended':
        this.#ended(meaning.end);
        return;
      default:
        unreachable(meaning);
    }
  }

  #serve(requestId: string, request: ClaudeRequest): void {
    switch (request.kind) {
      case 'tool':
      case 'questions':
        this.#push(this.#requests.ask(requestId, request));
        return;
      case 'hook':
        this.#respondLater(requestId, { subtype: 'success', response: claudeToolRule(this.#params, request.tool) });
        return;
      case 'unserved':
        this.#respondLater(requestId, { subtype: 'error', error: `cannot serve ${request.subtype}` });
        return;
      default:
        unreachable(request);
    }
  }

  /** A write that fails means that the process is gone, which its exit reports. */
  #respondLater(requestId: string, response: JsonObject): void {
    this.#respond(requestId, response).catch(() => undefined);
  }

  #answered({ requestId, response, error }: Extract<ClaudeMeaning, { kind: 'answered' }>): void {
    if (requestId === versionRequest) this.version = textAt(response, 'version') ?? this.version;
    if (requestId === accountRequest) this.#account.began(response);
    const handshake = this.#handshake;
    if (handshake?.id !== requestId) return;
    if (error === undefined) handshake.accept();
    else {
      const message = `agent "${this.spec.name}" refused to begin: ${error}; ${this.#stderrExcerpt()}`;
      handshake.refuse(new AgentError('init-refused', message, { stderr: this.#process.stderrText() }));
    }
  }

  #ended(end: ClaudeEnd): void {
    const { outcome } = end;
    const { usage, cost } = this.#account.charge(end.bill);
    this.#push({ kind: 'usage', usage });
    const turn = this.#turn;
    if (turn === undefined) {
      // It may begin to work by itself, for example when something that it started has ended.
      this.#push(log('info', `it ended work of its own: ${outcome.ok ? outcome.text : outcome.message}`));
      return;
    }
    // A turn that was steered late ends once for what was asked first, and again for what came after.
    turn.isGoingOn = false;
    turn.parts.push({ bill: end.bill, cost: cost ?? 0 });
    turn.outcome = outcome;
    if (outcome.ok && turn.steered.size > 0 && this.#stopping.length === 0) this.#awaitSteered(turn);
    else this.#endTurn(turn, outcome);
  }

  /** A program that does not tell what becomes of messages would let us wait for ever. */
  #awaitSteered(turn: Turn): void {
    const heard = [...turn.steered.keys()];
    this.#process.later(steeredWithinMs, () => {
      for (const uuid of heard) if (this.#turn === turn && turn.steered.has(uuid)) this.#dropped(uuid);
    });
  }

  /** It will not be worked on; when nothing else is, the turn is over. */
  #dropped(uuid: string): void {
    const turn = this.#turn;
    const text = turn?.steered.get(uuid);
    if (turn === undefined || text === undefined) return;
    turn.steered.delete(uuid);
    this.#late.push(text);
    const { outcome, isGoingOn } = turn;
    if (outcome !== undefined && turn.steered.size === 0 && !isGoingOn) this.#endTurn(turn, outcome);
  }

  #endTurn(turn: Turn, outcome: ClaudeEnd['outcome']): void {
    this.#turn = undefined;
    const isStopped = this.#stopping.length > 0;
    this.#requests.clear();
    this.#late.push(...turn.steered.values());
    // It may have been done before it heard that it should stop.
    if (outcome.ok) this.#push(said(claudeResult(outcome.text, turn.parts, this.#conversation)));
    else if (!isStopped) this.#push(said({ type: 'error', message: outcome.message, code: outcome.code }));
    for (const stopping of this.#stopping.splice(0)) this.#stopped(stopping);
  }

  #stopped({ verb, id }: Stopping): void {
    this.#push(said({ type: 'ack', in_reply_to: verb, in_reply_to_id: id }));
    if (verb === 'cancel') void this.end({ atWork: true });
  }

  #push(output: AgentOutput, length = 0): void {
    if (!this.#isOver) this.output.push(output, length);
  }

  #finish(exit: AgentExit): void {
    const error = this.#process.exitError(exit);
    this.#handshake?.refuse(error);
    this.#push({ kind: 'exit', exit, error });
    this.#isOver = true;
    this.output.end();
  }

  #initTimeout(timeoutMs: number): AgentError {
    return new AgentError(
      'init-timeout',
      `agent "${this.spec.name}" did not answer \`initialize\` within ${timeoutMs / 1000} s; is it Claude Code? ${this.#stderrExcerpt()}`,
      { stderr: this.#process.stderrText() },
    );
  }

  #stderrExcerpt(): string {
    return stderrExcerpt(this.#process.stderrText());
  }
}

function textAt(value: Json, key: string): string | undefined {
  if (typeof value !== 'object' || value === null || !(key in value)) return undefined;
  const found: unknown = Reflect.get(value, key);
  return typeof found === 'string' ? found : undefined;
}

function userMessage(content: string): JsonObject {
  return { type: 'user', message: { role: 'user', content }, parent_tool_use_id: null, session_id: '' };
}
