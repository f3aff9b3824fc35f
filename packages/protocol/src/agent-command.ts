import { assert, type Json, strictJson } from '@concerto/base';
import * as z from 'zod/mini';
import { JsonValue } from './json-value.ts';
import { Part } from './llm-content.ts';

/** What we write to an agent of our own wire: strict, so that a slip of ours never reaches it. */

/** Agents choose their own ids; we only echo them. */
export const AgentMessageId = z.union([z.string(), z.number()]);
export type AgentMessageId = z.infer<typeof AgentMessageId>;

const json: z.ZodMiniType<Json> = JsonValue;
const exactlyOne = 'exactly one of `value` and `error` is required';
const jsonObject = z.record(z.string(), json);

export const InitCommand = z.strictObject({ type: z.literal('init'), params: jsonObject });
export type InitCommand = z.infer<typeof InitCommand>;

/** The text stands twice because agents were written for either name. */
export const PromptCommand = z.strictObject({
  type: z.literal('prompt'),
  text: z.string(),
  prompt: z.string(),
  /** All of it, in order, where it is more than text; a file is `inlineData`. */
  parts: z.optional(z.array(Part)),
  context: z.optional(json),
  session: z.optional(z.string()),
  id: z.optional(z.string()),
});
export type PromptCommand = z.infer<typeof PromptCommand>;

export const ResponseCommand = z
  .strictObject({
    type: z.literal('response'),
    in_reply_to: z.string().check(z.minLength(1)),
    in_reply_to_id: z.optional(AgentMessageId),
    value: z.optional(json),
    error: z.optional(json),
    /** Why an approval was refused. */
    reason: z.optional(z.string()),
  })
  .check(
    z.refine((response) => (response.value === undefined) !== (response.error === undefined), {
      message: exactlyOne,
    }),
  );
export type ResponseCommand = z.infer<typeof ResponseCommand>;

export const SteerCommand = z.strictObject({
  type: z.literal('steer'),
  id: z.string(),
  text: z.string(),
  /** As in `prompt`. */
  parts: z.optional(z.array(Part)),
});
export type SteerCommand = z.infer<typeof SteerCommand>;

export const InterruptCommand = z.strictObject({ type: z.literal('interrupt'), id: z.string() });
export const PauseCommand = z.strictObject({ type: z.literal('pause'), id: z.string() });
export const ResumeCommand = z.strictObject({ type: z.literal('resume'), id: z.string() });
export const CancelCommand = z.strictObject({ type: z.literal('cancel'), id: z.string() });

export const AgentCommand = z.discriminatedUnion('type', [
  InitCommand,
  PromptCommand,
  ResponseCommand,
  SteerCommand,
  InterruptCommand,
  PauseCommand,
  ResumeCommand,
  CancelCommand,
]);
export type AgentCommand = z.infer<typeof AgentCommand>;

/** The line an agent reads, without its LF. A prompt and an answer are waited for, so only what types cannot say of them is looked at. */
export function encodeAgentCommand(command: AgentCommand): string {
  switch (command.type) {
    case 'prompt':
      return strictJson(command);
    case 'response':
      assert((command.value === undefined) !== (command.error === undefined), exactlyOne);
      return strictJson(command);
    default:
      return strictJson(AgentCommand.parse(command));
  }
}
