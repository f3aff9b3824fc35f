import type { Json } from '@concerto/base';
import { LlmContent, readDecision, type SuspendEvent, textOf, wordsOf } from '@concerto/protocol';
import { isJsonObject } from '../json/json-object.ts';
import { lastingOptions } from './consent-options.ts';

/** A text as the wire wants it. */
export function textAnswer(text: string): Json {
  return { input: { role: 'user', parts: [{ text }] } };
}

/** Whether an answer to an approval was a no. */
export function isRefusal(event: SuspendEvent, response: Json): boolean {
  if (event.type !== 'queryConsent') return isJsonObject(response) && response.success === false;
  if (event.consentType === 'budget') return isStop(response);
  const option = lastingOptions(event).find(({ id }) => id === response);
  return option === undefined ? !readDecision(response).isApproved : option.kind.startsWith('reject');
}

/** An answer as it was given; a no with why. */
export function answerText(event: SuspendEvent, response: Json, reason?: string): string {
  if (event.type === 'queryConsent') return consentText(event, response, reason);
  if (event.type === 'readGraph' || event.type === 'inspectNode' || event.type === 'applyEdits') {
    return graphText(event.type, response);
  }
  const selected = isJsonObject(response) ? response.selected : undefined;
  if (event.type === 'waitForChoice' && Array.isArray(selected)) {
    return selected.map((id: unknown) => choiceText(event, id)).join(', ');
  }
  return inputText(response) ?? (typeof response === 'string' ? response : JSON.stringify(response));
}

/** What a graph says is for whoever asked; a person wants to know whether it did. */
function graphText(type: 'readGraph' | 'inspectNode' | 'applyEdits', response: Json): string {
  const error = isJsonObject(response) ? response.error : undefined;
  if (typeof error === 'string') return `Not done: ${error}`;
  return type === 'applyEdits' ? 'Applied to the graph' : 'Answered by the graph';
}

function consentText(
  event: Extract<SuspendEvent, { type: 'queryConsent' }>,
  response: Json,
  beside: string | undefined,
): string {
  if (event.consentType === 'budget') return isStop(response) ? 'Stopped' : 'More';
  const option = lastingOptions(event).find(({ id }) => id === response);
  if (option !== undefined) return option.label;
  const { isApproved, reason = beside } = readDecision(response);
  if (isApproved) return 'Approved';
  return reason === undefined ? 'Denied' : `Denied: ${reason}`;
}

function isStop(response: Json): boolean {
  return response === 'stop' || response === false || response === 'no';
}

function choiceText(event: Extract<SuspendEvent, { type: 'waitForChoice' }>, id: unknown): string {
  const choice = event.choices.find((candidate) => candidate.id === id);
  return choice === undefined ? String(id) : textOf(choice.content);
}

function inputText(response: Json): string | undefined {
  const input = isJsonObject(response) ? response.input : undefined;
  const content = LlmContent.safeParse(input ?? response);
  return content.success ? wordsOf(content.data) : undefined;
}
