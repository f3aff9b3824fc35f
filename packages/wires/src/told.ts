import type { Json } from '@concerto/base';
import {
  type AgentDetails,
  type CallOutcome,
  type FileChange,
  type FoldedEvent,
  type LlmContent,
  type Location,
  type Part,
  type PlanEntry,
  type Queue,
  type SessionEnd,
  type SessionStatus,
  type StoredEvent,
  type SuspendEvent,
  type ToolKind,
  type TurnOutcome,
  textOf,
  type UsageSum,
} from '@concerto/protocol';

export type EventOf<Type extends StoredEvent['type']> = Extract<StoredEvent, { type: Type }>;

export type Call = {
  readonly callId: string;
  readonly name: string;
  readonly title: string | undefined;
  readonly args: Readonly<Record<string, Json>>;
  readonly kind: ToolKind | undefined;
  readonly messageId: string | undefined;
  readonly parentCallId: string | undefined;
  readonly childSession: string | undefined;
  readonly locations: readonly Location[];
  readonly changes: readonly FileChange[];
};

/** What a wire says next, one thing at a time; each wire has its own words for it. */
export type Told =
  | { readonly tell: 'turn-began' }
  /** Somebody said it: a prompt, or a word into the running turn. */
  | { readonly tell: 'user'; readonly id: string; readonly content: LlmContent; readonly isSteer: boolean }
  | { readonly tell: 'text-began' | 'text-ended' | 'thought-began' | 'thought-ended'; readonly id: string }
  | { readonly tell: 'text' | 'thought'; readonly id: string; readonly delta: string }
  /** What was said under the id so far no longer counts; this does. */
  | { readonly tell: 'text-replaced'; readonly id: string; readonly text: string }
  | { readonly tell: 'parts'; readonly id: string; readonly parts: readonly Part[] }
  | { readonly tell: 'call-began'; readonly call: Call }
  /** Once for each call, when its arguments are known. */
  | { readonly tell: 'call-args'; readonly call: Call }
  /** Told again with other arguments than before. */
  | { readonly tell: 'call-retold'; readonly call: Call }
  | { readonly tell: 'call-status'; readonly callId: string | undefined; readonly status: string | null }
  | { readonly tell: 'call-output'; readonly callId: string; readonly text: string }
  | {
      readonly tell: 'call-result';
      readonly call: Call;
      readonly content: LlmContent;
      readonly outcome: CallOutcome;
    }
  | { readonly tell: 'asked'; readonly event: SuspendEvent }
  | { readonly tell: 'routed'; readonly requestId: string; readonly to: string }
  | { readonly tell: 'settled'; readonly request: SuspendEvent; readonly settlement: EventOf<'requestSettled'> }
  | { readonly tell: 'standing'; readonly key: keyof Standing }
  | { readonly tell: 'note'; readonly title: string; readonly data: Json; readonly callId: string | undefined }
  | { readonly tell: 'raw'; readonly event: FoldedEvent }
  | {
      readonly tell: 'turn-ended';
      readonly outcome: TurnOutcome;
      readonly reason: string | undefined;
      readonly result: LlmContent | undefined;
    }
  | { readonly tell: 'over'; readonly end: SessionEnd | undefined };

/** What stands now, whatever was said. */
export type Standing = {
  readonly status: SessionStatus | undefined;
  readonly plan: readonly PlanEntry[];
  readonly usage: UsageSum;
  readonly context: { readonly used: number; readonly size: number } | undefined;
  readonly queue: Queue;
  readonly agent: AgentDetails;
};

export function callOf(event: EventOf<'functionCall'>, before: Call | undefined): Call {
  const { callId, name, title, args, kind, messageId, parentCallId, childSession } = event;
  return withTouched(
    {
      callId,
      name,
      title: title ?? before?.title,
      args,
      kind: kind ?? before?.kind,
      messageId: messageId ?? before?.messageId,
      parentCallId: parentCallId ?? before?.parentCallId,
      childSession: childSession ?? before?.childSession,
      locations: before?.locations ?? [],
      changes: before?.changes ?? [],
    },
    event,
  );
}

export function withTouched(
  call: Call,
  { locations, changes }: { readonly locations?: Location[] | undefined; readonly changes?: FileChange[] | undefined },
): Call {
  return { ...call, locations: locations ?? call.locations, changes: changes ?? call.changes };
}

/** What a call came to, for a reader that knows only text: its words, else its data as JSON. */
export function resultText(content: LlmContent): string {
  const value = resultValue(content);
  return typeof value === 'string' ? value : JSON.stringify(value);
}

/** What a call came to, as data: what stands under `result` or `error` alone is the value itself. */
export function resultValue(content: LlmContent): Json {
  const [part] = content.parts;
  if (part === undefined || !('functionResponse' in part) || !isResponse(part.functionResponse)) return textOf(content);
  const { response } = part.functionResponse;
  const entries = Object.entries(response);
  const [only] = entries;
  return entries.length === 1 && only !== undefined && (only[0] === 'result' || only[0] === 'error')
    ? only[1]
    : response;
}

function isResponse(value: unknown): value is { readonly response: Record<string, Json> } {
  return typeof value === 'object' && value !== null && 'response' in value && typeof value.response === 'object';
}
