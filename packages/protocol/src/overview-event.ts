import * as z from 'zod';
import { SuspendEvent } from './agent-event.ts';
import { Session } from './http.ts';
import { JsonValue } from './json-value.ts';

const about = {
  session: z.string(),
  /** The top of its tree, for what a child asks. */
  root: z.string().optional(),
  requestId: z.string(),
};

/** What a watcher of everything hears, on a stream of its own with positions of its own. */
export const OverviewEvent = z.discriminatedUnion('type', [
  /** A row of the overview changed; of sessions that nobody opened. */
  z.strictObject({ type: z.literal('session'), summary: Session }),
  /** It is no more, with all that it opened. */
  z.strictObject({ type: z.literal('sessionDeleted'), session: z.string() }),
  /** A person is asked. */
  z.strictObject({ type: z.literal('request'), ...about, request: SuspendEvent }),
  z.strictObject({
    type: z.literal('requestSettled'),
    ...about,
    outcome: z.enum(['answered', 'withdrawn']),
    by: z.string().optional(),
    reason: z.string().optional(),
    response: JsonValue.optional(),
  }),
]);
export type OverviewEvent = z.infer<typeof OverviewEvent>;
