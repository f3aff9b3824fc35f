import type { FollowedEvent } from '@concerto/client';
import type { SuspendEvent } from '@concerto/protocol';

export type Asked = Extract<FollowedEvent, { requestId: string; type: SuspendEvent['type'] }>;

/** What an event is told to, and what asks. */
export type Audience = {
  readonly tell: (event: FollowedEvent) => void;
  readonly ask: (event: Asked) => void;
  readonly settled: (requestId: string) => void;
  /** It was interrupted: how to go on. `wasCut` where its turn was lost with the agent. */
  readonly interrupted: (wasCut: boolean) => void;
  /** The session waits for the next message. True when nobody here can say it. */
  readonly rest: () => boolean;
  /** What it took so far, for whoever leaves before the end. */
  readonly total: () => string | undefined;
  readonly close: () => void;
};
