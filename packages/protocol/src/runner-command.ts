import * as z from 'zod/mini';
import { JsonValue } from './json-value.ts';
import { LlmContent } from './llm-content.ts';

/**
 * What the owner of a session must do, as stored on the `commands` stream. Written only together with the decision
 * that caused it. A new owner obeys what follows its own claim and nothing before it: the claim's decision
 * gives again whatever is still wanted.
 */
const requestId = z.string().check(z.minLength(1));
const incarnation = z.int().check(z.positive());
const at = z.int();

export const DeliveryWay = z.enum(['prompt', 'steer']);
export type DeliveryWay = z.infer<typeof DeliveryWay>;

export const RunnerCommand = z.discriminatedUnion('type', [
  /** Something may be handed over or brought up: the owner looks and, under its fence, does what can be done. */
  z.strictObject({ type: z.literal('attend'), at }),
  /**
   * Bring the agent up. `resume`: it ran before, so continue its conversation where the driver can. `epoch` is whose
   * start it is: an owner that was superseded without knowing reads the stream too, and must not obey its successor's.
   */
  z.strictObject({
    type: z.literal('start'),
    at,
    incarnation,
    resume: z.boolean(),
    epoch: z.int().check(z.nonnegative()),
  }),
  /** Hand over one message. A second command with the same `dispatchId` is a repeat: confirm it, do not hand over again. */
  z.strictObject({
    type: z.literal('deliver'),
    at,
    incarnation,
    dispatchId: z.string().check(z.minLength(1)),
    messageId: z.string().check(z.minLength(1)),
    content: z.string(),
    objective: z.optional(LlmContent),
    context: z.optional(JsonValue),
    how: DeliveryWay,
    turn: z.int().check(z.positive()),
  }),
  /** `line`: the reply as it is written to the agent. */
  z.strictObject({
    type: z.literal('answer'),
    at,
    incarnation,
    requestId,
    response: JsonValue,
    line: z.optional(z.string()),
    /** Why it is a no. */
    reason: z.optional(z.string()),
  }),
  /** A line in reply to something that was no request. */
  z.strictObject({ type: z.literal('respond'), at, incarnation, line: z.string() }),
  /** The agent need not wait for this question any more. */
  z.strictObject({ type: z.literal('withdraw'), at, incarnation, requestId, reason: z.string() }),
  z.strictObject({ type: z.literal('interrupt'), at, incarnation, requestId }),
  z.strictObject({ type: z.literal('pause'), at, incarnation, requestId }),
  /** `frozen`: the process was stopped by force and must be let run again. */
  z.strictObject({ type: z.literal('resume'), at, incarnation, requestId, frozen: z.boolean() }),
  z.strictObject({ type: z.literal('cancel'), at, incarnation, requestId }),
  /** Switches what can be switched while it runs. */
  z.strictObject({
    type: z.literal('configure'),
    at,
    incarnation,
    requestId,
    settings: z.record(z.string(), JsonValue),
  }),
  /** Escalations, when no confirmation came: SIGINT, SIGSTOP, SIGTERM, SIGKILL of the process group. */
  z.strictObject({ type: z.literal('signal-interrupt'), at, incarnation, requestId }),
  z.strictObject({ type: z.literal('freeze'), at, incarnation, requestId }),
  z.strictObject({ type: z.literal('terminate'), at, incarnation, requestId }),
  z.strictObject({ type: z.literal('kill'), at, incarnation, reason: z.string() }),
  /** End the process in good order: the session is over, or parked until its next message. */
  z.strictObject({ type: z.literal('stop'), at, incarnation, reason: z.enum(['ended', 'parked']) }),
]);
export type RunnerCommand = z.infer<typeof RunnerCommand>;

/** What the agent's side confirmed; on the events stream beside the positions, for programs that read the stream itself. */
const epoch = z.int().check(z.nonnegative());
export const Ack = z.discriminatedUnion('type', [
  z.strictObject({ type: z.literal('interrupt_ack'), requestId, epoch }),
  z.strictObject({ type: z.literal('pause_ack'), requestId, epoch }),
  z.strictObject({ type: z.literal('resume_ack'), requestId, epoch }),
  z.strictObject({ type: z.literal('stop_ack'), requestId, epoch }),
  z.strictObject({
    type: z.literal('message_ack'),
    /** The message's id: what the user's request was named. */
    requestId,
    dispatchId: z.string().check(z.minLength(1)),
    how: DeliveryWay,
    epoch,
  }),
  z.strictObject({ type: z.literal('answer_ack'), requestId, epoch }),
]);
export type Ack = z.infer<typeof Ack>;
