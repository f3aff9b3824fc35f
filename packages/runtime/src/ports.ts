import type { AgentConnection, AgentSpec, StartOptions } from '@concerto/agents';

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

export type StartAgent = (spec: AgentSpec, options: StartOptions) => Promise<AgentConnection>;

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
