import { isNestedTooDeep, type Json, type JsonObject, jsonDepthMax } from '@concerto/base';
import * as z from 'zod/mini';
import { JsonRecord, JsonValue } from './json-value.ts';

/**
 * What the `claude` program writes with `--output-format stream-json`, as far as anybody acts on it. Everything else is
 * let through: the program adds fields and messages with every release.
 */

/** What is of another shape than we know is as good as not there: it must not cost us the message, which may end a turn. */
function lenient<Schema extends z.ZodMiniType>(schema: Schema) {
  return z.catch(z.optional(schema), undefined);
}

const text = lenient(z.string());
const flag = lenient(z.boolean());
const count = lenient(z.number().check(z.nonnegative()));

const block = z.looseObject({
  type: z.string(),
  text,
  /** Of a `tool_use`; its result names it as `tool_use_id`. */
  id: text,
  tool_use_id: text,
  name: text,
  input: lenient(JsonRecord),
  is_error: flag,
  content: lenient(JsonValue),
});
export type ClaudeBlock = z.infer<typeof block>;

const content = z.looseObject({
  /** The model's message; each of its blocks comes apart. */
  id: text,
  model: text,
  content: lenient(z.union([z.string(), z.array(block)])),
});

const tokens = z.looseObject({
  input_tokens: count,
  output_tokens: count,
  cache_read_input_tokens: count,
  cache_creation_input_tokens: count,
});

const modelUsage = z.record(
  z.string(),
  z.looseObject({
    inputTokens: count,
    outputTokens: count,
    cacheReadInputTokens: count,
    cacheCreationInputTokens: count,
    contextWindow: count,
    costUSD: count,
  }),
);

const stream = z.looseObject({
  type: z.literal('stream_event'),
  parent_tool_use_id: lenient(z.nullable(z.string())),
  event: z.looseObject({
    type: z.string(),
    content_block: lenient(z.looseObject({ type: z.string() })),
    delta: lenient(z.looseObject({ type: text, text, thinking: text })),
    message: lenient(z.looseObject({ id: text })),
    usage: lenient(tokens),
  }),
});

const assistant = z.looseObject({
  type: z.literal('assistant'),
  uuid: text,
  parent_tool_use_id: lenient(z.nullable(z.string())),
  message: content,
  /** Only on a message that the program wrote itself because the model could not be asked. */
  error: text,
});

const user = z.looseObject({
  type: z.literal('user'),
  parent_tool_use_id: lenient(z.nullable(z.string())),
  message: content,
  /** Our own words come back. */
  isReplay: flag,
  /** What the tool itself says of what it did: patches, lines, exit codes. */
  tool_use_result: lenient(JsonValue),
  tool_result_meta: lenient(z.array(z.looseObject({ id: text, permission_decision: lenient(JsonRecord) }))),
});

const system = z.looseObject({
  type: z.literal('system'),
  subtype: z.string(),
  session_id: text,
  model: text,
  claude_code_version: text,
  mcp_servers: lenient(z.array(z.looseObject({ name: z.string(), status: text }))),
  /** Why the model is asked again, how often it was and may be, and when. */
  error: text,
  error_status: lenient(z.number()),
  attempt: lenient(z.number()),
  max_retries: lenient(z.number()),
  retry_delay_ms: lenient(z.number()),
  permissionMode: text,
  /** Of work in the background, a sub-agent's or a command's. */
  tasks: lenient(z.array(z.looseObject({ task_id: z.string() }))),
  task_id: text,
  tool_use_id: text,
  is_backgrounded: flag,
  status: text,
  summary: text,
  description: text,
  usage: lenient(JsonRecord),
  output_file: text,
});

const question = z.looseObject({
  question: z.string(),
  header: text,
  multiSelect: flag,
  options: lenient(z.array(z.looseObject({ label: z.string(), description: text }))),
});
export type ClaudeQuestion = z.infer<typeof question>;

/** The input of the tool with which it asks. */
export const ClaudeQuestions = z.looseObject({ questions: z.array(question).check(z.minLength(1)) });

const controlRequest = z.looseObject({
  type: z.literal('control_request'),
  request_id: z.string(),
  request: z.looseObject({
    subtype: z.string(),
    tool_name: text,
    input: lenient(JsonRecord),
    tool_use_id: text,
    permission_suggestions: lenient(z.array(JsonRecord)),
    blocked_path: text,
    agent_id: text,
  }),
});

const controlCancel = z.looseObject({ type: z.literal('control_cancel_request'), request_id: z.string() });

const controlResponse = z.looseObject({
  type: z.literal('control_response'),
  response: z.looseObject({
    subtype: z.string(),
    request_id: z.string(),
    error: text,
    response: lenient(JsonValue),
  }),
});

const lifecycle = z.looseObject({
  type: z.literal('command_lifecycle'),
  command_uuid: z.string(),
  state: z.string(),
  /** What began it, where that was a time which the model had asked for. */
  wakeup_source: text,
});

const result = z.looseObject({
  type: z.literal('result'),
  subtype: z.string(),
  is_error: flag,
  result: text,
  errors: lenient(z.array(z.string())),
  session_id: text,
  terminal_reason: lenient(z.nullable(z.string())),
  api_error_type: lenient(z.nullable(z.string())),
  num_turns: count,
  total_cost_usd: count,
  stop_reason: lenient(z.nullable(z.string())),
  duration_ms: count,
  duration_api_ms: count,
  usage: lenient(tokens),
  /** Of the whole process so far, with its sub-agents. */
  modelUsage: lenient(modelUsage),
  permission_denials: lenient(z.array(z.looseObject({ tool_name: text }))),
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
  if (isPiece(raw)) return { kind: 'message', message: raw };
  const message = ClaudeMessage.safeParse(raw);
  if (message.success) return { kind: 'message', message: message.data };
  return { kind: 'unknown', type: raw.type, raw };
}

/** A piece of text, by hand: nearly every line is one, and a schema costs several times what its JSON does. */
function isPiece(raw: JsonObject): raw is JsonObject & Extract<ClaudeMessage, { type: 'stream_event' }> {
  if (raw.type !== 'stream_event' || raw.parent_tool_use_id !== null) return false;
  const { event } = raw;
  if (event === undefined || !isObject(event) || event.type !== 'content_block_delta') return false;
  const { delta, content_block, message, usage } = event;
  if (content_block !== undefined || message !== undefined || usage !== undefined) return false;
  return delta !== undefined && isObject(delta) && delta.type === 'text_delta' && typeof delta.text === 'string';
}

function parsedObject(line: string): JsonObject | undefined {
  try {
    const value: Json = JSON.parse(line);
    // A schema would go as deep as the value does, and our stack is not that deep.
    const mayBeDeep = line.length > 2 * jsonDepthMax;
    return isObject(value) && !(mayBeDeep && isNestedTooDeep(value)) ? value : undefined;
  } catch {
    return undefined;
  }
}

function isObject(value: Json): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

const named = z.looseObject({ name: z.string(), description: text, argumentHint: text });

/** What the program says of itself when it begins. */
export const ClaudeIntroduction = z.looseObject({
  commands: lenient(z.array(named)),
  models: lenient(z.array(z.looseObject({ value: z.string(), displayName: text, description: text }))),
  account: lenient(z.looseObject({ tokenSource: text, apiKeySource: text })),
  claude_code_version: text,
  current_permission_mode: text,
  /** Whether it will ask us before it uses a tool. */
  hooks_applied: flag,
});
export type ClaudeIntroduction = z.infer<typeof ClaudeIntroduction>;

/** The answer to what a conversation has cost so far. */
export const ClaudeUsageAnswer = z.looseObject({
  session: z.looseObject({ total_cost_usd: z.number(), model_usage: lenient(modelUsage) }),
});
