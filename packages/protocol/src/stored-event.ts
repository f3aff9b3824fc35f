import { strictJson } from '@concerto/base';
import * as z from 'zod/mini';
import type { PublicEvent } from './agent-event.ts';

/** As stored and sent: the event's own fields, then when it was recorded and its position. */
export type StoredEvent = PublicEvent & { readonly at: string; readonly seq: number };

/** The JSON text of an event as the log takes it; the log adds `seq`. */
export function encodeEvent(event: { readonly type: string }, at: string): string {
  // Put in behind the text: a copy of each event, of all its shapes, would cost as much as writing it.
  return `${strictJson(event).slice(0, -1)},"at":${JSON.stringify(at)}}`;
}

/** Reads a stored event at a boundary; an unknown type comes back as is, for a client older than its server. */
export const StoredEventSchema = z.looseObject({ type: z.string(), at: z.string(), seq: z.int().check(z.positive()) });
