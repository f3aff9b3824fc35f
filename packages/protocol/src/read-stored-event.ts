import { AgentEvent, SessionEvent } from './agent-event.ts';
import type { FoldedEvent } from './fold/session-view.ts';
import { type StoredEvent, StoredEventSchema } from './stored-event.ts';

const known: ReadonlySet<string> = new Set(
  [...AgentEvent.def.options, ...SessionEvent.def.options].flatMap((option) => option.shape.type.def.values),
);

/** One entry of a session's events as the log has it. What we wrote is trusted; a type we do not know is handed on as such. */
export function readStoredEvent(data: string): FoldedEvent | undefined {
  const raw = StoredEventSchema.safeParse(JSON.parse(data));
  if (!raw.success) return undefined;
  const { at, seq, type } = raw.data;
  if (!known.has(type)) return { type: 'unknown', raw: raw.data, at, seq };
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- written by us, in a shape that is frozen
  return raw.data as unknown as StoredEvent;
}
