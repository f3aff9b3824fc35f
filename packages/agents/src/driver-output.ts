import { firstOfText, type JsonObject } from '@concerto/base';
import {
  type CallOutcome,
  type FileChange,
  type KnownAgentMessage,
  type Location,
  type Part,
  type PlanEntry,
  type SessionEvent,
  shortened,
  type ToolKind,
  type WorkEvent,
} from '@concerto/protocol';
import type { AgentOutput } from './agent-connection.ts';
import { wireChange } from './file-change.ts';

/** What one call may show of its input or its output; a whole file or picture is the agent's business. */
const shownCharactersMax = 32_000;

/** A message of our own wire, as a driver says it in the name of its agent. */
export type DriverMessage = Exclude<KnownAgentMessage, { type: 'init_ack' }> & JsonObject;

export type Said = Extract<AgentOutput, { kind: 'message' }>;

export function said(message: DriverMessage, shown?: readonly WorkEvent[]): Said {
  return { kind: 'message', message, raw: message, ...(shown === undefined ? {} : { shown }) };
}

/** One that our wire has no name for: a program hears it by its name. */
export function saidCustom(name: string, fields: JsonObject, shown?: readonly WorkEvent[]): Said {
  const raw = { type: name, ...fields };
  return {
    kind: 'message',
    message: { type: 'custom', name, fields },
    raw,
    ...(shown === undefined ? {} : { shown }),
  };
}

export function log(level: 'debug' | 'info' | 'warn', message: string, fields: JsonObject = {}): Said {
  return said({ type: 'log', level, message, ...fields });
}

/** Messages that came too late for their turn go with the next prompt, and a log says so. */
export function passedOn(late: readonly { readonly text: string }[]): Said {
  const words = late.map(({ text }) => text).join(' | ');
  return log('info', `passed on with this prompt, because the last turn was over: ${words}`);
}

/** `messageId`: the model's message that it belongs to, where the agent names it. */
export function thought(text: string, messageId?: string): Said {
  const message = messageId === undefined ? {} : { message: messageId };
  return said({ type: 'thought', text, ...message }, [{ type: 'thought', text, ...optional({ messageId }) }]);
}

/** Names the conversation, so that a later process can go on with it. */
export function conversation(id: string): Said {
  return saidCustom('conversation', { id });
}

/** Where the conversation stands: another one may begin there. */
export function conversationPlace(id: string | undefined, upTo: string | undefined): readonly AgentOutput[] {
  return id === undefined || id === '' || upTo === undefined
    ? []
    : [agentInfo({ extra: { conversation: { id, upTo } } })];
}

export type ToolCall = {
  readonly id: string;
  readonly name: string;
  readonly input: JsonObject;
  readonly what: string;
  readonly title?: string;
  /** The model's message that it belongs to. */
  readonly messageId?: string;
  readonly kind?: ToolKind;
  readonly locations?: readonly Location[];
  readonly changes?: readonly FileChange[];
  /** The call whose sub-agent makes this one. */
  readonly parentCallId?: string;
  /** What the agent told beside it that the event model has no place for. */
  readonly extra?: JsonObject;
};

/** A program hears the call in the words of our wire; a session shows all that is known of it. */
export function toolCall({ id, name, input, what, title, ...more }: ToolCall): Said {
  const args = withinLimit(input);
  const { kind, messageId: message, parentCallId: parent } = more;
  const known = {
    ...(kind === undefined ? {} : { kind }),
    ...(message === undefined ? {} : { message }),
    ...(parent === undefined ? {} : { parent }),
    ...touched(more),
  };
  return said({ type: 'tool_call', id, name, args, title: title ?? what, ...known }, [
    { type: 'functionCall', callId: id, name, args, ...(title === undefined ? {} : { title }), ...optional(more) },
  ]);
}

export type ToolOutcome = {
  readonly text: string;
  readonly failed: boolean;
  /** `denied`, `cancelled`; unless given, `ok` or `failed`. */
  readonly outcome?: CallOutcome;
  /** All that it gave, its texts too, where more than text is among it: a reader shows them in their order. */
  readonly parts?: readonly Part[];
  readonly locations?: readonly Location[];
  readonly changes?: readonly FileChange[];
  readonly extra?: JsonObject;
};

export function toolResult({ id, name }: Pick<ToolCall, 'id' | 'name'>, result: ToolOutcome): Said {
  const { failed, outcome = failed ? 'failed' : 'ok', parts, text: whole, ...more } = result;
  const text = cut(whole);
  const response = failed ? { error: text } : { result: text };
  const withParts = parts === undefined ? {} : { parts: parts.map(shownPart) };
  const shown: WorkEvent[] = [
    {
      type: 'functionResult',
      callId: id,
      content: { role: 'user', parts: [{ functionResponse: { name, response, ...withParts } }] },
      outcome,
      ...optional(more),
    },
  ];
  // What was stopped has not failed.
  const isError = failed && outcome !== 'cancelled';
  if (isError) {
    shown.unshift({
      type: 'subagentError',
      callId: id,
      error: { $error: shortened(text), metadata: { origin: 'agent' } },
    });
  }
  return said({ type: 'tool_result', id, content: text, outcome, ...touched(more) }, shown);
}

function shownPart(part: Part): Part {
  return 'text' in part && typeof part.text === 'string' ? { ...part, text: cut(part.text) } : part;
}

/** As our wire words it. */
function touched({ locations, changes }: Pick<ToolCall, 'locations' | 'changes'>) {
  return {
    ...(locations === undefined
      ? {}
      : { locations: locations.map(({ path, line }) => ({ path, ...(line === undefined ? {} : { line }) })) }),
    ...(changes === undefined ? {} : { changes: changes.map((change) => ({ ...wireChange(change) })) }),
  };
}

/** A piece of what a running call writes. */
export function toolOutput(id: string, text: string): Said {
  return said({ type: 'tool_output', id, text });
}

/** The whole plan as it stands now. */
export function plan(entries: readonly PlanEntry[]): Said {
  return said({
    type: 'plan',
    entries: entries.map(({ content, status, priority }) => ({
      content,
      status,
      ...(priority === undefined ? {} : { priority }),
    })),
  });
}

type Retry = {
  readonly why?: string | undefined;
  /** What the model's server answered. */
  readonly status?: number | undefined;
  readonly attempt?: number | undefined;
  readonly most?: number | undefined;
  readonly waitsMs?: number | undefined;
};

/** The model did not answer, and is asked once more; shown, or a person sees it run for minutes without a word. */
export function askedAgain({ why = 'it did not answer', status, attempt, most, waitsMs }: Retry): Said {
  const times = attempt === undefined ? '' : ` (${attempt}${most === undefined ? '' : ` of ${most}`})`;
  const wait = waitsMs === undefined ? '' : ` in ${Math.ceil(waitsMs / 1_000)} s`;
  const number = status === undefined ? '' : ` (${status})`;
  return said({
    type: 'progress',
    message: `asks its model again${wait}${times}: ${why}${number}`,
    stage: 'retry',
    ...(waitsMs === undefined ? {} : { retry_in_ms: waitsMs }),
    ...(status === undefined ? {} : { http_status: status }),
  });
}

/** What its account may use is used up, or nearly; `resetsAt` in seconds, as both programs tell it. */
export function limited(what: string, isReached: boolean, resetsAt?: number): Said {
  const at = new Date((resetsAt ?? Number.NaN) * 1_000);
  const until = Number.isNaN(at.getTime()) ? '' : `; it is renewed at ${at.toISOString()}`;
  return log('warn', `the limit of its account (${what}) is ${isReached ? 'reached' : 'near'}${until}`);
}

/** What can be switched in the agent, and what stands. */
export function agentInfo(info: Omit<Extract<SessionEvent, { type: 'agentInfo' }>, 'type'>): AgentOutput {
  return { kind: 'events', events: [{ type: 'agentInfo', ...info }] };
}

/** Enough to read along by. */
function cut(text: string): string {
  if (text.length <= shownCharactersMax) return text;
  return `${firstOfText(text, shownCharactersMax)}\n[cut after ${shownCharactersMax} of ${text.length} characters]`;
}

type Known = Pick<ToolCall, 'messageId' | 'kind' | 'locations' | 'changes' | 'parentCallId' | 'extra'>;
type More = { readonly [Name in keyof Known]?: Known[Name] | undefined };

/** The fields that are there; a list of our own for each, as events have them. */
function optional({ messageId, kind, locations, changes, parentCallId, extra }: More) {
  return {
    ...(messageId === undefined ? {} : { messageId }),
    ...(kind === undefined ? {} : { kind }),
    ...(locations === undefined ? {} : { locations: [...locations] }),
    ...(changes === undefined ? {} : { changes: [...changes] }),
    ...(parentCallId === undefined ? {} : { parentCallId }),
    ...(extra === undefined ? {} : { extra: { ...extra } }),
  };
}

function withinLimit(input: JsonObject): JsonObject {
  if (JSON.stringify(input).length <= shownCharactersMax) return input;
  return Object.fromEntries(
    Object.entries(input).map(([name, value]) => [
      name,
      typeof value === 'string' ? cut(value) : cut(JSON.stringify(value)),
    ]),
  );
}
