import * as z from 'zod/mini';
import {
  AgentResult,
  Because,
  MessagePriority,
  MessageSource,
  SuspendEvent,
  Usage,
  UsageSource,
} from './agent-event.ts';
import { Budget, BudgetUnit } from './budget.ts';
import { ForkOf } from './fork.ts';
import { LifecycleVerb, SessionError, SessionKind } from './http.ts';
import { JsonValue } from './json-value.ts';
import { LlmContent } from './llm-content.ts';
import { OnTimeout, Rule } from './rules.ts';
import { DeliveryWay } from './runner-command.ts';
import { AgentSandbox, SessionSettings, Worktree } from './session-settings.ts';
import { ToolConfig } from './tool-config.ts';

/**
 * What was decided about a session, the input of `evolve`. A released shape is frozen: it is read back for as long
 * as the session is kept.
 */
const envelope = {
  /** Milliseconds since the epoch, by the clock of whoever asked; never before the record ahead of it. */
  at: z.int(),
  /** Who: `user`, `user:NAME`, `runner:NAME`, `agent`, `clock`, `pool`. */
  actor: z.string().check(z.minLength(1)),
  /** The id of what caused it: an HTTP request, a control request, a dispatch. */
  cause: z.optional(z.string()),
};
const id = z.string().check(z.minLength(1));
const epoch = z.int().check(z.nonnegative());
const incarnation = z.int().check(z.positive());
const deadline = z.int();
const turn = z.int().check(z.positive());
const params = z.record(z.string(), JsonValue);

const Lifecycle = [
  z.strictObject({
    ...envelope,
    type: z.literal('created'),
    sessionId: id,
    kind: SessionKind,
    agent: z.string().check(z.minLength(1)),
    title: z.string(),
    once: z.boolean(),
    template: z.optional(z.string()),
    input: z.optional(JsonValue),
    tools: z.optional(ToolConfig),
    settings: z.optional(SessionSettings),
    /** The session that opened it, the top of their tree, and the code that says how it is started. */
    parent: z.optional(id),
    root: z.optional(id),
    code: z.optional(id),
    /** The program that answers for it. */
    supervisor: z.optional(z.string().check(z.minLength(1))),
    /** What it may use, children included. */
    budget: z.optional(Budget),
    /** The session that it answers for. */
    supervises: z.optional(id),
    /** The session in whose place it goes on. */
    forkOf: z.optional(ForkOf),
    slot: z.enum(['held', 'wanted']),
  }),
  z.strictObject({ ...envelope, type: z.literal('slot-granted') }),
  z.strictObject({ ...envelope, type: z.literal('slot-wanted') }),
  /** `madeRoomFor`: the session that needed its place. */
  z.strictObject({ ...envelope, type: z.literal('parked'), reason: z.string(), madeRoomFor: z.optional(id) }),
  z.strictObject({
    ...envelope,
    type: z.literal('claimed'),
    epoch,
    runner: z.string(),
    /** How long this agent may take to come up, where that is more than usual. */
    startWithinMs: z.optional(z.int().check(z.positive())),
  }),
  z.strictObject({
    ...envelope,
    type: z.literal('released'),
    epoch,
    reason: z.string(),
    /** It only waits: nobody need own it until something is asked of it, until then, or until one of these sessions goes on. */
    rests: z.optional(z.strictObject({ until: z.optional(z.int()), on: z.optional(z.array(z.string())) })),
  }),
  z.strictObject({ ...envelope, type: z.literal('start-requested'), incarnation, epoch, deadline }),
  z.strictObject({
    ...envelope,
    type: z.literal('agent-ready'),
    incarnation,
    capabilities: z.array(z.string()),
    version: z.optional(z.string()),
    sandbox: z.optional(AgentSandbox),
  }),
  z.strictObject({
    ...envelope,
    type: z.literal('process-lost'),
    incarnation,
    why: z.enum(['exited', 'start-failed', 'start-timeout', 'taken-over', 'handed-over', 'forced', 'unresponsive']),
    error: z.optional(SessionError),
  }),
  z.strictObject({ ...envelope, type: z.literal('turn-started'), turn, messageId: z.optional(id) }),
  z.strictObject({
    ...envelope,
    type: z.literal('turn-ended'),
    turn,
    outcome: z.enum(['result', 'error', 'interrupted', 'lost', 'cancelled']),
    value: z.optional(JsonValue),
    error: z.optional(SessionError),
  }),
  /** The turn was cut or lost: nothing is dispatched until the user sends a message or resumes. */
  z.strictObject({ ...envelope, type: z.literal('queue-held'), reason: z.string() }),
  z.strictObject({ ...envelope, type: z.literal('queue-continued') }),
  z.strictObject({
    ...envelope,
    type: z.literal('ended'),
    status: z.enum(['completed', 'failed', 'cancelled']),
    reason: z.optional(z.string()),
    result: z.optional(AgentResult),
    error: z.optional(SessionError),
  }),
  /** The agent is asked to switch; it says whether it has. */
  z.strictObject({ ...envelope, type: z.literal('settings-asked'), requestId: id, params }),
  z.strictObject({ ...envelope, type: z.literal('settings-changed'), requestId: id, params }),
  z.strictObject({ ...envelope, type: z.literal('settings-refused'), requestId: id, params, reason: z.string() }),
  /** What somebody made of its checkout. */
  z.strictObject({ ...envelope, type: z.literal('worktree-changed'), worktree: Worktree }),
] as const;

const answerers = z.array(
  z.strictObject({ to: z.string().check(z.minLength(1)), withinMs: z.optional(z.int().check(z.positive())) }),
);

const Requests = [
  z.strictObject({
    ...envelope,
    type: z.literal('request-opened'),
    requestId: id,
    event: SuspendEvent,
    /** How long somebody may take to answer, and what happens then; for ever unless given. */
    answerWithinMs: z.optional(z.int().check(z.positive())),
    onTimeout: z.optional(OnTimeout),
    /** Whom it is put before, in this order; only a person may take for ever. */
    answerers: z.optional(answerers),
  }),
  /** Who is asked now: `rules`, `model:NAME`, `supervisor:NAME`, `program:ID`, `person`. */
  z.strictObject({
    ...envelope,
    type: z.literal('request-routed'),
    requestId: id,
    to: z.string().check(z.minLength(1)),
    reason: z.optional(z.string()),
    /** Of what the session itself asks: as of a request that is opened. */
    answerWithinMs: z.optional(z.int().check(z.positive())),
    onTimeout: z.optional(OnTimeout),
    answerers: z.optional(answerers),
  }),
  /** Whoever was asked does not decide. */
  z.strictObject({
    ...envelope,
    type: z.literal('request-passed'),
    requestId: id,
    by: z.string().check(z.minLength(1)),
    reason: z.optional(z.string()),
  }),
  /** Another program answers for the session from now on, or none does. */
  z.strictObject({
    ...envelope,
    type: z.literal('supervisor-set'),
    supervisor: z.optional(z.string().check(z.minLength(1))),
    /** What it has for each request that none was asked before. */
    withinMs: z.optional(z.int().check(z.positive())),
  }),
  /** Nobody answered in the time there was. */
  z.strictObject({ ...envelope, type: z.literal('request-timed-out'), requestId: id, asked: z.string() }),
  /** `held`: not handed over yet. Not so for what the session itself asked, and in records of older versions. */
  z.strictObject({
    ...envelope,
    type: z.literal('request-answered'),
    requestId: id,
    response: JsonValue,
    held: z.boolean(),
    /** The reply as its agent gets it, where it is more exact than the response. */
    line: z.optional(z.string()),
    because: z.optional(Because),
    /** Who decided, where that is not the actor: `rule:all.1`, `timeout`. */
    by: z.optional(z.string()),
    reason: z.optional(z.string()),
  }),
  /** From the next request on the same is answered the same way, in this session. */
  z.strictObject({ ...envelope, type: z.literal('rule-added'), rule: Rule, requestId: z.optional(id) }),
  /** The owner has it and hands it over when the session goes on. */
  z.strictObject({ ...envelope, type: z.literal('answer-kept'), requestId: id }),
  z.strictObject({ ...envelope, type: z.literal('answer-sent'), requestId: id }),
  /** The agent has it. */
  z.strictObject({ ...envelope, type: z.literal('answer-delivered'), requestId: id, epoch: z.optional(epoch) }),
  /** No owner took it: the question is open again. */
  z.strictObject({ ...envelope, type: z.literal('answer-returned'), requestId: id, reason: z.string() }),
  z.strictObject({ ...envelope, type: z.literal('request-withdrawn'), requestId: id, reason: z.string() }),
] as const;

const Control = [
  z.strictObject({
    ...envelope,
    type: z.literal('control-requested'),
    kind: LifecycleVerb,
    requestId: id,
    epoch: z.optional(epoch),
    deadline,
  }),
  z.strictObject({
    ...envelope,
    type: z.literal('control-escalated'),
    kind: LifecycleVerb,
    requestId: id,
    step: z.int().check(z.positive()),
    deadline,
  }),
  z.strictObject({
    ...envelope,
    type: z.literal('control-confirmed'),
    kind: LifecycleVerb,
    requestId: id,
    epoch: z.optional(epoch),
    /** `ack` the agent's word · `boundary` the turn ended · `exit` its process ended · `domain` no agent was concerned · `forced` no word came. */
    by: z.enum(['ack', 'boundary', 'exit', 'domain', 'forced']),
  }),
  z.strictObject({
    ...envelope,
    type: z.literal('control-refused'),
    kind: LifecycleVerb,
    requestId: id,
    reason: z.string(),
  }),
  z.strictObject({
    ...envelope,
    type: z.literal('control-superseded'),
    kind: LifecycleVerb,
    requestId: id,
    by: z.string(),
  }),
] as const;

const Messages = [
  z.strictObject({
    ...envelope,
    type: z.literal('message-enqueued'),
    messageId: id,
    content: z.string(),
    objective: z.optional(LlmContent),
    priority: MessagePriority,
    source: MessageSource,
    /** Given to the agent beside the text. */
    context: z.optional(JsonValue),
    /** Whoever sent it answers what is asked in its turn, before anybody else. */
    listens: z.optional(z.literal(true)),
    /** The `traceparent` of the call that sent it, where calls are traced. */
    trace: z.optional(z.string()),
  }),
  z.strictObject({
    ...envelope,
    type: z.literal('message-edited'),
    messageId: id,
    content: z.string(),
    objective: z.optional(LlmContent),
  }),
  z.strictObject({ ...envelope, type: z.literal('message-promoted'), messageId: id }),
  z.strictObject({ ...envelope, type: z.literal('messages-reordered'), ids: z.array(id) }),
  z.strictObject({ ...envelope, type: z.literal('message-cancelled'), messageId: id, reason: z.optional(z.string()) }),
  z.strictObject({
    ...envelope,
    type: z.literal('message-dispatched'),
    messageId: id,
    dispatchId: id,
    how: DeliveryWay,
    epoch,
    incarnation,
    turn,
    deadline,
  }),
  /** The same dispatch again, because no confirmation came. */
  z.strictObject({ ...envelope, type: z.literal('message-redispatched'), messageId: id, dispatchId: id, deadline }),
  z.strictObject({
    ...envelope,
    type: z.literal('message-delivered'),
    messageId: id,
    dispatchId: id,
    how: DeliveryWay,
    epoch,
  }),
  z.strictObject({
    ...envelope,
    type: z.literal('message-returned'),
    messageId: id,
    dispatchId: id,
    reason: z.string(),
  }),
  z.strictObject({
    ...envelope,
    type: z.literal('message-uncertain'),
    messageId: id,
    dispatchId: id,
    reason: z.string(),
  }),
  /** The user chose to send an uncertain message again. */
  z.strictObject({ ...envelope, type: z.literal('message-resent'), messageId: id }),
  z.strictObject({ ...envelope, type: z.literal('message-starved'), messageId: id, waitedMs: z.int() }),
] as const;

const Children = [
  /** A session was opened for a call of this one. */
  z.strictObject({ ...envelope, type: z.literal('child-opened'), child: id }),
  z.strictObject({
    ...envelope,
    type: z.literal('described'),
    title: z.optional(z.string().check(z.minLength(1))),
    archived: z.optional(z.boolean()),
  }),
  /** The last there will be of it: everything before it is removed from the store. */
  z.strictObject({ ...envelope, type: z.literal('deleted') }),
  /** A line for the agent that answers no request, in reply to something that it said. */
  z.strictObject({ ...envelope, type: z.literal('responded'), line: z.string() }),
] as const;

const Budgets = [
  /** It was told that a budget comes near its end, or has come to it. */
  z.strictObject({
    ...envelope,
    type: z.literal('budget-told'),
    level: z.enum(['near', 'reached']),
    what: z.array(BudgetUnit),
  }),
  /** What it may use from now on, all in all. */
  z.strictObject({ ...envelope, type: z.literal('budget-raised'), limits: Budget }),
  /** All that a session which it opened has used up to now. */
  z.strictObject({
    ...envelope,
    type: z.literal('child-used'),
    child: id,
    usage: Usage,
    turns: z.int().check(z.nonnegative()),
    isEstimate: z.optional(z.literal(true)),
  }),
] as const;

const Facts = [
  z.strictObject({ ...envelope, type: z.literal('usage-reported'), usage: Usage, source: z.optional(UsageSource) }),
  /** A report that could not be obeyed: late, of an older owner, or about something that is over. */
  z.strictObject({
    ...envelope,
    type: z.literal('report-ignored'),
    report: z.string(),
    reason: z.string(),
    epoch,
    requestId: z.optional(z.string()),
    messageId: z.optional(z.string()),
  }),
] as const;

export const SessionRecord = z.discriminatedUnion('type', [
  ...Lifecycle,
  ...Requests,
  ...Control,
  ...Messages,
  ...Children,
  ...Budgets,
  ...Facts,
]);
export type SessionRecord = z.infer<typeof SessionRecord>;
