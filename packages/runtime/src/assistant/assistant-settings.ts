import { err, type Json, type JsonObject, nearest, ok, type Result } from '@concerto/base';
import { modelEfforts } from '@concerto/models';
import * as z from 'zod';
import { isObject } from './assistant-result.ts';
import type { AssistantSpec, OutputSchema } from './assistant-spec.ts';

/** More is no instruction but a document. */
const systemCharactersMax = 200_000;
const schemaCharactersMax = 100_000;

/** What `per_session` of `[assistants.NAME]` may name, in the words of `params` of a start. */
const Params = z.strictObject({
  model: z.string().min(1).max(200).optional(),
  system: z.string().max(systemCharactersMax).optional(),
  temperature: z.number().min(0).max(2).optional(),
  max_tokens: z.int().min(1).optional(),
  effort: z.enum(modelEfforts).optional(),
  output_schema: z.record(z.string(), z.json()).optional(),
});

/** The assistant with params of a session's own over those of its declaration, or why it cannot have them. */
export function withAssistantParams(spec: AssistantSpec, params: JsonObject): Result<AssistantSpec, string> {
  const parsed = Params.safeParse(params);
  if (!parsed.success) return err(faultOf(parsed.error.issues[0]));
  const { max_tokens: maxTokens, output_schema: written, ...own } = parsed.data;
  const schema = written === undefined ? ok(spec.outputSchema) : readOutputSchema(written, spec.mode);
  if (!schema.ok) return err(`params.output_schema: ${schema.error}`);
  return ok({ ...spec, ...own, maxTokens: maxTokens ?? spec.maxTokens, outputSchema: schema.value });
}

function faultOf(issue: z.core.$ZodIssue | undefined): string {
  if (issue?.code !== 'unrecognized_keys')
    return `params.${issue?.path.join('.') ?? ''}: ${issue?.message ?? 'is not valid'}`;
  const [key = ''] = issue.keys;
  const known = Object.keys(Params.shape);
  const meant = nearest(key, known);
  const hint = meant === undefined ? `there are ${known.join(', ')}` : `did you mean "${meant}"?`;
  return `params.${key}: an assistant has no such param; ${hint}`;
}

/** A schema that answers can be held to, or why this is none. */
export function readOutputSchema(written: JsonObject, mode: AssistantSpec['mode']): Result<OutputSchema, string> {
  if (mode === 'signals') return err('needs mode "native": an answer in signals is text');
  if (written.type !== 'object') return err('is the JSON Schema of an object: `"type": "object"` at the top');
  if (JSON.stringify(written).length > schemaCharactersMax)
    return err(`is longer than ${schemaCharactersMax} characters`);
  try {
    const shape = z.fromJSONSchema(written);
    return ok({ written, check: (text) => fits(text, shape) });
  } catch (cause) {
    return err(`cannot be used: ${cause instanceof Error ? cause.message : String(cause)}`);
  }
}

/** What stands in the answer, or what is wrong with it. */
function fits(text: string, shape: z.ZodType): Result<Json, string> {
  let given: Json;
  try {
    given = z.json().parse(JSON.parse(text));
  } catch {
    return err('the answer is no JSON');
  }
  const parsed = shape.safeParse(given);
  if (parsed.success) return ok(given);
  // A provider that is strict has null for what was left out.
  const without = withoutNulls(given);
  if (shape.safeParse(without).success) return ok(without);
  const [issue] = parsed.error.issues;
  const where = issue === undefined || issue.path.length === 0 ? '' : `${issue.path.join('.')}: `;
  return err(`the answer does not fit its schema: ${where}${issue?.message ?? ''}`);
}

function withoutNulls(value: Json): Json {
  if (Array.isArray(value)) return value.map(withoutNulls);
  if (!isObject(value)) return value;
  const kept = Object.entries(value).filter(([, part]) => part !== null);
  return Object.fromEntries(kept.map(([name, part]) => [name, withoutNulls(part)]));
}
