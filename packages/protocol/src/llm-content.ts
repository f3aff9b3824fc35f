import * as z from 'zod';
import { JsonRecord, JsonValue } from './json-value.ts';

const thought = { thought: z.boolean().optional() };

/** One piece of content; other producers add fields and kinds, which pass through. */
export const Part = z.union([
  z.looseObject({ text: z.string(), ...thought }),
  z.looseObject({
    inlineData: z.looseObject({ mimeType: z.string(), data: z.string(), title: z.string().optional() }),
    ...thought,
  }),
  z.looseObject({ storedData: z.looseObject({ handle: z.string(), mimeType: z.string() }), ...thought }),
  z.looseObject({ fileData: z.looseObject({ fileUri: z.string(), mimeType: z.string() }), ...thought }),
  z.looseObject({
    functionCall: z.looseObject({ name: z.string(), args: JsonRecord }),
    ...thought,
  }),
  z.looseObject({
    functionResponse: z.looseObject({ name: z.string(), response: JsonRecord }),
    ...thought,
  }),
  z.looseObject({ executableCode: z.looseObject({ language: z.string(), code: z.string() }), ...thought }),
  z.looseObject({ codeExecutionResult: z.looseObject({ outcome: z.string(), output: z.string() }), ...thought }),
  z.looseObject({ json: JsonValue, ...thought }),
]);
export type Part = z.infer<typeof Part>;

export const LlmContent = z.looseObject({ role: z.string().optional(), parts: z.array(Part) });
export type LlmContent = z.infer<typeof LlmContent>;

export function textContent(text: string, role = 'model'): LlmContent {
  return { role, parts: [{ text }] };
}

/** All text of a content, for a reader that can show nothing else. */
export function textOf(content: LlmContent): string {
  return content.parts
    .map((part) => ('text' in part && typeof part.text === 'string' ? part.text : ''))
    .filter((text) => text !== '')
    .join('\n');
}
