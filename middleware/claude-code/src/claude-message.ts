import { z } from 'zod';

/** What the `claude` program writes in its stream-json mode, as far as we act on it. Everything else is let through. */

const block = z.looseObject({
  type: z.string(),
  text: z.string().optional(),
  name: z.string().optional(),
  input: z.record(z.string(), z.json()).optional(),
  is_error: z.boolean().optional(),
  content: z.json().optional(),
});

const content = z.looseObject({ content: z.union([z.string(), z.array(block)]).optional() });

const stream = z.looseObject({
  type: z.literal('stream_event'),
  parent_tool_use_id: z.string().nullish(),
  event: z.looseObject({
    type: z.string(),
    content_block: z.looseObject({ type: z.string() }).optional(),
    delta: z.looseObject({ type: z.string().optional(), text: z.string().optional() }).optional(),
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
export type Question = z.infer<typeof question>;

export const Questions = z.looseObject({ questions: z.array(question).min(1) });

const controlRequest = z.looseObject({
  type: z.literal('control_request'),
  request_id: z.string(),
  request: z.looseObject({
    subtype: z.string(),
    tool_name: z.string().optional(),
    input: z.record(z.string(), z.json()).optional(),
    description: z.string().optional(),
    blocked_path: z.string().nullish(),
  }),
});

const controlCancel = z.looseObject({ type: z.literal('control_cancel_request'), request_id: z.string() });

const controlResponse = z.looseObject({
  type: z.literal('control_response'),
  response: z.looseObject({ subtype: z.string(), request_id: z.string(), error: z.string().optional() }),
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

/** Undefined for what we do not know: the program adds messages with every release. */
export function readClaudeMessage(line: string): ClaudeMessage | undefined {
  let value: unknown;
  try {
    value = JSON.parse(line);
  } catch {
    return undefined;
  }
  const message = ClaudeMessage.safeParse(value);
  return message.success ? message.data : undefined;
}
