import type { Json, JsonObject } from '@concerto/base';
import type {
  AgentSandbox,
  Because,
  Budget,
  BudgetUnit,
  ForkOf,
  LifecycleVerb,
  OnTimeout,
  Rule,
  SessionError,
  SessionKind,
  SessionSettings,
  SuspendEvent,
  ToolConfig,
  Usage,
} from '@concerto/protocol';
import type { Archive } from '../archive.ts';
import type { GrownSet } from '../grown-set.ts';
import type { Queue } from '../queue/queue.ts';

/** The agent's process, or what stands in for it; numbered, so that a late word of an older one is known as such. */
export type Process =
  | { readonly kind: 'none' }
  | { readonly kind: 'starting'; readonly incarnation: number; readonly since: number; readonly deadline: number }
  | { readonly kind: 'ready'; readonly incarnation: number };

/** The one lifecycle request that waits for its confirmation. */
export type Control = {
  readonly kind: LifecycleVerb;
  readonly requestId: string;
  readonly since: number;
  readonly step: number;
  readonly deadline: number;
  /** A message came after it was asked: the user has already said how to go on. */
  readonly messageSince: boolean;
};

export type Hold = {
  readonly kind: 'interrupted' | 'paused';
  readonly since: number;
  readonly reason?: string | undefined;
  /** The lifecycle request by which it is held. */
  readonly requestId?: string | undefined;
  /** The agent itself holds, so it must be told to go on. */
  readonly agentHolds: boolean;
  /** Its process was stopped by force. */
  readonly frozen: boolean;
};

/** Whom a request is put before; `withinMs`: how long it may take, for ever unless given. */
export type Answerer = { readonly to: string; readonly withinMs?: number | undefined };

/** Until when, for ever unless given; and the sessions that it waits `on`, which wait for people. */
export type Rests = { readonly until?: number | undefined; readonly on?: readonly string[] | undefined };

export type Request = {
  readonly requestId: string;
  readonly event: SuspendEvent;
  readonly since: number;
  /** From when whoever is asked is asked. */
  readonly routedSince: number;
  /** From when its wait, or that for the confirmation of its answer, counts; time in which the session was paused does not. */
  readonly waitsSince: number;
  readonly state: 'open' | 'answered' | 'withdrawn';
  readonly reason?: string | undefined;
  /** Who is asked. */
  readonly routedTo?: string | undefined;
  /** Everybody it is put before, in this order. */
  readonly answerers: readonly Answerer[];
  /** How long a person may take; undefined: for ever. */
  readonly answerWithinMs?: number | undefined;
  readonly onTimeout?: OnTimeout | undefined;
  /** The cause of its answer, so that the same answer sent again is known as such. */
  readonly answeredBy?: string | undefined;
  /** What was answered, by whomever. */
  readonly given?: Json | undefined;
  /** An answer that the agent does not have yet. */
  readonly answer?: OnItsWay | undefined;
};

/**
 * An answer between the one who gave it and the agent. `offered`: no living owner has seen it. `kept`: the owner has it and hands
 * it over when the session goes on. `sent`: handed over, not confirmed.
 */
type OnItsWay = {
  readonly response: Json;
  readonly by: string;
  readonly line?: string | undefined;
  readonly because?: Because | undefined;
  readonly reason?: string | undefined;
  readonly stage: 'offered' | 'kept' | 'sent';
};

export type Turn = {
  readonly number: number;
  readonly active: boolean;
  readonly since: number;
  /** The message that it was begun with; an agent may begin one by itself. */
  readonly messageId?: string | undefined;
  /** Its agent was lost in the middle of it. */
  readonly isCut?: boolean;
  /** Its prompt came back, certainly unread: nothing was done in it, and the next turn has its number. */
  readonly isUnread?: boolean;
};
/** What it may use and what that is compared with, beside its own usage and turns. */
export type BudgetState = {
  /** As they stand. */
  readonly limits: Budget;
  /** As it was given: "more" is so much again. */
  readonly amount: Budget;
  readonly workedMs: number;
  /** All that each session which it opened has used. */
  readonly children: ReadonlyMap<string, ChildUse>;
  /** Of which it was told that they come near their end. */
  readonly near: ReadonlySet<BudgetUnit>;
  /** How often somebody was asked for more. */
  readonly asks: number;
};

type ChildUse = { readonly usage: Usage; readonly turns: number; readonly isEstimate?: true | undefined };

type End = {
  readonly status: 'completed' | 'failed' | 'cancelled';
  readonly at: number;
  readonly reason?: string | undefined;
};

/** Orthogonal parts; the one status that users see is derived from them and stored nowhere. */
export type SessionState = {
  readonly id: string;
  readonly kind: SessionKind;
  readonly agent: string;
  readonly title: string;
  readonly once: boolean;
  readonly template?: string | undefined;
  readonly input?: Json | undefined;
  readonly tools?: ToolConfig | undefined;
  /** What it has of its own over the entry of its agent. */
  readonly settings?: SessionSettings | undefined;
  /** What its agent is asked to switch to, and has not answered. */
  readonly settingsAsked?: { readonly requestId: string; readonly params: JsonObject; readonly by: string } | undefined;
  /** The last request that was settled: the same again is a repeat. */
  readonly settledSettings?: string | undefined;
  readonly parent?: string | undefined;
  readonly root?: string | undefined;
  readonly code?: string | undefined;
  /** The program that answers for it, and how often that was changed: each time it is another run of it. */
  readonly supervisor?: string | undefined;
  readonly archived?: true | undefined;
  /** Nothing is left of it but this. */
  readonly deleted?: true | undefined;
  readonly supervisions: number;
  /** The session that it answers for itself. */
  readonly supervises?: string | undefined;
  /** The session in whose place it goes on. */
  readonly forkOf?: ForkOf | undefined;
  /** How often a model was asked to answer for it. */
  readonly modelAsks: number;
  /** The sessions that it opened. */
  readonly children: GrownSet;
  readonly createdAt: number;
  readonly updatedAt: number;
  /** The last record that was more than bookkeeping; parking counts from it. */
  readonly activeAt: number;

  /** Its place in the pool. */
  readonly slot: {
    readonly kind: 'held' | 'wanted' | 'none';
    readonly since: number;
    /** The session that needed its place. */
    readonly madeRoomFor?: string | undefined;
  };
  /** It only waits, for people or for a time, and nobody need own it until then or until something is asked of it. */
  readonly rests?: Rests | undefined;
  readonly owner?:
    | { readonly epoch: number; readonly runner: string; readonly startWithinMs?: number | undefined }
    | undefined;
  /** The highest epoch ever seen; whoever speaks with a lower one has lost the session. */
  readonly epoch: number;
  readonly agentProcess: Process;
  readonly incarnations: number;
  readonly everReady: boolean;
  readonly capabilities: readonly string[];
  readonly version?: string | undefined;
  /** Of its agent's process. */
  readonly sandbox?: AgentSandbox | undefined;

  readonly turn: Turn;
  /** What was answered "for this session", and answers again. */
  readonly rules: readonly Rule[];
  /** Live: open, or answered and not yet with the agent. */
  readonly requests: Archive<Request>;
  readonly queue: Queue;
  readonly hold?: Hold | undefined;
  readonly control?: Control | undefined;
  /** Kinds of requests already settled, so that a second confirmation is known as a repeat. */
  readonly settledControls: Archive<LifecycleVerb>;

  readonly usage: Usage;
  /** Some of it nobody told. */
  readonly isEstimate?: true | undefined;
  readonly budget?: BudgetState | undefined;
  readonly result?: Json | undefined;
  readonly error?: SessionError | undefined;
  readonly end?: End | undefined;
};
