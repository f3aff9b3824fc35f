import * as z from 'zod/mini';
import { Message, MessagePriority, SessionStatus, SuspendEvent, Usage } from './agent-event.ts';
import { Budget, BudgetView } from './budget.ts';
import { ForkOf } from './fork.ts';
import { MessageId, SessionId } from './ids.ts';
import { JsonValue } from './json-value.ts';
import { LlmContent, Part } from './llm-content.ts';
import { Rule } from './rules.ts';
import { AgentSandbox, Offers, SessionParams, SessionSettings } from './session-settings.ts';

export const messageLengthMax = 100_000;

/** In characters, as the schemas count: one that takes two places of a text is one. */
export function isLongerThanMessage(text: string): boolean {
  if (text.length <= messageLengthMax) return false;
  return text.length > 2 * messageLengthMax || Array.from(text).length > messageLengthMax;
}
export const titleLengthMax = 200;

/** That a session may be started with. */
const sessionRulesMax = 200;

/** Of one message. */
export const messagePartsMax = 100;

const content = z.string().check(z.minLength(1, 'must not be empty'), z.maxLength(messageLengthMax));
/** What somebody says: a text, or parts, of which any may be a file. */
const said = z.union([
  content,
  z.extend(LlmContent, {
    parts: z.array(Part).check(z.minLength(1, 'must not be empty'), z.maxLength(messagePartsMax)),
  }),
]);
const name = z.string().check(z.minLength(1), z.maxLength(100));

/** `tools` is checked by the domain, which reports every fault with its path; here it is only any JSON. */
const target = {
  agent: z.optional(name),
  program: z.optional(name),
  assistant: z.optional(name),
  template: z.optional(name),
};

const title = z.string().check(z.minLength(1), z.maxLength(titleLengthMax));

export const StartSession = z.strictObject({
  ...target,
  prompt: z.optional(said),
  title: z.optional(title),
  input: z.optional(JsonValue),
  tools: z.optional(JsonValue),
  /** Where it works, and params of its own: what the entry's `per_session` allows. */
  workingDir: z.optional(z.string().check(z.minLength(1), z.maxLength(4_096))),
  params: z.optional(SessionParams),
  ifFull: z.optional(z.enum(['reject', 'queue'])),
  once: z.optional(z.boolean()),
  /** What it may use; a unit that is not here is as the manifest says. */
  budget: z.optional(Budget),
  id: z.optional(SessionId),
  /** The program that answers for it, instead of what the manifest or the template says; null: none. */
  supervisor: z.optional(z.nullable(name)),
  /** Its own, before those of its agent: `rule:session.1` and so on. */
  rules: z.optional(z.array(Rule).check(z.maxLength(sessionRulesMax))),
});
export type StartSession = z.infer<typeof StartSession>;

export const SessionKind = z.enum(['agent', 'program', 'assistant']);
export type SessionKind = z.infer<typeof SessionKind>;

/** Why a session does not move, computed in one place so that every client says the same. */
export const Waiting = z.strictObject({
  for: z.enum(['input', 'approval', 'slot', 'runner', 'pause']),
  since: z.string(),
  requestId: z.optional(z.string()),
  detail: z.string(),
  /** Of a request: who is asked, who comes after, and when it runs out. */
  asked: z.optional(z.string()),
  next: z.optional(z.array(z.string())),
  expiresAt: z.optional(z.string()),
});
export type Waiting = z.infer<typeof Waiting>;

export const SessionError = z.strictObject({
  code: z.string(),
  message: z.string(),
  stderr: z.optional(z.string()),
});
export type SessionError = z.infer<typeof SessionError>;

export const Session = z.strictObject({
  id: z.string(),
  title: z.string(),
  kind: SessionKind,
  agent: z.string(),
  status: SessionStatus,
  turn: z.int().check(z.nonnegative()),
  createdAt: z.string(),
  /** When anything of it was last put on record; of two copies the later one is newer. */
  updatedAt: z.string(),
  /** When something last happened in it, which parking it and taking it over is not. */
  activeAt: z.optional(z.string()),
  waiting: z.optional(Waiting),
  pending: z.int().check(z.nonnegative()),
  usage: Usage,
  position: z.int().check(z.nonnegative()),
  result: z.optional(JsonValue),
  error: z.optional(SessionError),
  once: z.optional(z.boolean()),
  reason: z.optional(z.string()),
  capabilities: z.optional(z.array(z.string())),
  /** The session that opened it, and the top of their tree. */
  parent: z.optional(z.string()),
  root: z.optional(z.string()),
  budget: z.optional(BudgetView),
  /** How many sessions it opened. */
  children: z.optional(z.int().check(z.nonnegative())),
  /** The program that answers for it, and everybody its requests are put before, in this order. */
  supervisor: z.optional(z.string()),
  /** The session that it answers for. */
  supervises: z.optional(z.string()),
  answerers: z.optional(z.array(z.string())),
  /** Of the worker: what an agent says of itself, for a program the digest of the code that it runs. */
  version: z.optional(z.string()),
  /** Of its agent's process, once there was one. */
  sandbox: z.optional(AgentSandbox),
  /** Put away: lists leave it out unless they are asked for it. */
  archived: z.optional(z.literal(true)),
  /** What it has of its own, where that is more than its agent's entry says. */
  settings: z.optional(SessionSettings),
  /** The session that it goes on from, and the last of its events that was taken. */
  forkOf: z.optional(z.pick(ForkOf, { session: true, at: true })),
});
export type Session = z.infer<typeof Session>;

/** What people may change about a session that is not its work. */
export const DescribeSession = z
  .strictObject({
    title: z.optional(z.string().check(z.trim(), z.minLength(1), z.maxLength(200))),
    archived: z.optional(z.boolean()),
  })
  .check(
    z.refine(({ title, archived }) => title !== undefined || archived !== undefined, {
      error: 'say what is to change: title or archived',
    }),
  );
export type DescribeSession = z.infer<typeof DescribeSession>;

export const SessionList = z.strictObject({ sessions: z.array(Session), nextCursor: z.optional(z.string()) });
export type SessionList = z.infer<typeof SessionList>;

/** A new session with the conversation of another one, up to an event of it; all of it unless given. */
export const ForkSession = z.strictObject({ at: z.optional(z.int().check(z.positive())), prompt: z.optional(said) });
export type ForkSession = z.infer<typeof ForkSession>;

/** Who answers for a session from now on; null: nobody does. */
export const SetSupervisor = z.strictObject({ supervisor: z.nullable(name) });
export type SetSupervisor = z.infer<typeof SetSupervisor>;

export const SendMessage = z.strictObject({
  content: said,
  priority: z.optional(MessagePriority),
  id: z.optional(MessageId),
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

export const OrderMessages = z.strictObject({ ids: z.array(MessageId), version: z.int().check(z.nonnegative()) });
export type OrderMessages = z.infer<typeof OrderMessages>;

export const MessageList = z.strictObject({
  pending: z.array(Message),
  /** A page of what has left the queue, oldest first; `position` is the cursor for the next. */
  history: z.optional(z.array(Message)),
  position: z.optional(z.int().check(z.nonnegative())),
  more: z.optional(z.boolean()),
  version: z.int().check(z.nonnegative()),
});
export type MessageList = z.infer<typeof MessageList>;

export const LifecycleVerb = z.enum(['interrupt', 'pause', 'resume', 'cancel']);
export type LifecycleVerb = z.infer<typeof LifecycleVerb>;

export const LifecycleAccepted = z.strictObject({ status: SessionStatus, requestId: z.string() });
export type LifecycleAccepted = z.infer<typeof LifecycleAccepted>;

/** `response` may be any JSON, `null` and `false` included, but it must be there. */
/** How long a reason may be. */
export const reasonLengthMax = 4_000;

export const AnswerRequest = z
  .strictObject({
    response: JsonValue,
    /** Why; an agent that is refused is told. */
    reason: z.optional(z.string().check(z.minLength(1), z.maxLength(reasonLengthMax))),
    /** Answers the very same again, in this session or for this agent from now on. */
    remember: z.optional(z.enum(['session', 'always'])),
  })
  .check(z.refine((body) => body.response !== undefined, { path: ['response'], message: 'is required' }));
export type AnswerRequest = z.infer<typeof AnswerRequest>;

export const OpenRequest = z.strictObject({
  requestId: z.string(),
  type: z.string(),
  event: SuspendEvent,
  since: z.string(),
  /** Who is asked, and who comes after. */
  routedTo: z.optional(z.string()),
  next: z.optional(z.array(z.string())),
  expiresAt: z.optional(z.string()),
});
export type OpenRequest = z.infer<typeof OpenRequest>;

export const OpenRequestList = z.strictObject({ requests: z.array(OpenRequest) });
export type OpenRequestList = z.infer<typeof OpenRequestList>;

export const EventPage = z.strictObject({
  events: z.array(z.looseObject({ type: z.string(), seq: z.int(), at: z.string() })),
  position: z.int().check(z.nonnegative()),
  more: z.boolean(),
});
export type EventPage = z.infer<typeof EventPage>;

export const PoolState = z.strictObject({
  active: z.int().check(z.nonnegative()),
  max: z.int().check(z.positive()),
  waiting: z.int().check(z.nonnegative()),
  /** The last start that found no room: whether it was refused or waits. */
  capacityReached: z.optional(
    z.strictObject({ at: z.string(), sessionId: z.string(), outcome: z.enum(['refused', 'waitlisted']) }),
  ),
});
export type PoolState = z.infer<typeof PoolState>;

export const ConfigurePool = z.strictObject({ max: z.int().check(z.gte(1), z.lte(10_000)) });
export type ConfigurePool = z.infer<typeof ConfigurePool>;

export const Template = z.strictObject({
  name: z.string().check(z.regex(/^[A-Za-z0-9_-]{1,64}$/, 'a name has 1 to 64 of the characters A-Z a-z 0-9 _ -')),
  agent: z.optional(name),
  program: z.optional(name),
  assistant: z.optional(name),
  prompt: z.optional(content),
  /** Of its sessions, when whoever starts one gives none. */
  title: z.optional(title),
  tools: z.optional(JsonValue),
  /** The program that answers for its sessions. */
  supervisor: z.optional(name),
});
export type Template = z.infer<typeof Template>;

export const TemplateList = z.strictObject({ templates: z.array(Template) });
export type TemplateList = z.infer<typeof TemplateList>;

export const AgentInfo = z.strictObject({
  name: z.string(),
  kind: SessionKind,
  protocol: z.optional(z.string()),
  command: z.optional(z.string()),
  description: z.optional(z.string()),
  /** What it announced when it last ran; empty until then. */
  capabilities: z.array(z.string()),
  /** What a session may set for itself. */
  perSession: z.optional(z.array(z.string())),
  /** What can be chosen, as it last said. */
  offers: z.optional(Offers),
  /** What its sessions have unless they say otherwise: a checkout of their own, who answers for them, what they may use. */
  worktree: z.optional(z.literal(true)),
  supervisor: z.optional(z.string()),
  budget: z.optional(Budget),
  /** Why none can be started as things are. */
  fault: z.optional(z.string()),
});
export type AgentInfo = z.infer<typeof AgentInfo>;

export const AgentList = z.strictObject({ agents: z.array(AgentInfo) });
export type AgentList = z.infer<typeof AgentList>;

/** The run wire keeps its own tolerance: unknown keys are ignored there. */
export const StartRun = z.object({
  agent: z.optional(name),
  program: z.optional(name),
  assistant: z.optional(name),
  objective: z.optional(z.union([z.string(), LlmContent])),
  runId: z.optional(SessionId),
  /** The same; the answer has both spellings too. */
  run_id: z.optional(SessionId),
});
export type StartRun = z.infer<typeof StartRun>;

export const RunInput = z.object({
  request_id: z.optional(z.string()),
  requestId: z.optional(z.string()),
  response: z.optional(JsonValue),
});
export type RunInput = z.infer<typeof RunInput>;

/** RFC 9457, with our stable `code`; further members depend on the code. */
export const Problem = z.looseObject({
  type: z.string(),
  title: z.string(),
  status: z.int(),
  code: z.string(),
  detail: z.optional(z.string()),
});
export type Problem = z.infer<typeof Problem>;

export const AuditEntry = z.strictObject({
  at: z.string(),
  direction: z.enum(['in', 'out']),
  actor: z.string(),
  what: z.string(),
  requestId: z.optional(z.string()),
  messageId: z.optional(z.string()),
  /** For a confirmation: milliseconds since its request. */
  latencyMs: z.optional(z.number().check(z.nonnegative())),
  /** Of an answer: when the agent had it. Absent while it has not. */
  deliveredAt: z.optional(z.string()),
  causedBy: z.optional(z.string()),
  epoch: z.optional(z.int()),
  detail: z.optional(JsonValue),
});
export type AuditEntry = z.infer<typeof AuditEntry>;

/** A page: `position` is that of its last entry, the cursor for the next. */
export const Audit = z.strictObject({
  entries: z.array(AuditEntry),
  position: z.optional(z.int().check(z.nonnegative())),
  more: z.optional(z.boolean()),
});
export type Audit = z.infer<typeof Audit>;
