import type { Json, JsonObject } from '@concerto/base';
import * as z from 'zod/mini';
import { AgentMessageId } from './agent-command.ts';
import { repairedWork, WireChange, WorkMessage, workMessages } from './agent-wire-work.ts';
import { JsonValue } from './json-value.ts';
import { wireFaults } from './wire-fault.ts';

/**
 * The agent wire: one JSON object a line over stdio. What agents write is loose, so that a newer agent's extra fields
 * pass through instead of killing it. What we write is in `agent-command.ts`.
 */

const json: z.ZodMiniType<Json> = JsonValue;

/** What it can be asked to do, and what it takes beside text: `images`, or `files` of any type. */
export const agentCapabilities = ['steer', 'interrupt', 'pause', 'cancel', 'resume', 'images', 'files'] as const;
export type AgentCapability = (typeof agentCapabilities)[number];

export const InitAckMessage = z.looseObject({
  type: z.literal('init_ack'),
  version: z.optional(z.string()),
  capabilities: z.optional(z.array(z.string())),
});
export type InitAckMessage = z.infer<typeof InitAckMessage>;

export const ProgressMessage = z.looseObject({
  type: z.literal('progress'),
  message: z.string(),
  percent: z.optional(z.number()),
  stage: z.optional(z.string()),
});
export type ProgressMessage = z.infer<typeof ProgressMessage>;

export const PartialMessage = z.looseObject({
  type: z.literal('partial'),
  text: z.string(),
  /** The message of the model that it is a piece of; without one, of the message under way. */
  message: z.optional(AgentMessageId),
});
export type PartialMessage = z.infer<typeof PartialMessage>;

export const LogMessage = z.looseObject({
  type: z.literal('log'),
  level: z.optional(z.string()),
  message: z.string(),
});
export type LogMessage = z.infer<typeof LogMessage>;

export const QuestionMessage = z.looseObject({
  type: z.literal('question'),
  id: z.optional(AgentMessageId),
  question: z.string(),
  context: z.optional(json),
  options: z.optional(z.array(z.string())),
  /** More than one of the options may be chosen. */
  multiple: z.optional(z.boolean()),
});
export type QuestionMessage = z.infer<typeof QuestionMessage>;

export const ApprovalMessage = z.looseObject({
  type: z.literal('approval'),
  id: z.optional(AgentMessageId),
  description: z.string(),
  risk_level: z.optional(z.string()),
  /** What sort of consent it is, where it is not `approval`; `budget` is ours alone. */
  consent_type: z.optional(z.string()),
  /** What is to be done, in words that rules understand; what is missing is taken from the call. */
  tool: z.optional(z.string()),
  kind: z.optional(z.string()),
  command: z.optional(z.union([z.string(), z.array(z.string())])),
  paths: z.optional(z.array(z.string())),
  server: z.optional(z.string()),
  changes: z.optional(z.array(WireChange)),
  /** The `tool_call` that it is about. */
  call: z.optional(AgentMessageId),
});
export type ApprovalMessage = z.infer<typeof ApprovalMessage>;

/** Ends the turn. Its text is a message of its own, unless `message` names the one that was streamed. */
export const ResultMessage = z.looseObject({
  type: z.literal('result'),
  text: z.optional(z.string()),
  message: z.optional(AgentMessageId),
});
export type ResultMessage = z.infer<typeof ResultMessage>;

/** Ends the turn. */
export const ErrorMessage = z.looseObject({
  type: z.literal('error'),
  message: z.string(),
  code: z.optional(z.union([z.string(), z.number()])),
});
export type ErrorMessage = z.infer<typeof ErrorMessage>;

export const AckMessage = z.looseObject({
  type: z.literal('ack'),
  in_reply_to: z.string(),
  in_reply_to_id: z.string(),
});
export type AckMessage = z.infer<typeof AckMessage>;

export const KnownAgentMessage = z.discriminatedUnion('type', [
  InitAckMessage,
  ProgressMessage,
  PartialMessage,
  LogMessage,
  QuestionMessage,
  ApprovalMessage,
  ResultMessage,
  ErrorMessage,
  AckMessage,
  ...workMessages,
]);
export type KnownAgentMessage = z.infer<typeof KnownAgentMessage>;

/** A user-defined message, dispatched by the name in `name`. Of an agent's own, the fields are all but its `type`. */
export type CustomMessage = { readonly type: 'custom'; readonly name: string; readonly fields: JsonObject };

export type AgentMessage = KnownAgentMessage | CustomMessage;

/** Who reads a message by what the wire says, and who needs it as it was sent, find both. */
export type AgentLine =
  | {
      readonly kind: 'message';
      /** Always of its declared shape: where the agent left that shape, what could be saved of it. */
      readonly message: AgentMessage;
      /** Exactly what was sent. */
      readonly raw: JsonObject & { readonly type: string };
      /** Where the agent left the shape, in words for its author. */
      readonly problem?: string;
    }
  | { readonly kind: 'plain'; readonly text: string };

/** One line of an agent's stdout. Never throws: whatever an agent writes is a fact. */
export function parseAgentLine(text: string): AgentLine {
  const raw = parseTypedObject(text);
  if (raw === undefined) return { kind: 'plain', text };
  if (isWellFormed(raw)) return { kind: 'message', message: raw, raw };
  const { type } = raw;
  if (isKnownType(type)) return repaired(raw, type);
  return { kind: 'message', message: custom(raw), raw };
}

type TypedObject = JsonObject & { readonly type: string };

function custom({ type: name, ...fields }: TypedObject): CustomMessage {
  return { type: 'custom', name, fields };
}

function parseTypedObject(text: string): TypedObject | undefined {
  // Most plain text is told apart by its first letter; a thrown SyntaxError would cost far more than the line.
  if (!startsLikeObject(text)) return undefined;
  try {
    const value: Json = JSON.parse(text);
    return isTypedObject(value) ? value : undefined;
  } catch {
    // Not JSON after all: plain text.
    return undefined;
  }
}

const openBrace = 123;

function startsLikeObject(text: string): boolean {
  return text.charCodeAt(0) === openBrace || text.trimStart().charCodeAt(0) === openBrace;
}

function isTypedObject(value: Json): value is TypedObject {
  return typeof value === 'object' && value !== null && 'type' in value && typeof value.type === 'string';
}

const knownTypes: Readonly<Record<string, true>> = Object.assign(
  Object.create(null),
  Object.fromEntries(KnownAgentMessage.def.options.map((option) => [option.shape.type.def.values[0], true])),
);

function isKnownType(type: string): type is KnownAgentMessage['type'] {
  return knownTypes[type] === true;
}

/**
 * What `KnownAgentMessage` accepts, by hand: running a schema on each of 100,000 progress lines would cost more than
 * parsing their JSON. A property test holds the two to the same verdict.
 */
function isWellFormed(raw: JsonObject): raw is KnownAgentMessage & TypedObject {
  switch (raw.type) {
    case 'progress':
      return typeof raw.message === 'string' && isOptional(raw.percent, 'number') && isOptional(raw.stage, 'string');
    case 'partial':
      return typeof raw.text === 'string' && isOptionalId(raw.message);
    case 'log':
      return typeof raw.message === 'string' && isOptional(raw.level, 'string');
    case 'result':
      return isOptional(raw.text, 'string') && isOptionalId(raw.message);
    case 'question':
      return (
        typeof raw.question === 'string' &&
        isOptionalId(raw.id) &&
        isOptionalStrings(raw.options) &&
        (raw.multiple === undefined || typeof raw.multiple === 'boolean')
      );
    case 'approval':
      return isWellFormedApproval(raw);
    case 'error':
      return typeof raw.message === 'string' && isOptionalId(raw.code);
    case 'ack':
      return typeof raw.in_reply_to === 'string' && typeof raw.in_reply_to_id === 'string';
    case 'init_ack':
      return isOptional(raw.version, 'string') && isOptionalStrings(raw.capabilities);
    case 'tool_output':
      return typeof raw.text === 'string' && raw.id !== undefined && raw.id !== '' && isOptionalId(raw.id);
    case 'thought':
    case 'tool_call':
    case 'tool_result':
    case 'plan':
    case 'usage':
    case 'message':
      return WorkMessage.safeParse(raw).success;
    default:
      return false;
  }
}

function isWellFormedApproval(raw: JsonObject): boolean {
  const { description, id, risk_level, consent_type, tool, kind, command, paths, server, changes, call } = raw;
  return (
    typeof description === 'string' &&
    isOptionalId(id) &&
    [risk_level, consent_type, tool, kind, server].every((text) => isOptional(text, 'string')) &&
    (isOptional(command, 'string') || isOptionalStrings(command)) &&
    isOptionalStrings(paths) &&
    isOptionalId(call) &&
    (changes === undefined || z.array(WireChange).safeParse(changes).success)
  );
}

function isOptional(value: Json | undefined, type: 'string' | 'number'): boolean {
  // A number JSON can spell but a double cannot hold (1e999) is no number to a reader.
  return value === undefined || (typeof value === type && (type === 'string' || Number.isFinite(value)));
}

function isOptionalId(value: Json | undefined): boolean {
  return isOptional(value, 'string') || isOptional(value, 'number');
}

function isOptionalStrings(value: Json | undefined): boolean {
  return value === undefined || (Array.isArray(value) && value.every((entry) => typeof entry === 'string'));
}

/**
 * A known message that left its shape still has to do its work: an `error` without a message ends the turn all the
 * same, and a question whose options are numbers is still asked.
 */
function repaired(raw: TypedObject, type: KnownAgentMessage['type']): AgentLine {
  const problem = `\`${type}\` message: ${wireFaults(raw, KnownAgentMessage.safeParse(raw).error?.issues ?? [])}`;
  return { kind: 'message', message: repairedMessage(raw, type), raw, problem };
}

function repairedMessage(raw: TypedObject, type: KnownAgentMessage['type']): AgentMessage {
  const id = asId(raw.id);
  switch (type) {
    case 'progress':
      return {
        ...raw,
        type,
        message: asText(raw.message),
        percent: asNumber(raw.percent),
        stage: asOptionalText(raw.stage),
      };
    case 'partial':
      return { ...raw, type, text: asText(raw.text ?? raw.chunk), message: asId(raw.message) };
    case 'log':
      return { ...raw, type, message: asText(raw.message), level: asOptionalText(raw.level) };
    case 'result':
      return { ...raw, type, text: asOptionalText(raw.text), message: asId(raw.message) };
    case 'question':
      return {
        ...raw,
        type,
        id,
        question: asText(raw.question),
        options: asTexts(raw.options),
        multiple: raw.multiple === true,
      };
    case 'approval':
      return repairedApproval(raw);
    case 'error':
      return { ...raw, type, message: asOptionalText(raw.message) ?? 'error without a message', code: asId(raw.code) };
    case 'ack':
      return { ...raw, type, in_reply_to: asText(raw.in_reply_to), in_reply_to_id: asText(raw.in_reply_to_id) };
    case 'init_ack':
      return { ...raw, type, version: asOptionalText(raw.version), capabilities: asTexts(raw.capabilities) };
    case 'thought':
    case 'tool_call':
    case 'tool_output':
    case 'tool_result':
    case 'plan':
    case 'usage':
    case 'message':
      return repairedWork(raw, type) ?? custom(raw);
  }
}

function repairedApproval(raw: TypedObject): ApprovalMessage {
  const { command, paths } = raw;
  const changes = z.array(WireChange).safeParse(raw.changes);
  return {
    ...raw,
    type: 'approval',
    id: asId(raw.id),
    description: asText(raw.description),
    risk_level: asOptionalText(raw.risk_level),
    consent_type: asOptionalText(raw.consent_type),
    tool: asOptionalText(raw.tool),
    kind: asOptionalText(raw.kind),
    command: asTexts(command) ?? asOptionalText(command),
    paths: asTexts(paths) ?? (typeof paths === 'string' ? [paths] : undefined),
    server: asOptionalText(raw.server),
    changes: changes.success ? changes.data : undefined,
    call: asId(raw.call),
  };
}

function asText(value: Json | undefined): string {
  return asOptionalText(value) ?? '';
}

function asOptionalText(value: Json | undefined): string | undefined {
  if (value === undefined || value === null) return undefined;
  return typeof value === 'string' ? value : JSON.stringify(value);
}

function asTexts(value: Json | undefined): string[] | undefined {
  return Array.isArray(value) ? value.map((entry: Json) => asText(entry)) : undefined;
}

function asNumber(value: Json | undefined): number | undefined {
  if (typeof value === 'string') return asNumber(Number.parseFloat(value));
  return typeof value === 'number' && Number.isFinite(value) ? value : undefined;
}

function asId(value: Json | undefined): AgentMessageId | undefined {
  return typeof value === 'string' || (typeof value === 'number' && Number.isFinite(value)) ? value : undefined;
}
