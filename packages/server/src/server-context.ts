import type { EventLog, LogMeasures } from '@concerto/log';
import type { DoctorFinding, KeptAgentRow } from '@concerto/protocol';
import type { Sessions } from '@concerto/runtime';
import type { TracedCall, Tracing } from '@concerto/runtime/tracing';
import type { HttpBindings } from '@hono/node-server';
import type { AnsweredCall } from './call-log.ts';
import type { EventFeeds } from './event-feeds.ts';
import type { InlineTools } from './inline-tools.ts';
import type { LogTails } from './log-tails.ts';
import type { KnownPerson, People } from './people/people.ts';
import type { ProgramShelf } from './program-shelf.ts';
import type { Guard } from './who-calls.ts';

/** What the process that serves can do about itself and the agents of its machine. */
export type Upkeep = {
  readonly kept: () => Promise<readonly KeptAgentRow[]>;
  /** Whether there was one. */
  readonly end: (session: string) => Promise<boolean>;
  /** Returns at once; the answer still goes out. */
  readonly stop: (agentsToo: boolean) => void;
  /** What is wrong with what can be started, each agent tried. */
  readonly doctor: () => Promise<readonly DoctorFinding[]>;
};

/** What the routes need; made once by the app. */
export type ServerContext = {
  readonly sessions: Sessions;
  readonly log: EventLog;
  readonly feeds: EventFeeds;
  readonly tails: LogTails;
  readonly guard: Guard;
  readonly people: People;
  readonly inlineTools: InlineTools;
  /** One call of the Model Context Protocol, with the caller's own token; undefined serves none. */
  readonly mcp?: (request: Request, authorization: string | undefined) => Promise<Response>;
  readonly programs: ProgramShelf;
  /** Absent where nothing is kept and nobody may stop it. */
  readonly upkeep?: Upkeep | undefined;
  readonly version: string;
  /** What a manifest may hold, as a JSON schema. */
  readonly manifestSchema: () => object;
  /** How long a long poll waits; as long as others' when left out. */
  readonly longPollMs?: number;
  /** Where the built page is; undefined serves the API alone. */
  readonly webRoot: string | undefined;
  /** What this process has measured of its store. */
  readonly measures?: (() => LogMeasures) | undefined;
  /** What each agent of this machine takes of its memory, in bytes; undefined where nobody tells. */
  readonly agentsMemory?: (() => Promise<readonly number[] | undefined>) | undefined;
  /** Absent where calls are not traced. */
  readonly tracing?: Pick<Tracing, 'call'> | undefined;
  /** Hears of each call when it is answered. */
  readonly onAnswered?: ((call: AnsweredCall) => void) | undefined;
};

/** Hono's routes and contexts, with Node's own request and response under them, who calls, and the call's id. */
export type OnNode = {
  Bindings: HttpBindings;
  Variables: { person: KnownPerson; requestId: string; trace: TracedCall | undefined };
};
