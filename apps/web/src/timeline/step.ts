import type { Json } from '@concerto/base';
import type { NoteEntry } from '@concerto/protocol';
import { isJsonObject } from '../json/json-object.ts';
import { lineOf } from '../json/line-of.ts';

export type Step = { readonly message: string; readonly percent: number | undefined };

/** A step in words: the agent's own, or all that was said with it. A program may emit a bare text, which comes as `value`. */
export function stepOf({ title, data }: NoteEntry): Step | undefined {
  if (title !== 'progress') return undefined;
  if (!isJsonObject(data)) return { message: typeof data === 'string' ? data : lineOf(data), percent: undefined };
  const message = [data.message, data.text, data.value].find((text) => typeof text === 'string') ?? lineOf(data);
  return { message, percent: percentOf(data.percent) };
}

function percentOf(value: Json | undefined): number | undefined {
  return typeof value === 'number' ? value : undefined;
}
