import type { Json, JsonObject } from '@concerto/base';
import * as z from 'zod/mini';
import { CallOutcome, ToolKind } from './agent-event.ts';
import { JsonRecord, JsonValue } from './json-value.ts';

/**
 * How an agent of our own wire tells what it does: thoughts, calls, plan, usage, whole messages. Each is as loose as the
 * rest of what agents write: a newer agent's extra fields pass through.
 */
const id = z.union([z.string().check(z.minLength(1)), z.number()]);
const count = z.int().check(z.nonnegative());

export const WireLocation = z.looseObject({ path: z.string(), line: z.optional(count) });
export type WireLocation = z.infer<typeof WireLocation>;

/** `added` and `removed` are counted from the patch where they are missing. */
export const WireChange = z.looseObject({
  path: z.string(),
  kind: z.optional(z.enum(['create', 'edit', 'delete', 'move'])),
  moved_to: z.optional(z.string()),
  patch: z.optional(z.string()),
  added: z.optional(count),
  removed: z.optional(count),
});
export type WireChange = z.infer<typeof WireChange>;

export const ThoughtMessage = z.looseObject({
  type: z.literal('thought'),
  text: z.string(),
  /** The message of the model that it belongs to. */
  message: z.optional(id),
});
export type ThoughtMessage = z.infer<typeof ThoughtMessage>;

export const ToolCallMessage = z.looseObject({
  type: z.literal('tool_call'),
  id,
  name: z.string().check(z.minLength(1)),
  args: z.optional(JsonRecord),
  title: z.optional(z.string()),
  kind: z.optional(ToolKind),
  locations: z.optional(z.array(WireLocation)),
  changes: z.optional(z.array(WireChange)),
  /** The call whose sub-agent makes this one. */
  parent: z.optional(id),
  message: z.optional(id),
});
export type ToolCallMessage = z.infer<typeof ToolCallMessage>;

export const ToolOutputMessage = z.looseObject({ type: z.literal('tool_output'), id, text: z.string() });
export type ToolOutputMessage = z.infer<typeof ToolOutputMessage>;

export const ToolResultMessage = z.looseObject({
  type: z.literal('tool_result'),
  id,
  /** A text, any JSON, or `{parts}` for pictures and files. */
  content: z.optional(JsonValue),
  outcome: z.optional(CallOutcome),
  locations: z.optional(z.array(WireLocation)),
  changes: z.optional(z.array(WireChange)),
});
export type ToolResultMessage = z.infer<typeof ToolResultMessage>;

export const PlanMessage = z.looseObject({
  type: z.literal('plan'),
  entries: z.array(
    z.looseObject({
      content: z.string(),
      status: z.optional(z.enum(['pending', 'in_progress', 'completed'])),
      priority: z.optional(z.string()),
    }),
  ),
});
export type PlanMessage = z.infer<typeof PlanMessage>;

/** What was used since the last one. */
export const UsageMessage = z.looseObject({
  type: z.literal('usage'),
  input_tokens: count,
  output_tokens: count,
  cache_read_tokens: z.optional(count),
  cache_write_tokens: z.optional(count),
  cost_usd: z.optional(z.number().check(z.nonnegative())),
  model: z.optional(z.string()),
  /** How full the model's window is. */
  context: z.optional(z.looseObject({ used: count, size: count })),
});
export type UsageMessage = z.infer<typeof UsageMessage>;

/** A whole message of the model; with an id it replaces the pieces (`partial` with that `message`) it was streamed in. */
export const MessageMessage = z.looseObject({ type: z.literal('message'), id: z.optional(id), text: z.string() });
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
