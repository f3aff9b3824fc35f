import type { AgentConnection, AgentOutput, AgentSpec, Placed, StartOptions } from '@concerto/agents';
import type { SuspendEvent } from '@concerto/protocol';
import type { OwnerWriter } from './session/owner-writer.ts';

/** Time as the runtime sees it, so that a simulation can hold it in its hand. */
export type Clock = {
  now(): number;
  /** Milliseconds that only ever grow, whatever is done to the clock on the wall; for how long something took. */
  elapsed(): number;
  /** Calls once, at or after the instant; the returned function takes it back. */
  at(instant: number, call: () => void): () => void;
};

/** Unguessable, unique, within the characters of an id. */
export type MintId = (prefix: string) => string;

/** A request before it has its id. */
export type Suspend = SuspendEvent extends infer Event
  ? Event extends SuspendEvent
    ? Omit<Event, 'requestId'>
    : never
  : never;

/** What an agent says, and what our own loop says, which knows the events and needs no translation. */
export type SessionOutput =
  /** `requestId`: what a request that it opens is called, where that is known. */
  | (AgentOutput & Placed & { readonly requestId?: string })
  /** Answered by a reply to `id`. */
  | { readonly kind: 'suspend'; readonly id: string; readonly event: Suspend };

/** Whoever works in a session: an agent, a program, an assistant. */
export type SessionConnection = Omit<AgentConnection, 'output'> & {
  readonly output: AsyncIterable<readonly SessionOutput[]>;
};

export type StartAgent = (spec: AgentSpec, options: StartOptions) => Promise<AgentConnection>;

/** What whoever works in a session may ask of its owner. */
export type WorkOptions = StartOptions & {
  /** The owner's hand: what is written with it stands in order with everything else that the session says. */
  readonly writer: OwnerWriter;
  readonly epoch: number;
};

/** As `StartAgent`, whatever the session runs. */
export type StartWork = (spec: AgentSpec, options: WorkOptions) => Promise<SessionConnection>;

/** The variables to which references to secrets lead. */
export type Environment = Readonly<Record<string, string | undefined>>;

/** One line for the operator; `cause` is a failure of the world or a bug, never user data. */
export type Report = (message: string, cause?: unknown) => void;

/** Node refuses longer timers and fires at once instead. */
const timerMaxMs = 2 ** 31 - 1;

export const systemClock: Clock = {
  now: () => Date.now(),
  elapsed: () => performance.now(),
  at: (instant, call) => {
    let timer: NodeJS.Timeout;
    const arm = (): void => {
      const left = Math.max(0, instant - Date.now());
      timer = setTimeout(left > timerMaxMs ? arm : call, Math.min(left, timerMaxMs));
    };
    arm();
    return () => clearTimeout(timer);
  },
};
