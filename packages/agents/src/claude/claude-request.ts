import type { JsonObject } from '@concerto/base';
import { type ClaudeMessage, type ClaudeQuestion, ClaudeQuestions } from '@concerto/protocol';

export type ClaudeRequest =
  | {
      readonly kind: 'tool';
      readonly tool: string;
      readonly input: JsonObject;
      readonly callId: string | undefined;
      /** What it proposes to allow from now on. */
      readonly suggestions: readonly JsonObject[];
      readonly extra: JsonObject;
    }
  | { readonly kind: 'questions'; readonly input: JsonObject; readonly questions: readonly ClaudeQuestion[] }
  | { readonly kind: 'hook'; readonly tool: string }
  /** One that we cannot serve: it must be answered all the same, or the program waits for ever. */
  | { readonly kind: 'unserved'; readonly subtype: string };

/** What the program wants to know of us. */
export function claudeRequest(request: Extract<ClaudeMessage, { type: 'control_request' }>['request']): ClaudeRequest {
  const { subtype, tool_name: tool = '(unknown tool)', input = {} } = request;
  if (subtype === 'hook_callback') {
    const named = input.tool_name;
    return { kind: 'hook', tool: typeof named === 'string' ? named : tool };
  }
  if (subtype !== 'can_use_tool') return { kind: 'unserved', subtype };
  const asked = tool === 'AskUserQuestion' ? ClaudeQuestions.safeParse(input) : undefined;
  if (asked?.success === true) return { kind: 'questions', input, questions: asked.data.questions };
  const { tool_use_id: callId, permission_suggestions: suggestions = [], blocked_path, agent_id } = request;
  const extra = {
    ...(blocked_path === undefined ? {} : { blocked_path }),
    ...(agent_id === undefined ? {} : { agent_id }),
  };
  return { kind: 'tool', tool, input, callId, suggestions, extra };
}
