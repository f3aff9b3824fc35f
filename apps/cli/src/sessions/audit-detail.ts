import type { Json, JsonObject } from '@concerto/base';
import { wordsOf as contentWords, LlmContent } from '@concerto/protocol';

const longest = 60;

/** What an entry of the audit is about, in a few words of its own; the rest is in `--json`. */
export function auditDetail(detail: Json | undefined): string {
  const fields = fieldsOf(detail);
  if (fields === undefined) return '';
  const text = (questionText(fields.event) ?? answerText(fields.response) ?? wordsOf(fields))
    .replaceAll(/\s+/g, ' ')
    .trim();
  return text.length > longest ? `${text.slice(0, longest - 1)}…` : text;
}

function wordsOf(fields: JsonObject): string {
  const { content, kind, by, agent, outcome, value, error, status, reason, report, how, capabilities } = fields;
  if (typeof content === 'string') return content;
  if (typeof agent === 'string') return [...textsOf(kind), agent].join(' ');
  if (typeof kind === 'string')
    return [kind, ...(typeof by === 'string' ? [`by ${by}`] : []), ...textsOf(reason)].join(', ');
  if (typeof outcome === 'string')
    return [outcome, ...textsOf(fieldsOf(value)?.text ?? fieldsOf(error)?.message)].join(': ');
  if (Array.isArray(capabilities)) return capabilities.join(', ');
  const first = [status, report, how].find((word) => typeof word === 'string');
  return [...textsOf(first), ...textsOf(reason === first ? undefined : reason)].join(': ');
}

function textsOf(value: Json | undefined): readonly string[] {
  return typeof value === 'string' ? [value] : [];
}

function questionText(event: Json | undefined): string | undefined {
  const fields = fieldsOf(event);
  if (fields === undefined) return undefined;
  const description = fieldsOf(fields.scope)?.description;
  return typeof description === 'string' ? description : (partsText(fields.prompt) ?? textsOf(fields.type).join());
}

/** What was answered, in words; undefined when that is not told. */
export function answerText(response: Json | undefined): string | undefined {
  if (response === undefined) return undefined;
  if (typeof response === 'boolean') return response ? 'yes' : 'no';
  const fields = fieldsOf(response);
  if (Array.isArray(fields?.selected)) return fields.selected.join(', ');
  return (
    partsText(fields?.input) ??
    partsText(response) ??
    (typeof response === 'string' ? response : JSON.stringify(response))
  );
}

function partsText(content: Json | undefined): string | undefined {
  const parts = fieldsOf(content)?.parts;
  if (!Array.isArray(parts)) return undefined;
  const read = LlmContent.safeParse({ parts });
  return read.success ? contentWords(read.data) : parts.flatMap((part) => textsOf(fieldsOf(part)?.text)).join(' ');
}

export function fieldsOf(value: Json | undefined): JsonObject | undefined {
  return isFields(value) ? value : undefined;
}

function isFields(value: Json | undefined): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
