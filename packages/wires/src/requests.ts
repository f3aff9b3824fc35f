import { firstOfText, type Json, type JsonObject } from '@concerto/base';
import { type Choice, type RequestOption, type SuspendEvent, textOf } from '@concerto/protocol';

/** An answer as a session takes it. */
export type GivenAnswer = {
  readonly response: Json;
  readonly reason?: string;
  readonly remember?: 'session' | 'always';
};

/** Whether a person can answer it; the others are for a program that has the graph. */
export function isForPerson({ type }: SuspendEvent): boolean {
  return type === 'queryConsent' || type === 'waitForChoice' || type === 'waitForInput';
}

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

/** So much of what a request is about is told to a reader that has no card for it. */
const detailsCharactersMax = 8_000;

/** What there is to know before it is answered, in lines: for a model, or a form. */
export function detailsOf(event: SuspendEvent): string {
  const text = detailLinesOf(event)
    .map((line) => `${line}\n`)
    .join('');
  if (text.length <= detailsCharactersMax) return text;
  const first = firstOfText(text, detailsCharactersMax);
  return `${first}… (${text.length - first.length} characters more)\n`;
}

function detailLinesOf(event: SuspendEvent): string[] {
  switch (event.type) {
    case 'queryConsent': {
      const { description: _, changes, ...scope } = event.scope;
      const patches = (event.changes ?? []).map(({ kind, path, patch }) => `- ${kind} ${path}:\n${patch}`);
      const told = patches.length > 0 || changes === undefined ? scope : { ...scope, changes };
      return [...Object.entries(told).map(([name, value]) => `- ${name}: ${written(value)}`), ...patches];
    }
    case 'waitForChoice': {
      const choices = event.choices.map(({ id, content }) => `- \`${id}\`: ${textOf(content)}`);
      return event.selectionMode === 'multiple' ? [...choices, 'Several may be chosen.'] : choices;
    }
    case 'applyEdits':
      return [
        `- ${event.transform === undefined ? 'edits' : 'transform'}: ${written(event.transform ?? event.edits ?? [])}`,
      ];
    default:
      return [];
  }
}

function written(value: Json): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
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
