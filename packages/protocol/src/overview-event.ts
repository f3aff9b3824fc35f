import * as z from 'zod/mini';
import { SuspendEvent } from './agent-event.ts';
import { Session } from './http.ts';
import { JsonValue } from './json-value.ts';

const about = {
  session: z.string(),
  /** The top of its tree, for what a child asks. */
  root: z.optional(z.string()),
  requestId: z.string(),
};

/** What a watcher of everything hears, on a stream of its own with positions of its own. */
export const OverviewEvent = z.discriminatedUnion('type', [
  /** A row of the overview changed; of sessions that nobody opened. */
  z.strictObject({ type: z.literal('session'), summary: Session }),
  /** It is no more, with all that it opened. */
  z.strictObject({ type: z.literal('sessionDeleted'), session: z.string() }),
  /** The project's graph was changed. */
  z.strictObject({ type: z.literal('graph'), version: z.int() }),
  /** A person is asked. */
  z.strictObject({ type: z.literal('request'), ...about, request: SuspendEvent }),
  z.strictObject({
    type: z.literal('requestSettled'),
    ...about,
    outcome: z.enum(['answered', 'withdrawn']),
    by: z.optional(z.string()),
    reason: z.optional(z.string()),
    response: z.optional(JsonValue),
  }),
]);
export type OverviewEvent = z.infer<typeof OverviewEvent>;
