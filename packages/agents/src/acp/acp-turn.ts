import { type JsonObject, unreachable } from '@concerto/base';
import type { Usage } from '@concerto/protocol';
import type { ContentBlock, PromptResult, SessionUpdate, ToolCall } from '@concerto/protocol/acp';
import type { AgentOutput } from '../agent-connection.ts';
import { said, saidCustom, thought } from '../driver-output.ts';
import { ThoughtPieces } from '../thought-pieces.ts';
import { blockEvent, blockText } from './acp-content.ts';
import { AcpToolCalls } from './acp-tool-calls.ts';

/** Of the answer's text; what comes beyond it was streamed all the same. */
const textMax = 4 * 1024 * 1024;

/** One prompt and what the agent tells until it is answered. */
export class AcpTurn {
  readonly #calls: AcpToolCalls;
  readonly #more: JsonObject;
  readonly #thoughts = new ThoughtPieces();
  #text = '';
  #messageId: string | undefined;
  #hasRefused = false;
  #plan: string | undefined;

  /** `more` goes with the result. */
  constructor(id: string, more: JsonObject = {}) {
    this.#more = more;
    this.#calls = new AcpToolCalls(id);
  }

  /** What an update says; `usage_update` is about the whole conversation and none of the turn's. */
  update(update: Exclude<SessionUpdate, { sessionUpdate: 'usage_update' }>): readonly AgentOutput[] {
    switch (update.sessionUpdate) {
      case 'agent_message_chunk':
        return [...this.#thought(), ...this.#message(update.content, update.messageId ?? undefined)];
      case 'agent_thought_chunk': {
        const text = this.#thoughts.push(blockText(update.content) ?? '');
        return text === undefined ? [] : [thought(text)];
      }
      case 'tool_call':
        return [...this.#thought(), ...this.#working(this.#calls.began(update))];
      case 'tool_call_update':
        return [...this.#thought(), ...this.#working(this.#calls.changed(update))];
      case 'plan':
        return [...this.#thought(), ...this.#planned(update.entries)];
      default:
        return unreachable(update);
    }
  }

  asked(call: ToolCall): { readonly call: ToolCall; readonly outputs: readonly AgentOutput[] } {
    const { call: known, outputs } = this.#calls.asked(call);
    return { call: known, outputs: [...this.#thought(), ...this.#working(outputs)] };
  }

  /** A permission was refused: some agents then end the turn as if it had been cancelled. */
  refused(): void {
    this.#hasRefused = true;
  }

  /** It was stopped at our request, which is confirmed by other means. */
  stopped(): readonly AgentOutput[] {
    return [...this.#thought(), ...this.#calls.close('cancelled')];
  }

  ended(result: PromptResult): readonly AgentOutput[] {
    const { stopReason } = result;
    const usage = usageOf(result);
    const tokens: JsonObject =
      usage === undefined ? {} : { usage: { input_tokens: usage.inputTokens, output_tokens: usage.outputTokens } };
    const isDone = stopReason === 'end_turn' || (stopReason === 'cancelled' && this.#hasRefused);
    const outputs: AgentOutput[] = [
      ...this.#thought(),
      ...this.#calls.close(stopReason === 'cancelled' ? 'cancelled' : 'unfinished'),
    ];
    if (usage !== undefined) outputs.push({ kind: 'usage', usage });
    if (isDone) {
      const text = this.#text === '' && stopReason === 'cancelled' ? 'The turn ended with the refusal.' : this.#text;
      outputs.push(said({ type: 'result', text, stop_reason: stopReason, ...tokens, ...this.#more }));
    } else {
      const message = stopMessages[stopReason] ?? `the agent stopped: ${stopReason}`;
      outputs.push(said({ type: 'error', message, code: stopReason, ...tokens }));
    }
    return outputs;
  }

  failed(message: string, code: string | number): readonly AgentOutput[] {
    return [...this.#thought(), ...this.#calls.close('unfinished'), said({ type: 'error', message, code })];
  }

  /** What was said before a tool is not the answer. */
  #working(outputs: readonly AgentOutput[]): readonly AgentOutput[] {
    if (outputs.some((output) => output.kind === 'message' && output.shown?.[0]?.type === 'functionCall'))
      this.#text = '';
    return outputs;
  }

  #thought(): readonly AgentOutput[] {
    const text = this.#thoughts.take();
    return text === undefined ? [] : [thought(text)];
  }

  #message(block: ContentBlock, messageId: string | undefined): readonly AgentOutput[] {
    if (messageId !== this.#messageId) this.#text = '';
    this.#messageId = messageId;
    const text = blockText(block);
    if (text === undefined) {
      return [saidCustom('content', { mime_type: block.mimeType ?? block.type }, [blockEvent(block)])];
    }
    if (text === '') return [];
    if (this.#text.length < textMax) this.#text += text;
    return [said({ type: 'partial', text })];
  }

  #planned(
    entries: readonly { readonly content: string; readonly status?: string | null | undefined }[],
  ): AgentOutput[] {
    if (entries.length === 0) return [];
    const done = entries.filter(({ status }) => status === 'completed').length;
    const current = entries.find(({ status }) => status === 'in_progress');
    const message = `Plan: ${done} of ${entries.length} done${current === undefined ? '' : `; now: ${current.content}`}`;
    const plan = entries.map(({ content, status }) => ({ content, status: status ?? 'pending' }));
    const told = JSON.stringify(plan);
    if (told === this.#plan) return [];
    this.#plan = told;
    const percent = Math.round((100 * done) / entries.length);
    return [said({ type: 'progress', message, stage: 'plan', percent, plan })];
  }
}

const stopMessages: Readonly<Record<string, string>> = {
  max_tokens: 'the model reached its limit of tokens',
  max_turn_requests: 'the agent reached its limit of requests in one turn',
  refusal: 'the agent refused to go on',
  cancelled: 'the agent cancelled its turn',
};

function usageOf({ usage, _meta }: PromptResult): Usage | undefined {
  const tokens = _meta?.quota?.token_count;
  if (usage == null) {
    return tokens === undefined ? undefined : { inputTokens: tokens.input_tokens, outputTokens: tokens.output_tokens };
  }
  const { inputTokens, outputTokens, cachedReadTokens, cachedWriteTokens } = usage;
  return {
    inputTokens,
    outputTokens,
    ...(cachedReadTokens == null ? {} : { cacheReadTokens: cachedReadTokens }),
    ...(cachedWriteTokens == null ? {} : { cacheWriteTokens: cachedWriteTokens }),
  };
}
