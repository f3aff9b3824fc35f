import type { Json, JsonObject } from '@concerto/base';
import type { AgentEvent, Usage } from '@concerto/protocol';
import type { Answer } from '@concerto/vm';
import { callResult } from '../children/child-sessions.ts';
import type { ProgramRequest } from '../program/machine/machine.ts';
import type { WorkerOutput } from '../worker.ts';

/** Longest text of a prompt or an answer that is shown of a model's call; the program has it whole. */
const shownMax = 4_000;

/** Says in the program's session which model was asked what, and what it answered at which cost. */
export class ModelCalls {
  readonly #say: (output: WorkerOutput) => void;
  /** By the stream that its answer comes in. */
  readonly #streamed = new Map<string, { readonly callId: string; readonly model: string }>();

  readonly #isShown: (callId: string) => boolean;

  /** `isShown`: by whoever ran the program before, who may have been killed before or after it. */
  constructor(say: (output: WorkerOutput) => void, isShown: (callId: string) => boolean) {
    this.#say = say;
    this.#isShown = isShown;
  }

  watch(request: ProgramRequest, answer: Answer | undefined): void {
    if (request.kind === 'model') this.#asked(request, answer);
    if (request.kind === 'model_next' && answer !== undefined) this.#streamedOn(request.stream, answer);
  }

  #asked(request: Extract<ProgramRequest, { kind: 'model' }>, answer: Answer | undefined): void {
    const callId = `model-${request.id}`;
    const { model } = request;
    if (answer === undefined && this.#isShown(callId)) return;
    if (answer === undefined) {
      const prompt = request.messages.findLast(({ role }) => role === 'user')?.content ?? '';
      return this.#show({ type: 'functionCall', callId, name: model, args: { prompt: shortened(prompt) } });
    }
    const stream = answer.ok && isTable(answer.value) ? answer.value.stream : undefined;
    if (typeof stream === 'string') this.#streamed.set(stream, { callId, model });
    else this.#answered({ callId, model }, answer);
  }

  #streamedOn(stream: string, answer: Answer): void {
    const call = this.#streamed.get(stream);
    const last = answer.ok && isTable(answer.value) ? answer.value.response : undefined;
    if (call === undefined || (answer.ok && last === undefined)) return;
    this.#streamed.delete(stream);
    this.#answered(call, answer.ok ? { ok: true, value: last ?? null } : answer);
  }

  #answered({ callId, model }: { readonly callId: string; readonly model: string }, answer: Answer): void {
    if (!answer.ok) return this.#show(callResult(callId, model, { $error: answer.error.message }));
    const { text, ...rest } = isTable(answer.value) ? answer.value : {};
    const said = typeof text === 'string' ? { text: shortened(text) } : {};
    this.#show(callResult(callId, model, { ...said, ...rest }));
    const name = typeof rest.model === 'string' ? rest.model : model;
    this.#say({ kind: 'usage', usage: usageOf(rest), source: { callId, model: name } });
  }

  #show(event: AgentEvent): void {
    this.#say({ kind: 'events', events: [event] });
  }
}

function usageOf(answer: JsonObject): Usage {
  const { cost } = answer;
  return {
    inputTokens: tokens(answer.tokens_in),
    outputTokens: tokens(answer.tokens_out),
    ...(typeof cost === 'number' ? { costMicroUsd: Math.round(cost * 1_000_000) } : {}),
  };
}

function tokens(count: Json | undefined): number {
  return typeof count === 'number' && count > 0 ? count : 0;
}

function shortened(text: string): string {
  return text.length <= shownMax ? text : `${text.slice(0, shownMax)}…`;
}

function isTable(value: Json): value is JsonObject {
  return value !== null && typeof value === 'object' && !Array.isArray(value);
}
