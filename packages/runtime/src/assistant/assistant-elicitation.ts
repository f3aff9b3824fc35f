import { type FormQuestion, formAttemptsMax, formQuestions } from '@concerto/agents';
import { err, type Json, type JsonObject, ok, type Result } from '@concerto/base';
import type { McpElicitation, McpElicited } from '@concerto/models';
import { type LlmContent, textContent } from '@concerto/protocol';
import { FormRequest } from '@concerto/protocol/acp';
import * as z from 'zod';
import type { Suspend } from '../worker.ts';
import { isObject } from './assistant-result.ts';

/** In place of an answer: the whole form is refused, or a field that need not be there is left out. */
const declineWord = 'decline';
const skipWord = 'skip';

type Asking = {
  /** Who wants to know. */
  readonly server: string;
  /** Rejects when nobody will answer. */
  readonly ask: (event: Suspend) => Promise<Json>;
};

/** What a server asks for while it works, as one question for each field of its form, or as a consent where it has none. */
export async function elicit({ message, schema }: McpElicitation, asking: Asking): Promise<McpElicited> {
  const form = FormRequest.safeParse({ message, requestedSchema: schema });
  if (!form.success) return { action: 'decline' };
  try {
    const fields = fieldsOf(form.data);
    return fields.length === 0 ? await consent(message, asking) : await fillIn(fields, asking);
  } catch {
    // Nobody is there to answer any more, or the turn is over.
    return { action: 'cancel' };
  }
}

type Field = FormQuestion & {
  readonly required: boolean;
  /** What is taken where it is left out. */
  readonly preset: Json | undefined;
};

/** Each with what the server's own schema says about the value. */
function fieldsOf(form: FormRequest): readonly Field[] {
  const { properties, required } = form.requestedSchema;
  return formQuestions(form).map((question) => {
    const written = { ...properties?.[question.key] };
    const shape = shapeOf(written);
    const preset = z.json().optional().catch(undefined).parse(written.default);
    const read = (answer: Json): Result<JsonObject, string> => {
      const taken = question.read(answer);
      const value = taken.ok ? taken.value[question.key] : undefined;
      const checked = value === undefined ? undefined : shape?.safeParse(value);
      if (!taken.ok || checked === undefined || checked.success) return taken;
      return { ok: false, error: `something else: ${checked.error.issues[0]?.message ?? 'it does not fit'}` };
    };
    return { ...question, read, required: required?.includes(question.key) === true, preset };
  });
}

/** A schema that we do not understand is the server's to judge. */
function shapeOf(written: object): z.ZodType | undefined {
  try {
    return z.fromJSONSchema(JSON.parse(JSON.stringify(written)));
  } catch {
    return undefined;
  }
}

async function consent(message: string, { server, ask }: Asking): Promise<McpElicited> {
  const scope = { description: message, server, kind: 'other' };
  const answer = await ask({ type: 'queryConsent', consentType: 'approval', scope, graphUrl: '' });
  return answer === 'yes' ? { action: 'accept', content: {} } : { action: 'decline' };
}

async function fillIn(fields: readonly Field[], asking: Asking): Promise<McpElicited> {
  let content: JsonObject = {};
  for (const [index, field] of fields.entries()) {
    const answered = await askField(field, { ...asking, fields, number: index + 1 });
    if ('action' in answered) return answered;
    content = { ...content, ...answered.part };
  }
  return { action: 'accept', content };
}

/** One of them, counted from 1. */
type Place = Asking & { readonly fields: readonly Field[]; readonly number: number };

async function askField(field: Field, place: Place): Promise<McpElicited | { readonly part: JsonObject }> {
  let hint: string | undefined;
  for (let attempt = 0; attempt < formAttemptsMax; attempt++) {
    const answer = await place.ask(questionOf(field, place, hint));
    const whole = isObject(answer) ? readWhole(answer, place.fields) : ok(undefined);
    if (whole.ok && whole.value !== undefined) return whole.value;
    const words = (Array.isArray(answer) ? answer : [answer]).map((word) => String(word).trim().toLowerCase());
    if (words.includes(declineWord)) return { action: 'decline' };
    if (!field.required && words.includes(skipWord))
      return { part: field.preset === undefined ? {} : { [field.key]: field.preset } };
    const read = whole.ok ? field.read(answer) : whole;
    if (read.ok) return { part: read.value };
    hint = `Please answer with ${read.error}.`;
  }
  return { action: 'decline' };
}

/** A program may answer the whole form at once, or in the words of the protocol. */
function readWhole(answer: JsonObject, fields: readonly Field[]): Result<McpElicited, string> {
  const { action, content = {} } = answer;
  if (action === 'decline' || action === 'cancel') return ok({ action });
  const given = action === 'accept' && isObject(content) ? content : answer;
  let filled: JsonObject = {};
  for (const field of fields) {
    const part = field.read(given[field.key] ?? field.preset ?? null);
    if (!part.ok) return err(`${field.key}: ${part.error}`);
    filled = { ...filled, ...part.value };
  }
  return ok({ action: 'accept', content: filled });
}

function questionOf(field: Field, { server, fields, number }: Place, hint: string | undefined): Suspend {
  const { question, context, options, multiple, required, preset } = field;
  const skipped = preset === undefined ? 'leaves it out' : `takes ${JSON.stringify(preset)}`;
  const ways = [...(required ? [] : [`"${skipWord}" ${skipped}`]), `"${declineWord}" refuses`];
  const lines = [
    `${server} asks${fields.length === 1 ? '' : ` (${number} of ${fields.length})`}.`,
    ...(context === undefined ? [] : [context]),
    `${ways.join('; ')}.`,
    ...(hint === undefined ? [] : [hint]),
  ];
  const prompt: LlmContent = { ...textContent(question), parts: [{ text: question }, { text: lines.join('\n') }] };
  if (options === undefined) return { type: 'waitForInput', prompt, inputType: 'text' };
  const words = [...options, ...(required ? [] : [skipWord]), declineWord];
  const choices = words.map((label, index) => ({ id: `option-${index + 1}`, content: textContent(label) }));
  return { type: 'waitForChoice', prompt, choices, selectionMode: multiple ? 'multiple' : 'single' };
}
