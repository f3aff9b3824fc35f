import type { Tool } from '@concerto/protocol';
import { isJsonObject } from '../json/json-object.ts';

export type Answered = { readonly text: string; readonly tokens: number };

/** What a model or an agent that a program asked came up with, in a line; undefined for any other call. */
export function answerOf({ state, result, childSession }: Tool): Answered | undefined {
  if (state !== 'ok') return undefined;
  const part = result?.parts[0];
  const given: unknown = part !== undefined && 'functionResponse' in part ? part.functionResponse : undefined;
  const response = isJsonObject(given) && isJsonObject(given.response) ? given.response : {};
  const tokens = numberOf(response.tokens_in) + numberOf(response.tokens_out);
  const isAsked = childSession !== undefined || response.tokens_out !== undefined;
  const text = typeof response.text === 'string' ? (response.text.trim().split('\n', 1)[0] ?? '') : '';
  return isAsked && text !== '' ? { text, tokens } : undefined;
}

function numberOf(value: unknown): number {
  return typeof value === 'number' ? value : 0;
}
