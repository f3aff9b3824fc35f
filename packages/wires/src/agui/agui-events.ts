import type { LlmContent, Part } from '@concerto/protocol';
import * as z from 'zod';
import { fileIn, plainOr } from '../files.ts';

/** The version of AG-UI that is spoken here. */
export const aguiVersion = '1.0';

/** A file that stands in the message; one that is only named nobody would fetch. */
const Source = z.looseObject({ type: z.literal('data'), value: z.string(), mimeType: z.string() });
const UserPart = z.union([
  z.looseObject({ type: z.literal('text'), text: z.string() }),
  z.looseObject({ type: z.enum(['image', 'audio', 'video', 'document']), source: Source }),
]);
const UserContent = z.union([z.string(), z.array(UserPart).min(1)]);

/** What a client sends: as loose as the protocol, which lets producers add what they like. */
export const RunAgentInput = z.looseObject({
  threadId: z.string().min(1).max(200),
  runId: z.string().min(1).max(200),
  parentRunId: z.string().nullish(),
  messages: z
    .array(
      z.looseObject({
        id: z.string().min(1),
        role: z.string(),
        content: z.unknown().optional(),
      }),
    )
    .default([]),
  state: z.unknown().optional(),
  tools: z.array(z.unknown()).nullish(),
  context: z.array(z.unknown()).nullish(),
  forwardedProps: z.unknown().optional(),
  resume: z
    .array(
      z.looseObject({
        interruptId: z.string().min(1),
        status: z.enum(['resolved', 'cancelled']),
        payload: z.unknown().optional(),
      }),
    )
    .nullish(),
});
export type RunAgentInput = z.infer<typeof RunAgentInput>;

/** What a user says, in our words; undefined when it cannot be taken. */
export function userContent(content: unknown): string | LlmContent | undefined {
  const parsed = UserContent.safeParse(content);
  if (!parsed.success) return undefined;
  if (typeof parsed.data === 'string') return parsed.data;
  return plainOr({ role: 'user', parts: parsed.data.map(partOf) });
}

function partOf(part: z.infer<typeof UserPart>): Part {
  if (part.type === 'text') return { text: part.text };
  const { source } = part;
  return { inlineData: { mimeType: source.mimeType, data: source.value } };
}

/** And back: what others said, for the client. */
export function aguiContent({ parts }: LlmContent): readonly object[] {
  return parts.map((part) => {
    const file = fileIn(part);
    if (file === undefined) return { type: 'text', text: 'text' in part ? part.text : JSON.stringify(part) };
    const kind = /^(image|audio|video)\//.exec(file.mimeType)?.[1] ?? 'document';
    const source =
      file.data === undefined
        ? { type: 'url', value: file.url, mimeType: file.mimeType }
        : { type: 'data', value: file.data, mimeType: file.mimeType };
    return { type: kind, source };
  });
}

type ToolCall = { id: string; type: 'function'; function: { name: string; arguments: string }; metadata?: object };

export type AguiMessage =
  | { id: string; role: 'user'; content: unknown }
  | { id: string; role: 'system' | 'developer'; content: unknown }
  | { id: string; role: 'assistant'; content?: string; toolCalls?: ToolCall[]; subagentRunId?: string }
  | { id: string; role: 'reasoning'; content: string }
  | { id: string; role: 'activity'; activityType: string; content: object }
  | {
      id: string;
      role: 'tool';
      toolCallId: string;
      content: string;
      subagentRunId?: string;
      metadata?: object;
    };

export type AguiInterrupt = {
  readonly id: string;
  readonly reason: string;
  readonly message: string;
  readonly toolCallId?: string;
  readonly responseSchema: object;
  readonly expiresAt?: string;
  readonly metadata: object;
};

type PatchOperation = { readonly op: 'add'; readonly path: string; readonly value: unknown };

export type AguiUsage = {
  readonly model?: string;
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly cachedInputTokens?: number;
  readonly cacheWriteInputTokens?: number;
};

export type AguiOutcome =
  | { readonly type: 'success' }
  | { readonly type: 'cancelled' }
  | { readonly type: 'interrupt'; readonly interrupts: readonly AguiInterrupt[] };

/** Of the 31 kinds of AG-UI 1.0 those that we say. */
export type AguiEvent =
  | {
      readonly type: 'RUN_STARTED';
      readonly threadId: string;
      readonly runId: string;
      readonly protocolVersion: string;
      readonly parentRunId?: string;
      readonly metadata: object;
    }
  | {
      readonly type: 'RUN_FINISHED';
      readonly threadId: string;
      readonly runId: string;
      readonly outcome: AguiOutcome;
      readonly result?: unknown;
      readonly usage?: readonly AguiUsage[];
    }
  | {
      readonly type: 'RUN_ERROR';
      readonly message: string;
      readonly code: string;
      readonly usage?: readonly AguiUsage[];
    }
  | { readonly type: 'MESSAGES_SNAPSHOT'; readonly messages: readonly AguiMessage[] }
  | { readonly type: 'STATE_SNAPSHOT'; readonly snapshot: object }
  | { readonly type: 'STATE_DELTA'; readonly delta: readonly PatchOperation[] }
  | { readonly type: 'TEXT_MESSAGE_START'; readonly messageId: string; readonly role: 'assistant' | 'user' }
  | { readonly type: 'TEXT_MESSAGE_CONTENT'; readonly messageId: string; readonly delta: string }
  | { readonly type: 'TEXT_MESSAGE_END'; readonly messageId: string }
  | { readonly type: 'REASONING_START' | 'REASONING_END'; readonly messageId: string }
  | { readonly type: 'REASONING_MESSAGE_START'; readonly messageId: string; readonly role: 'reasoning' }
  | { readonly type: 'REASONING_MESSAGE_CONTENT'; readonly messageId: string; readonly delta: string }
  | { readonly type: 'REASONING_MESSAGE_END'; readonly messageId: string }
  | {
      readonly type: 'TOOL_CALL_START';
      readonly toolCallId: string;
      readonly toolCallName: string;
      readonly parentMessageId?: string;
      readonly subagentRunId?: string;
      readonly metadata?: object;
    }
  | { readonly type: 'TOOL_CALL_ARGS'; readonly toolCallId: string; readonly delta: string }
  | { readonly type: 'TOOL_CALL_END'; readonly toolCallId: string }
  | {
      readonly type: 'TOOL_CALL_RESULT';
      readonly messageId: string;
      readonly toolCallId: string;
      readonly content: string;
      readonly role: 'tool';
      readonly subagentRunId?: string;
      readonly metadata: object;
    }
  | {
      readonly type: 'SUBAGENT_STARTED';
      readonly subagentRunId: string;
      readonly name: string;
      readonly parentToolCallId: string;
      readonly parentSubagentRunId?: string;
    }
  | {
      readonly type: 'SUBAGENT_FINISHED';
      readonly subagentRunId: string;
      readonly outcome: { readonly type: 'success' | 'suspended' };
    }
  | { readonly type: 'SUBAGENT_ERROR'; readonly subagentRunId: string; readonly message: string }
  | {
      readonly type: 'ACTIVITY_SNAPSHOT';
      readonly messageId: string;
      readonly activityType: string;
      readonly content: object;
    }
  | { readonly type: 'CUSTOM'; readonly name: string; readonly value: unknown }
  | { readonly type: 'RAW'; readonly event: unknown; readonly source: 'concerto' };
