import { firstOfText, type Json, type JsonObject } from '@concerto/base';
import {
  type AgentMessageId,
  type CallOutcome,
  type FileChange,
  type KnownAgentMessage,
  LlmContent,
  type Location,
  type PlanEntry,
  type PlanMessage,
  textContent,
  textOf,
  type Usage,
  type UsageMessage,
  type UsageSource,
  type WireChange,
  type WireLocation,
  type WorkEvent,
} from '@concerto/protocol';

type WorkMessage = Extract<
  KnownAgentMessage,
  { type: 'thought' | 'tool_call' | 'tool_output' | 'tool_result' | 'plan' | 'message' }
>;

/** A patch is for reading: of a longer one the beginning is shown, and the counts still tell how much it was. */
const patchCharactersMax = 256_000;

/** What an agent of our own wire says about its work. `toolName` finds the name of a call by its id. */
export function translateWork(message: WorkMessage, toolName: (callId: string) => string): WorkEvent {
  switch (message.type) {
    case 'thought':
      return { type: 'thought', text: message.text, ...messageIdOf(message.message) };
    case 'message':
      return { type: 'content', content: textContent(message.text), ...messageIdOf(message.id), whole: true };
    case 'tool_call':
      return {
        type: 'functionCall',
        callId: callIdOf(message.id),
        name: message.name,
        args: message.args ?? {},
        ...(message.title === undefined ? {} : { title: message.title }),
        ...messageIdOf(message.message),
        ...(message.kind === undefined ? {} : { kind: message.kind }),
        ...touchedOf(message),
        ...(isNamed(message.parent) ? { parentCallId: callIdOf(message.parent) } : {}),
      };
    case 'tool_output':
      return { type: 'toolOutput', callId: callIdOf(message.id), text: message.text };
    case 'tool_result': {
      const callId = callIdOf(message.id);
      const outcome = message.outcome ?? 'ok';
      const content = responseContent(toolName(callId), message.content ?? null, outcome);
      return { type: 'functionResult', callId, content, outcome, ...touchedOf(message) };
    }
    case 'plan':
      return { type: 'plan', entries: message.entries.map(planEntry) };
  }
}

export function usageOf(message: UsageMessage): { readonly usage: Usage; readonly source: UsageSource } {
  const { cache_read_tokens: cacheReadTokens, cache_write_tokens: cacheWriteTokens, cost_usd: cost } = message;
  return {
    usage: {
      inputTokens: message.input_tokens,
      outputTokens: message.output_tokens,
      ...(cacheReadTokens === undefined ? {} : { cacheReadTokens }),
      ...(cacheWriteTokens === undefined ? {} : { cacheWriteTokens }),
      ...(cost === undefined ? {} : { costMicroUsd: Math.round(cost * 1_000_000) }),
    },
    source: {
      ...(message.model === undefined ? {} : { model: message.model }),
      ...(message.context === undefined ? {} : { context: { used: message.context.used, size: message.context.size } }),
    },
  };
}

/** The one place where a call's answer becomes the content of its result. */
function responseContent(name: string, content: Json, outcome: CallOutcome): LlmContent {
  const said = LlmContent.safeParse(content);
  const key = outcome === 'ok' ? 'result' : 'error';
  if (said.success) {
    const response = { [key]: textOf(said.data) };
    return { role: 'user', parts: [{ functionResponse: { name, response, parts: said.data.parts } }] };
  }
  const response: JsonObject = isObject(content) ? { ...content } : { [key]: content };
  return { role: 'user', parts: [{ functionResponse: { name, response: { ...response } } }] };
}

/** Of a call of the agent's own. Those of turns are ours: one that the agent called so would be taken for its turn. */
export function callIdOf(id: AgentMessageId): string {
  const own = String(id);
  return /^turn-\d+$/.test(own) ? `tool-${own}` : own;
}

/** An id of no letters names nothing. */
export function isNamed(id: AgentMessageId | undefined): id is AgentMessageId {
  return id !== undefined && id !== '';
}

export function messageIdOf(id: AgentMessageId | undefined): { readonly messageId?: string } {
  return isNamed(id) ? { messageId: String(id) } : {};
}

export function touchedOf(said: {
  readonly locations?: readonly WireLocation[] | undefined;
  readonly changes?: readonly WireChange[] | undefined;
}): { locations?: Location[]; changes?: FileChange[] } {
  return {
    ...(said.locations === undefined
      ? {}
      : { locations: said.locations.map(({ path, line }) => ({ path, ...(line === undefined ? {} : { line }) })) }),
    ...(said.changes === undefined ? {} : { changes: said.changes.map(fileChange) }),
  };
}

function fileChange({ path, kind = 'edit', moved_to: movedTo, patch = '', added, removed }: WireChange): FileChange {
  return {
    path,
    kind,
    ...(movedTo === undefined ? {} : { movedTo }),
    patch:
      patch.length <= patchCharactersMax
        ? patch
        : `${firstOfText(patch, patchCharactersMax)}\n[cut after ${patchCharactersMax} of ${patch.length} characters]`,
    added: added ?? countLines(patch, '+'),
    removed: removed ?? countLines(patch, '-'),
  };
}

/** Lines of a unified diff that begin so; its head (`+++`, `---`) is none of them. */
function countLines(patch: string, sign: '+' | '-'): number {
  let lines = 0;
  let inHunk = false;
  for (const line of patch.split('\n')) {
    if (line.startsWith('@@')) inHunk = true;
    else if (line.startsWith(sign) && (inHunk || !line.startsWith(sign.repeat(3)))) lines += 1;
  }
  return lines;
}

function planEntry({ content, status = 'pending', priority }: PlanMessage['entries'][number]): PlanEntry {
  return { content, status, ...(priority === undefined ? {} : { priority }) };
}

function isObject(value: Json): value is JsonObject {
  return value !== null && typeof value === 'object' && !Array.isArray(value);
}
