import { type Json, type JsonObject, unreachable } from '@concerto/base';
import type { EndOptions, InterruptOptions, ProcessIdentity } from '@concerto/keeper';
import { type AgentCapability, type CodexParams, type Line, LineError, type Usage } from '@concerto/protocol';
import { CodexRequest, TurnResult } from '@concerto/protocol/codex';
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
import { JsonRpcPeer, JsonRpcRefusal, jsonRpcCodes, type PeerAnswer, type PeerRequest } from '../json-rpc-peer.ts';
import { OutputBuffer } from '../output-buffer.ts';
import { promptText } from '../prompt-text.ts';
import { CodexRequests, type CodexStep } from './codex-requests.ts';
import { type CodexEnd, type CodexMeaning, CodexTranslator } from './codex-translator.ts';

/** For an agent that is cancelled to stop its turn; then it is ended all the same. */
const cancelWithinMs = 2_000;
/** For a message to be taken into the turn, or refused. */
const steerWithinMs = 10_000;

type Turn = { id: string | undefined; readonly used: { input: number; output: number } };

type Stopping = { readonly verb: 'interrupt' | 'cancel'; readonly id: string };

/** `codex app-server`: JSON-RPC without its version, requests in both directions, one thread. */
export class CodexConnection implements AgentConnection {
  readonly spec: AgentSpec;
  readonly identity: ProcessIdentity;
  readonly exited: Promise<AgentExit>;
  readonly capabilities: ReadonlySet<AgentCapability> = new Set<AgentCapability>(['steer', 'interrupt', 'cancel']);
  readonly output: OutputBuffer<AgentOutput>;
  readonly peer: JsonRpcPeer;
  version: string | undefined;
  readonly #process: AgentProcess;
  readonly #params: CodexParams;
  readonly #translator = new CodexTranslator();
  readonly #requests: CodexRequests;
  #thread: string | undefined;
  #isNamed = false;
  #turn: Turn | undefined;
  #stopping: Stopping[] = [];
  /** Messages that came too late for their turn; they go with the next prompt. */
  #late: string[] = [];
  #isOver = false;
  /** Of the line that is being read: what is said of it is about as long. */
  #lineLength = 0;

  constructor(
    spec: AgentSpec,
    agentProcess: AgentProcess,
    options: { readonly params: CodexParams; readonly onLine: ((line: Line) => void) | undefined },
  ) {
    this.spec = spec;
    this.identity = agentProcess.identity;
    this.exited = agentProcess.exited;
    this.#process = agentProcess;
    this.#params = options.params;
    this.#requests = new CodexRequests(options.params);
    this.output = new OutputBuffer(agentProcess);
    this.peer = new JsonRpcPeer({
      namesVersion: false,
      write: (line) => agentProcess.write(line),
      onRequest: (request) => this.#requested(request),
      onNotification: (method, params) => {
        for (const meaning of this.#translator.read(method, params, this.#thread)) this.#act(meaning);
      },
    });
    agentProcess.readLines({
      line: (line) => {
        options.onLine?.(line);
        this.#readLine(line);
      },
      isFull: () => this.output.isFull,
      end: (exit) => this.#finish(exit),
    });
  }

  /** From here on it can be prompted. */
  opened(thread: string, version: string | undefined): void {
    this.#thread = thread;
    this.version = version;
  }

  /** A word of ours about the agent. */
  note(message: string): void {
    this.#push(log('warn', message));
  }

  async prompt(prompt: AgentPrompt): Promise<void> {
    if (this.#turn !== undefined) {
      throw new AgentError('protocol', `agent "${this.spec.name}" is still at work on its last prompt`);
    }
    const turn: Turn = { id: undefined, used: { input: 0, output: 0 } };
    this.#turn = turn;
    const late = this.#late.splice(0);
    if (late.length > 0) {
      this.#push(log('info', `passed on with this prompt, because the last turn was over: ${late.join(' | ')}`));
    }
    const input = inputOf([...late, promptText(prompt)].join('\n\n'));
    const effort = this.#params.effort === undefined ? {} : { effort: this.#params.effort };
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

  async steer({ text }: { readonly id: string; readonly text: string }): Promise<void> {
    await this.#tell(text, () => this.#late.push(text));
  }

  async request(verb: AgentVerb, id: string): Promise<void> {
    if (verb !== 'interrupt' && verb !== 'cancel') {
      throw new AgentError('not-announced', `agent "${this.spec.name}" has not announced that it can ${verb}`);
    }
    this.#requests.clear();
    if (this.#turn === undefined) return this.#stopped({ verb, id });
    this.#stopping.push({ verb, id });
    if (verb === 'cancel') this.#endIfDeaf();
    await this.#interrupt();
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

  /** A turn that has no id yet is stopped as soon as it has one. */
  async #interrupt(): Promise<void> {
    const turnId = this.#turn?.id;
    if (turnId === undefined) return;
    await this.peer.call('turn/interrupt', { ...this.#about(), turnId }, (answer) => {
      // It was over just before: its end is told, or has been.
      if (!answer.ok) this.#push(log('debug', `codex: ${answer.error.message}`));
    });
  }

  /** Into the turn that runs, unless it is over or about to be, which only the program knows. */
  async #tell(text: string, tooLate: () => void): Promise<void> {
    const expectedTurnId = this.#turn?.id;
    if (expectedTurnId === undefined || this.#stopping.length > 0) return tooLate();
    try {
      await this.peer.request('turn/steer', { ...this.#about(), expectedTurnId, input: inputOf(text) }, steerWithinMs);
    } catch (cause) {
      if (cause instanceof JsonRpcRefusal) return tooLate();
      if (cause instanceof AgentError) throw cause;
      throw new AgentError('protocol', `agent "${this.spec.name}" did not take a message into its turn`, { cause });
    }
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
    if (this.#turn === undefined || this.#turn.id !== undefined) return;
    this.#turn.id = turnId;
    if (this.#stopping.length > 0) this.#interrupt().catch(() => undefined);
    if (this.#isNamed || this.#thread === undefined) return;
    // A thread without a turn is not kept.
    this.#isNamed = true;
    this.#push(conversation(this.#thread));
  }

  #endIfDeaf(): void {
    this.#process.later(cancelWithinMs, () => {
      for (const stopping of this.#stopping.splice(0)) this.#stopped(stopping);
    });
  }

  #requested({ id, method, params }: PeerRequest): void {
    const request = CodexRequest.safeParse({ method, params });
    if (!request.success) {
      const error = { code: jsonRpcCodes.methodNotFound, message: `${method} is not served here` };
      this.#push(log('warn', `codex asked for ${method}, which is not served here`));
      this.peer.refuse(id, error).catch(() => undefined);
      return;
    }
    for (const step of this.#requests.serve(id, request.data, this.#translator.work)) {
      // A write that fails means that the process is gone, which its exit reports.
      this.#take(step).catch(() => undefined);
    }
  }

  async #take(step: CodexStep): Promise<void> {
    if (step.kind === 'say') {
      this.#push(step.output);
      return;
    }
    await this.peer.respond(step.requestId, step.result);
    // Its refusals carry no words; what was said beside a no is told as a message.
    if (step.reason !== undefined) await this.#tell(`The supervisor refused this: ${step.reason}`, () => {});
  }

  #readLine(line: Line): void {
    if (line instanceof LineError) {
      const error = new AgentError(line.code, `agent "${this.spec.name}": ${line.message}`, { cause: line });
      // A line that was only repaired follows; one that was skipped may have been the end of the turn.
      this.#push({ kind: 'violation', error, fatal: line.code === 'line-too-long' });
      if (line.text !== undefined) this.#readLine(line.text);
      return;
    }
    if (line.trim() === '') return;
    this.#lineLength = line.length;
    const received = this.peer.receive(line);
    if (!received.ok) this.#push(log('warn', `codex wrote a line that is no frame: ${received.error}`));
  }

  #act(meaning: CodexMeaning): void {
    switch (meaning.kind) {
      case 'say':
        this.#push(meaning.output);
        return;
      case 'usage':
        this.#used(meaning.usage, meaning.turnId);
        return;
      case 'resolved': {
        const id = this.#requests.withdraw(meaning.requestId);
        if (id !== undefined) this.#push({ kind: 'withdrawn', id, reason: 'the agent no longer waits for it' });
        return;
      }
      case 'ended':
        if (this.#turn?.id === meaning.turnId) this.#ended(meaning.end);
        // It may begin to work by itself, for example towards a goal.
        else if (meaning.end.kind === 'completed')
          this.#push(log('info', `it ended work of its own: ${meaning.end.text}`));
        return;
      default:
        unreachable(meaning);
    }
  }

  #used(usage: Usage, turnId: string | undefined): void {
    // What an earlier process has used is told again when its thread is taken up, maybe while we work already.
    if (this.#turn === undefined || (turnId !== undefined && turnId !== this.#turn.id)) return;
    this.#turn.used.input += usage.inputTokens;
    this.#turn.used.output += usage.outputTokens;
    this.#push({ kind: 'usage', usage });
  }

  #ended(end: CodexEnd): void {
    const turn = this.#turn;
    this.#turn = undefined;
    this.#requests.clear();
    const isStopped = this.#stopping.length > 0;
    switch (end.kind) {
      // It may have been done before it heard that it should stop.
      case 'completed':
        this.#push(said(this.#result(end.text, turn)));
        break;
      case 'interrupted':
        if (!isStopped) this.#push(said({ type: 'error', message: 'the turn was interrupted', code: 'interrupted' }));
        break;
      case 'failed':
        if (!isStopped) this.#push(said({ type: 'error', message: end.message, code: end.code }));
        break;
      default:
        unreachable(end);
    }
    for (const stopping of this.#stopping.splice(0)) this.#stopped(stopping);
  }

  #result(text: string, turn: Turn | undefined) {
    const { input, output } = turn?.used ?? { input: 0, output: 0 };
    return {
      type: 'result',
      text,
      usage: { input_tokens: input, output_tokens: output },
      ...(this.#thread === undefined ? {} : { conversation: this.#thread }),
    } as const;
  }

  #stopped({ verb, id }: Stopping): void {
    this.#push(said({ type: 'ack', in_reply_to: verb, in_reply_to_id: id }));
    if (verb === 'cancel') void this.end({ atWork: true });
  }

  #about(): JsonObject {
    return { threadId: this.#thread ?? '' };
  }

  #push(output: AgentOutput): void {
    if (!this.#isOver) this.output.push(output, this.#lineLength);
  }

  #finish(exit: AgentExit): void {
    const error = this.#process.exitError(exit);
    this.peer.close(error);
    this.#push({ kind: 'exit', exit, error });
    this.#isOver = true;
    this.output.end();
  }
}

function inputOf(text: string): Json {
  return [{ type: 'text', text, text_elements: [] }];
}
