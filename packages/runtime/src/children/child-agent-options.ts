import type { CatalogEntry } from '../catalog.ts';
import type { ProgramCall } from '../program/program-agent.ts';
import type { ChildSessions } from './child-sessions.ts';

/** Of a session that a program opens to call an agent. */
export type ChildAgentOptions = {
  readonly children: ChildSessions;
  readonly id: string;
  readonly agent: string;
  /** What the manifest says of it: who answers for it before people do, what each session of it may use. */
  readonly declared: Pick<CatalogEntry, 'supervisor' | 'budget'> | undefined;
  /** Whether somebody beside the program may answer what the agent asks. */
  readonly peopleAnswer: boolean;
  /** What it said is forgotten once it was heard: nobody will read it again. */
  readonly forgets: boolean;
  /** It waits for a place in the pool. */
  readonly onQueued: () => void;
  /** It only waits for answers now, or no more. */
  readonly onWaits: () => void;
  /** Nothing more is heard of it: it is over, or let go of. */
  readonly onClosed: () => void;
  /** The program itself waits for people, with what its agents asked of it perhaps. */
  readonly programAsks: () => boolean;
  /** The program is paused, or about to be. */
  readonly programHolds: () => boolean;
  /** Everything that the program has said so far is on record. */
  readonly written: () => Promise<void>;
};

/** A call of it: the message that it is in its session, and the place of the last word of it that was passed on. */
export type ChildCall = ProgramCall & { readonly message: string; isOver: boolean; place: number };
