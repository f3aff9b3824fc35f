import type { Json, JsonObject } from '@concerto/base';
import { type AcpParams, type JsonRpcId, QuestionMessage } from '@concerto/protocol';
import type { FormRequest, PermissionRequest, ToolCall } from '@concerto/protocol/acp';
import type { AgentOutput, AgentReply } from '../agent-connection.ts';
import { said } from '../driver-output.ts';
import { type FormQuestion, formAttemptsMax, formQuestions } from './acp-form.ts';
import { approvalOf, type Decision, decisionOf } from './acp-permission.ts';

type Open = {
  /** Of the agent's own request. */
  readonly requestId: JsonRpcId;
  readonly answer: (value: Json) => void;
};

export type QuestionPorts = {
  readonly say: (output: AgentOutput) => void;
  /** Answers a request of the agent's; a request that is over is left alone. */
  readonly respond: (requestId: JsonRpcId, result: JsonObject) => void;
};

const cancelledPermission = { outcome: { outcome: 'cancelled' } };
const cancelledForm = { action: 'cancel' };

/** What the agent waits for: each of its requests, told as one question of ours or several, one after the other. */
export class AcpQuestions {
  readonly #ports: QuestionPorts;
  /** By the id of our question. */
  readonly #open = new Map<string, Open>();
  /** What each request is told when nobody answers. */
  readonly #unanswered = new Map<JsonRpcId, JsonObject>();
  #asked = 0;

  constructor(ports: QuestionPorts) {
    this.#ports = ports;
  }

  permission(
    requestId: JsonRpcId,
    request: PermissionRequest,
    asked: {
      readonly call: ToolCall;
      readonly callId: string;
      readonly servers: AcpParams['mcp_servers'];
      readonly decided: (decision: Decision) => void;
    },
  ): void {
    this.#unanswered.set(requestId, cancelledPermission);
    const id = this.#ask(requestId, 'permission', (value) => {
      const decision = decisionOf(value, request.options);
      this.#settle(requestId, { outcome: decision.outcome });
      asked.decided(decision);
    });
    const raw = { ...approvalOf(request, asked.call, asked), id };
    this.#ports.say(said(raw));
  }

  /** A no without asking anybody. */
  refusePermission(requestId: JsonRpcId, request: PermissionRequest, decided: (decision: Decision) => void): void {
    const decision = decisionOf(false, request.options);
    this.#ports.respond(requestId, { outcome: decision.outcome });
    decided(decision);
  }

  form(requestId: JsonRpcId, request: FormRequest): void {
    this.#unanswered.set(requestId, cancelledForm);
    this.#askNext(requestId, formQuestions(request), {});
  }

  /** The answer to one of ours; one that is no longer open is let go. */
  reply({ inReplyToId, ...outcome }: AgentReply): void {
    const open = this.#open.get(String(inReplyToId));
    if (open === undefined) return;
    this.#open.delete(String(inReplyToId));
    if ('value' in outcome) open.answer(outcome.value);
    else this.#abandon(open.requestId);
  }

  /** The agent no longer waits. */
  withdraw(requestId: JsonRpcId, reason: string): void {
    for (const [id, open] of this.#open) {
      if (open.requestId !== requestId) continue;
      this.#open.delete(id);
      this.#ports.say({ kind: 'withdrawn', id, reason });
    }
    this.#abandon(requestId);
  }

  /** The turn is to stop: what is open is answered as cancelled. Who asked us to stop has withdrawn its questions itself. */
  cancelAll(): void {
    this.#open.clear();
    for (const requestId of this.#unanswered.keys()) this.#abandon(requestId);
  }

  #askNext(requestId: JsonRpcId, questions: readonly FormQuestion[], content: JsonObject): void {
    const [question, ...rest] = questions;
    if (question === undefined) return this.#settle(requestId, { action: 'accept', content });
    let attempts = 0;
    const ask = (hint?: string): void => {
      const id = this.#ask(requestId, 'question', (value) => {
        const read = question.read(value);
        if (read.ok) return this.#askNext(requestId, rest, { ...content, ...read.value });
        attempts++;
        if (attempts < formAttemptsMax) ask(`Please answer with ${read.error}.`);
        else this.#settle(requestId, { action: 'decline' });
      });
      this.#ports.say(questionOutput(id, question, hint));
    };
    ask();
  }

  #ask(requestId: JsonRpcId, kind: string, answer: (value: Json) => void): string {
    const id = `${kind}-${++this.#asked}`;
    this.#open.set(id, { requestId, answer });
    return id;
  }

  #settle(requestId: JsonRpcId, result: JsonObject): void {
    if (this.#unanswered.delete(requestId)) this.#ports.respond(requestId, result);
  }

  #abandon(requestId: JsonRpcId): void {
    const result = this.#unanswered.get(requestId);
    if (result !== undefined) this.#settle(requestId, result);
  }
}

function questionOutput(
  id: string,
  { question, context, options, multiple }: FormQuestion,
  hint: string | undefined,
): AgentOutput {
  const lines = [context, hint].filter((line) => line !== undefined);
  const raw: JsonObject & { readonly type: 'question' } = {
    type: 'question',
    id,
    question,
    ...(lines.length === 0 ? {} : { context: lines.join('\n') }),
    ...(options === undefined ? {} : { options }),
    ...(multiple ? { multiple } : {}),
  };
  return { kind: 'message', message: QuestionMessage.parse(raw), raw };
}
