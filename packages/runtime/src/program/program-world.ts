import type { Json } from '@concerto/base';
import type { Answer, TraceEntry } from '@concerto/vm';
import type { Clock } from '../ports.ts';
import type { PlainValue, ProgramRequest } from './machine/machine.ts';
import type { LeftAgent, StartProgramAgent } from './program-agent.ts';

/**
 * That a program waits for people or for a time alone, and until when; for ever unless given. `on`: the sessions of its agents
 * that wait for people.
 */
export type Rests = { readonly until?: number; readonly on?: readonly string[] };

/** What a program's effects are performed with. A session and a test each bring their own. */
export type ProgramWorld = {
  /** The system's unless given. */
  readonly clock?: Clock;
  /** Emits, and the language's own events (`system`), in order. */
  readonly emit: (channel: string, payload: PlainValue, system: boolean) => void;
  readonly print: (text: string) => void;
  /** Resolves when the world can take more output; without it, always. */
  readonly ready?: () => Promise<void>;
  /** Lets go of output that was held back to be written at once. */
  readonly flush?: () => void;
  readonly log: (level: 'info' | 'warn' | 'error' | 'debug', text: string) => void;
  /** `await emit`; resolves with null when nobody answers. `request` names it within the run. */
  readonly ask: (channel: string, payload: PlainValue, signal: AbortSignal, request: number) => Promise<Json>;
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** Relative paths of `std::fs` start here. */
  readonly directory: string;
  /** Relative paths of agents start here: where the manifest is. */
  readonly projectDirectory: string;
  /** Every model answers with the offline mock. */
  readonly mockModels: boolean;
  /** Why a request is not performed; undefined where it is. Without it, all are. */
  readonly refuses?: (request: ProgramRequest) => string | undefined;
  /** Sees what is asked of models, and what came of it; after a restart that which is asked again, again. */
  readonly watch?: (request: ProgramRequest, answer?: Answer) => void;
  /** Where it stands while it waits. */
  readonly stands?: (places: readonly TraceEntry[]) => void;
  /** Resolves when the program may go on; undefined: now. */
  readonly held?: () => Promise<void> | undefined;
  /** The program waits now, for what this tells, which may change; undefined: no more. */
  readonly waits?: (waiting: Waiting | undefined) => void;
  /** Nothing but this time is waited for. */
  readonly sleeps?: (until: number) => void;
  /** The agents that an earlier process of the run has left: those that go on, and those that ended in one of these calls. */
  readonly agentsLeft?: (calls: readonly string[]) => Promise<readonly LeftAgent[]>;
  /** Of the session of an agent, or of the one that is supervised; without it there is none. */
  readonly session?: (request: Extract<ProgramRequest, { kind: 'session' }>) => Promise<Json>;
  /** How its agents are started; without it there are none. */
  readonly startAgent?: StartProgramAgent;
};

export type Waiting = {
  /** For people or for a time alone, its agents too: until when. */
  readonly rests: Rests | undefined;
  /** What it has begun itself is asked of people, whatever its agents do. */
  readonly asks: boolean;
};

/** Calls and loop turns before timers, signals and slow readers get their turn; also how many effects gather at most. */
export const TURN_STEPS = 100_000;

/** A failure the program sees as an error value with this kind. */
export class WorldFailure extends Error {
  override readonly name = 'WorldFailure';
  readonly code: string;
  readonly kind: string;
  readonly details: Json | undefined;

  constructor(kind: string, message: string, options: { cause?: unknown; details?: Json } = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.code = kind;
    this.kind = kind;
    this.details = options.details;
  }
}
