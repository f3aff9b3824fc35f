import { AgentEvent, SessionEvent } from '@concerto/protocol';
import * as z from 'zod';

const stamped = { at: z.string(), seq: z.number().int().positive() };

/** Every kind of event, as it is sent: `content` is the schema `ContentEvent`. */
const options = [...AgentEvent.def.options, ...SessionEvent.def.options].map((option) =>
  z.strictObject({ ...option.shape, ...stamped }),
);

/** One event of a session. A newer server may send kinds that are not here. */
export const Event = z.union(options);

/** A page of them, as the document has it; clients read it more loosely. */
export const EventPage = z.strictObject({
  events: z.array(Event),
  position: z.number().int().nonnegative(),
  more: z.boolean(),
});

export const eventSchemas: Readonly<Record<string, z.core.$ZodType>> = {
  ...Object.fromEntries(
    options.flatMap((option) => option.shape.type.def.values.map((type) => [nameOf(type), option])),
  ),
  Event,
  EventPage,
};

function nameOf(type: string): string {
  return `${type.charAt(0).toUpperCase()}${type.slice(1)}Event`;
}
