import type { Json, JsonObject } from '@concerto/base';
import { type Choice, type RequestOption, type SuspendEvent, textOf } from '@concerto/protocol';

/** An answer as a session takes it. */
export type GivenAnswer = {
  readonly response: Json;
  readonly reason?: string;
  readonly remember?: 'session' | 'always';
};

/** What is asked, in one line or more. */
export function questionOf(event: SuspendEvent): string {
  switch (event.type) {
    case 'queryConsent': {
      const { description } = event.scope;
      return typeof description === 'string' && description !== '' ? description : `${event.consentType}?`;
    }
    case 'waitForInput':
    case 'waitForChoice':
      return textOf(event.prompt);
    case 'applyEdits':
      return event.label;
    case 'inspectNode':
      return `node ${event.nodeId}`;
    case 'readGraph':
      return 'the graph';
  }
}

/** The JSON Schema of what answers it. */
export function answerSchemaOf(event: SuspendEvent): JsonObject {
  switch (event.type) {
    case 'queryConsent':
      return {
        type: 'object',
        properties: {
          approved: { type: 'boolean' },
          reason: { type: 'string' },
          remember: { type: 'string', enum: ['session', 'always'] },
        },
        required: ['approved'],
      };
    case 'waitForChoice': {
      const items = {
        type: 'string',
        oneOf: event.choices.map(({ id, content }) => ({ const: id, title: textOf(content) })),
      };
      const limit = event.selectionMode === 'single' ? { maxItems: 1 } : {};
      return {
        type: 'object',
        properties: { selected: { type: 'array', items, minItems: 1, ...limit } },
        required: ['selected'],
      };
    }
    case 'waitForInput':
      return { type: 'object', properties: { text: { type: 'string' } }, required: ['text'] };
    default:
      return {};
  }
}

/** An answer in the words of another wire, or in ours. */
export function readAnswer(event: SuspendEvent, payload: Json): GivenAnswer {
  switch (event.type) {
    case 'queryConsent':
      return consentOf(event.options ?? [], payload);
    case 'waitForChoice':
      return { response: choiceOf(event.choices, payload) };
    case 'waitForInput':
      return { response: isObject(payload) && typeof payload.text === 'string' ? payload.text : payload };
    default:
      return { response: payload };
  }
}

/** Whoever asked is told that nobody will answer: a permission is refused, anything else has no value. */
export function cancelledAnswer(event: SuspendEvent): GivenAnswer {
  return event.type === 'queryConsent' ? { response: false, reason: 'cancelled' } : { response: null };
}

function consentOf(options: readonly RequestOption[], payload: Json): GivenAnswer {
  if (!isObject(payload)) return { response: payload };
  const { approved, reason, remember, optionId } = payload;
  const option = options.find(({ id }) => id === optionId);
  if (option !== undefined) {
    const isAlways = option.kind.endsWith('_always');
    return { response: option.kind.startsWith('allow'), ...(isAlways ? { remember: 'session' } : {}) };
  }
  if (typeof approved !== 'boolean') return { response: payload };
  return {
    response: approved,
    ...(typeof reason === 'string' && reason !== '' ? { reason } : {}),
    ...(remember === 'session' || remember === 'always' ? { remember } : {}),
  };
}

/** Choices may be named alone; anything else is an answer in the person's own words. */
function choiceOf(choices: readonly Choice[], payload: Json): Json {
  const named = Array.isArray(payload) ? payload : [payload];
  const isNamed = (value: Json): boolean => choices.some(({ id }) => id === value);
  return named.length > 0 && named.every(isNamed) ? { selected: named } : payload;
}

function isObject(value: Json): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
