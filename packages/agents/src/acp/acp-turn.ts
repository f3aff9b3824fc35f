import { type JsonObject, unreachable } from '@concerto/base';
import type { PlanEntry, Usage, UsageSource } from '@concerto/protocol';
import type { ContentBlock, PromptResult, SessionUpdate, ToolCall } from '@concerto/protocol/acp';
import type { AgentOutput } from '../agent-connection.ts';
import { plan, said, saidCustom, thought } from '../driver-output.ts';
import { ThoughtPieces } from '../thought-pieces.ts';
import { blockEvent, blockText } from './acp-content.ts';
import { AcpToolCalls, type CallWatch } from './acp-tool-calls.ts';
import type { ToolNaming } from './acp-tool-rules.ts';

/** Of the answer's text; what comes beyond it was streamed all the same. */
const textMax = 4 * 1024 * 1024;

/** The updates that are about a turn. */
export type TurnUpdate = Extract<
  SessionUpdate,
  { sessionUpdate: 'agent_message_chunk' | 'agent_thought_chunk' | 'tool_call' | 'tool_call_update' | 'plan' }
>;

/** One prompt and what the agent tells until it is answered. */
export class AcpTurn {
  readonly #id: string;
  readonly #calls: AcpToolCalls;
  readonly #more: JsonObject;
  readonly #thoughts = new ThoughtPieces();
  /** The model's message that they belong to, where the agent names it. */
  #thoughtId: string | undefined;
  #text = '';
  /** The model's message under way; agents that name none have one from tool to tool. */
  #messageId: string | undefined;
  #messages = 0;
  #isWorking = false;
  #hasRefused = false;
  #plan: string | undefined;

  /** `more` goes with the result. */
  constructor(
    id: string,
    more: JsonObject = {},
    calls: { readonly naming?: ToolNaming | 'nowhere'; readonly watch?: CallWatch } = {},
  ) {
    this.#id = id;
    this.#more = more;
    this.#calls = new AcpToolCalls(id, calls.naming, calls.watch);
  }

  update(update: TurnUpdate): readonly AgentOutput[] {
    switch (update.sessionUpdate) {
      case 'agent_message_chunk':
        return [...this.#thought(), ...this.#message(update.content, update.messageId ?? undefined)];
      case 'agent_thought_chunk': {
        const messageId = update.messageId ?? undefined;
        const before = messageId === this.#thoughtId ? [] : this.#thought();
        this.#thoughtId = messageId;
        const text = this.#thoughts.push(blockText(update.content) ?? '');
        return text === undefined ? before : [...before, thought(text, messageId)];
      }
      case 'tool_call':
        return [...this.#thought(), ...this.#working(this.#calls.began(update, this.#messageId))];
      case 'tool_call_update':
        return [...this.#thought(), ...this.#working(this.#calls.changed(update, this.#messageId))];
      case 'plan':
        return [...this.#thought(), ...this.#planned(update.entries)];
      default:
        return unreachable(update);
    }
  }

  asked(call: ToolCall): {
    readonly call: ToolCall;
    readonly callId: string;
    readonly outputs: readonly AgentOutput[];
  } {
    const { call: known, callId, outputs } = this.#calls.asked(call, this.#messageId);
    return { call: known, callId, outputs: [...this.#thought(), ...this.#working(outputs)] };
  }

  /** A permission was refused: some agents then end the turn as if it had been cancelled. */
  refused(toolCallId: string): void {
    this.#hasRefused = true;
    this.#calls.refused(toolCallId);
  }

  /** It was stopped at our request, which is confirmed by other means. */
  stopped(): readonly AgentOutput[] {
    return [...this.#thought(), ...this.#calls.close('cancelled')];
  }

  ended(result: PromptResult, source: UsageSource, isBilled = false): readonly AgentOutput[] {
    const { stopReason } = result;
    const told = usageOf(result);
    // The cost of an agent that tells it comes apart: of these tokens nothing is left to be guessed.
    const usage = told === undefined || !isBilled ? told : { ...told, costMicroUsd: 0 };
    const thought = result.usage?.thoughtTokens;
    const tokens: JsonObject =
      usage === undefined
        ? {}
        : {
            usage: {
              input_tokens: usage.inputTokens,
              output_tokens: usage.outputTokens,
              ...(thought == null || thought === 0 ? {} : { thought_tokens: thought }),
            },
          };
    const isDone = stopReason === 'end_turn' || (stopReason === 'cancelled' && this.#hasRefused);
    const outputs: AgentOutput[] = [
      ...this.#thought(),
      ...this.#calls.close(stopReason === 'cancelled' ? 'cancelled' : 'unfinished'),
    ];
    if (usage !== undefined) {
      const model = result._meta?.quota?.model_usage?.[0]?.model ?? undefined;
      outputs.push({ kind: 'usage', usage, source: { ...source, ...(model === undefined ? {} : { model }) } });
    }
    if (isDone)
      outputs.push(
        said({ type: 'result', ...this.#answer(stopReason), stop_reason: stopReason, ...tokens, ...this.#more }),
      );
    else {
      const message = stopMessages[stopReason] ?? `the agent stopped: ${stopReason}`;
      outputs.push(said({ type: 'error', message, code: stopReason, ...tokens }));
    }
    return outputs;
  }

  failed(message: string, code: string | number): readonly AgentOutput[] {
    return [...this.#thought(), ...this.#calls.close('unfinished'), said({ type: 'error', message, code })];
  }

  /** What it said last; streamed, it is a message that is there already. */
  #answer(stopReason: string): { readonly text: string; readonly message?: string } {
    if (this.#text === '' && stopReason === 'cancelled') return { text: 'The turn ended with the refusal.' };
    return {
      text: this.#text,
      ...(this.#text === '' || this.#messageId === undefined ? {} : { message: this.#messageId }),
    };
  }

  /** What was said before a tool is not the answer. */
  #working(outputs: readonly AgentOutput[]): readonly AgentOutput[] {
    if (outputs.some((output) => output.kind === 'message' && output.shown?.[0]?.type === 'functionCall')) {
      this.#text = '';
      this.#isWorking = true;
    }
    return outputs;
  }

  #thought(): readonly AgentOutput[] {
    const text = this.#thoughts.take();
    return text === undefined ? [] : [thought(text, this.#thoughtId)];
  }

  #message(block: ContentBlock, messageId: string | undefined): readonly AgentOutput[] {
    const id = messageId ?? this.#ownMessage();
    if (id !== this.#messageId) this.#text = '';
    this.#messageId = id;
    this.#isWorking = false;
    const text = blockText(block);
    if (text === undefined) {
      return [saidCustom('content', { mime_type: block.mimeType ?? block.type }, [blockEvent(block, id)])];
    }
    if (text === '') return [];
    if (this.#text.length < textMax) this.#text += text;
    return [said({ type: 'partial', text, message: id })];
  }

  #ownMessage(): string {
    if (this.#isWorking || this.#messages === 0) this.#messages++;
    return `${this.#id}/message-${this.#messages}`;
  }

  #planned(
    entries: readonly {
      readonly content: string;
      readonly status?: string | null | undefined;
      readonly priority?: string | null | undefined;
    }[],
  ): AgentOutput[] {
    if (entries.length === 0) return [];
    const steps = entries.map(
      ({ content, status, priority }): PlanEntry => ({
        content,
        status: status === 'completed' || status === 'in_progress' ? status : 'pending',
        ...(priority == null ? {} : { priority }),
      }),
    );
    const told = JSON.stringify(steps);
    if (told === this.#plan) return [];
    this.#plan = told;
    return [plan(steps)];
  }
}

const stopMessages: Readonly<Record<string, string>> = {
  max_tokens: 'the model reached its limit of tokens',
  max_turn_requests: 'the agent reached its limit of requests in one turn',
  refusal: 'the agent refused to go on',
  cancelled: 'the agent cancelled its turn',
};

function usageOf({ usage, _meta }: PromptResult): Usage | undefined {
  const { input_tokens: input, output_tokens: output } = _meta?.quota?.token_count ?? {};
  if (usage == null) {
    return input == null || output == null ? undefined : { inputTokens: input, outputTokens: output };
  }
  const { inputTokens, outputTokens, cachedReadTokens, cachedWriteTokens } = usage;
  return {
    inputTokens,
    outputTokens,
    ...(cachedReadTokens == null ? {} : { cacheReadTokens: cachedReadTokens }),
    ...(cachedWriteTokens == null ? {} : { cacheWriteTokens: cachedWriteTokens }),
  };
}
