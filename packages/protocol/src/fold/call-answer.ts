import type { Json } from '@concerto/base';
import * as z from 'zod/mini';
import type { Tool } from './session-view.ts';

const Answered = z.looseObject({
  response: z.looseObject({
    text: z.string(),
    tokens_in: z.optional(z.number()),
    tokens_out: z.optional(z.number()),
    tool_calls: z.optional(z.array(z.looseObject({ name: z.string() }))),
  }),
});

export type CallAnswer = {
  /** A model that calls tools instead has only asked for these. */
  readonly did: 'answered' | 'called';
  readonly text: string;
  readonly tokens: number;
};

/** What a model or an agent that a program asked came up with, in a line; undefined for any other call. */
export function callAnswer({ state, result, childSession }: Tool): CallAnswer | undefined {
  const part = result?.parts[0];
  const given: unknown = part !== undefined && 'functionResponse' in part ? part.functionResponse : undefined;
  const read = Answered.safeParse(given);
  if (state !== 'ok' || !read.success) return undefined;
  const { text, tokens_in: tokensIn = 0, tokens_out: tokensOut, tool_calls: calls = [] } = read.data.response;
  if (childSession === undefined && tokensOut === undefined) return undefined;
  const tokens = tokensIn + (tokensOut ?? 0);
  // How many tokens it took follows, in the same sentence.
  const line = (text.trim().split('\n', 1)[0] ?? '').replace(/(?<=[\p{L}\p{N}`"')\]])\.$/u, '');
  if (line !== '') return { did: 'answered', text: line, tokens };
  return calls.length > 0 ? { did: 'called', text: calls.map(({ name }) => name).join(', '), tokens } : undefined;
}

const Told = z.looseObject({ session: z.string(), request: z.string(), response: z.json() });

export type ProgramAnswer = { readonly session: string; readonly request: string; readonly response: Json };

/** The note by which a program tells what it answered one of its agents; undefined for any other. */
export function programAnswer(note: { readonly title: string; readonly data: Json }): ProgramAnswer | undefined {
  const read = note.title === 'answer' ? Told.safeParse(note.data) : undefined;
  return read?.success === true ? read.data : undefined;
}
