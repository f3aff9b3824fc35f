import type { Json, JsonObject } from '@concerto/base';
import {
  type AgentMessage,
  type ApprovalMessage,
  chosenOption,
  type LlmContent,
  RequestOption,
  type ResultMessage,
  type SuspendEvent,
  textContent,
  type WorkEvent,
} from '@concerto/protocol';
import type { Report } from '@concerto/session';
import { callIdOf, isNamed, messageIdOf, touchedOf, translateWork, usageOf } from './translate-work.ts';

/** Everything a turn's messages have in common. */
export type Turn = {
  readonly agent: string;
  /** 0 before the first. */
  readonly number: number;
  /** Names the agent's work of this turn in every event about it. */
  readonly callId: string;
  /** The name of a call that is under way, by its id. */
  readonly toolName: (callId: string) => string;
  /** Whether the agent has said something under this name in the turn. */
  readonly knowsMessage: (messageId: string) => boolean;
};

/** A report before it is said whose it is and what was shown before it. */
export type Told = Report extends infer One
  ? One extends Report
    ? Omit<One, 'epoch' | 'incarnation' | 'observed'>
    : never
  : never;

/** What something that a worker says comes to: what is shown of it, and what it changes. */
export type Heard = { readonly shown: readonly WorkEvent[]; readonly told?: Told };

/** One message of the agent wire, by the table of the contract. `mintRequestId` is called only for one that opens a request. */
export function translate(
  turn: Turn,
  message: Exclude<AgentMessage, { type: 'init_ack' }>,
  raw: JsonObject,
  mintRequestId: () => string,
): Heard {
  const { callId } = turn;
  switch (message.type) {
    case 'progress':
      return shown(
        { type: 'functionCallUpdate', callId, status: message.message },
        { type: 'subagentAddJson', callId, title: 'progress', data: fieldsOf(raw) },
      );
    case 'log':
      return shown({ type: 'subagentAddJson', callId, title: 'log', data: fieldsOf(raw) });
    case 'custom':
      return shown({ type: 'subagentAddJson', callId, title: message.name, data: message.fields });
    case 'partial':
      return shown({ type: 'content', content: textContent(message.text), ...messageIdOf(message.message) });
    case 'thought':
    case 'message':
    case 'tool_call':
    case 'tool_output':
    case 'tool_result':
    case 'plan':
      return shown(translateWork(message, turn.toolName));
    case 'usage':
      return told({ type: 'usage', ...usageOf(message) });
    case 'question':
      return asked(questionEvent(message, mintRequestId()));
    case 'approval':
      return asked(consentEvent(message, raw, mintRequestId()));
    case 'result':
    case 'error':
      return told(endOf(turn, message, raw));
    case 'ack':
      return told({ type: 'control-acked', requestId: message.in_reply_to_id });
  }
}

/** How the turn ends; and what is shown of it where it has ended already. */
function endOf(
  turn: Turn,
  message: Extract<AgentMessage, { type: 'result' | 'error' }>,
  raw: JsonObject,
): Extract<Told, { type: 'turn-ended' }> {
  const { callId, number } = turn;
  const ofTurn = number === 0 ? {} : { turn: number };
  const late: WorkEvent[] = [{ type: 'subagentAddJson', callId, title: message.type, data: fieldsOf(raw) }];
  if (message.type === 'error') {
    const error = { code: String(message.code ?? 'agent_error'), message: message.message };
    const closing = [errorEvent(callId, error.message)];
    return { type: 'turn-ended', ...ofTurn, outcome: 'error', error, closing, late };
  }
  const { value, closing } = resultOf(turn, message, fieldsOf(raw));
  const result = { success: true, href: '/', outcomes: outcomeOf(value) };
  return { type: 'turn-ended', ...ofTurn, outcome: 'result', value, result, closing, late };
}

/** A request as it is opened. */
export function asked(event: SuspendEvent): Heard {
  return told({ type: 'request-opened', requestId: event.requestId, event });
}

export function errorEvent(callId: string, message: string): WorkEvent {
  return { type: 'subagentError', callId, error: { $error: message, metadata: { origin: 'server' } } };
}

/** What the agent is told for an answer, in the form its own question had. */
export function answerValue(event: SuspendEvent, response: Json): Json {
  switch (event.type) {
    case 'waitForInput':
      return inputText(response) ?? response;
    case 'waitForChoice':
      return selectedText(event.choices, response) ?? inputText(response) ?? response;
    case 'queryConsent':
      if (response === true) return 'yes';
      return response === false ? 'no' : response;
    case 'readGraph':
    case 'inspectNode':
    case 'applyEdits':
      return response;
  }
}

/** What the agent gets; a reason goes with a no. */
export function replyTo(
  event: SuspendEvent,
  { response, reason }: { readonly response: Json; readonly reason?: string | undefined },
): { readonly value: Json; readonly reason?: string } {
  const value = answerValue(event, response);
  const isNo = event.type === 'queryConsent' && !chosenOption(value, event.options ?? []).isApproved;
  return reason === undefined || !isNo ? { value } : { value, reason };
}

function shown(...events: readonly WorkEvent[]): Heard {
  return { shown: events };
}

function told(report: Told): Heard {
  return { shown: [], told: report };
}

function outcomeOf(value: JsonObject): LlmContent {
  return typeof value.text === 'string' ? textContent(value.text) : { role: 'model', parts: [{ json: value }] };
}

function questionEvent(
  message: {
    readonly question: string;
    readonly context?: Json | undefined;
    readonly options?: readonly string[] | undefined;
    readonly multiple?: boolean | undefined;
  },
  requestId: string,
): SuspendEvent {
  const prompt = questionContent(message.question, message.context);
  if (message.options === undefined || message.options.length === 0) {
    return { type: 'waitForInput', requestId, prompt, inputType: 'text' };
  }
  const choices = message.options.map((option, index) => ({
    id: `option-${index + 1}`,
    content: textContent(option),
  }));
  const selectionMode = message.multiple === true ? 'multiple' : 'single';
  return { type: 'waitForChoice', requestId, prompt, choices, selectionMode };
}

/** The scope is all that was sent; what rules and cards read of it stands in its own fields too. */
function consentEvent(message: ApprovalMessage, raw: JsonObject, requestId: string): SuspendEvent {
  const touched = touchedOf({ changes: message.changes, locations: message.paths?.map((path) => ({ path })) });
  return {
    type: 'queryConsent',
    requestId,
    consentType: consentTypeOf(message),
    scope: withoutKey(withoutKey(fieldsOf(raw), 'id'), 'consent_type'),
    graphUrl: '',
    ...(isNamed(message.call) ? { callId: callIdOf(message.call) } : {}),
    ...offeredOf(raw.options),
    ...touched,
  };
}

/** What the agent says; only we ask for more of a budget. */
function consentTypeOf({ consent_type: type = '' }: ApprovalMessage): string {
  return type === '' || type === 'budget' ? 'approval' : type;
}

/** The answers that it offers, where each says what it would allow. */
function offeredOf(options: Json | undefined): { options?: RequestOption[] } {
  if (!Array.isArray(options)) return {};
  const offered = options.flatMap((option: Json) => {
    const label = memberOf(option, 'label') ?? memberOf(option, 'name');
    const read = RequestOption.safeParse({ id: memberOf(option, 'id'), label, kind: memberOf(option, 'kind') });
    return read.success ? [read.data] : [];
  });
  return offered.length === 0 ? {} : { options: offered };
}

function questionContent(question: string, context: Json | undefined): LlmContent {
  const content = textContent(question);
  if (context === undefined || context === null) return content;
  const extra = typeof context === 'string' ? { text: context } : { json: context };
  return { ...content, parts: [...content.parts, extra] };
}

/**
 * What it handed over, and what of it is a message: one of its own, unless `message` names one that was said. A field of
 * that name which names none is the agent's own data.
 */
function resultOf(
  { agent, callId, knowsMessage }: Turn,
  { text, message }: ResultMessage,
  fields: JsonObject,
): { readonly value: JsonObject; readonly closing: readonly WorkEvent[] } {
  const streamed = message !== undefined && knowsMessage(String(message));
  const value = streamed ? withoutKey(fields, 'message') : fields;
  const part = { functionResponse: { name: agent, response: { ...value } } };
  const closing: WorkEvent[] = [
    { type: 'subagentFinish', callId },
    { type: 'functionResult', callId, content: { role: 'user', parts: [part] }, outcome: 'ok' },
  ];
  const id = streamed ? messageIdOf(message) : {};
  if (text !== undefined) closing.push({ type: 'content', content: textContent(text), ...id, whole: true });
  else if (Object.keys(value).length > 0) {
    closing.push({ type: 'content', content: { role: 'model', parts: [{ json: value }] }, whole: true });
  }
  return { value, closing };
}

function inputText(response: Json): string | undefined {
  const input = memberOf(response, 'input');
  const parts = memberOf(input, 'parts');
  if (!Array.isArray(parts)) return undefined;
  return parts
    .map((part: Json) => memberOf(part, 'text'))
    .filter((text) => typeof text === 'string')
    .join('\n');
}

function selectedText(
  choices: readonly { readonly id: string; readonly content: LlmContent }[],
  response: Json,
): Json | undefined {
  const selected = memberOf(response, 'selected');
  if (!Array.isArray(selected)) return undefined;
  const texts = selected.map((id: Json) => {
    const choice = choices.find((candidate) => candidate.id === id);
    const part = choice?.content.parts[0];
    return part !== undefined && 'text' in part && typeof part.text === 'string' ? part.text : id;
  });
  return texts.length === 1 ? texts[0] : texts;
}

function memberOf(value: Json | undefined, key: string): Json | undefined {
  return isObject(value) ? value[key] : undefined;
}

function isObject(value: Json | undefined): value is JsonObject {
  return value !== null && typeof value === 'object' && !Array.isArray(value);
}

function fieldsOf({ type: _type, ...fields }: JsonObject): JsonObject {
  return fields;
}

function withoutKey(object: JsonObject, key: string): JsonObject {
  return Object.fromEntries(Object.entries(object).filter(([name]) => name !== key));
}
