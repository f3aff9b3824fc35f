import { firstOfText, type Json, type JsonObject } from '@concerto/base';
import {
  type AgentEvent,
  type CallOutcome,
  fileOf,
  fileWords,
  type LlmContent,
  type Part,
  textOf,
} from '@concerto/protocol';
import { contentIn } from '../contents/session-contents.ts';
import type { AssistantCall } from './assistant-history.ts';

/** What one function may give the model to read; more is cut, with a note, so that it cannot fill the window. */
const resultCharactersMax = 200_000;

/** What a function gives back where that is more than data. */
export class WithFiles {
  readonly value: Json;
  readonly files: readonly Part[];

  constructor(value: Json, files: readonly Part[]) {
    this.value = value;
    this.files = files;
  }
}

/** An answer that is content is its text and its files. */
export function withFilesOf(value: Json | WithFiles): WithFiles {
  if (value instanceof WithFiles) return value;
  const content = contentIn(value);
  const files = content?.parts.filter((part) => fileOf(part) !== undefined) ?? [];
  return content === undefined ? new WithFiles(value, []) : new WithFiles(textOf(content), files);
}

/** With a word for each file, so that the text alone tells that there is one. */
export function textWithFiles(value: Json, files: readonly Part[]): string {
  const words = files.flatMap((part) => {
    const file = fileOf(part);
    return file === undefined ? [] : `[${fileWords(file)}]`;
  });
  const text = resultText(value);
  return [...(text === '' ? [] : [text]), ...words].join('\n');
}

export function resultText(value: Json): string {
  const text = wholeText(value);
  if (text.length <= resultCharactersMax) return text;
  return `${firstOfText(text, resultCharactersMax)}\n[cut after ${resultCharactersMax} of ${text.length} characters]`;
}

export function resultEvent({ id, name }: AssistantCall, { value, files }: WithFiles): AgentEvent {
  const shown = wholeText(value).length <= resultCharactersMax ? value : resultText(value);
  return responseEvent(id, { name, outcome: 'ok', files }, isObject(shown) ? shown : { result: shown });
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
export function resultIn(content: LlmContent): { readonly text: string; readonly files?: readonly Part[] } {
  const files = content.parts.filter((part) => fileOf(part) !== undefined);
  if (files.length === 0) return { text: textOfResponse(content) };
  return { text: textWithFiles(textOfResponse(content), files), files };
}

function textOfResponse(content: LlmContent): string {
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
  {
    name,
    outcome,
    files = [],
  }: { readonly name: string; readonly outcome: CallOutcome; readonly files?: readonly Part[] },
  response: JsonObject,
): AgentEvent {
  const part = { functionResponse: { name, response: { ...response } } };
  return { type: 'functionResult', callId, content: { role: 'user', parts: [part, ...files] }, outcome };
}
