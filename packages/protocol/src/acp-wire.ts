import * as z from 'zod/mini';
import { JsonValue } from './json-value.ts';

/**
 * The shapes of the Agent Client Protocol, version 1, that we read. All are loose: agents add fields from week to week.
 * What an agent may leave out may also be null.
 */

export const acpVersion = 1;

const flag = z.nullish(z.boolean());
const word = z.nullish(z.string());

export const InitializeResult = z.looseObject({
  protocolVersion: z.number(),
  agentCapabilities: z.nullish(
    z.looseObject({
      loadSession: flag,
      promptCapabilities: z.nullish(z.looseObject({ image: flag, embeddedContext: flag })),
      mcpCapabilities: z.nullish(z.looseObject({ http: flag, sse: flag })),
      sessionCapabilities: z.nullish(
        z.looseObject({ resume: z.optional(JsonValue), additionalDirectories: z.optional(JsonValue) }),
      ),
    }),
  ),
  agentInfo: z.nullish(z.looseObject({ name: word, version: word })),
  authMethods: z.nullish(z.array(z.looseObject({ id: z.string(), name: word, description: word }))),
  _meta: z.nullish(z.looseObject({ steering: z.nullish(z.looseObject({ supported: flag })) })),
});
export type InitializeResult = z.infer<typeof InitializeResult>;

const choice = z.looseObject({ id: word, modelId: word, value: word, name: word, description: word });

/** What an agent can be switched to, as each tells it in its own way. */
const switches = {
  modes: z.catch(
    z.nullish(z.looseObject({ availableModes: z.nullish(z.array(choice)), currentModeId: word })),
    undefined,
  ),
  models: z.catch(
    z.nullish(z.looseObject({ availableModels: z.nullish(z.array(choice)), currentModelId: word })),
    undefined,
  ),
  configOptions: z.catch(
    z.nullish(
      z.array(
        z.looseObject({
          id: z.string(),
          category: word,
          currentValue: z.optional(JsonValue),
          options: z.catch(z.nullish(z.array(choice)), undefined),
        }),
      ),
    ),
    undefined,
  ),
};
export const SessionSwitches = z.looseObject(switches);
export type SessionSwitches = z.infer<typeof SessionSwitches>;

export const SessionResult = z.looseObject({ sessionId: z.string().check(z.minLength(1)), ...switches });

const count = z.number().check(z.nonnegative());

export const PromptResult = z.looseObject({
  stopReason: z.string(),
  // A bill we cannot read is no reason to lose the answer.
  usage: z.catch(
    z.nullish(
      z.looseObject({
        inputTokens: count,
        outputTokens: count,
        cachedReadTokens: z.nullish(count),
        cachedWriteTokens: z.nullish(count),
        thoughtTokens: z.nullish(count),
      }),
    ),
    undefined,
  ),
  /** Where Gemini CLI puts its bill. */
  _meta: z.catch(
    z.nullish(
      z.looseObject({
        quota: z.nullish(
          z.looseObject({
            token_count: z.nullish(z.looseObject({ input_tokens: z.nullish(count), output_tokens: z.nullish(count) })),
            model_usage: z.nullish(z.array(z.looseObject({ model: word }))),
          }),
        ),
      }),
    ),
    undefined,
  ),
});
export type PromptResult = z.infer<typeof PromptResult>;

export const SteeringResult = z.looseObject({ outcome: z.string(), reason: word });

export const ContentBlock = z.looseObject({
  type: z.string(),
  text: word,
  data: word,
  mimeType: word,
  uri: word,
  name: word,
  resource: z.nullish(z.looseObject({ uri: word, text: word })),
});
export type ContentBlock = z.infer<typeof ContentBlock>;

const ToolContent = z.looseObject({
  type: z.string(),
  content: z.nullish(ContentBlock),
  path: word,
  oldText: word,
  newText: word,
});
export type ToolContent = z.infer<typeof ToolContent>;

/** A call as it was first told, or what has changed of it since. */
export const ToolCall = z.looseObject({
  toolCallId: z.string(),
  title: word,
  name: word,
  kind: word,
  status: word,
  rawInput: z.optional(JsonValue),
  rawOutput: z.optional(JsonValue),
  content: z.nullish(z.array(ToolContent)),
  locations: z.nullish(z.array(z.looseObject({ path: z.string(), line: z.nullish(z.number()) }))),
  _meta: z.catch(
    z.nullish(
      z.looseObject({
        claudeCode: z.catch(
          z.nullish(z.looseObject({ toolName: word, parentToolUseId: word, toolResponse: z.nullish(JsonValue) })),
          undefined,
        ),
        /** Where some agents tell what a running command writes. */
        terminal_output_delta: z.nullish(JsonValue),
        terminal_output: z.nullish(JsonValue),
      }),
    ),
    undefined,
  ),
});
export type ToolCall = z.infer<typeof ToolCall>;

const chunk = { content: ContentBlock, messageId: word };

export const SessionUpdate = z.discriminatedUnion('sessionUpdate', [
  z.looseObject({ sessionUpdate: z.literal('agent_message_chunk'), ...chunk }),
  z.looseObject({ sessionUpdate: z.literal('agent_thought_chunk'), ...chunk }),
  z.extend(ToolCall, { sessionUpdate: z.literal('tool_call') }),
  z.extend(ToolCall, { sessionUpdate: z.literal('tool_call_update') }),
  z.looseObject({
    sessionUpdate: z.literal('plan'),
    entries: z.array(z.looseObject({ content: z.string(), status: word, priority: word })),
  }),
  z.looseObject({
    sessionUpdate: z.literal('usage_update'),
    used: z.nullish(count),
    size: z.nullish(count),
    cost: z.nullish(z.looseObject({ amount: count, currency: z.string() })),
  }),
  z.looseObject({
    sessionUpdate: z.literal('available_commands_update'),
    availableCommands: z.array(
      z.looseObject({
        name: z.string(),
        description: word,
        input: z.catch(z.nullish(z.looseObject({ hint: word })), undefined),
      }),
    ),
  }),
  z.looseObject({ sessionUpdate: z.literal('current_mode_update'), currentModeId: z.string() }),
  z.looseObject({ sessionUpdate: z.literal('config_option_update'), ...switches }),
  z.looseObject({ sessionUpdate: z.literal('session_info_update'), title: word }),
]);
export type SessionUpdate = z.infer<typeof SessionUpdate>;

/** Told apart from a known one that left its shape: agents tell many things that are not about the turn. */
export const knownUpdates: ReadonlySet<string> = new Set(
  SessionUpdate.def.options.flatMap((option) => option.shape.sessionUpdate.def.values),
);

export const SessionNotification = z.looseObject({
  sessionId: z.string(),
  update: z.looseObject({ sessionUpdate: z.string() }),
});

export const PermissionRequest = z.looseObject({
  sessionId: z.string(),
  toolCall: ToolCall,
  options: z.array(z.looseObject({ optionId: z.string(), name: z.string(), kind: z.string() })),
});
export type PermissionRequest = z.infer<typeof PermissionRequest>;
export type PermissionOption = PermissionRequest['options'][number];

const EnumOption = z.looseObject({ const: z.string(), title: word, description: word });
const choices = { enum: z.nullish(z.array(z.string())), oneOf: z.nullish(z.array(EnumOption)) };

export const FormField = z.looseObject({
  type: z.string(),
  title: word,
  description: word,
  ...choices,
  items: z.nullish(z.looseObject({ ...choices, anyOf: z.nullish(z.array(EnumOption)) })),
});
export type FormField = z.infer<typeof FormField>;

export const FormRequest = z.looseObject({
  mode: z.nullish(z.literal('form')),
  message: z.string(),
  requestedSchema: z.looseObject({
    properties: z.nullish(z.record(z.string(), FormField)),
    required: z.nullish(z.array(z.string())),
  }),
});
export type FormRequest = z.infer<typeof FormRequest>;

export const CancelRequest = z.looseObject({ requestId: z.union([z.string(), z.number()]) });
