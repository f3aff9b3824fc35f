import { z } from 'zod';
import { JsonRecord, JsonValue } from './json-value.ts';
import { LlmContent } from './llm-content.ts';

/**
 * What a client of a session sees: the 21 agent events, and beside them four about the session itself. A released
 * shape is frozen: it is stored, and any client may replay it years later.
 */
const callId = z.string().min(1);
const requestId = z.string().min(1);
const jsonObject = JsonRecord;

export const ErrorObject = z.looseObject({
  $error: z.string(),
  metadata: z.looseObject({ origin: z.string().optional(), kind: z.string().optional() }).optional(),
});
export type ErrorObject = z.infer<typeof ErrorObject>;

export const AgentResult = z.strictObject({
  success: z.boolean(),
  href: z.string(),
  outcomes: LlmContent.optional(),
  intermediate: z.array(z.strictObject({ path: z.string(), content: LlmContent })).optional(),
});
export type AgentResult = z.infer<typeof AgentResult>;

export const Choice = z.strictObject({ id: z.string(), content: LlmContent });
export type Choice = z.infer<typeof Choice>;

const WaitForInput = z.strictObject({
  type: z.literal('waitForInput'),
  requestId,
  prompt: LlmContent,
  inputType: z.string(),
});
const WaitForChoice = z.strictObject({
  type: z.literal('waitForChoice'),
  requestId,
  prompt: LlmContent,
  choices: z.array(Choice),
  selectionMode: z.enum(['single', 'multiple']),
  layout: z.enum(['list', 'row', 'grid']).optional(),
  noneOfTheAboveLabel: z.string().optional(),
});
const ReadGraph = z.strictObject({ type: z.literal('readGraph'), requestId });
const InspectNode = z.strictObject({ type: z.literal('inspectNode'), requestId, nodeId: z.string() });
const ApplyEdits = z.strictObject({
  type: z.literal('applyEdits'),
  requestId,
  label: z.string(),
  edits: z.array(jsonObject).optional(),
  transform: jsonObject.optional(),
});
const QueryConsent = z.strictObject({
  type: z.literal('queryConsent'),
  requestId,
  consentType: z.string(),
  scope: jsonObject,
  graphUrl: z.string(),
});

/** The events that wait for an answer. */
export const SuspendEvent = z.discriminatedUnion('type', [
  WaitForInput,
  WaitForChoice,
  ReadGraph,
  InspectNode,
  ApplyEdits,
  QueryConsent,
]);
export type SuspendEvent = z.infer<typeof SuspendEvent>;

export const AgentEvent = z.discriminatedUnion('type', [
  z.strictObject({ type: z.literal('start'), objective: LlmContent }),
  z.strictObject({ type: z.literal('thought'), text: z.string() }),
  z.strictObject({
    type: z.literal('functionCall'),
    callId,
    name: z.string(),
    args: jsonObject,
    icon: z.string().optional(),
    title: z.string().optional(),
  }),
  z.strictObject({
    type: z.literal('functionCallUpdate'),
    callId,
    status: z.string().nullable(),
    opts: z
      .strictObject({ isThought: z.boolean().optional(), expectedDurationInSec: z.number().optional() })
      .optional(),
  }),
  z.strictObject({ type: z.literal('functionResult'), callId, content: LlmContent }),
  z.strictObject({
    type: z.literal('subagentAddJson'),
    callId,
    title: z.string(),
    data: JsonValue,
    icon: z.string().optional(),
  }),
  z.strictObject({ type: z.literal('subagentError'), callId, error: ErrorObject }),
  z.strictObject({ type: z.literal('subagentFinish'), callId }),
  z.strictObject({ type: z.literal('content'), content: LlmContent }),
  z.strictObject({ type: z.literal('turnComplete') }),
  z.strictObject({ type: z.literal('sendRequest'), model: z.string(), body: jsonObject }),
  WaitForInput,
  WaitForChoice,
  ReadGraph,
  InspectNode,
  ApplyEdits,
  QueryConsent,
  z.strictObject({ type: z.literal('graphEdit'), edits: z.array(jsonObject), label: z.string() }),
  z.strictObject({ type: z.literal('complete'), result: AgentResult }),
  z.strictObject({ type: z.literal('error'), message: z.string() }),
  z.strictObject({ type: z.literal('finish') }),
]);
export type AgentEvent = z.infer<typeof AgentEvent>;
export type AgentEventType = AgentEvent['type'];

export const SessionStatus = z.enum([
  'queued',
  'starting',
  'running',
  'interrupting',
  'interrupted',
  'pausing',
  'paused',
  'resuming',
  'cancelling',
  'cancelled',
  'waitingForInput',
  'waitingForApproval',
  'idle',
  'completed',
  'failed',
]);
export type SessionStatus = z.infer<typeof SessionStatus>;

export const finalStatuses: readonly SessionStatus[] = ['completed', 'failed', 'cancelled'];

export const MessagePriority = z.enum(['queued', 'immediate']);
export type MessagePriority = z.infer<typeof MessagePriority>;

/** A queue entry as users see it. The domain's in-between states show as `pending` with `inFlight`, or `cancelled` with a reason. */
export const Message = z.strictObject({
  id: z.string(),
  content: z.string(),
  priority: MessagePriority,
  status: z.enum(['pending', 'delivered', 'cancelled']),
  source: z.enum(['user', 'system', 'webhook']),
  createdAt: z.string(),
  deliveredAt: z.string().optional(),
  cancelledAt: z.string().optional(),
  inFlight: z.boolean().optional(),
  /** How the agent got it: `steer` into the running turn, or as a `prompt`. */
  how: z.enum(['steer', 'prompt']).optional(),
  /** The agent may or may not have seen it; only a person decides to send it again. */
  uncertain: z.boolean().optional(),
  reason: z.string().optional(),
});
export type Message = z.infer<typeof Message>;

export const Usage = z.strictObject({
  inputTokens: z.number().nonnegative(),
  outputTokens: z.number().nonnegative(),
  cacheReadTokens: z.number().nonnegative().optional(),
  cacheWriteTokens: z.number().nonnegative().optional(),
  costMicroUsd: z.number().int().nonnegative().optional(),
});
export type Usage = z.infer<typeof Usage>;

export const SessionEvent = z.discriminatedUnion('type', [
  z.strictObject({
    type: z.literal('status'),
    status: SessionStatus,
    previous: SessionStatus.optional(),
    reason: z.string().optional(),
  }),
  /** A queue entry changed. `order` is there after a reorder: every pending id in the order of delivery. */
  z.strictObject({
    type: z.literal('message'),
    message: Message,
    /** The queue's, after the change: what the next reorder has to name. */
    version: z.number().int().nonnegative().optional(),
    order: z.array(z.string()).optional(),
  }),
  z.strictObject({ type: z.literal('usage'), ...Usage.shape }),
  z.strictObject({ type: z.literal('gap'), from: z.number().int(), to: z.number().int() }),
  /** A suspend that no longer waits: answered by someone, or withdrawn with the reason. */
  z.strictObject({
    type: z.literal('requestSettled'),
    requestId,
    outcome: z.enum(['answered', 'withdrawn']),
    by: z.string().optional(),
    reason: z.string().optional(),
    /** What was answered, unless it was asked for as a secret. */
    response: JsonValue.optional(),
  }),
]);
export type SessionEvent = z.infer<typeof SessionEvent>;

export type PublicEvent = AgentEvent | SessionEvent;

/** As stored and sent: the event's own fields, then when it was recorded and its position. */
export type StoredEvent = PublicEvent & { readonly at: string; readonly seq: number };

const agentEventTypes: ReadonlySet<string> = new Set(AgentEvent.options.map((option) => option.shape.type.value));

/** Whether an entry belongs to the 21, the only ones on the run wire. */
export function isAgentEventType(type: string): boolean {
  return agentEventTypes.has(type);
}

/** The JSON text of an event as the log takes it; the log adds `seq`. */
export function encodeEvent(event: PublicEvent, at: string): string {
  return JSON.stringify({ ...event, at });
}

const stamped = { at: z.string(), seq: z.number().int().positive() };

/** Reads a stored event at a boundary; an unknown type comes back as is, for a client older than its server. */
export const StoredEventSchema = z.looseObject({ type: z.string(), ...stamped });
