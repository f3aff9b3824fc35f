import * as z from 'zod';
import { Message, MessagePriority, SessionStatus, SuspendEvent, Usage } from './agent-event.ts';
import { Budget, BudgetView } from './budget.ts';
import { MessageId, SessionId } from './ids.ts';
import { JsonValue } from './json-value.ts';
import { LlmContent, Part } from './llm-content.ts';
import { Offers, SessionParams, SessionSettings } from './session-settings.ts';

export const messageLengthMax = 100_000;
export const titleLengthMax = 200;

/** Of one message. */
export const messagePartsMax = 100;

const content = z.string().min(1, 'must not be empty').max(messageLengthMax);
/** What somebody says: a text, or parts, of which any may be a file. */
const said = z.union([
  content,
  LlmContent.extend({ parts: z.array(Part).min(1, 'must not be empty').max(messagePartsMax) }),
]);
const name = z.string().min(1).max(100);

/** `tools` is checked by the domain, which reports every fault with its path; here it is only any JSON. */
const target = {
  agent: name.optional(),
  program: name.optional(),
  assistant: name.optional(),
  template: name.optional(),
};

export const StartSession = z.strictObject({
  ...target,
  prompt: said.optional(),
  title: z.string().min(1).max(titleLengthMax).optional(),
  input: JsonValue.optional(),
  tools: JsonValue.optional(),
  /** Where it works, and params of its own: what the entry's `per_session` allows. */
  workingDir: z.string().min(1).max(4_096).optional(),
  params: SessionParams.optional(),
  ifFull: z.enum(['reject', 'queue']).optional(),
  once: z.boolean().optional(),
  /** What it may use; a unit that is not here is as the manifest says. */
  budget: Budget.optional(),
  id: SessionId.optional(),
  /** The program that answers for it, instead of what the manifest or the template says; null: none. */
  supervisor: name.nullable().optional(),
});
export type StartSession = z.infer<typeof StartSession>;

export const SessionKind = z.enum(['agent', 'program', 'assistant']);
export type SessionKind = z.infer<typeof SessionKind>;

/** Why a session does not move, computed in one place so that every client says the same. */
export const Waiting = z.strictObject({
  for: z.enum(['input', 'approval', 'slot', 'runner', 'pause']),
  since: z.string(),
  requestId: z.string().optional(),
  detail: z.string(),
  /** Of a request: who is asked, who comes after, and when it runs out. */
  asked: z.string().optional(),
  next: z.array(z.string()).optional(),
  expiresAt: z.string().optional(),
});
export type Waiting = z.infer<typeof Waiting>;

export const SessionError = z.strictObject({
  code: z.string(),
  message: z.string(),
  stderr: z.string().optional(),
});
export type SessionError = z.infer<typeof SessionError>;

export const Session = z.strictObject({
  id: z.string(),
  title: z.string(),
  kind: SessionKind,
  agent: z.string(),
  status: SessionStatus,
  turn: z.number().int().nonnegative(),
  createdAt: z.string(),
  updatedAt: z.string(),
  waiting: Waiting.optional(),
  pending: z.number().int().nonnegative(),
  usage: Usage,
  position: z.number().int().nonnegative(),
  result: JsonValue.optional(),
  error: SessionError.optional(),
  once: z.boolean().optional(),
  reason: z.string().optional(),
  capabilities: z.array(z.string()).optional(),
  /** The session that opened it, and the top of their tree. */
  parent: z.string().optional(),
  root: z.string().optional(),
  budget: BudgetView.optional(),
  /** How many sessions it opened. */
  children: z.number().int().nonnegative().optional(),
  /** The program that answers for it, and everybody its requests are put before, in this order. */
  supervisor: z.string().optional(),
  /** The session that it answers for. */
  supervises: z.string().optional(),
  answerers: z.array(z.string()).optional(),
  /** Of the worker: what an agent says of itself, for a program the digest of the code that it runs. */
  version: z.string().optional(),
  /** Put away: lists leave it out unless they are asked for it. */
  archived: z.literal(true).optional(),
  /** What it has of its own, where that is more than its agent's entry says. */
  settings: SessionSettings.optional(),
});
export type Session = z.infer<typeof Session>;

/** What people may change about a session that is not its work. */
export const DescribeSession = z
  .strictObject({ title: z.string().trim().min(1).max(200).optional(), archived: z.boolean().optional() })
  .refine(({ title, archived }) => title !== undefined || archived !== undefined, {
    error: 'say what is to change: title or archived',
  });
export type DescribeSession = z.infer<typeof DescribeSession>;

export const SessionList = z.strictObject({ sessions: z.array(Session), nextCursor: z.string().optional() });
export type SessionList = z.infer<typeof SessionList>;

/** Who answers for a session from now on; null: nobody does. */
export const SetSupervisor = z.strictObject({ supervisor: name.nullable() });
export type SetSupervisor = z.infer<typeof SetSupervisor>;

export const SendMessage = z.strictObject({
  content: said,
  priority: MessagePriority.optional(),
  id: MessageId.optional(),
});
export type SendMessage = z.infer<typeof SendMessage>;

export const ReviseMessage = z.union([
  /** A text alone leaves the files of the message as they are. */
  z.strictObject({ content: said }),
  z.strictObject({ priority: z.literal('immediate') }),
  /** What to do with a message whose delivery is uncertain. */
  z.strictObject({ uncertain: z.enum(['resend', 'drop']) }),
]);
export type ReviseMessage = z.infer<typeof ReviseMessage>;

export const OrderMessages = z.strictObject({ ids: z.array(MessageId), version: z.number().int().nonnegative() });
export type OrderMessages = z.infer<typeof OrderMessages>;

export const MessageList = z.strictObject({
  pending: z.array(Message),
  /** A page of what has left the queue, oldest first; `position` is the cursor for the next. */
  history: z.array(Message).optional(),
  position: z.number().int().nonnegative().optional(),
  more: z.boolean().optional(),
  version: z.number().int().nonnegative(),
});
export type MessageList = z.infer<typeof MessageList>;

export const LifecycleVerb = z.enum(['interrupt', 'pause', 'resume', 'cancel']);
export type LifecycleVerb = z.infer<typeof LifecycleVerb>;

export const LifecycleAccepted = z.strictObject({ status: SessionStatus, requestId: z.string() });
export type LifecycleAccepted = z.infer<typeof LifecycleAccepted>;

/** `response` may be any JSON, `null` and `false` included, but it must be there. */
export const AnswerRequest = z
  .strictObject({
    response: JsonValue,
    /** Why; an agent that is refused is told. */
    reason: z.string().min(1).max(4_000).optional(),
    /** Answers the very same again, in this session or for this agent from now on. */
    remember: z.enum(['session', 'always']).optional(),
  })
  .refine((body) => body.response !== undefined, { path: ['response'], message: 'is required' });
export type AnswerRequest = z.infer<typeof AnswerRequest>;

export const OpenRequest = z.strictObject({
  requestId: z.string(),
  type: z.string(),
  event: SuspendEvent,
  since: z.string(),
  /** Who is asked, and who comes after. */
  routedTo: z.string().optional(),
  next: z.array(z.string()).optional(),
  expiresAt: z.string().optional(),
});
export type OpenRequest = z.infer<typeof OpenRequest>;

export const OpenRequestList = z.strictObject({ requests: z.array(OpenRequest) });
export type OpenRequestList = z.infer<typeof OpenRequestList>;

export const EventPage = z.strictObject({
  events: z.array(z.looseObject({ type: z.string(), seq: z.number().int(), at: z.string() })),
  position: z.number().int().nonnegative(),
  more: z.boolean(),
});
export type EventPage = z.infer<typeof EventPage>;

export const PoolState = z.strictObject({
  active: z.number().int().nonnegative(),
  max: z.number().int().positive(),
  waiting: z.number().int().nonnegative(),
  /** The last start that found no room: whether it was refused or waits. */
  capacityReached: z
    .strictObject({ at: z.string(), sessionId: z.string(), outcome: z.enum(['refused', 'waitlisted']) })
    .optional(),
});
export type PoolState = z.infer<typeof PoolState>;

export const ConfigurePool = z.strictObject({ max: z.number().int().min(1).max(10_000) });
export type ConfigurePool = z.infer<typeof ConfigurePool>;

export const Template = z.strictObject({
  name: z.string().regex(/^[A-Za-z0-9_-]{1,64}$/, 'a name has 1 to 64 of the characters A-Z a-z 0-9 _ -'),
  agent: name.optional(),
  program: name.optional(),
  assistant: name.optional(),
  prompt: content.optional(),
  tools: JsonValue.optional(),
  /** The program that answers for its sessions. */
  supervisor: name.optional(),
});
export type Template = z.infer<typeof Template>;

export const TemplateList = z.strictObject({ templates: z.array(Template) });
export type TemplateList = z.infer<typeof TemplateList>;

export const AgentInfo = z.strictObject({
  name: z.string(),
  kind: SessionKind,
  protocol: z.string().optional(),
  command: z.string().optional(),
  description: z.string().optional(),
  /** What it announced when it last ran; empty until then. */
  capabilities: z.array(z.string()),
  /** What a session may set for itself. */
  perSession: z.array(z.string()).optional(),
  /** What can be chosen, as it last said. */
  offers: Offers.optional(),
  /** What its sessions have unless they say otherwise: a checkout of their own, who answers for them, what they may use. */
  worktree: z.literal(true).optional(),
  supervisor: z.string().optional(),
  budget: Budget.optional(),
  /** Why none can be started as things are. */
  fault: z.string().optional(),
});
export type AgentInfo = z.infer<typeof AgentInfo>;

export const AgentList = z.strictObject({ agents: z.array(AgentInfo) });
export type AgentList = z.infer<typeof AgentList>;

/** The run wire keeps its own tolerance: unknown keys are ignored there. */
export const StartRun = z.object({
  agent: name.optional(),
  program: name.optional(),
  assistant: name.optional(),
  objective: z.union([z.string(), LlmContent]).optional(),
  runId: SessionId.optional(),
  /** The same; the answer has both spellings too. */
  run_id: SessionId.optional(),
});
export type StartRun = z.infer<typeof StartRun>;

export const RunInput = z.object({
  request_id: z.string().optional(),
  requestId: z.string().optional(),
  response: JsonValue.optional(),
});
export type RunInput = z.infer<typeof RunInput>;

/** RFC 9457, with our stable `code`; further members depend on the code. */
export const Problem = z.looseObject({
  type: z.string(),
  title: z.string(),
  status: z.number().int(),
  code: z.string(),
  detail: z.string().optional(),
});
export type Problem = z.infer<typeof Problem>;

export const AuditEntry = z.strictObject({
  at: z.string(),
  direction: z.enum(['in', 'out']),
  actor: z.string(),
  what: z.string(),
  requestId: z.string().optional(),
  messageId: z.string().optional(),
  /** For a confirmation: milliseconds since its request. */
  latencyMs: z.number().nonnegative().optional(),
  /** Of an answer: when the agent had it. Absent while it has not. */
  deliveredAt: z.string().optional(),
  causedBy: z.string().optional(),
  epoch: z.number().int().optional(),
  detail: JsonValue.optional(),
});
export type AuditEntry = z.infer<typeof AuditEntry>;

/** A page: `position` is that of its last entry, the cursor for the next. */
export const Audit = z.strictObject({
  entries: z.array(AuditEntry),
  position: z.number().int().nonnegative().optional(),
  more: z.boolean().optional(),
});
export type Audit = z.infer<typeof Audit>;
