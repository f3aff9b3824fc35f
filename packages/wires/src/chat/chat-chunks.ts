import type { LlmContent, Part } from '@concerto/protocol';
import * as z from 'zod';
import { filePart, plainOr } from '../files.ts';

/** What `DefaultChatTransport` sends, as far as it is looked at. */
export const ChatInput = z.looseObject({
  id: z.string().min(1).max(200),
  messages: z.array(
    z.looseObject({
      id: z.string().min(1),
      role: z.string(),
      parts: z.array(z.looseObject({ type: z.string() })).default([]),
      metadata: z.unknown().optional(),
    }),
  ),
  trigger: z.string().optional(),
  messageId: z.string().nullish(),
});
export type ChatInput = z.infer<typeof ChatInput>;
type InputMessage = ChatInput['messages'][number];
type InputPart = InputMessage['parts'][number];

const Metadata = z.looseObject({ position: z.number().int().nonnegative() });
const Approval = z.looseObject({ id: z.string(), approved: z.boolean(), reason: z.string().optional() });
const AnsweredTool = z.looseObject({
  toolCallId: z.string(),
  state: z.string(),
  output: z.unknown().optional(),
  approval: Approval.optional().catch(undefined),
});

const InputFile = z.looseObject({
  type: z.literal('file'),
  mediaType: z.string(),
  url: z.string(),
  filename: z.string().optional(),
});

/** What a user says, in our words; undefined when it cannot be taken. */
export function chatContent({ parts }: InputMessage): string | LlmContent | undefined {
  const taken: Part[] = [];
  for (const part of parts) {
    if (part.type === 'text' && typeof part.text === 'string') {
      taken.push({ text: part.text });
      continue;
    }
    const { success, data } = InputFile.safeParse(part);
    const file = success ? filePart(data.url, data.mediaType, data.filename) : undefined;
    if (file === undefined) return undefined;
    taken.push(file);
  }
  return plainOr({ role: 'user', parts: taken });
}

/** Up to where the client had heard, as it was told with the message that it heard last. */
export function heardTo({ messages }: ChatInput): number | undefined {
  const last = messages.findLast(({ role }) => role === 'assistant');
  const metadata = Metadata.safeParse(last?.metadata);
  return metadata.success ? metadata.data.position : undefined;
}

export type ChatAnswer = { readonly request: string; readonly given: 'cancelled' | { readonly payload: unknown } };

/** What was answered in the messages, by request; the client sends it with every call, so most of it is settled. */
export function chatAnswers({ messages }: ChatInput): readonly ChatAnswer[] {
  return messages.filter(({ role }) => role === 'assistant').flatMap(({ parts }) => parts.flatMap(answerIn));
}

function answerIn(part: InputPart): readonly ChatAnswer[] {
  if (part.type !== 'dynamic-tool' && !part.type.startsWith('tool-')) return [];
  const tool = AnsweredTool.safeParse(part);
  if (!tool.success) return [];
  const { state, approval, toolCallId, output } = tool.data;
  if (state === 'approval-responded' && approval !== undefined) {
    const { id, approved, reason } = approval;
    return [{ request: id, given: { payload: { approved, ...(reason === undefined ? {} : { reason }) } } }];
  }
  if (state === 'output-available') return [{ request: toolCallId, given: { payload: output ?? null } }];
  return state === 'output-error' ? [{ request: toolCallId, given: 'cancelled' }] : [];
}

type Tool = {
  readonly toolCallId: string;
  readonly toolName: string;
  readonly dynamic: true;
  /** A tool of the agent is none that the page has to run; a question is. */
  readonly providerExecuted?: true;
  readonly title?: string;
  readonly toolMetadata?: object;
};

/** The chunks of the UI message stream (v1) that we say. */
export type ChatChunk =
  | { readonly type: 'start'; readonly messageId: string; readonly messageMetadata: object }
  | {
      readonly type: 'finish';
      readonly finishReason: 'stop' | 'tool-calls' | 'error' | 'other';
      readonly messageMetadata: object;
    }
  | { readonly type: 'abort'; readonly reason: string }
  | { readonly type: 'error'; readonly errorText: string }
  | { readonly type: 'start-step' | 'finish-step' }
  | { readonly type: 'text-start' | 'text-end' | 'reasoning-start' | 'reasoning-end'; readonly id: string }
  | { readonly type: 'text-delta' | 'reasoning-delta'; readonly id: string; readonly delta: string }
  | ({ readonly type: 'tool-input-start' } & Tool)
  | ({ readonly type: 'tool-input-available'; readonly input: unknown } & Tool)
  | { readonly type: 'tool-approval-request'; readonly approvalId: string; readonly toolCallId: string }
  | {
      readonly type: 'tool-output-available';
      readonly toolCallId: string;
      readonly output: unknown;
      readonly dynamic: true;
      readonly providerExecuted?: true;
      readonly toolMetadata?: object;
    }
  | {
      readonly type: 'tool-output-error';
      readonly toolCallId: string;
      readonly errorText: string;
      readonly dynamic: true;
      readonly providerExecuted?: true;
    }
  | { readonly type: 'tool-output-denied'; readonly toolCallId: string }
  | { readonly type: 'file'; readonly url: string; readonly mediaType: string }
  | { readonly type: `data-${string}`; readonly id?: string; readonly data: unknown; readonly transient?: true };

/** For the moment alone: no part of a message. */
export function isTransient(chunk: ChatChunk): boolean {
  return 'transient' in chunk && chunk.transient === true;
}
