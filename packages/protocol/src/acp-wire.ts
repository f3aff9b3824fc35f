import * as z from 'zod';
import { JsonValue } from './json-value.ts';

/**
 * The shapes of the Agent Client Protocol, version 1, that we read. All are loose: agents add fields from week to week.
 * What an agent may leave out may also be null.
 */

export const acpVersion = 1;

const flag = z.boolean().nullish();
const word = z.string().nullish();

export const InitializeResult = z.looseObject({
  protocolVersion: z.number(),
  agentCapabilities: z
    .looseObject({
      loadSession: flag,
      promptCapabilities: z.looseObject({ image: flag, embeddedContext: flag }).nullish(),
      mcpCapabilities: z.looseObject({ http: flag, sse: flag }).nullish(),
      sessionCapabilities: z
        .looseObject({ resume: JsonValue.optional(), additionalDirectories: JsonValue.optional() })
        .nullish(),
    })
    .nullish(),
  agentInfo: z.looseObject({ name: word, version: word }).nullish(),
  authMethods: z.array(z.looseObject({ id: z.string(), name: word, description: word })).nullish(),
  _meta: z.looseObject({ steering: z.looseObject({ supported: flag }).nullish() }).nullish(),
});
export type InitializeResult = z.infer<typeof InitializeResult>;

const choice = z.looseObject({ id: word, modelId: word, value: word, name: word, description: word });

/** What an agent can be switched to, as each tells it in its own way. */
const switches = {
  modes: z
    .looseObject({ availableModes: z.array(choice).nullish(), currentModeId: word })
    .nullish()
    .catch(undefined),
  models: z
    .looseObject({ availableModels: z.array(choice).nullish(), currentModelId: word })
    .nullish()
    .catch(undefined),
  configOptions: z
    .array(
      z.looseObject({
        id: z.string(),
        category: word,
        currentValue: JsonValue.optional(),
        options: z.array(choice).nullish().catch(undefined),
      }),
    )
    .nullish()
    .catch(undefined),
};
export const SessionSwitches = z.looseObject(switches);
export type SessionSwitches = z.infer<typeof SessionSwitches>;

export const SessionResult = z.looseObject({ sessionId: z.string().min(1), ...switches });

const count = z.number().nonnegative();

export const PromptResult = z.looseObject({
  stopReason: z.string(),
  usage: z
    .looseObject({
      inputTokens: count,
      outputTokens: count,
      cachedReadTokens: count.nullish(),
      cachedWriteTokens: count.nullish(),
    })
    .nullish()
    // A bill we cannot read is no reason to lose the answer.
    .catch(undefined),
  /** Where Gemini CLI puts its bill. */
  _meta: z
    .looseObject({
      quota: z
        .looseObject({
          token_count: z.looseObject({ input_tokens: count.nullish(), output_tokens: count.nullish() }).nullish(),
          model_usage: z.array(z.looseObject({ model: word })).nullish(),
        })
        .nullish(),
    })
    .nullish()
    .catch(undefined),
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
  resource: z.looseObject({ uri: word, text: word }).nullish(),
});
export type ContentBlock = z.infer<typeof ContentBlock>;

const ToolContent = z.looseObject({
  type: z.string(),
  content: ContentBlock.nullish(),
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
  rawInput: JsonValue.optional(),
  rawOutput: JsonValue.optional(),
  content: z.array(ToolContent).nullish(),
  locations: z.array(z.looseObject({ path: z.string(), line: z.number().nullish() })).nullish(),
  _meta: z
    .looseObject({
      claudeCode: z
        .looseObject({ toolName: word, parentToolUseId: word, toolResponse: JsonValue.nullish() })
        .nullish()
        .catch(undefined),
      /** Where some agents tell what a running command writes. */
      terminal_output_delta: JsonValue.nullish(),
      terminal_output: JsonValue.nullish(),
    })
    .nullish()
    .catch(undefined),
});
export type ToolCall = z.infer<typeof ToolCall>;

const chunk = { content: ContentBlock, messageId: word };

export const SessionUpdate = z.discriminatedUnion('sessionUpdate', [
  z.looseObject({ sessionUpdate: z.literal('agent_message_chunk'), ...chunk }),
  z.looseObject({ sessionUpdate: z.literal('agent_thought_chunk'), ...chunk }),
  ToolCall.extend({ sessionUpdate: z.literal('tool_call') }),
  ToolCall.extend({ sessionUpdate: z.literal('tool_call_update') }),
  z.looseObject({
    sessionUpdate: z.literal('plan'),
    entries: z.array(z.looseObject({ content: z.string(), status: word, priority: word })),
  }),
  z.looseObject({
    sessionUpdate: z.literal('usage_update'),
    used: count.nullish(),
    size: count.nullish(),
    cost: z.looseObject({ amount: count, currency: z.string() }).nullish(),
  }),
  z.looseObject({
    sessionUpdate: z.literal('available_commands_update'),
    availableCommands: z.array(
      z.looseObject({
        name: z.string(),
        description: word,
        input: z.looseObject({ hint: word }).nullish().catch(undefined),
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
  SessionUpdate.options.map((option) => option.shape.sessionUpdate.value),
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
const choices = { enum: z.array(z.string()).nullish(), oneOf: z.array(EnumOption).nullish() };

export const FormField = z.looseObject({
  type: z.string(),
  title: word,
  description: word,
  ...choices,
  items: z.looseObject({ ...choices, anyOf: z.array(EnumOption).nullish() }).nullish(),
});
export type FormField = z.infer<typeof FormField>;

export const FormRequest = z.looseObject({
  mode: z.literal('form').nullish(),
  message: z.string(),
  requestedSchema: z.looseObject({
    properties: z.record(z.string(), FormField).nullish(),
    required: z.array(z.string()).nullish(),
  }),
});
export type FormRequest = z.infer<typeof FormRequest>;

export const CancelRequest = z.looseObject({ requestId: z.union([z.string(), z.number()]) });
