import type { Json, JsonObject } from '@concerto/base';
import { type LlmContent, type PublicEvent, pathsOfChanges, type SuspendEvent, textOf } from '@concerto/protocol';
import type { Message } from '../program/program-agent.ts';

/** What a session shows, in the words in which an agent would have said it; undefined for what is none of its work. */
export function wordOf(event: PublicEvent): Message | undefined {
  switch (event.type) {
    case 'content':
      return event.content.role === 'user' ? undefined : { type: 'partial', text: textOf(event.content) };
    case 'thought':
      return { type: 'thought', text: event.text };
    case 'functionCall': {
      if (event.isTurn === true) return undefined;
      const { callId: id, name, args, kind, locations } = event;
      return plain({ type: 'tool_call', id, name, args, kind, locations });
    }
    case 'toolOutput':
      return { type: 'tool_output', id: event.callId, text: event.text };
    case 'functionResult': {
      const { callId: id, outcome, content } = event;
      // The turn is a call too; its end is told by `turnComplete`.
      if (/^turn-\d+$/.test(id)) return undefined;
      return plain({ type: 'tool_result', id, outcome, content: responseIn(content) });
    }
    case 'subagentAddJson':
      return wordOfNote(event.title, event.data);
    case 'plan':
      return plain({ type: 'plan', entries: event.entries });
    case 'usage': {
      const { inputTokens: input_tokens, outputTokens: output_tokens, costMicroUsd, model } = event;
      const cost = costMicroUsd === undefined ? {} : { cost_usd: costMicroUsd / 1e6 };
      return plain({ type: 'usage', input_tokens, output_tokens, ...cost, model });
    }
    case 'turnComplete':
      return plain({ type: 'turn', outcome: event.outcome ?? 'result', reason: event.reason });
    case 'status':
      return plain({ type: 'status', status: event.status, reason: event.reason });
    default:
      return undefined;
  }
}

const notes: ReadonlySet<string> = new Set(['log', 'progress']);

function wordOfNote(title: string, data: Json): Message | undefined {
  const fields: JsonObject = isObject(data)
    ? data
    : { message: typeof data === 'string' ? data : JSON.stringify(data) };
  return notes.has(title) ? { ...fields, type: title } : undefined;
}

/** What it waits for, as its agent asked: `id` is the request's. */
export function questionOf(event: SuspendEvent): Message {
  const { requestId: id } = event;
  switch (event.type) {
    case 'queryConsent': {
      const { scope, changes, consentType, callId } = event;
      const description = typeof scope.description === 'string' ? scope.description : consentType;
      const said = Array.isArray(scope.paths) ? scope.paths : [];
      const touched = [...(event.locations ?? []).map(({ path }) => path), ...pathsOfChanges(changes ?? [])];
      const paths = [...new Set([...said, ...touched])];
      const named = paths.length === 0 ? {} : { paths };
      return plain({ changes, call: callId, ...scope, ...named, description, type: 'approval', id });
    }
    case 'waitForInput':
      return { type: 'question', id, question: textOf(event.prompt) };
    case 'waitForChoice': {
      const options = event.choices.map(({ content }) => textOf(content));
      const multiple = event.selectionMode === 'multiple';
      return { type: 'question', id, question: textOf(event.prompt), options, multiple };
    }
    case 'applyEdits':
      return { type: 'question', id, question: event.label };
    case 'readGraph':
    case 'inspectNode':
      return { type: 'question', id, question: event.type };
  }
}

function responseIn(content: LlmContent): unknown {
  const [part] = content.parts;
  return part !== undefined && 'functionResponse' in part ? part.functionResponse : textOf(content);
}

/** Without what is not there; as the JSON that it will be in the program. */
function plain(fields: { readonly type: string; readonly [key: string]: unknown }): Message {
  return JSON.parse(JSON.stringify(fields));
}

function isObject(value: Json): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
