import { isNestedTooDeep, type Json, type JsonObject } from '@concerto/base';
import { z } from 'zod';
import { JsonRecord, JsonValue } from './json-value.ts';

/**
 * What the `claude` program writes with `--output-format stream-json`, as far as anybody acts on it. Everything else is
 * let through: the program adds fields and messages with every release.
 */

const block = z.looseObject({
  type: z.string(),
  text: z.string().optional(),
  /** Of a `tool_use`; its result names it as `tool_use_id`. */
  id: z.string().optional(),
  tool_use_id: z.string().optional(),
  name: z.string().optional(),
  input: JsonRecord.optional(),
  is_error: z.boolean().optional(),
  content: JsonValue.optional(),
});
export type ClaudeBlock = z.infer<typeof block>;

const content = z.looseObject({ content: z.union([z.string(), z.array(block)]).optional() });

const stream = z.looseObject({
  type: z.literal('stream_event'),
  parent_tool_use_id: z.string().nullish(),
  event: z.looseObject({
    type: z.string(),
    content_block: z.looseObject({ type: z.string() }).optional(),
    delta: z
      .looseObject({ type: z.string().optional(), text: z.string().optional(), thinking: z.string().optional() })
      .optional(),
  }),
});

const assistant = z.looseObject({
  type: z.literal('assistant'),
  parent_tool_use_id: z.string().nullish(),
  message: content,
  /** Only on a message that the program wrote itself because the model could not be asked. */
  error: z.string().optional(),
});

const user = z.looseObject({
  type: z.literal('user'),
  parent_tool_use_id: z.string().nullish(),
  message: content,
  /** Our own words come back. */
  isReplay: z.boolean().optional(),
});

const system = z.looseObject({
  type: z.literal('system'),
  subtype: z.string(),
  session_id: z.string().optional(),
  model: z.string().optional(),
  claude_code_version: z.string().optional(),
  attempt: z.number().optional(),
  error: z.string().optional(),
});

const question = z.looseObject({
  question: z.string(),
  header: z.string().optional(),
  multiSelect: z.boolean().optional(),
  options: z.array(z.looseObject({ label: z.string(), description: z.string().optional() })).optional(),
});
export type ClaudeQuestion = z.infer<typeof question>;

/** The input of the tool with which it asks. */
export const ClaudeQuestions = z.looseObject({ questions: z.array(question).min(1) });

const controlRequest = z.looseObject({
  type: z.literal('control_request'),
  request_id: z.string(),
  request: z.looseObject({
    subtype: z.string(),
    tool_name: z.string().optional(),
    input: JsonRecord.optional(),
    description: z.string().optional(),
    blocked_path: z.string().nullish(),
  }),
});

const controlCancel = z.looseObject({ type: z.literal('control_cancel_request'), request_id: z.string() });

const controlResponse = z.looseObject({
  type: z.literal('control_response'),
  response: z.looseObject({
    subtype: z.string(),
    request_id: z.string(),
    error: z.string().optional(),
    response: JsonValue.optional(),
  }),
});

const lifecycle = z.looseObject({
  type: z.literal('command_lifecycle'),
  command_uuid: z.string(),
  state: z.string(),
});

const count = z.number().nullish();

const result = z.looseObject({
  type: z.literal('result'),
  subtype: z.string(),
  is_error: z.boolean().optional(),
  result: z.string().optional(),
  errors: z.array(z.string()).optional(),
  session_id: z.string().optional(),
  terminal_reason: z.string().nullish(),
  api_error_type: z.string().nullish(),
  num_turns: count,
  total_cost_usd: count,
  usage: z
    .looseObject({
      input_tokens: count,
      output_tokens: count,
      cache_read_input_tokens: count,
      cache_creation_input_tokens: count,
    })
    .optional(),
  permission_denials: z.array(z.looseObject({ tool_name: z.string().optional() })).optional(),
});
export type ClaudeResult = z.infer<typeof result>;

export type ClaudeMessage = z.infer<typeof ClaudeMessage>;
export const ClaudeMessage = z.discriminatedUnion('type', [
  stream,
  assistant,
  user,
  system,
  controlRequest,
  controlCancel,
  controlResponse,
  lifecycle,
  result,
]);

export type ClaudeLine =
  | { readonly kind: 'message'; readonly message: ClaudeMessage }
  /** A message that we do not know, or not in this shape. */
  | { readonly kind: 'unknown'; readonly type: string; readonly raw: JsonObject }
  | { readonly kind: 'text'; readonly text: string };

export function readClaudeLine(line: string): ClaudeLine {
  const raw = parsedObject(line);
  if (raw === undefined || typeof raw.type !== 'string') return { kind: 'text', text: line };
  const message = ClaudeMessage.safeParse(raw);
  if (message.success) return { kind: 'message', message: message.data };
  return { kind: 'unknown', type: raw.type, raw };
}

function parsedObject(line: string): JsonObject | undefined {
  try {
    const value: Json = JSON.parse(line);
    // A schema would go as deep as the value does, and our stack is not that deep.
    return isObject(value) && !isNestedTooDeep(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

function isObject(value: Json): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
