import * as z from 'zod/mini';
import { BudgetEvent } from './budget.ts';
import { JsonRecord, JsonValue } from './json-value.ts';
import { LlmContent, Part } from './llm-content.ts';
import { Offered, OfferedCommand, SettingsEvent, WorktreeEvent } from './session-settings.ts';

/**
 * What a client of a session sees: the 21 agent events, and beside them those about the session itself. A released
 * shape is frozen: it is stored, and any client may replay it years later. What was added since is optional.
 */
const callId = z.string().check(z.minLength(1));
const requestId = z.string().check(z.minLength(1));
const jsonObject = JsonRecord;
const count = z.int().check(z.nonnegative());
/** What an agent said beside it that has no place of its own here; never read by us, kept for whoever needs it. */
const extra = z.optional(jsonObject);
/** The model's message that it belongs to: a new id is a new message. */
const messageId = z.optional(z.string().check(z.minLength(1)));

export const ToolKind = z.enum([
  'read',
  'edit',
  'delete',
  'move',
  'search',
  'execute',
  'think',
  'fetch',
  'switch_mode',
  'other',
]);
export type ToolKind = z.infer<typeof ToolKind>;

export const Location = z.strictObject({ path: z.string(), line: z.optional(count) });
export type Location = z.infer<typeof Location>;

/** A change of one file. `patch` is a unified diff, made once by whoever saw the change; all others only show it. */
export const FileChange = z.strictObject({
  path: z.string(),
  kind: z.enum(['create', 'edit', 'delete', 'move']),
  movedTo: z.optional(z.string()),
  patch: z.string(),
  added: count,
  removed: count,
});
export type FileChange = z.infer<typeof FileChange>;

/** What a call touches, as far as it is known. */
const touched = { locations: z.optional(z.array(Location)), changes: z.optional(z.array(FileChange)) };

/** How a call ended. */
export const CallOutcome = z.enum(['ok', 'failed', 'denied', 'cancelled']);
export type CallOutcome = z.infer<typeof CallOutcome>;

/** How a turn ended. `lost`: process or machine gone without a word; `failed`: the agent's own error, a timeout, a refused start. */
export const TurnOutcome = z.enum(['done', 'failed', 'interrupted', 'cancelled', 'lost']);
export type TurnOutcome = z.infer<typeof TurnOutcome>;

export const RequestOption = z.strictObject({
  id: z.string(),
  label: z.string(),
  kind: z.enum(['allow_once', 'allow_always', 'reject_once', 'reject_always']),
});
export type RequestOption = z.infer<typeof RequestOption>;

/** What every request may say: the call that it is about, the answers it offers, and until when it waits. */
const asked = {
  callId: z.optional(callId),
  options: z.optional(z.array(RequestOption)),
  expiresAt: z.optional(z.string()),
  extra,
};

export const ErrorObject = z.looseObject({
  $error: z.string(),
  metadata: z.optional(z.looseObject({ origin: z.optional(z.string()), kind: z.optional(z.string()) })),
});
export type ErrorObject = z.infer<typeof ErrorObject>;

export const AgentResult = z.strictObject({
  success: z.boolean(),
  href: z.string(),
  outcomes: z.optional(LlmContent),
  intermediate: z.optional(z.array(z.strictObject({ path: z.string(), content: LlmContent }))),
});
export type AgentResult = z.infer<typeof AgentResult>;

export const Choice = z.strictObject({ id: z.string(), content: LlmContent });
export type Choice = z.infer<typeof Choice>;

const WaitForInput = z.strictObject({
  type: z.literal('waitForInput'),
  requestId,
  prompt: LlmContent,
  inputType: z.string(),
  ...asked,
});
const WaitForChoice = z.strictObject({
  type: z.literal('waitForChoice'),
  requestId,
  prompt: LlmContent,
  choices: z.array(Choice),
  selectionMode: z.enum(['single', 'multiple']),
  layout: z.optional(z.enum(['list', 'row', 'grid'])),
  noneOfTheAboveLabel: z.optional(z.string()),
  ...asked,
});
const ReadGraph = z.strictObject({ type: z.literal('readGraph'), requestId, ...asked });
const InspectNode = z.strictObject({ type: z.literal('inspectNode'), requestId, nodeId: z.string(), ...asked });
const ApplyEdits = z.strictObject({
  type: z.literal('applyEdits'),
  requestId,
  label: z.string(),
  edits: z.optional(z.array(jsonObject)),
  transform: z.optional(jsonObject),
  ...asked,
});
const QueryConsent = z.strictObject({
  type: z.literal('queryConsent'),
  requestId,
  consentType: z.string(),
  scope: jsonObject,
  graphUrl: z.string(),
  ...asked,
  ...touched,
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
  z.strictObject({ type: z.literal('start'), objective: LlmContent, extra }),
  z.strictObject({ type: z.literal('thought'), text: z.string(), messageId, extra }),
  z.strictObject({
    type: z.literal('functionCall'),
    callId,
    name: z.string(),
    args: jsonObject,
    icon: z.optional(z.string()),
    title: z.optional(z.string()),
    messageId,
    /** The turn itself, not a tool. */
    isTurn: z.optional(z.literal(true)),
    kind: z.optional(ToolKind),
    ...touched,
    /** The call whose sub-agent makes this one. */
    parentCallId: z.optional(callId),
    /** The call is a session of its own. */
    childSession: z.optional(z.string().check(z.minLength(1))),
    extra,
  }),
  z.strictObject({
    type: z.literal('functionCallUpdate'),
    callId,
    status: z.nullable(z.string()),
    opts: z.optional(
      z.strictObject({ isThought: z.optional(z.boolean()), expectedDurationInSec: z.optional(z.number()) }),
    ),
    ...touched,
    extra,
  }),
  z.strictObject({
    type: z.literal('functionResult'),
    callId,
    content: LlmContent,
    outcome: z.optional(CallOutcome),
    ...touched,
    extra,
  }),
  z.strictObject({
    type: z.literal('subagentAddJson'),
    callId,
    title: z.string(),
    data: JsonValue,
    icon: z.optional(z.string()),
  }),
  z.strictObject({ type: z.literal('subagentError'), callId, error: ErrorObject }),
  z.strictObject({ type: z.literal('subagentFinish'), callId }),
  z.strictObject({
    type: z.literal('content'),
    /** With role `user`: where the model heard what a person said into the turn; `messageId` is then the queue's. */
    content: LlmContent,
    messageId,
    /** All of the message, in place of whatever pieces of it came before. */
    whole: z.optional(z.literal(true)),
    extra,
  }),
  z.strictObject({
    type: z.literal('turnComplete'),
    outcome: z.optional(TurnOutcome),
    reason: z.optional(z.string()),
    extra,
  }),
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

export const MessageSource = z.enum(['user', 'system', 'webhook', 'program']);
export type MessageSource = z.infer<typeof MessageSource>;

/** A queue entry as users see it. The domain's in-between states show as `pending` with `inFlight`, or `cancelled` with a reason. */
export const Message = z.strictObject({
  id: z.string(),
  content: z.string(),
  /** All of it, in order, where it is more than text; `content` then has its files in words. */
  parts: z.optional(z.array(Part)),
  priority: MessagePriority,
  status: z.enum(['pending', 'delivered', 'cancelled']),
  source: MessageSource,
  /** Who sent it: `user:ann`, `program:ID`. */
  by: z.optional(z.string()),
  createdAt: z.string(),
  deliveredAt: z.optional(z.string()),
  cancelledAt: z.optional(z.string()),
  inFlight: z.optional(z.boolean()),
  /** How the agent got it: `steer` into the running turn, or as a `prompt`. */
  how: z.optional(z.enum(['steer', 'prompt'])),
  /** The agent may or may not have seen it; only a person decides to send it again. */
  uncertain: z.optional(z.boolean()),
  reason: z.optional(z.string()),
});
export type Message = z.infer<typeof Message>;

/** What became of a message that was sent: to a program at work, it is in the queue of its one agent at work. */
export const SentMessage = z.extend(Message, { session: z.optional(z.string()) });
export type SentMessage = z.infer<typeof SentMessage>;

export const Usage = z.strictObject({
  inputTokens: z.number().check(z.nonnegative()),
  outputTokens: z.number().check(z.nonnegative()),
  cacheReadTokens: z.optional(z.number().check(z.nonnegative())),
  cacheWriteTokens: z.optional(z.number().check(z.nonnegative())),
  costMicroUsd: z.optional(z.int().check(z.nonnegative())),
});
export type Usage = z.infer<typeof Usage>;

/** Of what the usage is. */
export const UsageSource = z.strictObject({
  callId: z.optional(callId),
  model: z.optional(z.string()),
  /** How full the model's window is after it. */
  context: z.optional(z.strictObject({ used: count, size: count })),
  /** Not told: the cost is from a list of prices, or the tokens from the length of what was read along. */
  isEstimate: z.optional(z.literal(true)),
});
export type UsageSource = z.infer<typeof UsageSource>;

export const PlanEntry = z.strictObject({
  content: z.string(),
  status: z.enum(['pending', 'in_progress', 'completed']),
  priority: z.optional(z.string()),
});
export type PlanEntry = z.infer<typeof PlanEntry>;

/** The whole plan as it stands now. */
const Plan = z.strictObject({
  type: z.literal('plan'),
  entries: z.array(PlanEntry),
  callId: z.optional(callId),
  extra,
});
/** What can be switched and what stands; a field that is missing is as before. */
const AgentInfoEvent = z.strictObject({
  type: z.literal('agentInfo'),
  models: z.optional(z.array(Offered)),
  model: z.optional(z.string()),
  modes: z.optional(z.array(Offered)),
  mode: z.optional(z.string()),
  efforts: z.optional(z.array(Offered)),
  effort: z.optional(z.string()),
  commands: z.optional(z.array(OfferedCommand)),
  version: z.optional(z.string()),
  /** What to do before it can be asked anything: it is not logged in; empty when it is. */
  login: z.optional(z.string()),
  extra,
});
/** A piece of what a running call writes. */
const ToolOutput = z.strictObject({ type: z.literal('toolOutput'), callId, text: z.string(), extra });

/** A place in a session's events. */
export const Because = z.strictObject({ session: z.string(), seq: z.int().check(z.positive()) });
export type Because = z.infer<typeof Because>;

export const SessionEvent = z.discriminatedUnion('type', [
  SettingsEvent,
  WorktreeEvent,
  z.strictObject({
    type: z.literal('status'),
    status: SessionStatus,
    previous: z.optional(SessionStatus),
    reason: z.optional(z.string()),
    /** Who wished it so, where somebody did: `user:ann`. */
    by: z.optional(z.string()),
  }),
  /** A queue entry changed. `order` is there after a reorder: every pending id in the order of delivery. */
  z.strictObject({
    type: z.literal('message'),
    message: Message,
    /** The queue's, after the change: what the next reorder has to name. */
    version: z.optional(z.int().check(z.nonnegative())),
    order: z.optional(z.array(z.string())),
  }),
  /** With `turn`: what was used since the one before, in that turn. Without: the session's sum, as older logs have it. */
  z.strictObject({
    type: z.literal('usage'),
    ...Usage.shape,
    ...UsageSource.shape,
    turn: z.optional(count),
    extra,
  }),
  Plan,
  AgentInfoEvent,
  ToolOutput,
  /** Who is asked now. */
  z.strictObject({
    type: z.literal('requestRouted'),
    requestId,
    to: z.string(),
    reason: z.optional(z.string()),
    expiresAt: z.optional(z.string()),
  }),
  BudgetEvent,
  z.strictObject({ type: z.literal('gap'), from: z.int(), to: z.int() }),
  /** A suspend that no longer waits: answered by someone, or withdrawn with the reason. */
  z.strictObject({
    type: z.literal('requestSettled'),
    requestId,
    outcome: z.enum(['answered', 'withdrawn']),
    by: z.optional(z.string()),
    reason: z.optional(z.string()),
    /** What was answered, unless it was asked for as a secret. */
    response: z.optional(JsonValue),
    /** Where it was decided: a place in another session's events. */
    because: z.optional(Because),
  }),
]);
export type SessionEvent = z.infer<typeof SessionEvent>;

export type PublicEvent = AgentEvent | SessionEvent;

/** What whoever works in a session says about its work; the rest is the session's own word. */
export type WorkEvent = AgentEvent | Extract<SessionEvent, { type: 'plan' | 'agentInfo' | 'toolOutput' }>;

const agentEventTypes: ReadonlySet<string> = new Set(
  AgentEvent.def.options.flatMap((option) => option.shape.type.def.values),
);

/** Whether an entry belongs to the 21, the only ones on the run wire. */
export function isAgentEventType(type: string): boolean {
  return agentEventTypes.has(type);
}
