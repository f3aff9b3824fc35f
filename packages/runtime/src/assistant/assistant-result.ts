import type { Json, JsonObject } from '@concerto/base';
import type { AgentEvent, CallOutcome, LlmContent } from '@concerto/protocol';
import type { AssistantCall } from './assistant-history.ts';

/** What one function may give the model to read; more is cut, with a note, so that it cannot fill the window. */
const resultCharactersMax = 200_000;

export function resultText(value: Json): string {
  const text = wholeText(value);
  if (text.length <= resultCharactersMax) return text;
  return `${text.slice(0, resultCharactersMax)}\n[cut after ${resultCharactersMax} of ${text.length} characters]`;
}

export function resultEvent({ id, name }: AssistantCall, value: Json): AgentEvent {
  const shown = wholeText(value).length <= resultCharactersMax ? value : resultText(value);
  return responseEvent(id, { name, outcome: 'ok' }, isObject(shown) ? shown : { result: shown });
}

export function failureEvents(
  { id: callId, name }: AssistantCall,
  message: string,
  outcome: Exclude<CallOutcome, 'ok'>,
): readonly AgentEvent[] {
  return [
    { type: 'subagentError', callId, error: { $error: message, metadata: { origin: 'server' } } },
    responseEvent(callId, { name, outcome }, { error: message }),
  ];
}

/** The other way round, for a conversation that is read back from its events. */
export function textOfResponse(content: LlmContent): string {
  const part = content.parts[0];
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- read from JSON
  const given = (part !== undefined && 'functionResponse' in part ? part.functionResponse : undefined) as
    | Json
    | undefined;
  const response = isObject(given) ? given.response : undefined;
  if (!isObject(response)) return '';
  const [only, ...more] = Object.entries(response);
  if (only === undefined || more.length > 0) return JSON.stringify(response);
  const [key, value] = only;
  return key === 'result' || key === 'error' ? wholeText(value) : JSON.stringify(response);
}

export function isObject(value: Json | undefined): value is JsonObject {
  return value !== null && typeof value === 'object' && !Array.isArray(value);
}

function wholeText(value: Json): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}

function responseEvent(
  callId: string,
  { name, outcome }: { readonly name: string; readonly outcome: CallOutcome },
  response: JsonObject,
): AgentEvent {
  const part = { functionResponse: { name, response: { ...response } } };
  return { type: 'functionResult', callId, content: { role: 'user', parts: [part] }, outcome };
}
