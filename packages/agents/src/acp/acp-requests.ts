import type { Json } from '@concerto/base';
import { type AcpParams, whyNot } from '@concerto/protocol';
import { CancelRequest, FormRequest, PermissionRequest } from '@concerto/protocol/acp';
import type { AgentReply } from '../agent-connection.ts';
import type { AgentLink } from '../agent-link.ts';
import { type JsonRpcPeer, jsonRpcCodes, type PeerRequest } from '../json-rpc-peer.ts';
import { ruleOfTool } from '../tool-rule.ts';
import { AcpQuestions } from './acp-questions.ts';
import { namesInRules } from './acp-tool-rules.ts';
import type { AcpTurn } from './acp-turn.ts';

/** What the agent asks of us: permissions and forms. Files and terminals we have not offered. */
export class AcpRequests {
  readonly #link: AgentLink;
  readonly #params: AcpParams;
  readonly #peer: () => JsonRpcPeer;
  readonly #turn: () => AcpTurn | undefined;
  readonly #questions: AcpQuestions;

  /** `turn` is the one that questions belong to, if any may be asked now. */
  constructor(link: AgentLink, params: AcpParams, peer: () => JsonRpcPeer, turn: () => AcpTurn | undefined) {
    this.#link = link;
    this.#params = params;
    this.#peer = peer;
    this.#turn = turn;
    this.#questions = new AcpQuestions({
      say: (output) => link.say(output),
      respond: (id, result) => this.#respond(id, result),
    });
  }

  serve(request: PeerRequest): void {
    switch (request.method) {
      case 'session/request_permission':
        return this.#permission(request);
      case 'elicitation/create': {
        const form = FormRequest.safeParse(request.params);
        if (!form.success) return this.#refuse(request, jsonRpcCodes.invalidParams, whyNot(form.error));
        if (this.#turn() !== undefined) return this.#questions.form(request.id, form.data);
        this.#unasked(form.data.message);
        return this.#respond(request.id, { action: 'cancel' });
      }
      default:
        return this.#refuse(request, jsonRpcCodes.methodNotFound, `no such method: ${request.method}`);
    }
  }

  /** The agent no longer waits. */
  cancelled(params: Json): void {
    const cancelled = CancelRequest.safeParse(params);
    if (cancelled.success) this.#questions.withdraw(cancelled.data.requestId, 'the agent no longer asks');
  }

  reply(reply: AgentReply): void {
    this.#questions.reply(reply);
  }

  cancelAll(): void {
    this.#questions.cancelAll();
  }

  #permission(request: PeerRequest): void {
    const parsed = PermissionRequest.safeParse(request.params);
    if (!parsed.success) return this.#refuse(request, jsonRpcCodes.invalidParams, whyNot(parsed.error));
    const { toolCall } = parsed.data;
    const turn = this.#turn();
    if (turn === undefined) {
      this.#unasked(toolCall.title ?? toolCall.toolCallId);
      return this.#respond(request.id, { outcome: { outcome: 'cancelled' } });
    }
    const { call, callId, outputs } = turn.asked(toolCall);
    this.#link.say(...outputs);
    const decided = (decision: { readonly isRefused: boolean; readonly reason?: string }): void => {
      if (decision.isRefused) turn.refused(toolCall.toolCallId);
      if (decision.reason !== undefined) {
        this.#link.warn(`the agent is told no, but its protocol has no place for why: ${decision.reason}`);
      }
    };
    const { mcp_servers: servers } = this.#params;
    const names = namesInRules(call.name ?? undefined, servers);
    if (ruleOfTool(this.#params.tools, names) === 'deny') {
      const why = names.length === 0 ? 'do not know its name' : 'forbid it';
      this.#link.warn(`refused, because the session's tools ${why}: ${call.title ?? call.toolCallId}`);
      return this.#questions.refusePermission(request.id, parsed.data, decided);
    }
    this.#questions.permission(request.id, parsed.data, { call, callId, servers, decided });
  }

  /** Of what is asked between turns nobody would hear what came of it. */
  #unasked(what: string): void {
    this.#link.warn(`asked between turns, which was cancelled: ${what}`);
  }

  #respond(id: PeerRequest['id'], result: Json): void {
    // A write that fails means that the process is gone, which its exit tells.
    this.#peer()
      .respond(id, result)
      .catch(() => undefined);
  }

  #refuse({ id }: PeerRequest, code: number, message: string): void {
    this.#peer()
      .refuse(id, { code, message })
      .catch(() => undefined);
  }
}
