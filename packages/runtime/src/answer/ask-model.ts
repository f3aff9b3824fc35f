import type { ModelReply } from '@concerto/models';
import type { Usage, UsageSource } from '@concerto/protocol';
import type { AssistantSpec } from '../assistant/assistant-spec.ts';
import { usageOf } from '../assistant/reply-usage.ts';
import {
  type ModelVerdict,
  readVerdict,
  type VerdictQuestion,
  verdictInstructions,
  verdictPrompt,
  verdictSchema,
} from './verdict-prompt.ts';

/** What a model said, and what it cost; `failure` instead of a verdict says why there is none. */
export type ModelAnswer = (
  | { readonly verdict: ModelVerdict['verdict']; readonly reason: string }
  | { readonly failure: string }
) & { readonly used?: { readonly usage: Usage; readonly source: UsageSource } };

const replyTokensMax = 1_000;

/** Asks once, without tools. Never rejects: whoever cannot be asked has no say. */
export async function askForVerdict(
  spec: AssistantSpec,
  question: VerdictQuestion,
  signal: AbortSignal,
): Promise<ModelAnswer> {
  let reply: ModelReply;
  try {
    reply = await spec.models.execute({
      connection: spec.connection,
      model: spec.model,
      messages: [
        { role: 'system', content: verdictInstructions(spec.system) },
        { role: 'user', content: verdictPrompt(question) },
      ],
      schema: { name: 'verdict', schema: verdictSchema },
      temperature: spec.temperature,
      maxTokens: spec.maxTokens ?? replyTokensMax,
      signal,
    });
  } catch (cause) {
    return { failure: cause instanceof Error ? cause.message : String(cause) };
  }
  const used = { usage: usageOf(reply), source: { model: reply.model } };
  const verdict = readVerdict(reply.text);
  return verdict === undefined ? { failure: 'what it answered is no verdict', used } : { ...verdict, used };
}
