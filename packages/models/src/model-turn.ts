import type { Json } from '@concerto/base';
import type { RetrySettings } from './retry.ts';

/** How long a model may think; each provider has the nearest of its own. */
export const modelEfforts = ['minimal', 'low', 'medium', 'high', 'xhigh', 'max'] as const;
export type ModelEffort = (typeof modelEfforts)[number];

export type ModelToolCall = {
  readonly id: string;
  /** As in `ModelTool`; what the provider calls it stays in this room. */
  readonly name: string;
  readonly arguments: Json;
  /** What its provider wants back with it, such as a signature. */
  readonly metadata?: Json | undefined;
};

/** What a model thought, with what its provider wants back to believe that it did. */
export type ModelReasoning = { readonly text: string; readonly metadata: Json };

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
  | {
      readonly role: 'assistant';
      readonly content: string;
      readonly toolCalls?: readonly ModelToolCall[];
      readonly reasoning?: readonly ModelReasoning[];
    }
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
  readonly effort?: ModelEffort | undefined;
  readonly topP?: number | undefined;
  readonly stopSequences?: readonly string[] | undefined;
  /** Whether a stream also has what the model thinks, where its provider shows it. */
  readonly thoughts?: boolean | undefined;
  /** For the whole turn with its retries, from the moment the rate limit lets it go. */
  readonly timeoutMs?: number | undefined;
  readonly signal?: AbortSignal | undefined;
  /** How often a request that failed for a while is made again, where the connection says nothing. */
  readonly retry?: RetrySettings | undefined;
  /** Hears that a request failed and when it is made again. */
  readonly onRetry?: ((retry: ModelRetry) => void) | undefined;
};

type ModelRetry = {
  /** Why; without secrets. */
  readonly message: string;
  readonly waitMs: number;
  /** Which attempt is to come, and how many there are at most. */
  readonly attempt: number;
  readonly attempts: number;
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
  /** Where the provider wants it back. */
  readonly reasoning?: readonly ModelReasoning[] | undefined;
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
