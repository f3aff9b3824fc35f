import type { Json } from '@concerto/base';

export type ModelToolCall = {
  readonly id: string;
  /** As in `ModelTool`; what the provider calls it stays in this room. */
  readonly name: string;
  readonly arguments: Json;
};

export type ModelFile = {
  readonly type: 'file';
  readonly mimeType: string;
  /** In base64. */
  readonly data: string;
  readonly name?: string | undefined;
};

export type ModelPiece = { readonly type: 'text'; readonly text: string } | ModelFile;

export type ModelMessage =
  | { readonly role: 'system'; readonly content: string }
  | {
      readonly role: 'user';
      /** All of it in words. */
      readonly content: string;
      /** All of it in order, where it is more than words. */
      readonly pieces?: readonly ModelPiece[];
    }
  | { readonly role: 'assistant'; readonly content: string; readonly toolCalls?: readonly ModelToolCall[] }
  | {
      readonly role: 'tool';
      readonly id: string;
      readonly name: string;
      readonly content: string;
      readonly failed: boolean;
    };

export type ModelTool = {
  /** Any text, for example `Calculator::add`. */
  readonly name: string;
  readonly description: string;
  /** JSON Schema of the arguments. */
  readonly parameters: Json;
};

/**
 * One turn: the messages so far, and the model's answer to them. Tools are run by whoever asked; their results are
 * messages of the next turn. There is no loop in this room.
 */
export type ModelTurn = {
  readonly connection: string;
  /** The provider's name, or an alias of the connection; without it the connection's `default_model`. */
  readonly model?: string | undefined;
  readonly messages: readonly ModelMessage[];
  readonly tools?: readonly ModelTool[];
  /** The answer is to be JSON that fits. Not checked here: the text is handed back as it came. */
  readonly schema?: { readonly name: string; readonly schema: Json } | null;
  readonly temperature?: number | undefined;
  readonly maxTokens?: number | undefined;
  readonly topP?: number | undefined;
  readonly stopSequences?: readonly string[] | undefined;
  /** Whether a stream also has what the model thinks, where its provider shows it. */
  readonly thoughts?: boolean | undefined;
  /** For the whole turn with its retries, from the moment the rate limit lets it go. */
  readonly timeoutMs?: number | undefined;
  readonly signal?: AbortSignal | undefined;
};

export type ModelUsage = {
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly totalTokens: number;
  /** Part of the input that the provider had in its cache. */
  readonly cachedInputTokens: number;
};

export type FinishReason = 'stop' | 'length' | 'tool-calls' | 'other';

export type ModelReply = {
  readonly text: string;
  readonly toolCalls: readonly ModelToolCall[];
  readonly finishReason: FinishReason;
  readonly usage: ModelUsage;
  /** In US dollars by the provider's list price; undefined when it is not known. */
  readonly cost: number | undefined;
  /** What the provider says has answered. */
  readonly model: string;
  readonly provider: string;
  readonly latencyMs: number;
  /** Requests it took, the one that succeeded included. */
  readonly attempts: number;
};

/** Pieces of text as they come, then the whole. */
export type ModelPart =
  | { readonly type: 'thought'; readonly text: string }
  | { readonly type: 'text'; readonly text: string }
  | { readonly type: 'reply'; readonly reply: ModelReply };
