import { resolve } from 'node:path';
import type { Json, JsonObject } from '@concerto/base';
import type { EndOptions, InterruptOptions, ProcessIdentity } from '@concerto/keeper';
import { type AcpParams, type AgentCapability, type Line, LineError, whyNot } from '@concerto/protocol';
import {
  CancelRequest,
  FormRequest,
  knownUpdates,
  PermissionRequest,
  PromptResult,
  SessionNotification,
  SessionUpdate,
  SteeringResult,
} from '@concerto/protocol/acp';
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
import { log, conversation as namedConversation, said } from '../driver-output.ts';
import {
  JsonRpcPeer,
  JsonRpcRefusal,
  JsonRpcTimeout,
  jsonRpcCodes,
  type PeerAnswer,
  type PeerRequest,
} from '../json-rpc-peer.ts';
import { OutputBuffer } from '../output-buffer.ts';
import { promptText } from '../prompt-text.ts';
import { stderrExcerpt } from '../stderr-tail.ts';
import { AcpQuestions } from './acp-questions.ts';
import { refusalText } from './acp-reason.ts';
import { isForbidden } from './acp-tool-rules.ts';
import { AcpTurn } from './acp-turn.ts';

/** For an agent to say whether it has taken a message into its turn; it does so before it acts on it. */
const steeringMs = 10_000;
/** A line that is no frame is shown up to here. */
const shownCharacters = 200;

type Stop = { readonly verb: 'interrupt' | 'cancel'; readonly id: string };

export type AcpConversation = {
  readonly sessionId: string;
  readonly version: string | undefined;
  readonly steers: boolean;
  /** It can be taken up again by another process. */
  readonly isKept: boolean;
  readonly isTakenUp: boolean;
  /** What a user should know about the start. */
  readonly notes: readonly string[];
};

/** An agent that speaks the Agent Client Protocol, version 1: JSON-RPC, a frame a line. We are its client. */
export class AcpConnection implements AgentConnection {
  readonly spec: AgentSpec;
  readonly identity: ProcessIdentity;
  readonly exited: Promise<AgentExit>;
  readonly capabilities = new Set<AgentCapability>();
  readonly output: OutputBuffer<AgentOutput>;
  readonly peer: JsonRpcPeer;
  /** Where it works, which it is told as well. */
  readonly workingDir: string;
  version: string | undefined;
  /** Called with every line. */
  onHeard: (() => void) | undefined;
  readonly #process: AgentProcess;
  readonly #params: AcpParams;
  readonly #questions: AcpQuestions;
  #conversation: AcpConversation | undefined;
  #turn: AcpTurn | undefined;
  /** The same, or the one before. */
  #latest: AcpTurn | undefined;
  #prompts = 0;
  #stops: Stop[] = [];
  /** Undefined where nobody knows what was paid before. */
  #paid: number | undefined;
  #isOver = false;

  constructor(spec: AgentSpec, agentProcess: AgentProcess, params: AcpParams, onLine?: (line: Line) => void) {
    this.spec = spec;
    this.workingDir = resolve(spec.workingDir ?? '.');
    this.identity = agentProcess.identity;
    this.exited = agentProcess.exited;
    this.#process = agentProcess;
    this.#params = params;
    this.output = new OutputBuffer(agentProcess);
    this.peer = new JsonRpcPeer({
      namesVersion: true,
      write: (line) => agentProcess.write(line),
      onRequest: (request) => this.#request(request),
      onNotification: (method, params_) => this.#notified(method, params_),
    });
    this.#questions = new AcpQuestions({
      say: (output) => this.#say([output]),
      respond: (id, result) => this.#quietly(this.peer.respond(id, result)),
    });
    agentProcess.readLines({
      line: (line) => {
        this.onHeard?.();
        onLine?.(line);
        this.#readLine(line);
      },
      isFull: () => this.output.isFull,
      end: (exit) => this.#finish(exit),
    });
  }

  /** From here on it can be prompted. */
  opened(conversation: AcpConversation): void {
    this.#conversation = conversation;
    this.version = conversation.version;
    this.#paid = conversation.isTakenUp ? undefined : 0;
    this.capabilities.add('interrupt').add('cancel');
    if (conversation.steers) this.capabilities.add('steer');
  }

  async prompt(prompt: AgentPrompt): Promise<void> {
    const { sessionId, isKept } = this.#opened();
    if (this.#turn !== undefined) {
      // To most agents a second prompt would end the first; to some it would be two turns at once.
      throw new AgentError('protocol', `agent "${this.spec.name}" is still at work on its last prompt`);
    }
    this.#prompts++;
    const turn = new AcpTurn(prompt.id ?? `prompt-${this.#prompts}`, isKept ? { conversation: sessionId } : {});
    this.#turn = turn;
    this.#latest = turn;
    const request = { sessionId, prompt: [textBlock(promptText(prompt))] };
    try {
      await this.peer.call('session/prompt', request, (answer) => this.#answered(turn, answer));
    } catch (cause) {
      if (this.#turn === turn) this.#turn = undefined;
      throw cause;
    }
    if (this.#prompts === 1) this.#introduce();
  }

  async reply(reply: AgentReply): Promise<void> {
    this.#questions.reply(reply);
  }

  /** Refused when no turn is there to take it: it is then a prompt of its own. */
  async steer({ text }: { readonly id: string; readonly text: string }): Promise<void> {
    this.#checkAnnounced('steer');
    const { sessionId } = this.#opened();
    const request = {
      sessionId,
      prompt: [textBlock(text)],
      // Without this some agents begin a turn of which nobody would hear the end.
      _meta: { steering: { idleBehavior: 'promptRequired' } },
    };
    let answer: Json;
    try {
      answer = await this.peer.request('_session/steering', request, steeringMs);
    } catch (cause) {
      // It may have it: sent again, it could be obeyed twice.
      if (cause instanceof JsonRpcTimeout) return;
      throw this.#asAgentError(cause);
    }
    const steered = SteeringResult.safeParse(answer);
    if (steered.success && steered.data.outcome === 'promptRequired') {
      throw new AgentError('protocol', `agent "${this.spec.name}" has no turn to take the message into`);
    }
  }

  async request(verb: AgentVerb, id: string): Promise<void> {
    if (verb !== 'interrupt' && verb !== 'cancel') {
      throw new AgentError(
        'not-announced',
        `agent "${this.spec.name}" cannot ${verb}: its protocol has no word for it`,
      );
    }
    const { sessionId } = this.#opened();
    const stop = { verb, id };
    if (this.#turn === undefined) return this.#confirm(stop);
    this.#stops.push(stop);
    await this.peer.notify('session/cancel', { sessionId });
    this.#questions.cancelAll();
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

  stderrText(): string {
    return this.#process.stderrText();
  }

  /** Why it refuses may name what it was given. */
  conceal(text: string): string {
    return this.#process.conceal(text);
  }

  #opened(): AcpConversation {
    if (this.#conversation !== undefined) return this.#conversation;
    throw new AgentError('protocol', `agent "${this.spec.name}" has no conversation yet`);
  }

  #checkAnnounced(capability: AgentCapability): void {
    if (this.capabilities.has(capability)) return;
    throw new AgentError('not-announced', `agent "${this.spec.name}" has not announced that it can ${capability}`);
  }

  /** With the first prompt: what is told before it belongs to no turn. */
  #introduce(): void {
    const { sessionId, isKept, notes } = this.#opened();
    for (const note of notes) this.#warn(note);
    if (isKept) this.#say([namedConversation(sessionId)]);
  }

  #readLine(line: Line): void {
    if (line instanceof LineError) {
      const error = new AgentError(line.code, `agent "${this.spec.name}": ${line.message}`, { cause: line });
      // A line that was only repaired follows; one that was skipped may have been the answer to the prompt.
      this.#say([{ kind: 'violation', error, fatal: line.code === 'line-too-long' }]);
      if (line.text !== undefined) this.#readLine(line.text);
      return;
    }
    if (line.trim() === '') return;
    const taken = this.peer.receive(line);
    if (!taken.ok) this.#stray(line, taken.error);
  }

  /** Some programs greet, or warn, where only frames belong. */
  #stray(line: string, why: string): void {
    const shown = line.length > shownCharacters ? `${line.slice(0, shownCharacters)}…` : line;
    if (this.spec.plainText !== 'error') return this.#warn(`on stdout, but ${why}: ${shown}`);
    const message = `agent "${this.spec.name}" wrote a line that is no frame of its protocol (${why}): ${shown}`;
    this.#say([{ kind: 'violation', error: new AgentError('protocol', message), fatal: true }]);
  }

  #notified(method: string, params: Json): void {
    if (method === 'session/update') return this.#updated(params);
    if (method !== '$/cancel_request') return; // Agents tell of their login, their modes and more.
    const cancelled = CancelRequest.safeParse(params);
    if (cancelled.success) this.#questions.withdraw(cancelled.data.requestId, 'the agent no longer asks');
  }

  #updated(params: Json): void {
    const notification = SessionNotification.safeParse(params);
    if (!notification.success) return this.#warn(`an update that cannot be read: ${whyNot(notification.error)}`);
    const { sessionId, update: told } = notification.data;
    if (sessionId !== this.#conversation?.sessionId || !knownUpdates.has(told.sessionUpdate)) return;
    const update = SessionUpdate.safeParse(told);
    if (!update.success) return this.#warn(`\`${told.sessionUpdate}\` that cannot be read: ${whyNot(update.error)}`);
    if (update.data.sessionUpdate === 'usage_update') return this.#spent(update.data.cost);
    // Before the first prompt it is an old conversation that is told again; after a turn, what its work still brought.
    if (this.#latest !== undefined) this.#say(this.#latest.update(update.data));
  }

  /** Agents bill the whole conversation, also what an earlier process has spent on it. */
  #spent(cost: { readonly amount: number; readonly currency: string } | null | undefined): void {
    if (cost == null || cost.currency.toUpperCase() !== 'USD') return;
    const costMicroUsd = this.#paid === undefined ? 0 : Math.round((cost.amount - this.#paid) * 1e6);
    if (this.#paid === undefined || costMicroUsd > 0) this.#paid = cost.amount;
    if (costMicroUsd > 0) this.#say([{ kind: 'usage', usage: { inputTokens: 0, outputTokens: 0, costMicroUsd } }]);
  }

  #request(request: PeerRequest): void {
    switch (request.method) {
      case 'session/request_permission':
        return this.#permission(request);
      case 'elicitation/create': {
        const form = FormRequest.safeParse(request.params);
        if (!form.success) return this.#refuse(request, jsonRpcCodes.invalidParams, whyNot(form.error));
        return this.#isAsking(form.data.message)
          ? this.#questions.form(request.id, form.data)
          : this.#quietly(this.peer.respond(request.id, { action: 'cancel' }));
      }
      default:
        // Files and terminals too: we have not offered them.
        return this.#refuse(request, jsonRpcCodes.methodNotFound, `no such method: ${request.method}`);
    }
  }

  #permission(request: PeerRequest): void {
    const parsed = PermissionRequest.safeParse(request.params);
    if (!parsed.success) return this.#refuse(request, jsonRpcCodes.invalidParams, whyNot(parsed.error));
    const turn = this.#turn;
    if (!this.#isAsking(parsed.data.toolCall.title ?? parsed.data.toolCall.toolCallId)) {
      return this.#quietly(this.peer.respond(request.id, { outcome: { outcome: 'cancelled' } }));
    }
    const { call, outputs } = turn?.asked(parsed.data.toolCall) ?? { call: parsed.data.toolCall, outputs: [] };
    this.#say(outputs);
    const decided = (decision: { readonly isRefused: boolean; readonly reason?: string }): void => {
      if (decision.isRefused) turn?.refused();
      if (decision.reason !== undefined) {
        this.#warn(`the agent is told no, but its protocol has no place for why: ${decision.reason}`);
      }
    };
    if (isForbidden(call, this.#params)) {
      this.#warn(`refused, because the session's tools forbid it: ${call.title ?? call.toolCallId}`);
      return this.#questions.refusePermission(request.id, parsed.data, decided);
    }
    this.#questions.permission(request.id, parsed.data, call, decided);
  }

  /** Whether there is a turn that a question belongs to: of one between turns nobody would hear what came of it. */
  #isAsking(what: string): boolean {
    if (this.#turn === undefined) this.#warn(`asked between turns, which was cancelled: ${what}`);
    return this.#turn !== undefined && this.#stops.length === 0;
  }

  #answered(turn: AcpTurn, answer: PeerAnswer): void {
    if (this.#turn !== turn) return;
    this.#turn = undefined;
    this.#questions.cancelAll();
    const stops = this.#stops.splice(0);
    if (stops.length > 0) {
      this.#say(turn.stopped());
      for (const stop of stops) this.#confirm(stop);
      return;
    }
    if (!answer.ok) {
      // Of one that is gone its exit tells.
      if (answer.error instanceof JsonRpcRefusal)
        this.#say(turn.failed(this.conceal(refusalText(answer.error)), answer.error.code));
      return;
    }
    const result = PromptResult.safeParse(answer.value);
    if (result.success) this.#say(turn.ended(result.data));
    else this.#say(turn.failed(`its answer to the prompt cannot be read: ${whyNot(result.error)}`, 'protocol'));
  }

  #confirm({ verb, id }: Stop): void {
    this.#say([said({ type: 'ack', in_reply_to: verb, in_reply_to_id: id })]);
    // Nothing more is asked of it, and it may not look for the end by itself.
    if (verb === 'cancel') void this.end();
  }

  #refuse({ id }: PeerRequest, code: number, message: string): void {
    this.#quietly(this.peer.refuse(id, { code, message }));
  }

  /** A write that fails means that the process is gone, which its exit tells. */
  #quietly(write: Promise<unknown>): void {
    write.catch(() => undefined);
  }

  #asAgentError(cause: unknown): AgentError {
    if (cause instanceof AgentError) return cause;
    const why = this.conceal(cause instanceof JsonRpcRefusal ? refusalText(cause) : String(cause));
    return new AgentError('protocol', `agent "${this.spec.name}": ${why}; ${stderrExcerpt(this.stderrText())}`, {
      cause,
    });
  }

  #warn(message: string): void {
    this.#say([log('warn', this.conceal(message))]);
  }

  #say(outputs: readonly AgentOutput[]): void {
    if (this.#isOver) return;
    for (const output of outputs) this.output.push(output, output.kind === 'message' ? lengthOf(output.raw) : 0);
  }

  #finish(exit: AgentExit): void {
    const error = this.#process.exitError(exit);
    this.peer.close(error);
    this.#say([{ kind: 'exit', exit, error }]);
    this.#isOver = true;
    this.output.end();
  }
}

function textBlock(text: string): JsonObject {
  return { type: 'text', text };
}

/** Roughly, for the limit of what waits to be read. */
function lengthOf(raw: JsonObject): number {
  let length = 0;
  for (const value of Object.values(raw)) length += typeof value === 'string' ? value.length : 64;
  return length;
}
