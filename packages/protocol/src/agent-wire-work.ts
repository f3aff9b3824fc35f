import type { Json, JsonObject } from '@concerto/base';
import * as z from 'zod';
import { CallOutcome, ToolKind } from './agent-event.ts';
import { JsonRecord, JsonValue } from './json-value.ts';

/**
 * How an agent of our own wire tells what it does: thoughts, calls, plan, usage, whole messages. Each is as loose as the
 * rest of what agents write: a newer agent's extra fields pass through.
 */
const id = z.union([z.string().min(1), z.number()]);
const count = z.number().int().nonnegative();

export const WireLocation = z.looseObject({ path: z.string(), line: count.optional() });
export type WireLocation = z.infer<typeof WireLocation>;

/** `added` and `removed` are counted from the patch where they are missing. */
export const WireChange = z.looseObject({
  path: z.string(),
  kind: z.enum(['create', 'edit', 'delete', 'move']).optional(),
  moved_to: z.string().optional(),
  patch: z.string().optional(),
  added: count.optional(),
  removed: count.optional(),
});
export type WireChange = z.infer<typeof WireChange>;

export const ThoughtMessage = z.looseObject({
  type: z.literal('thought'),
  text: z.string(),
  /** The message of the model that it belongs to. */
  message: id.optional(),
});
export type ThoughtMessage = z.infer<typeof ThoughtMessage>;

export const ToolCallMessage = z.looseObject({
  type: z.literal('tool_call'),
  id,
  name: z.string().min(1),
  args: JsonRecord.optional(),
  title: z.string().optional(),
  kind: ToolKind.optional(),
  locations: z.array(WireLocation).optional(),
  changes: z.array(WireChange).optional(),
  /** The call whose sub-agent makes this one. */
  parent: id.optional(),
  message: id.optional(),
});
export type ToolCallMessage = z.infer<typeof ToolCallMessage>;

export const ToolOutputMessage = z.looseObject({ type: z.literal('tool_output'), id, text: z.string() });
export type ToolOutputMessage = z.infer<typeof ToolOutputMessage>;

export const ToolResultMessage = z.looseObject({
  type: z.literal('tool_result'),
  id,
  /** A text, any JSON, or `{parts}` for pictures and files. */
  content: JsonValue.optional(),
  outcome: CallOutcome.optional(),
  locations: z.array(WireLocation).optional(),
  changes: z.array(WireChange).optional(),
});
export type ToolResultMessage = z.infer<typeof ToolResultMessage>;

export const PlanMessage = z.looseObject({
  type: z.literal('plan'),
  entries: z.array(
    z.looseObject({
      content: z.string(),
      status: z.enum(['pending', 'in_progress', 'completed']).optional(),
      priority: z.string().optional(),
    }),
  ),
});
export type PlanMessage = z.infer<typeof PlanMessage>;

/** What was used since the last one. */
export const UsageMessage = z.looseObject({
  type: z.literal('usage'),
  input_tokens: count,
  output_tokens: count,
  cache_read_tokens: count.optional(),
  cache_write_tokens: count.optional(),
  cost_usd: z.number().nonnegative().optional(),
  model: z.string().optional(),
  /** How full the model's window is. */
  context: z.looseObject({ used: count, size: count }).optional(),
});
export type UsageMessage = z.infer<typeof UsageMessage>;

/** A whole message of the model; with an id it replaces the pieces (`partial` with that `message`) it was streamed in. */
export const MessageMessage = z.looseObject({ type: z.literal('message'), id: id.optional(), text: z.string() });
export type MessageMessage = z.infer<typeof MessageMessage>;

export const workMessages = [
  ThoughtMessage,
  ToolCallMessage,
  ToolOutputMessage,
  ToolResultMessage,
  PlanMessage,
  UsageMessage,
  MessageMessage,
] as const;

export const WorkMessage = z.discriminatedUnion('type', workMessages);
export type WorkMessage = z.infer<typeof WorkMessage>;

/**
 * What can be saved of one that left its shape. Undefined where nothing is certain: then it is shown as it was sent, for
 * it may be a message of the agent's own that only has the name.
 */
export function repairedWork(raw: JsonObject, type: WorkMessage['type']): WorkMessage | undefined {
  const parsed = WorkMessage.safeParse({ ...withoutWrong(raw, type), type });
  return parsed.success ? parsed.data : undefined;
}

const needed: Readonly<Record<WorkMessage['type'], readonly string[]>> = {
  thought: ['text'],
  tool_call: ['id', 'name'],
  tool_output: ['id', 'text'],
  tool_result: ['id'],
  plan: ['entries'],
  usage: ['input_tokens', 'output_tokens'],
  message: ['text'],
};

/** Without the optional fields that are wrong: a call whose `kind` we do not know is a call all the same. */
function withoutWrong(raw: JsonObject, type: WorkMessage['type']): JsonObject {
  const issues = WorkMessage.safeParse(raw).error?.issues ?? [];
  const wrong = new Set(issues.map(({ path }) => String(path[0])));
  const kept = Object.entries(raw).filter(([name]): boolean => !wrong.has(name) || needed[type].includes(name));
  return Object.fromEntries<Json>(kept);
}
