import type { Json } from '@concerto/base';
import type {
  CallOutcome,
  FileChange,
  Location,
  Message,
  PlanEntry,
  SessionEvent,
  SessionStatus,
  SuspendEvent,
  ToolKind,
  TurnOutcome,
  Usage,
} from '../agent-event.ts';
import type { BudgetUnit, BudgetView } from '../budget.ts';
import type { LlmContent, Part } from '../llm-content.ts';
import type { StoredEvent } from '../stored-event.ts';

/** From a newer server: shown as it is. */
export type UnknownEvent = {
  readonly type: 'unknown';
  readonly raw: { readonly type: string; readonly [field: string]: unknown };
  readonly at: string;
  readonly seq: number;
};

export type FoldedEvent = StoredEvent | UnknownEvent;

type Common = {
  /** The position of the event that made it: unique in a session, and the order of what is shown. */
  readonly key: number;
  readonly at: string;
};

/** What the model said, or thought, in one of its messages. */
export type TextEntry = Common & {
  readonly kind: 'text' | 'thought';
  readonly messageId: string | undefined;
  /** Its last whole text, else its pieces joined. */
  readonly text: string;
  /** What else stands in it: pictures, files, data. */
  readonly parts: readonly Part[];
};

/** A person's word into a running turn: where the agent got it, and from then on where the model heard it. */
export type SteerEntry = Common & {
  readonly kind: 'steer';
  readonly messageId: string | undefined;
  readonly content: LlmContent;
  /** Who: `user:ann`; where the queue did not say so before, nobody knows. */
  readonly by: string | undefined;
  readonly isHeard: boolean;
};

export type Tool = Common & {
  readonly kind: 'tool';
  readonly callId: string;
  readonly messageId: string | undefined;
  readonly name: string;
  readonly title: string | undefined;
  readonly toolKind: ToolKind | undefined;
  readonly args: Readonly<Record<string, Json>>;
  readonly childSession: string | undefined;
  readonly locations: readonly Location[];
  readonly changes: readonly FileChange[];
  /** What it is doing now, in words. */
  readonly status: string | undefined;
  /** What it wrote so far; of very much the end. */
  readonly output: string;
  readonly state: 'running' | CallOutcome;
  readonly result: LlmContent | undefined;
  readonly error: string | undefined;
  readonly endedAt: string | undefined;
  /** The calls of its sub-agent. */
  readonly calls: readonly Tool[];
};

export type Settlement = Omit<Extract<SessionEvent, { type: 'requestSettled' }>, 'type' | 'requestId'> & {
  readonly at: string;
};

export type Routing = {
  readonly to: string;
  readonly reason: string | undefined;
  readonly at: string;
  /** When whoever is asked has no more time. */
  readonly expiresAt?: string | undefined;
};

export type RequestEntry = Common & {
  readonly kind: 'request';
  readonly requestId: string;
  readonly event: SuspendEvent;
  /** Who was asked, in order; the last is asked now. */
  readonly routed: readonly Routing[];
  readonly settled: Settlement | undefined;
};

/** A line of the agent's: a log, progress, a message of its own. `callId` is what it is about, unless that is the turn. */
export type NoteEntry = Common & {
  readonly kind: 'note';
  readonly callId: string | undefined;
  readonly title: string;
  readonly data: Json;
};

/** Something went wrong without ending the turn; why a turn failed stands in the turn. */
export type ErrorEntry = Common & { readonly kind: 'error'; readonly message: string };
export type StatusEntry = Common & {
  readonly kind: 'status';
  readonly status: SessionStatus;
  readonly previous: SessionStatus | undefined;
  readonly reason: string | undefined;
};
/** A budget comes near its end, has come to it, or was raised. */
export type BudgetEntry = Common & {
  readonly kind: 'budget';
  readonly level: Extract<SessionEvent, { type: 'budget' }>['level'];
  readonly what: readonly BudgetUnit[];
  readonly budget: BudgetView;
};
export type GapEntry = Common & { readonly kind: 'gap'; readonly from: number; readonly to: number };
export type RawEntry = Common & {
  readonly kind: 'raw';
  readonly title: string;
  readonly data: unknown;
  /** A change of a graph that is shown and not waited for. */
  readonly isGraphEdit?: true;
};

export type Entry =
  | TextEntry
  | SteerEntry
  | Tool
  | RequestEntry
  | NoteEntry
  | ErrorEntry
  | StatusEntry
  | BudgetEntry
  | GapEntry
  | RawEntry;

export type UsageSum = {
  readonly total: Usage;
  /** By the model's name; what named none is only in the total. */
  readonly byModel: ReadonlyMap<string, Usage>;
};

export type Turn = Common & {
  /** Counted from 1; 0 for what stands before the first turn. */
  readonly number: number;
  /** Undefined before the first turn. An agent that began by itself has one without parts. */
  readonly objective: LlmContent | undefined;
  readonly callId: string | undefined;
  readonly agent: string | undefined;
  readonly state: 'running' | 'over' | TurnOutcome;
  /** Why it ended as it did. */
  readonly reason: string | undefined;
  readonly endedAt: string | undefined;
  /** What it is doing now, in words. */
  readonly progress: string | undefined;
  /** Where it is now: a program, in its source. */
  readonly locations: readonly Location[];
  /** What the agent handed over at the end, all fields. */
  readonly result: LlmContent | undefined;
  readonly usage: UsageSum;
  readonly entries: readonly Entry[];
  /** Its first entries were let go. */
  readonly isCut: boolean;
};

export type Queue = {
  /** Those that wait, in the order of delivery. */
  readonly pending: readonly Message[];
  readonly version: number | undefined;
};

export type AgentDetails = Omit<Extract<SessionEvent, { type: 'agentInfo' }>, 'type' | 'extra'>;

export type SessionEnd =
  | { readonly kind: 'completed'; readonly content: LlmContent | undefined }
  | { readonly kind: 'failed'; readonly message: string };

/** A session as its events tell it. Whatever an event does not touch is the same object as before. */
export type SessionView = {
  /** The position of the last event. */
  readonly position: number;
  readonly status: SessionStatus | undefined;
  readonly statusSince: string | undefined;
  readonly statusReason: string | undefined;
  readonly turns: readonly Turn[];
  /** What events up to here showed in the turns was let go, apart from what is still open; 0 when all is there. */
  readonly forgottenTo: number;
  /** Those that wait for an answer, oldest first. */
  readonly requests: readonly RequestEntry[];
  readonly plan: readonly PlanEntry[];
  readonly usage: UsageSum;
  /** How full the model's window is. */
  readonly context: { readonly used: number; readonly size: number } | undefined;
  /** As it was last told of; undefined before that. */
  readonly budget: BudgetView | undefined;
  readonly queue: Queue;
  readonly agent: AgentDetails;
  readonly end: SessionEnd | undefined;
  readonly isFinished: boolean;
};

/** Events that are about the session and none of its turns. */
export type SessionNews =
  | 'status'
  | 'complete'
  | 'error'
  | 'finish'
  | 'gap'
  | 'sendRequest'
  | 'graphEdit'
  | 'budget'
  | 'settings'
  | 'worktree';
