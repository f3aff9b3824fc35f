import { err, type Json, type JsonObject, ok, type Result } from '@concerto/base';
import type { FormField, FormRequest } from '@concerto/protocol/acp';

/** A form as questions that are asked one after the other. */
export type FormQuestion = {
  readonly key: string;
  readonly question: string;
  readonly context?: string;
  readonly options?: readonly string[];
  readonly multiple: boolean;
  /** The content that an answer stands for; the refusal says what is asked for instead. */
  readonly read: (answer: Json) => Result<JsonObject, string>;
};

type Choice = { readonly value: string; readonly label: string; readonly description: string | undefined };

/** How often a field is asked for before the form is declined. */
export const formAttemptsMax = 3;

export function formQuestions({ message, requestedSchema }: FormRequest): readonly FormQuestion[] {
  const fields = Object.entries(requestedSchema.properties ?? {});
  const byKey = new Map(fields);
  // A field for an answer of one's own belongs to the choice beside it: who answers freely has filled it in.
  const asked = fields.filter(([key]) => !byKey.has(key.replace(/_custom$/, '')) || !key.endsWith('_custom'));
  return asked.map(([key, field]) => {
    const own = byKey.has(`${key}_custom`) ? `${key}_custom` : undefined;
    const isOnly = asked.length === 1;
    const required = requestedSchema.required?.includes(key) === true;
    return fieldQuestion({ key, field, own, required }, isOnly ? message : undefined, isOnly ? undefined : message);
  });
}

type AskedField = {
  readonly key: string;
  readonly field: FormField;
  /** Where an answer goes that is none of the choices. */
  readonly own: string | undefined;
  readonly required: boolean;
};

function fieldQuestion(asked: AskedField, message: string | undefined, introduction: string | undefined): FormQuestion {
  const { key, field } = asked;
  const choices = choicesOf(field);
  const multiple = field.type === 'array';
  const question = message ?? field.description ?? field.title ?? key;
  const lines = [
    ...[introduction, field.title, field.description].filter((line) => line !== question),
    ...choices.map(({ label, description }) => (description === undefined ? undefined : `${label}: ${description}`)),
  ].filter((line) => line !== undefined && line !== null);
  return {
    key,
    question,
    multiple,
    ...(lines.length === 0 ? {} : { context: lines.join('\n') }),
    ...(choices.length === 0 ? {} : { options: choices.map(({ label }) => label) }),
    read: (answer) => readAnswer(asked, choices, answer),
  };
}

function choicesOf(field: FormField): readonly Choice[] {
  if (field.type === 'boolean') {
    return [true, false].map((value) => ({
      value: String(value),
      label: value ? 'yes' : 'no',
      description: undefined,
    }));
  }
  const titled = field.oneOf ?? field.items?.anyOf ?? field.items?.oneOf;
  if (titled !== undefined && titled !== null) {
    return titled.map((option) => ({
      value: option.const,
      label: option.title ?? option.const,
      description: option.description ?? undefined,
    }));
  }
  return (field.enum ?? field.items?.enum ?? []).map((value) => ({ value, label: value, description: undefined }));
}

function readAnswer(
  { key, field, own, required }: AskedField,
  choices: readonly Choice[],
  answer: Json,
): Result<JsonObject, string> {
  if (answer === null || answer === '') return required ? err('an answer is required') : ok({});
  if (field.type === 'array') return readChoices({ key, own }, choices, Array.isArray(answer) ? answer : [answer]);
  if (field.type === 'boolean') return readFlag(key, answer);
  if (choices.length > 0) {
    const choice = choiceOf(choices, answer);
    if (choice !== undefined) return ok({ [key]: choice.value });
    return own === undefined
      ? err(`one of ${choices.map(({ label }) => label).join(', ')}`)
      : ok({ [own]: textOf(answer) });
  }
  if (field.type === 'number' || field.type === 'integer') {
    const number = typeof answer === 'number' ? answer : Number(textOf(answer));
    const fits = Number.isFinite(number) && (field.type === 'number' || Number.isInteger(number));
    return fits ? ok({ [key]: number }) : err(field.type === 'number' ? 'a number' : 'a whole number');
  }
  return ok({ [key]: textOf(answer) });
}

function readChoices(
  { key, own }: { readonly key: string; readonly own: string | undefined },
  choices: readonly Choice[],
  answers: readonly Json[],
): Result<JsonObject, string> {
  const chosen: string[] = [];
  const free: string[] = [];
  for (const answer of answers) {
    const choice = choiceOf(choices, answer);
    if (choice !== undefined) chosen.push(choice.value);
    else if (choices.length === 0) chosen.push(textOf(answer));
    else free.push(textOf(answer));
  }
  if (free.length > 0 && own === undefined) return err(`some of ${choices.map(({ label }) => label).join(', ')}`);
  return ok({ [key]: chosen, ...(own === undefined || free.length === 0 ? {} : { [own]: free.join(', ') }) });
}

function readFlag(key: string, answer: Json): Result<JsonObject, string> {
  if (answer === true || /^(y|yes|true|ok)$/i.test(textOf(answer).trim())) return ok({ [key]: true });
  if (answer === false || /^(n|no|false)$/i.test(textOf(answer).trim())) return ok({ [key]: false });
  return err('yes or no');
}

function choiceOf(choices: readonly Choice[], answer: Json): Choice | undefined {
  const wanted = textOf(answer).trim().toLowerCase();
  return choices.find(({ value, label }) => label.toLowerCase() === wanted || value.toLowerCase() === wanted);
}

function textOf(answer: Json): string {
  return typeof answer === 'string' ? answer : JSON.stringify(answer);
}
