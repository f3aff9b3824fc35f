import type { Json, JsonObject } from '@concerto/base';
import { type AcpParams, type AgentCapability, type Usage, type UsageSource, whyNot } from '@concerto/protocol';
import {
  knownUpdates,
  PromptResult,
  SessionNotification,
  type SessionSwitches,
  SessionUpdate,
  SteeringResult,
} from '@concerto/protocol/acp';
import type { AgentPrompt, AgentReply, AgentSettings, AgentSteer, AgentVerb } from '../agent-connection.ts';
import { AgentError } from '../agent-error.ts';
import type { AgentLink } from '../agent-link.ts';
import type { Conversation } from '../driver.ts';
import { agentInfo, conversation as namedConversation } from '../driver-output.ts';
import { type JsonRpcPeer, JsonRpcRefusal, JsonRpcTimeout, type PeerAnswer } from '../json-rpc-peer.ts';
import { openPeer, refusalText } from '../peer-link.ts';
import { type PromptPiece, promptPieces, type Utterance } from '../prompt-parts.ts';
import { ToolGuard } from '../tool-guard.ts';
import { TurnStops } from '../turn-stops.ts';
import { updateInfo } from './acp-info.ts';
import { AcpRequests } from './acp-requests.ts';
import { acpSwitches } from './acp-switch.ts';
import { namesInRules, type ToolNaming } from './acp-tool-rules.ts';
import { AcpTurn } from './acp-turn.ts';

/** For an agent to say whether it has taken a message into its turn; it does so before it acts on it. */
const steeringMs = 10_000;

/** For an agent to say whether it has switched. */
const configureMs = 10_000;

export type AcpSession = {
  readonly sessionId: string;
  readonly version: string | undefined;
  readonly steers: boolean;
  readonly takes: readonly ('images' | 'files')[];
  readonly naming: ToolNaming | 'nowhere';
  /** It can be taken up again by another process. */
  readonly isKept: boolean;
  readonly isTakenUp: boolean;
  /** What a user should know about the start. */
  readonly notes: readonly string[];
  readonly switches: SessionSwitches;
};

/** An agent that speaks the Agent Client Protocol, version 1: JSON-RPC, a frame a line. We are its client. */
export class AcpConversation implements Conversation {
  readonly capabilities = new Set<AgentCapability>();
  readonly peer: JsonRpcPeer;
  version: string | undefined;
  readonly #link: AgentLink;
  readonly #params: AcpParams;
  readonly #requests: AcpRequests;
  readonly #stops: TurnStops;
  readonly #guard: ToolGuard;
  #session: AcpSession | undefined;
  #turn: AcpTurn | undefined;
  /** The same, or the one before. */
  #latest: AcpTurn | undefined;
  #switches: SessionSwitches = {};
  #prompts = 0;
  /** Undefined where nobody knows what was paid before. */
  #paid: number | undefined;
  #source: UsageSource = {};
  #isContextNew = false;
  /** It tells what it costs. */
  #isBilled = false;

  constructor(link: AgentLink, params: AcpParams) {
    this.#link = link;
    this.#params = params;
    this.#stops = new TurnStops(link);
    this.#guard = new ToolGuard(
      params.tools,
      (ms, call) => link.later(ms, call),
      (reason) => this.#breaksRules(reason),
    );
    const asking = (): AcpTurn | undefined => (this.#stops.isStopping ? undefined : this.#turn);
    this.#requests = new AcpRequests(link, params, () => this.peer, asking);
    this.peer = openPeer(link, {
      namesVersion: true,
      onRequest: (request) => this.#requests.serve(request),
      onNotification: (method, told) => this.#notified(method, told),
      stray: (line, why) => this.#stray(line, why),
    });
  }

  /** From here on it can be prompted. `spent` is what its conversation had cost before, in dollars. */
  opened(session: AcpSession, spent: number | undefined): void {
    this.#session = session;
    this.#switches = { ...session.switches, ...this.#switches };
    this.version = session.version;
    this.#paid ??= session.isTakenUp ? spent : 0;
    this.capabilities.add('interrupt').add('cancel');
    if (session.steers) this.capabilities.add('steer');
    for (const capability of session.takes) this.capabilities.add(capability);
  }

  async prompt(prompt: AgentPrompt): Promise<void> {
    const { sessionId, isKept, naming } = this.#opened();
    if (this.#turn !== undefined) {
      // To most agents a second prompt would end the first; to some it would be two turns at once.
      throw new AgentError('protocol', `agent "${this.#link.spec.name}" is still at work on its last prompt`);
    }
    this.#prompts++;
    const turn = new AcpTurn(prompt.id ?? `prompt-${this.#prompts}`, isKept ? { conversation: sessionId } : {}, {
      naming,
      watch: {
        began: (callId, name) => this.#guard.began(callId, namesInRules(name, this.#params.mcp_servers)),
        asked: (callId) => this.#guard.asked(callId),
        ended: (callId, wasUsed) => this.#guard.ended(callId, wasUsed),
      },
    });
    this.#turn = turn;
    this.#latest = turn;
    const request = { sessionId, prompt: this.#blocks(prompt) };
    try {
      await this.peer.call('session/prompt', request, (answer) => this.#answered(turn, answer));
    } catch (cause) {
      if (this.#turn === turn) this.#turn = undefined;
      throw cause;
    }
    if (this.#prompts === 1) this.#introduce();
  }

  async reply(reply: AgentReply): Promise<void> {
    this.#requests.reply(reply);
  }

  #blocks(said: Utterance): JsonObject[] {
    return promptPieces(said).map((piece) => promptBlock(piece, this.capabilities.has('images')));
  }

  /** Refused when no turn is there to take it: it is then a prompt of its own. */
  async steer(steer: AgentSteer): Promise<void> {
    if (!this.capabilities.has('steer')) {
      throw new AgentError('not-announced', `agent "${this.#link.spec.name}" has not announced that it can steer`);
    }
    const { sessionId } = this.#opened();
    const request = {
      sessionId,
      prompt: this.#blocks(steer),
      // Without this some agents begin a turn of which nobody would hear the end.
      _meta: { steering: { idleBehavior: 'promptRequired' } },
    };
    let answer: Json;
    try {
      answer = await this.peer.request('_session/steering', request, steeringMs);
    } catch (cause) {
      // It may have it: sent again, it could be obeyed twice.
      if (cause instanceof JsonRpcTimeout) return;
      if (cause instanceof AgentError) throw cause;
      const why = cause instanceof JsonRpcRefusal ? refusalText(cause) : String(cause);
      throw this.#link.failure('protocol', `did not take a message into its turn: ${why}`, cause);
    }
    const steered = SteeringResult.safeParse(answer);
    if (steered.success && steered.data.outcome === 'promptRequired') {
      throw new AgentError('protocol', `agent "${this.#link.spec.name}" has no turn to take the message into`);
    }
  }

  async request(verb: AgentVerb, id: string): Promise<void> {
    const { sessionId } = this.#opened();
    this.#stops.ask(verb, id);
    if (this.#turn === undefined) return this.#stops.confirm();
    await this.peer.notify('session/cancel', { sessionId });
    this.#requests.cancelAll();
  }

  async configure(settings: AgentSettings): Promise<void> {
    const { sessionId } = this.#opened();
    const calls = acpSwitches(this.#switches, settings);
    if (!calls.ok) throw this.#link.failure('protocol', calls.error);
    try {
      for (const { method, params } of calls.value) {
        await this.peer.request(method, { sessionId, ...params }, configureMs);
      }
    } catch (cause) {
      if (cause instanceof AgentError) throw cause;
      const why = cause instanceof JsonRpcRefusal ? refusalText(cause) : String(cause);
      throw this.#link.failure('protocol', `did not switch: ${why}`, cause);
    }
    this.#link.say(agentInfo(settings));
  }

  #opened(): AcpSession {
    if (this.#session !== undefined) return this.#session;
    throw new AgentError('protocol', `agent "${this.#link.spec.name}" has no conversation yet`);
  }

  /** With the first prompt: what is told before it belongs to no turn. */
  #introduce(): void {
    const { sessionId, isKept, notes } = this.#opened();
    for (const note of notes) this.#link.warn(note);
    if (isKept) this.#link.say(namedConversation(sessionId));
  }

  /** Some programs greet, or warn, where only frames belong. */
  #stray(line: string, why: string): void {
    if (this.#link.spec.plainText !== 'error') return this.#link.warn(`on stdout, but ${why}: ${line}`);
    const message = `agent "${this.#link.spec.name}" wrote a line that is no frame of its protocol (${why}): ${line}`;
    this.#link.say({ kind: 'violation', error: new AgentError('protocol', message), fatal: true });
  }

  #notified(method: string, params: Json): void {
    if (method === 'session/update') return this.#updated(params);
    // Agents tell of their login and more.
    if (method === '$/cancel_request') this.#requests.cancelled(params);
  }

  #updated(params: Json): void {
    const notification = SessionNotification.safeParse(params);
    if (!notification.success) return this.#link.warn(`an update that cannot be read: ${whyNot(notification.error)}`);
    const { sessionId, update: told } = notification.data;
    if (
      (this.#session !== undefined && sessionId !== this.#session.sessionId) ||
      !knownUpdates.has(told.sessionUpdate)
    ) {
      return;
    }
    const update = SessionUpdate.safeParse(told);
    if (!update.success) {
      return this.#link.warn(`\`${told.sessionUpdate}\` that cannot be read: ${whyNot(update.error)}`);
    }
    this.#update(update.data);
  }

  #update(update: SessionUpdate): void {
    switch (update.sessionUpdate) {
      case 'usage_update':
        return this.#spent(update);
      case 'available_commands_update':
      case 'current_mode_update':
      case 'config_option_update':
      case 'session_info_update': {
        if (update.sessionUpdate === 'config_option_update') {
          this.#switches = { ...this.#switches, configOptions: update.configOptions };
        }
        const info = updateInfo(update);
        if (info !== undefined) this.#link.say(info);
        return;
      }
      default:
        // Before the first prompt it is an old conversation that is told again; after a turn, what its work still brought.
        if (this.#latest !== undefined) this.#link.say(...this.#latest.update(update));
    }
  }

  /** Agents bill the whole conversation, also what an earlier process has spent on it. */
  #spent({ cost, used, size }: Extract<SessionUpdate, { sessionUpdate: 'usage_update' }>): void {
    if (used != null && size != null) {
      this.#source = { ...this.#source, context: { used, size } };
      this.#isContextNew = true;
    }
    if (cost == null || cost.currency.toUpperCase() !== 'USD') return;
    this.#isBilled = true;
    const costMicroUsd = this.#paid === undefined ? 0 : Math.round((cost.amount - this.#paid) * 1e6);
    if (this.#paid === undefined || costMicroUsd > 0) this.#paid = cost.amount;
    if (costMicroUsd > 0) this.#tellUsage({ inputTokens: 0, outputTokens: 0, costMicroUsd });
  }

  #tellUsage(usage: Usage): void {
    this.#isContextNew = false;
    this.#link.say({ kind: 'usage', usage, source: this.#source });
  }

  #answered(turn: AcpTurn, answer: PeerAnswer): void {
    if (this.#turn !== turn) return;
    this.#turn = undefined;
    this.#guard.clear();
    this.#requests.cancelAll();
    const { broken, isAsked } = this.#stops;
    this.#stops.turnEnded();
    if (broken !== undefined) this.#link.say(...turn.failed(broken, 'tool_forbidden'));
    else if (isAsked) this.#link.say(...turn.stopped());
    else this.#ended(turn, answer);
    this.#stops.confirm();
  }

  #ended(turn: AcpTurn, answer: PeerAnswer): void {
    if (!answer.ok) {
      // Of one that is gone its exit tells.
      if (answer.error instanceof JsonRpcRefusal) {
        this.#link.say(...turn.failed(this.#link.conceal(refusalText(answer.error)), answer.error.code));
      }
      return;
    }
    const result = PromptResult.safeParse(answer.value);
    if (result.success) {
      const outputs = turn.ended(result.data, this.#source, this.#isBilled);
      // How full its window is may be all that it tells.
      const isTold = !this.#isContextNew || outputs.some(({ kind }) => kind === 'usage');
      if (!isTold) this.#tellUsage({ inputTokens: 0, outputTokens: 0 });
      this.#isContextNew = false;
      this.#link.say(...outputs);
    } else
      this.#link.say(...turn.failed(`its answer to the prompt cannot be read: ${whyNot(result.error)}`, 'protocol'));
  }

  /** It did something that it may not do: nothing more of this turn. */
  #breaksRules(reason: string): void {
    const turn = this.#turn;
    if (turn === undefined) return;
    this.#stops.breakRules(reason, () => this.#turn !== turn);
    this.peer.notify('session/cancel', { sessionId: this.#opened().sessionId }).catch(() => undefined);
    this.#requests.cancelAll();
  }
}

function promptBlock(piece: PromptPiece, takesImages: boolean): JsonObject {
  if (piece.kind === 'text') return { type: 'text', text: piece.text };
  const { mimeType, data, name } = piece;
  if (takesImages && mimeType.startsWith('image/')) return { type: 'image', mimeType, data };
  if (mimeType.startsWith('audio/')) return { type: 'audio', mimeType, data };
  return {
    type: 'resource',
    resource: { uri: `attachment:${encodeURIComponent(name ?? 'file')}`, mimeType, blob: data },
  };
}
